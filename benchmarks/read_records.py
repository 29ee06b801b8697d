"""Claim: `read_records` with CRC runs at 2.5 x `tf_record_iterator` and 100 x `TFRecordDataset`, on A.

`TFRecordDataset` one by one is slow and steady, so it gets the first 4 % of the records of A. The packages
from PyPI check no CRC: they stand against ours without CRC, in a process of their own, because the tfrecord
package cannot be imported beside TensorFlow. Each takes part if it is installed.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import rivals
from benchmarks.data import Dataset, dataset
from benchmarks.harness import Contender, Report, Settings, by_name, count, in_child

OURS, OURS_NO_CRC = "read_records", "read_records, crc=False"
ITERATOR, BATCHED, LOOP = "tf_record_iterator", "TFRecordDataset.batch(1024)", "Python struct loop with CRC"
ONE_BY_ONE = ("TFRecordDataset, tensors", "TFRecordDataset, as_numpy_iterator")
PACKAGES = {
    "tfrecord": ("tfrecord package (no CRC)", rivals.tfrecord_package),
    "tfr_reader": ("tfr-reader package (no CRC)", rivals.tfr_reader_package),
}
REQUIRED: dict[str, tuple[float | None, float | None]] = {"A": (2.5, 100.0), "B": (None, None)}


def _ours(data: Dataset) -> list[Contender]:
    """Ours with and without CRC."""
    import tfrkit as tfr

    def records(crc: bool) -> int:
        return count(tfr.read_records(list(data.plain), crc=crc))

    return [
        Contender(name, partial(records, crc), "records", data.records, data.stream_bytes)
        for name, crc in ((OURS, True), (OURS_NO_CRC, False))
    ]


def contenders(settings: Settings, *, kind: str) -> list[Contender]:
    """Ours, TensorFlow's readers, and the loop in Python."""
    rivals.tensorflow()
    data = dataset(kind, settings.scale)
    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    return [
        *_ours(data),
        Contender(ITERATOR, partial(rivals.tf_record_iterator, data.plain), "records", **amount),
        Contender(BATCHED, partial(rivals.tf_dataset_batched, data.plain), "records", **amount),
        Contender(LOOP, partial(rivals.struct_loop, data.plain), "records", **amount),
        *_one_by_one(data),
    ]


def _one_by_one(data: Dataset) -> list[Contender]:
    limit = min(data.records, max(data.records // 25, 1000))
    size = round(data.stream_bytes * limit / data.records)
    out = []
    for name, as_numpy in zip(ONE_BY_ONE, (False, True), strict=True):
        fn = partial(rivals.tf_dataset, data.plain, limit, as_numpy=as_numpy)
        out.append(Contender(name, fn, "records", limit, size))
    return out


def package_contenders(settings: Settings, *, kind: str) -> list[Contender]:
    """Ours, and the packages from PyPI."""
    data = dataset(kind, settings.scale)
    out = _ours(data)
    for package, (name, function) in PACKAGES.items():
        if rivals.installed(package):
            fn = partial(function, data.plain)
            out.append(Contender(name, fn, "records", data.records, data.stream_bytes, at_most=3))
    return out


def run(settings: Settings) -> Report:
    """Measure A, which has requirements, and B, which has none."""
    report = Report("read_records")
    for kind, (iterator_required, dataset_required) in REQUIRED.items():
        where = f"{kind}, 2 cores"
        named = by_name(results := in_child("read_records", "contenders", settings, cores=2, kind=kind))
        report.add_results(f"Reading records one by one: {where}", results)
        report.ratio(where, named[OURS], [named[ITERATOR]], iterator_required)
        report.ratio(where, named[OURS], [named[name] for name in ONE_BY_ONE], dataset_required)
        report.ratio(where, named[OURS], [named[BATCHED]], None)
        report.ratio(where, named[OURS], [named[LOOP]], None)
        named = by_name(
            results := in_child("read_records", "package_contenders", settings, cores=2, kind=kind)
        )
        report.add_results(f"Reading records one by one, packages without CRC: {where}", results)
        for name in [name for name, _ in PACKAGES.values() if name in named]:
            report.ratio(where, named[OURS_NO_CRC], [named[name]], None)
    return report
