"""Claim: GZIP is written at 3 x TensorFlow's rate on two cores, into a file at most 10 % larger.

The records stand ready in memory. TensorFlow writes with its default level, tfrkit its default members; one
plain stream by tfrkit is shown beside them. Rates count payload bytes.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import rivals
from benchmarks.data import dataset, payloads, scratch
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child

OURS, OURS_SINGLE, ONE_STREAM = "write_many, members", "write one by one, members", "write_many, one stream"
TENSORFLOW = "TensorFlow's TFRecordWriter"
AT_MOST_LARGER = 1.10


def contenders(settings: Settings, *, kind: str) -> list[Contender]:
    """Writers of the records of the first file of `kind`."""
    import tfrkit as tfr

    rivals.tensorflow()
    records = list(payloads(dataset(kind, settings.scale).plain[0]))
    path = scratch(settings.scale) / "written.tfrecord.gz"

    def write_many(**options: Any) -> int:
        with tfr.TFRecordWriter(path, **options) as writer:
            writer.write_many(records)
        return len(records)

    def write_single() -> int:
        with tfr.TFRecordWriter(path) as writer:
            for record in records:
                writer.write(record)
        return len(records)

    amount: dict[str, Any] = {"records": len(records), "bytes": sum(map(len, records)), "output": path}
    theirs = partial(rivals.tf_write, path, records, "GZIP")
    return [
        Contender(OURS, write_many, "records", **amount),
        Contender(OURS_SINGLE, write_single, "records", **amount),
        Contender(ONE_STREAM, partial(write_many, members=False), "records", at_most=2, **amount),
        Contender(TENSORFLOW, theirs, "records", at_most=3, **amount),
    ]


def run(settings: Settings) -> Report:
    """Measure a quarter of A and of B."""
    report = Report("gzip_write")
    for kind in "AB":
        results = in_child("gzip_write", "contenders", settings, cores=2, kind=kind)
        where = f"GZIP {kind}, 2 cores"
        report.add_results(f"Writing: {where}", results)
        named = by_name(results)
        report.ratio(where, named[OURS], [named[TENSORFLOW]], 3.0)
        report.ratio(where, named[OURS_SINGLE], [named[TENSORFLOW]], None)
        report.ratio(where, named[ONE_STREAM], [named[TENSORFLOW]], None)
        size = (named[OURS].output_bytes or 0) / (named[TENSORFLOW].output_bytes or 1)
        text = f"{where}: size of our file / TensorFlow's"
        report.add_claim(Claim(text, size, AT_MOST_LARGER, sense="at most"))
    return report
