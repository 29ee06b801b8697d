"""Claim: TensorFlow's GZIP is read at 0.85 x isal alone and 3 x TensorFlow; our members at 1.6 x that.

All read one file. Rates count the bytes that come out. isal alone inflates and looks at nothing, in the
faster of its two ways.
"""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import rivals
from benchmarks.data import dataset, payloads, scratch
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

OURS, MEMBERS = "read_blocks", "read_blocks, our members"
ISAL = ("isal decompressobj", "isal file object")
TENSORFLOW = ("tf_record_iterator", "TFRecordDataset.batch(1024)")
TENSORFLOW_MEMBERS = "tf_record_iterator, our members"


def write_members(settings: Settings, *, kind: str) -> str:
    """Write the first plain file of `kind` as GZIP members by tfrkit's default; returns its path."""
    import tfrkit as tfr

    path = scratch(settings.scale) / f"{kind}-members.tfrecord.gz"
    with tfr.TFRecordWriter(path) as writer:
        writer.write_many(list(payloads(dataset(kind, settings.scale).plain[0])))
    return str(path)


def contenders(settings: Settings, *, kind: str, members: str) -> list[Contender]:
    """Everybody on TensorFlow's first file of `kind`, and on ours of the same records."""
    import tfrkit as tfr

    rivals.tensorflow()
    data = dataset(kind, settings.scale)
    theirs = data.gzip[0]
    size = data.plain[0].stat().st_size
    records = data.records // len(data.plain)

    def blocks(path: str) -> int:
        return sum(len(block) for block in tfr.read_blocks(path))

    amount: dict[str, Any] = {"records": records, "bytes": size}
    iterator, batched = rivals.tf_record_iterator, rivals.tf_dataset_batched
    return [
        Contender(OURS, partial(blocks, str(theirs)), "records", **amount),
        Contender(MEMBERS, partial(blocks, members), "records", **amount),
        Contender(ISAL[0], partial(rivals.isal_stream, theirs), "bytes", 0, size),
        Contender(ISAL[1], partial(rivals.isal_file, theirs), "bytes", 0, size),
        Contender(TENSORFLOW[0], partial(iterator, [theirs], "GZIP"), "records", **amount),
        Contender(TENSORFLOW[1], partial(batched, [theirs], "GZIP"), "records", **amount),
        Contender(
            TENSORFLOW_MEMBERS, partial(iterator, [Path(members)], "GZIP"), "records", at_most=2, **amount
        ),
    ]


def run(settings: Settings) -> Report:
    """Measure A on two cores, which has requirements; A on one core and a quarter of B have none."""
    report = Report("gzip_read")
    for kind, cores in [("A_one", 2), ("A_one", 1), ("B", 2)]:
        members = in_child("gzip_read", "write_members", settings, cores=None, kind=kind)
        try:
            results = in_child("gzip_read", "contenders", settings, cores=cores, kind=kind, members=members)
        finally:
            Path(members).unlink()
        where = f"GZIP {kind[0]}, one file, {cores} core{'s' if cores > 1 else ''}"
        report.add_results(f"Reading: {where}", results)
        named = by_name(results)
        required = (0.85, 3.0, 1.6) if (kind, cores) == ("A_one", 2) else (None, None, None)
        report.ratio(where, named[OURS], [named[name] for name in ISAL], required[0])
        report.ratio(where, named[OURS], [named[name] for name in TENSORFLOW], required[1])
        report.ratio(where, named[MEMBERS], [named[OURS]], required[2])
    return report
