"""Claim: A, shuffle(100,000) + parse + batch(1,024) at 8 x TensorFlow.

TensorFlow shuffles records, makes batches and parses them with parallel calls, which is its best. The orders are the
same. Peak memory is at most 0.4 of TensorFlow's.
"""

from __future__ import annotations

from functools import partial

from benchmarks import pipelines
from benchmarks.harness import Contender, Report, Settings, in_child


def contenders(settings: Settings) -> list[Contender]:
    """Ours and TensorFlow's ways over A."""
    mine, other = pipelines.ours(), pipelines.theirs()
    make = partial(pipelines.contender, kind="A", settings=settings)
    return [
        make("tfrkit, shuffle + parse + batch", pipelines.shuffle_parse_batch, mine),
        make("tfrkit, shuffle + batch + map(parse_example)", pipelines.shuffle_batch_map, mine),
        make("TensorFlow, shuffle + batch + map(parse_example)", pipelines.shuffle_batch_map, other),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("pipelines_shuffle")
    results = in_child("pipelines_shuffle", "contenders", settings, cores=2)
    report.add_results("Pipelines, shuffled: A, 2 cores", results)
    pipelines.report_ratio(report, "A, 2 cores", results, 8.0)
    ways = ("shuffle_parse_batch", "shuffle_batch_map")
    pipelines.report_memory(report, settings, "A, shuffled and parsed", *ways, "A")
    return report
