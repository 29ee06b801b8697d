"""Claim: D, SequenceExamples with three context features and two feature lists, at 4 x TensorFlow's best."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import parsers, rivals, specs
from benchmarks.data import Dataset, dataset, payloads
from benchmarks.harness import Contender, Report, Settings, by_name, in_child, keep_alive

OURS = "tfrkit, parse_sequence_example"
CHECKED = 500


def _ours(data: Dataset) -> int:
    import tfrkit as tfr

    context, lists = specs.d_specs(tfr)
    total = 0
    for block in tfr.read_blocks(list(data.plain)):
        found, _, _ = tfr.parse_sequence_example(block, context, lists)
        total += len(found["user"])
    return total


def _theirs(data: Dataset, batch: int) -> int:
    tf = rivals.tensorflow()
    context, lists = specs.d_specs(specs.TensorFlowIo(tf))
    parse = lambda records: tf.io.parse_sequence_example(records, context, lists)  # noqa: E731
    dataset_ = tf.data.TFRecordDataset([str(path) for path in data.plain]).batch(batch)
    iterator = iter(dataset_.map(parse, num_parallel_calls=tf.data.AUTOTUNE).prefetch(tf.data.AUTOTUNE))
    keep_alive(iterator)
    return sum(int(found["user"].shape[0]) for found, _, _ in iterator)


def _check(data: Dataset) -> None:
    import tfrkit as tfr

    tf = rivals.tensorflow()
    records = [record for record, _ in zip(payloads(data.plain[0]), range(CHECKED), strict=False)]
    mine = tfr.parse_sequence_example(records, *specs.d_specs(tfr))
    theirs = tf.io.parse_sequence_example(records, *specs.d_specs(specs.TensorFlowIo(tf)))
    for part, other in zip(mine, theirs, strict=True):
        for name, tensor in other.items():
            parsers.check_same(name, part[name], tensor)


def contenders(settings: Settings) -> list[Contender]:
    """Ours, and TensorFlow in batches of two sizes."""
    data = dataset("D", settings.scale)
    _check(data)
    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    return [
        Contender(OURS, partial(_ours, data), "records", **amount),
        *(
            Contender(f"TensorFlow, batch {batch:,}", partial(_theirs, data, batch), "records", **amount)
            for batch in (256, 1024)
        ),
    ]


def run(settings: Settings) -> Report:
    """Measure D on two cores."""
    report = Report("parse_sequence")
    results = in_child("parse_sequence", "contenders", settings, cores=2)
    report.add_results("Files to padded arrays: D, 2 cores", results)
    named = by_name(results)
    report.ratio("D, 2 cores", named[OURS], [r for name, r in named.items() if name != OURS], 4.0)
    return report
