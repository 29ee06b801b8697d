"""Claim: A, map(parse_single_example) + batch(1,024) at 5 x TensorFlow, the same line of code in both.

TensorFlow also gets parallel calls and a prefetch. It is slow and steady, so it gets a part of the records. Peak memory
is at most 0.4 of TensorFlow's.
"""

from __future__ import annotations

from functools import partial

from benchmarks import pipelines
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, in_child

FRACTION = 10


def contenders(settings: Settings) -> list[Contender]:
    """Ours and TensorFlow's ways over A."""
    mine, other = pipelines.ours(), pipelines.theirs()
    make = partial(pipelines.contender, kind="A", settings=settings, fraction=FRACTION)
    return [
        make("tfrkit, map(parse_single_example) + batch", pipelines.single_map, mine),
        make("TensorFlow, map(parse_single_example) + batch", pipelines.single_map, other),
        make("TensorFlow, the same with parallel calls and prefetch", pipelines.single_map_parallel, other),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("pipelines_single")
    results = in_child("pipelines_single", "contenders", settings, cores=2)
    report.add_results("Pipelines, one record at a time: A, 2 cores", results)
    pipelines.report_ratio(report, "A, 2 cores", results, 5.0)
    limit = max(1000, dataset("A", settings.scale).records // FRACTION)
    ways = ("single_map", "single_map")
    pipelines.report_memory(report, settings, "A, one record at a time", *ways, "A", limit)
    return report
