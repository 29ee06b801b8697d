"""Claim: grain over our sources, parsed batches of A, at 10 x grain over its own TFRecord source, parsed in Python.

The claim is about `tfr.grain.batch_source`, whose elements are batches. In the order of `global_shuffle` it stands
beside; so does `tfr.grain.source`, of which grain takes elements one by one (0.2.18 asks no source for several) and
spends most of the time on stacking and measuring them. The rival reads the same files with grain's TFRecordIterDataset,
turns each record into a dict of numpy's scalars with protobuf's messages, and makes batches of 1,024, in one process
or, with the files divided, in two: the faster counts. It checks no CRC. What is slow gets a part of the records only.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import grain
import numpy as np

import tfrkit as tfr
from benchmarks import pipelines, specs
from benchmarks.data import dataset
from benchmarks.harness import Contender, Report, Settings, by_name, in_child, keep_alive

BATCHES, SHUFFLED = "tfr.grain.batch_source", "tfr.grain.batch_source, global_shuffle"
SINGLE = "tfr.grain.source, batches by grain"
THEIRS = "grain's TFRecord source, parsed in Python (no CRC)"
THEIRS_WORKERS = "the same in 2 processes"
PART = 4  # what is slow gets one of so many records
WORKERS = 2


def _drain(batches: Any) -> int:
    iterator = iter(batches)
    keep_alive(iterator)
    return sum(len(batch["label"]) for batch in iterator)


def _batches(paths: Sequence[Path], *, shuffled: bool = False) -> Any:
    """Ours: a source of batches."""
    records = tfr.TFRecordDataset([str(path) for path in paths])
    parsed = (records.global_shuffle(seed=1) if shuffled else records).parse(specs.a_spec(tfr))
    return grain.MapDataset.source(tfr.grain.batch_source(parsed, pipelines.BATCH)).to_iter_dataset()


def _elements(paths: Sequence[Path], count: int) -> Any:
    """Ours: a source of elements, the first of all."""
    parsed = tfr.TFRecordDataset([str(path) for path in paths]).take(count).parse(specs.a_spec(tfr))
    return grain.MapDataset.source(tfr.grain.source(parsed)).batch(pipelines.BATCH).to_iter_dataset()


def parse(record: bytes) -> dict[str, Any]:
    """What one writes by hand: the message, and a value of numpy for each feature."""
    feature = tfr.Example.FromString(record).features.feature
    values: dict[str, Any] = {name: np.float32(feature[name].float_list.value[0]) for name in specs.FLOATS}
    for name in (*specs.IDS, "label"):
        values[name] = np.int64(feature[name].int64_list.value[0])
    values["id"] = feature["id"].bytes_list.value[0]
    return values


def first_records(path: str, count: int) -> Any:
    """The first records of a file, parsed."""
    return grain.experimental.LimitIterDataset(grain.experimental.TFRecordIterDataset(path), count).map(parse)


def _theirs(paths: Sequence[Path], count: int, *, workers: int = 0) -> Any:
    """Grain's own way: as many records of each file, of some files at a time."""
    files = grain.MapDataset.source([str(path) for path in paths]).map(partial(first_records, count=count))
    records = grain.experimental.InterleaveIterDataset(files, cycle_length=len(paths) // max(1, workers))
    batches = records.batch(pipelines.BATCH)
    if not workers:
        return batches
    return batches.mp_prefetch(grain.MultiprocessingOptions(num_workers=workers))


def contenders(settings: Settings) -> list[Contender]:
    """Batches of A through grain."""
    importlib.import_module("absl.flags").FLAGS(["benchmarks"])  # which grain's worker processes want
    data = dataset("A", settings.scale)
    len(tfr.RecordFiles(list(data.plain)))  # makes the indexes
    each = data.records // PART // len(data.plain)

    def make(name: str, way: Any, records: int = data.records, **options: Any) -> Contender:
        size = round(data.stream_bytes * records / data.records)
        return Contender(name, lambda: _drain(way()), "records", records, size, **options)

    theirs = partial(_theirs, data.plain, each)
    some: dict[str, Any] = {"records": each * len(data.plain), "at_most": 3}
    return [
        make(BATCHES, partial(_batches, data.plain)),
        make(SHUFFLED, partial(_batches, data.plain, shuffled=True)),
        make(SINGLE, partial(_elements, data.plain, some["records"]), **some),
        make(THEIRS, theirs, **some),
        make(THEIRS_WORKERS, partial(theirs, workers=WORKERS), **some),
    ]


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("training_grain")
    results = in_child("training_grain", "contenders", settings, cores=2)
    report.add_results("Batches of A through grain, 2 cores", results)
    named = by_name(results)
    theirs = [named[THEIRS], named[THEIRS_WORKERS]]
    for name, required in ((BATCHES, 10.0), (SHUFFLED, None), (SINGLE, None)):
        report.ratio("A through grain", named[name], theirs, required)
    return report
