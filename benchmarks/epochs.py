"""Claims: an epoch of A, global_shuffle + parse + batch(1,024) + prefetch, at 0.6 x in order, 8 x TensorFlow's shuffle.

In order is our own pipeline without the shuffle. TensorFlow shuffles with a buffer of 100,000, makes batches and parses
them with parallel calls, which is its best. The same with a window of 64 MB stands beside. Indexes are there before the
clock starts.

Resuming from a position in a file, at the beginning, the middle or the end of an epoch, takes less than 3 x the time of
a fresh start, both up to the first batch. Both make the pipeline anew and open the files, in a process that runs
already: what both would need for imports is not counted.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

from benchmarks import pipelines
from benchmarks.data import dataset, scratch
from benchmarks.harness import Claim, Contender, Report, Settings, by_name, in_child

SHUFFLED, WINDOW = "tfrkit, global_shuffle + parse + batch", "tfrkit, the same with a window of 64 MB"
IN_ORDER, THEIRS = (
    "tfrkit, parse + batch, in order",
    "TensorFlow, shuffle(100,000) + batch + map(parse_example)",
)
FRESH = "fresh start"
PLACES = (0.01, 0.5, 0.99)  # of an epoch
SLOWER = 3.0


def contenders(settings: Settings) -> list[Contender]:
    """An epoch of A in several orders."""
    mine, other = pipelines.ours(), pipelines.theirs()
    make = partial(pipelines.contender, kind="A", settings=settings)
    len(mine.records(dataset("A", settings.scale).plain))  # makes the indexes
    return [
        make(SHUFFLED, pipelines.epoch, mine),
        make(WINDOW, partial(pipelines.epoch, window=pipelines.WINDOW), mine),
        make(IN_ORDER, pipelines.parse_batch, mine),
        make(THEIRS, pipelines.shuffle_batch_map, other),
    ]


def resume_contenders(settings: Settings) -> list[Contender]:
    """The first batch, from the beginning and from positions."""
    data = dataset("A", settings.scale)
    mine = pipelines.ours()
    make = partial(pipelines.epoch, mine, data.plain)
    len(make())
    files = [_save_position(make(), place, settings) for place in PLACES]

    def first(file: Path | None = None) -> int:
        ds = make()
        iterator: Any = iter(ds) if file is None else ds.iter_from(json.loads(file.read_text()))
        rows = len(next(iterator)["label"])
        iterator.close()
        return rows

    amount: dict[str, Any] = {
        "records": pipelines.BATCH,
        "bytes": round(data.stream_bytes * pipelines.BATCH / data.records),
    }
    return [
        Contender(FRESH, first, "records", **amount),
        *(Contender(_resumed(place), partial(first, file), "records", **amount)
          for place, file in zip(PLACES, files, strict=True)),
    ]  # fmt: skip


def _resumed(place: float) -> str:
    return f"resumed at {place:.0%}"


def _save_position(ds: Any, place: float, settings: Settings) -> Path:
    """Write the position at a place; going there takes a moment, once."""
    iterator = iter(ds)
    for _ in range(min(round(len(ds) * place), len(ds) - 2)):  # the last batch may be smaller
        next(iterator)
    file = scratch(settings.scale) / f"position-{place:g}.json"
    file.write_text(json.dumps(iterator.position()))
    iterator.close()
    return file


def run(settings: Settings) -> Report:
    """Measure on two cores."""
    report = Report("epochs")
    named = by_name(results := in_child("epochs", "contenders", settings, cores=2))
    report.add_results("An epoch of A, 2 cores", results)
    report.ratio("An epoch of A", named[SHUFFLED], [named[IN_ORDER]], 0.6)
    report.ratio("An epoch of A", named[SHUFFLED], [named[THEIRS]], 8.0)
    report.ratio("An epoch of A", named[WINDOW], [named[IN_ORDER]], None)
    named = by_name(results := in_child("epochs", "resume_contenders", settings, cores=2))
    report.add_results("The first batch of an epoch of A, 2 cores", results)
    for place in PLACES:
        slower = named[_resumed(place)].best / named[FRESH].best
        text = f"First batch: seconds {_resumed(place)} / {FRESH}"
        report.add_claim(Claim(text, slower, SLOWER, sense="at most"))
    return report
