"""Claim: C, ragged tokens, and D, SequenceExamples, through a pipeline at 4 x TensorFlow.

TensorFlow makes batches and parses them with parallel calls, which is its best: C as ragged and as sparse tensors, D in
batches of two sizes. The first batches are compared. Peak memory is at most 0.4 of TensorFlow's.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks import parsers, pipelines
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, in_child


def _check(kind: str, settings: Settings, ours: Callable[..., Any], theirs: Callable[..., Any]) -> None:
    paths = dataset(kind, settings.scale).plain
    found, expected = (
        next(iter(way()))
        for way in (partial(ours, pipelines.ours(), paths), partial(theirs, pipelines.theirs(), paths))
    )
    pairs = zip(found, expected, strict=False) if isinstance(expected, tuple) else [(found, expected)]
    for mine, other in pairs:
        for name, tensor in other.items():
            parsers.check_same(name, mine[name], tensor)


def lists(settings: Settings) -> list[Contender]:
    """C, ours and TensorFlow's."""
    _check("C", settings, pipelines.parse_lists, pipelines.batch_lists)
    mine, other = pipelines.ours(), pipelines.theirs()
    make = partial(pipelines.contender, kind="C", settings=settings)
    sparse = partial(pipelines.batch_lists, ragged=False)
    return [
        make("tfrkit, parse + batch + prefetch", pipelines.parse_lists, mine),
        make("TensorFlow, batch + map(parse_example), ragged", pipelines.batch_lists, other),
        make("TensorFlow, batch + map(parse_example), sparse", sparse, other),
    ]


def sequences(settings: Settings) -> list[Contender]:
    """D, ours and TensorFlow's."""
    _check("D", settings, pipelines.parse_sequences, pipelines.batch_sequences)
    mine, other = pipelines.ours(), pipelines.theirs()
    make = partial(pipelines.contender, kind="D", settings=settings)
    small = partial(pipelines.batch_sequences, batch=256)
    return [
        make("tfrkit, batch + parse_sequence + prefetch", pipelines.parse_sequences, mine),
        make("TensorFlow, batch + map(parse_sequence_example)", pipelines.batch_sequences, other),
        make("TensorFlow, the same with batches of 256", small, other),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("pipelines_lists")
    for kind, part, ways in (
        ("C", "lists", ("parse_lists", "batch_lists")),
        ("D", "sequences", ("parse_sequences", "batch_sequences")),
    ):
        results = in_child("pipelines_lists", part, settings, cores=2)
        report.add_results(f"Pipelines, {part}: {kind}, 2 cores", results)
        pipelines.report_ratio(report, f"{kind}, 2 cores", results, 4.0)
        pipelines.report_memory(report, settings, f"{kind}, {part}", *ways, kind)
    return report
