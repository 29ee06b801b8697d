"""Claim: A, parse + filter (3 % kept), element by element, at 0.5 x of the same with batch(1,024) after it.

There is no user's function before the filter, so whole runs are parsed ahead of it, however little is asked for.
"""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks import pipelines, specs
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, in_child


def is_kept(features: dict[str, Any]) -> Any:
    """Whether an Example is one of 3 %: small numbers are more frequent."""
    return features["C10"] % 20 == 0


def drain(pipeline: Any, records: int) -> int:
    """Take everything; what was read counts, not what was kept."""
    kept = sum(1 for _ in pipeline)
    return records if kept else 0


def contenders(settings: Settings) -> list[Contender]:
    """The filter alone, and with batches after it."""
    data, mine = dataset("A", settings.scale), pipelines.ours()
    kept = mine.records(data.plain).parse(specs.a_spec(mine.features)).filter(is_kept)
    ways = {"tfrkit, parse + filter": kept, "tfrkit, parse + filter + batch": kept.batch(pipelines.BATCH)}
    return [
        Contender(name, partial(drain, way, data.records), "records", data.records, data.stream_bytes)
        for name, way in ways.items()
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("pipelines_filter")
    results = in_child("pipelines_filter", "contenders", settings, cores=2)
    report.add_results("Pipelines, filtered: A, 2 cores", results)
    report.ratio("A, 2 cores", results[0], results[1:], 0.5)
    return report
