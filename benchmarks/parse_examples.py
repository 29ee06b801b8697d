"""Claim: A, file to arrays, at 8 x TensorFlow's best and 100 x its one-by-one map; 3 of 41 features at 1.5 x all.

A with its keys in another order in every record: 5 x TensorFlow's best on the same files. `read_blocks` and
`parse_example` with CRC on two cores against `TFRecordDataset` and `parse_example` in the ways that
`parsers.py` has. What is slow and steady gets a part of the records. The results are compared once.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import parsers, rivals, specs
from benchmarks.data import Dataset, dataset, payloads
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

OURS, OURS_SOME = "tfrkit, 41 features", "tfrkit, 3 features"
ONE_BY_ONE, PROTOBUF = "TensorFlow, map(parse_single_example)", "protobuf's messages and numpy"
PARALLEL_READS, PACKAGE = "TensorFlow, num_parallel_reads=2", "tfrecord package (no CRC)"
CHECKED = 2000
REQUIRED = {"A": 8.0, "A_shuffled": 5.0}


def part(data: Dataset, name: str, fn: Any, fraction: int) -> Contender:
    """Make a contender that gets the first records only; `fn` takes how many."""
    limit = min(data.records, max(data.records // fraction, 1000))
    size = round(data.stream_bytes * limit / data.records)
    return Contender(name, partial(fn, limit=limit), "records", limit, size, at_most=3)


def _check(data: Dataset, ours: dict[str, Any], theirs: dict[str, Any]) -> None:
    import tfrkit as tfr

    records = [record for record, _ in zip(payloads(data.plain[0]), range(CHECKED), strict=False)]
    mine = tfr.parse_example(records, ours)
    for name, tensor in rivals.tensorflow().io.parse_example(records, theirs).items():
        parsers.check_same(name, mine[name], tensor)


def contenders(settings: Settings, *, kind: str) -> list[Contender]:
    """Ours, all and some features, and TensorFlow's ways."""
    import tfrkit as tfr

    io = specs.TensorFlowIo(rivals.tensorflow())
    data = dataset(kind, settings.scale)
    ours, theirs = specs.a_spec(tfr), specs.a_spec(io)
    _check(data, ours, theirs)
    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    out = [
        Contender(OURS, partial(parsers.ours, data.plain, ours), "records", **amount),
        Contender(OURS_SOME, partial(parsers.ours, data.plain, specs.some_of_a(tfr)), "records", **amount),
        *parsers.tf_contenders(data.plain, theirs, amount),
    ]
    if kind == "A":
        out += [
            part(data, PARALLEL_READS, partial(parsers.tf_parallel_reads, data.plain, theirs), 25),
            part(data, ONE_BY_ONE, partial(parsers.tf_one_by_one, data.plain, theirs), 25),
            part(data, PROTOBUF, partial(parsers.protobuf_loop, data.plain), 50),
        ]
    return out


def package_contenders(settings: Settings) -> list[Contender]:
    """Ours, and the tfrecord package, which cannot be imported beside TensorFlow."""
    import tfrkit as tfr

    data = dataset("A", settings.scale)
    out = [
        Contender(
            OURS,
            partial(parsers.ours, data.plain, specs.a_spec(tfr)),
            "records",
            data.records,
            data.stream_bytes,
        )
    ]
    if rivals.installed("tfrecord"):
        out.append(part(data, PACKAGE, partial(parsers.tfrecord_package, data.plain), 200))
    return out


def run(settings: Settings) -> Report:
    """Measure A and A with shuffled keys on two cores."""
    report = Report("parse_examples")
    for kind, required in REQUIRED.items():
        results = in_child("parse_examples", "contenders", settings, cores=2, kind=kind)
        where = f"{kind}, 2 cores"
        report.add_results(f"Files to arrays: {where}", results)
        named = by_name(results)
        best = [
            result for name, result in named.items() if name.startswith("TensorFlow, ") and "map(" not in name
        ]
        report.ratio(where, named[OURS], best, required)
        report.ratio(where, named[OURS_SOME], [named[OURS]], 1.5 if kind == "A" else None)
        if kind == "A":
            report.ratio(where, named[OURS], [named[ONE_BY_ONE]], 100.0)
            report.ratio(where, named[OURS], [named[PROTOBUF]], None)
    results = in_child("parse_examples", "package_contenders", settings, cores=2)
    report.add_results("Files to arrays, the tfrecord package: A, 2 cores", results)
    named = by_name(results)
    if PACKAGE in named:
        report.ratio("A, 2 cores", named[OURS], [named[PACKAGE]], None)
    return report
