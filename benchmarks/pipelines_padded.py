"""Claim: C, parse + padded_batch(64) at 4 x TensorFlow.

TensorFlow parses single records to dense lists and pads them: the same verbs. Its faster way, batches that
parse_example makes dense, is measured beside it. The results are compared once. Peak memory is at most 0.4 of
TensorFlow's.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from benchmarks import pipelines
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, in_child


def _check(mine: pipelines.Library, other: pipelines.Library, settings: Settings) -> None:
    paths = dataset("C", settings.scale).plain
    found = next(iter(pipelines.parse_padded(mine, paths)))
    for way in (pipelines.single_padded, pipelines.batch_padded):
        for key, tensor in next(iter(way(other, paths))).items():
            if not np.array_equal(found[key], tensor.numpy()):
                raise RuntimeError(f"{key}: other values than TensorFlow's")


def contenders(settings: Settings) -> list[Contender]:
    """Ours and TensorFlow's ways over C."""
    mine, other = pipelines.ours(), pipelines.theirs()
    _check(mine, other, settings)
    make = partial(pipelines.contender, kind="C", settings=settings)
    return [
        make("tfrkit, parse + padded_batch", pipelines.parse_padded, mine),
        make("TensorFlow, map(parse_single_example) + padded_batch", pipelines.single_padded, other),
        make("TensorFlow, batch + map(parse_example)", pipelines.batch_padded, other),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("pipelines_padded")
    results = in_child("pipelines_padded", "contenders", settings, cores=2)
    report.add_results("Pipelines, padded batches: C, 2 cores", results)
    mine, same, fastest = results
    report.ratio("C, 2 cores, the same verbs", mine, [same], 4.0)
    report.ratio("C, 2 cores, TensorFlow's fastest way", mine, [fastest], None)
    ways = ("parse_padded", "single_padded")
    pipelines.report_memory(report, settings, "C, padded", *ways, "C")
    return report
