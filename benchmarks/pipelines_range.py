"""Claim: range(1,000,000), one line of Python, batch(1,000) at 5 x TensorFlow, the same line of code in both.

TensorFlow compiles the function to a graph; ours is called a million times. Peak memory is at most 0.4 of
TensorFlow's.
"""

from __future__ import annotations

from benchmarks import pipelines
from benchmarks.harness import Contender, Report, Settings, in_child


def contenders(settings: Settings) -> list[Contender]:
    """Ours and TensorFlow's; 8 bytes a number."""
    limit = round(pipelines.NUMBERS * min(1.0, settings.scale))
    out = []
    for library in (pipelines.ours(), pipelines.theirs()):
        fn = lambda library=library: pipelines.drain(pipelines.count_map(library, (), limit))  # noqa: E731
        out.append(Contender(f"{library.name}, range + map + batch", fn, "records", limit, 8 * limit))
    return out


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("pipelines_range")
    results = in_child("pipelines_range", "contenders", settings, cores=2)
    report.add_results("Pipelines, a function of every number: 2 cores", results)
    pipelines.report_ratio(report, "2 cores", results, 5.0)
    pipelines.report_memory(report, settings, "range + map + batch", "count_map", "count_map", "A")
    return report
