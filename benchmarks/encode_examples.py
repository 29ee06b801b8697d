"""Claim: on one core, `encode_examples` makes A 100 x as fast as tf.train.Example, `write_example` 8 x.

Both begin with values in memory: columns for `encode_examples` and `write_batch`, dicts of Python's numbers and
bytes for `write_example` and for TensorFlow, whose way is that of its guide: a Feature for each value, an Example,
`SerializeToString`, and for the second claim `TFRecordWriter.write`. It gets a part of the rows only.
"""

from __future__ import annotations

from typing import Any

from benchmarks import rivals, samples
from benchmarks.data import scratch
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

ROWS, DISTINCT, RIVAL_ROWS = 200_000, 5_000, 5_000
ENCODE, BATCH, EXAMPLE = "encode_examples", "write_batch", "write_example of dicts"
TF_MAKE, TF_WRITE = "tf.train.Example, serialised", "tf.train.Example, serialised and written"


def tf_example(row: dict[str, Any]) -> bytes:
    """One Example as TensorFlow's guide makes it."""
    train = rivals.tensorflow().train
    feature = {}
    for key, value in row.items():
        if isinstance(value, bytes):
            feature[key] = train.Feature(bytes_list=train.BytesList(value=[value]))
        elif isinstance(value, float):
            feature[key] = train.Feature(float_list=train.FloatList(value=[value]))
        else:
            feature[key] = train.Feature(int64_list=train.Int64List(value=[value]))
    made: bytes = train.Example(features=train.Features(feature=feature)).SerializeToString()
    return made


def contenders(settings: Settings) -> list[Contender]:
    """Ways to make records A from columns or from dicts."""
    import numpy as np

    import tfrkit as tfr

    tf = rivals.tensorflow()
    decoded = [tfr.to_dict(record) for record in samples.pool("examples", DISTINCT)]
    rows = [{key: value[0] if isinstance(value, list) else value[0].item() for key, value in row.items()}
            for row in decoded]  # fmt: skip
    order = np.arange(max(1, round(ROWS * settings.scale))) % len(rows)
    columns: dict[str, Any] = {}
    for key, value in decoded[0].items():
        if isinstance(value, list):
            columns[key] = tfr.BytesColumn.from_list([rows[place][key] for place in order])
        else:
            columns[key] = np.array([row[key] for row in rows], value.dtype)[order]
    path = scratch(settings.scale) / "encoded.tfrecord"
    several = [rows[place] for place in order[: 10 * RIVAL_ROWS]]
    few = several[:RIVAL_ROWS]

    def write_batch() -> int:
        with tfr.TFRecordWriter(path) as writer:
            writer.write_batch(columns)
        return len(order)

    def write_dicts() -> int:
        with tfr.TFRecordWriter(path) as writer:
            for row in several:
                writer.write_example(row)
        return len(several)

    def tf_write() -> int:
        with tf.io.TFRecordWriter(str(path)) as writer:
            for row in few:
                writer.write(tf_example(row))
        return len(few)

    size = tfr.encode_examples(columns).nbytes // len(order)

    def amount(count: int) -> dict[str, Any]:
        return {"records": count, "bytes": count * size}

    return [
        Contender(ENCODE, lambda: len(tfr.encode_examples(columns)), "records", **amount(len(order))),
        Contender(BATCH, write_batch, "records", **amount(len(order)), output=path),
        Contender(EXAMPLE, write_dicts, "records", **amount(len(several)), output=path),
        Contender(TF_MAKE, lambda: sum(bool(tf_example(row)) for row in few), "records", **amount(len(few))),
        Contender(TF_WRITE, tf_write, "records", **amount(len(few)), output=path),
    ]


def run(settings: Settings) -> Report:
    """Measure A on one core."""
    report = Report("encode_examples")
    results = in_child("encode_examples", "contenders", settings, cores=1)
    report.add_results("Encoding: A, 1 core", results)
    named = by_name(results)
    report.ratio("A, 1 core", named[ENCODE], [named[TF_MAKE]], 100.0)
    report.ratio("A, 1 core", named[BATCH], [named[TF_WRITE]], None)
    report.ratio("A, 1 core", named[EXAMPLE], [named[TF_WRITE]], 8.0)
    return report
