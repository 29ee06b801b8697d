"""Claim: `write_many` runs at 0.5 x an unframed write, and at 4 x (A) or 3 x (B) TensorFlow's writer.

The records stand ready in memory; the unframed write has them joined already and calls `os.write` with 1 MB
at a time. Every run writes a new file in the same folder, which is removed outside the clock; nothing is
synced to the disk. Rates count payload bytes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import rivals
from benchmarks.data import dataset, payloads, scratch
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

OURS, OURS_BATCHES, OURS_SINGLE = "write_many", "write_many, 1,024 a call", "write one by one"
UNFRAMED, TENSORFLOW = "os.write, unframed", "TensorFlow's TFRecordWriter"
REQUIRED_TENSORFLOW = {"A": 4.0, "B": 3.0}


def contenders(settings: Settings, *, kind: str) -> list[Contender]:
    """Writers of all records of `kind` into one file."""
    import tfrkit as tfr

    rivals.tensorflow()
    records = [record for path in dataset(kind, settings.scale).plain for record in payloads(path)]
    joined = memoryview(b"".join(records))
    path = scratch(settings.scale) / "written.tfrecord"

    def write_many(per_call: int) -> int:
        with tfr.TFRecordWriter(path) as writer:
            for start in range(0, len(records), per_call):
                writer.write_many(records[start : start + per_call])
        return len(records)

    def write_single() -> int:
        with tfr.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)
        return len(records)

    amount: dict[str, Any] = {"records": len(records), "bytes": len(joined), "output": path}
    return [
        Contender(OURS, partial(write_many, len(records)), "records", **amount),
        Contender(OURS_BATCHES, partial(write_many, 1024), "records", **amount),
        Contender(OURS_SINGLE, write_single, "records", **amount),
        Contender(UNFRAMED, partial(rivals.write_unframed, path, joined), "bytes", 0, len(joined), path),
        Contender(TENSORFLOW, partial(rivals.tf_write, path, records), "records", **amount),
    ]


def run(settings: Settings) -> Report:
    """Measure A and B on two cores."""
    report = Report("write_many")
    for kind, required in REQUIRED_TENSORFLOW.items():
        results = in_child("write_many", "contenders", settings, cores=2, kind=kind)
        where = f"plain {kind}, 2 cores"
        report.add_results(f"Writing: {where}", results)
        named = by_name(results)
        report.ratio(where, named[OURS], [named[UNFRAMED]], 0.5)
        report.ratio(where, named[OURS], [named[TENSORFLOW]], required)
        report.ratio(where, named[OURS_BATCHES], [named[TENSORFLOW]], None)
        report.ratio(where, named[OURS_SINGLE], [named[TENSORFLOW]], None)
    return report
