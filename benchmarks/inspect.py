"""Claim: `inspect` of A, all records and all values, runs at 0.4 x our own parse of the whole spec."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import parsers, specs
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

OURS, PARSE = "inspect", "parse_example, 41 features"


def contenders(settings: Settings) -> list[Contender]:
    """Both read the files with CRC."""
    import tfrkit as tfr

    data = dataset("A", settings.scale)
    spec = specs.a_spec(tfr)
    amount: dict[str, Any] = {"records": data.records, "bytes": data.stream_bytes}
    return [
        Contender(OURS, lambda: tfr.inspect(list(data.plain)).examples, "records", **amount),
        Contender(PARSE, partial(parsers.ours, data.plain, spec), "records", **amount),
    ]


def run(settings: Settings) -> Report:
    """Measure A on two cores."""
    report = Report("inspect")
    results = in_child("inspect", "contenders", settings, cores=2)
    report.add_results("Looking into all records: A, 2 cores", results)
    named = by_name(results)
    report.ratio("A, 2 cores", named[OURS], [named[PARSE]], 0.4)
    return report
