"""Claim: A, parse + batch(1,024) + prefetch at 10 x TensorFlow's best; batch + map(parse_example) at 8 x.

The second is the same line of code in both libraries, without parallel calls and without prefetch (TensorFlow makes
such a map parallel by itself). The first is also held against our own parse of blocks, without a pipeline: 0.8 x. Peak
memory is at most 0.4 of TensorFlow's.
"""

from __future__ import annotations

from functools import partial

import tfrkit as tfr
from benchmarks import parsers, pipelines, specs
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

OURS, OURS_MAP = "tfrkit, parse + batch + prefetch", "tfrkit, batch + map(parse_example)"
THEIRS_MAP = "TensorFlow, batch + map(parse_example)"
BLOCKS = "tfrkit, parse_example of blocks"


def contenders(settings: Settings) -> list[Contender]:
    """Ours and TensorFlow's ways over A."""
    mine, other = pipelines.ours(), pipelines.theirs()
    make = partial(pipelines.contender, kind="A", settings=settings)
    large = partial(pipelines.batch_map_ahead, batch=8192)
    data = dataset("A", settings.scale)
    blocks = partial(parsers.ours, data.plain, specs.a_spec(tfr))
    return [
        make(OURS, pipelines.parse_batch, mine),
        Contender(BLOCKS, blocks, "records", data.records, data.stream_bytes),
        make(OURS_MAP, pipelines.batch_map, mine),
        make("tfrkit, the same with parallel calls and prefetch", pipelines.batch_map_ahead, mine),
        make(THEIRS_MAP, pipelines.batch_map, other),
        make("TensorFlow, the same with parallel calls and prefetch", pipelines.batch_map_ahead, other),
        make("TensorFlow, the same with batches of 8,192", large, other),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("pipelines_parse")
    results = in_child("pipelines_parse", "contenders", settings, cores=2)
    report.add_results("Pipelines, parsed batches: A, 2 cores", results)
    pipelines.report_ratio(report, "A, 2 cores", results, 10.0)
    named = by_name(results)
    report.ratio("A, 2 cores", named[OURS], [named[BLOCKS]], 0.8)
    same = [result for result in results if result.name in (OURS_MAP, THEIRS_MAP)]
    pipelines.report_ratio(report, "A, 2 cores, the same code", same, 8.0)
    pipelines.report_ratio(report, "A, 2 cores, TensorFlow's best", results, None, OURS_MAP)
    for mine, other in (("parse_batch", "batch_map_ahead"), ("batch_map", "batch_map")):
        pipelines.report_memory(report, settings, f"A, {mine} against {other}", mine, other, "A")
    return report
