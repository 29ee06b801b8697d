"""Random runs of an epoch over changing numbers of ranks, sizes of batches and orders of stages; and what they give.

A run has legs. In each, every rank takes equally many elements of its pipeline; the next leg continues from the
position. `expected` says, by plain lists, which samples a rank gets.

A `Stretch` is such a leg for libraries that ask for batches by number, and go on from a number of samples only.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import tfrkit as tfr
from tfrkit import Dataset

__all__ = [
    "Run",
    "Sample",
    "Stretch",
    "Topology",
    "expected",
    "make_run",
    "write_samples",
    "wrong_stretches",
]

EPOCHS = 4  # that are looked at where there is no end
SIZES = (0, 1, 5, 12, 23, 40)


class Sample(NamedTuple):
    """A sample of an epoch, by its place in the order; `real` if it does not just fill up a rank."""

    epoch: int
    place: int
    real: bool = True


@dataclass(frozen=True)
class Topology:
    """How a leg is run: on how many ranks, and the stages of each rank's pipeline, in order.

    Stages are `("shard", tail)`, `("batch", size, drop_remainder)`, `("repeat", count)`, `("map", calls)`,
    `("prefetch", depth)`.
    """

    ranks: int
    stages: tuple[tuple[Any, ...], ...]
    threads: int | None = None

    def dataset(self, source: Dataset, rank: int) -> Dataset:
        """The pipeline of a rank."""
        ds = source if self.threads is None else source.with_options(tfr.Options(threads=self.threads))
        for verb, *rest in self.stages:
            if verb == "shard":
                (tail,) = rest
                ds = ds.shard(
                    self.ranks, rank, tail=None if tail == "" else tail.split()[0], mask=_mask(tail)
                )
            elif verb == "batch":
                ds = ds.batch(rest[0], drop_remainder=rest[1])
            elif verb == "map":
                ds = ds.map(_same, num_parallel_calls=rest[0])
            else:
                ds = getattr(ds, verb)(*rest)
        return ds

    def is_refused(self, size: int) -> bool:
        """Whether no rank has anything of an epoch of so many samples."""
        whole = [[Sample(0, place) for place in range(size)]]
        drops = ("shard", "drop") in self.stages
        return (
            drops and size > 0 and not any(expected(self, rank, whole, whole) for rank in range(self.ranks))
        )

    @property
    def drops(self) -> bool:
        """Whether it may leave samples out at the end of an epoch."""
        return any(
            stage in (("shard", "drop"),) or (stage[0] == "batch" and stage[2]) for stage in self.stages
        )


def _mask(tail: str) -> str | None:
    return "real" if tail == "repeat mask" else None


def _same(x: Any) -> Any:
    return x


def expected(
    topology: Topology, rank: int, epochs: list[list[Sample]], whole: list[list[Sample]]
) -> list[list[Sample]]:
    """The samples of each element that a rank gets of these epochs, the first of which may have begun.

    Args:
        topology: that of the leg.
        rank: the rank.
        epochs: what is left of the last ones.
        whole: all epochs of the run, from the beginning.
    """
    streams, wholes = ([[[sample] for sample in epoch] for epoch in each] for each in (epochs, whole))
    endless = False
    for verb, *rest in topology.stages:
        if verb == "repeat":
            streams, wholes = ([list(chain.from_iterable(each))] for each in (streams, wholes))
            endless = rest[0] < 0
        elif verb == "shard":
            tail = "" if endless else rest[0]
            begun = wholes[len(wholes) - len(streams) :]
            streams = [
                _shard(stream, each, topology.ranks, rank, tail)
                for stream, each in zip(streams, begun, strict=True)
            ]
        elif verb == "batch":
            streams, wholes = ([_batch(stream, *rest) for stream in each] for each in (streams, wholes))
    return (
        streams[0][:-EPOCHS] if endless else streams[0]
    )  # the last ones may be of more epochs than were given


def _shard(
    stream: list[list[Sample]], whole: list[list[Sample]], ranks: int, rank: int, tail: str
) -> list[list[Sample]]:
    if tail == "drop":
        stream = stream[: len(stream) // ranks * ranks]
    if not tail.startswith("repeat"):
        return stream[rank::ranks]
    places = range(rank, -(-len(stream) // ranks) * ranks, ranks)
    return [
        stream[place]
        if place < len(stream)
        else [sample._replace(real=False) for sample in whole[(place - len(stream)) % len(whole)]]
        for place in places
    ]


def _batch(stream: list[list[Sample]], size: int, drop: bool) -> list[list[Sample]]:
    stop = len(stream) // size * size if drop else len(stream)
    return [list(chain.from_iterable(stream[start : start + size])) for start in range(0, stop, size)]


@dataclass(frozen=True)
class Run:
    """A source and the legs of its run.

    Attributes:
        kind: of the source: "range", "dicts" or "files".
        size: its samples.
        shuffle: arguments of global_shuffle; None without one.
        repeat: None, or how often an epoch is repeated, -1 for ever.
        legs: topologies with what share of what is left every rank takes; the last takes all.
        named: elements are dicts.
    """

    kind: str
    size: int
    shuffle: dict[str, Any] | None
    repeat: int | None
    legs: tuple[tuple[Topology, float], ...]
    seed: int = field(default=0, compare=False)

    def source(self, folder: Path) -> Dataset:
        """The samples in their order."""
        if self.kind == "range":
            ds = Dataset.range(self.size)
        elif self.kind == "dicts":
            ds = Dataset.from_tensor_slices({"x": np.arange(self.size)})
        else:
            ds = tfr.TFRecordDataset(sorted(folder.glob(f"{self.size}-*.tfrecord")))
        return ds if self.shuffle is None else ds.global_shuffle(**self.shuffle)

    def orders(self, folder: Path) -> list[list[int]]:
        """The numbers of the samples, in the order of each epoch."""
        source = self.source(folder)
        return [[number for x in source.epoch(epoch) for number in numbers_of(x)] for epoch in range(EPOCHS)]


def numbers_of(element: Any) -> list[int]:
    """The samples of an element, which may be a batch."""
    if isinstance(element, dict):
        element = element["x"]
    if isinstance(element, tfr.BytesColumn):
        return [int(each) for each in element.to_list()]
    return [int(each) for each in (np.ravel(element) if not isinstance(element, bytes) else [element])]


def write_samples(folder: Path) -> Path:
    """Write the files of every size: two of them with the samples, and an empty one."""
    for size in SIZES:
        cut = size // 3
        for number, part in enumerate((range(cut), range(0), range(cut, size))):
            with tfr.TFRecordWriter(folder / f"{size}-{number}.tfrecord") as writer:
                writer.write_many([b"%d" % each for each in part])
    return folder


def make_run(seed: int) -> Run:
    """Make the run of this seed."""
    rng = random.Random(seed)
    kind = rng.choice(["range", "dicts", "files"])
    size = rng.choice(SIZES[1:] if kind == "dicts" else SIZES)
    shuffle: dict[str, Any] | None = {"seed": rng.randint(0, 99)}
    if rng.random() < 0.3:
        shuffle = {**(shuffle or {}), "window": rng.choice([1, 60, 200])}
    if rng.random() < 0.2:
        shuffle = None
    repeat = rng.choice([None, None, None, -1, EPOCHS])
    legs = [(_topology(rng, kind, size, repeat), rng.random()) for _ in range(rng.randint(1, 4))]
    return Run(kind, size, shuffle, repeat, tuple(legs), seed)


def _topology(rng: random.Random, kind: str, size: int, repeat: int | None) -> Topology:
    ranks = rng.choice([1, 1, 2, 2, 3, 4, 7])
    stages: list[tuple[Any, ...]] = []
    if rng.random() < 0.8:
        stages.append(("batch", rng.choice([1, 2, 3, 5, 8]), rng.random() < 0.25))
    if ranks > 1 or rng.random() < 0.3:
        tails = ["", "", "", "repeat", "drop"]
        if kind == "dicts":
            tails += ["repeat mask"] * 3
        stages.append(("shard", rng.choice(tails)))
    if repeat is not None:
        stages.append(("repeat", repeat))
    for verb, options in (("map", [None, 2, -1]), ("prefetch", [0, 1, 3, -1])):
        if rng.random() < 0.4:
            stages.append((verb, rng.choice(options)))
    rng.shuffle(stages)
    return Topology(ranks, tuple(stages), rng.choice([None, None, 1, 2, 5]))


@dataclass
class Stretch:
    """A part of an epoch: ranks that each take so many batches of the samples that are left.

    Attributes:
        draw: for what else a library lets one choose.
        begin: samples that were taken before.
        steps: batches of each rank; None: up to the end.
        tail: of the shards; "repeat" with a mask, the column "real".
        threads: of the pipeline.
    """

    draw: random.Random = field(repr=False)
    epoch: int
    begin: int
    ranks: int
    batch: int
    steps: int | None
    tail: str | None
    threads: int | None

    def part(self, samples: Dataset, rank: int) -> Dataset:
        """The samples of a rank from here on, one by one."""
        left = samples.with_options(tfr.Options(threads=self.threads)).skip(self.begin)
        return left.shard(
            self.ranks, rank, tail=self.tail, mask="real" if self.tail == "repeat" else None
        ).map(_marked)

    def error(self, taken: list[list[tuple[int, bool]]], wanted: list[int]) -> str:
        """What is wrong with the (id, real) that each rank took, of an epoch of this order; "" if nothing is."""
        left = wanted[self.begin :]
        if self.steps is not None:
            left = left[: self.steps * self.batch * self.ranks]
        elif self.tail == "drop":
            left = left[: len(left) // self.ranks * self.ranks]
        in_turns = [each for turn in zip_longest(*taken) for each in turn if each is not None]
        real = [number for number, is_real in in_turns if is_real]
        even = self.tail is None or len({len(each) for each in taken}) == 1
        return "" if real == left and even else f"{self}: {taken} instead of {left}"


def _marked(sample: dict[str, Any]) -> dict[str, Any]:
    return {"real": np.bool_(True)} | sample


def wrong_stretches(
    epochs: int, seed: int, take: Callable[[Stretch, Dataset, int], list[tuple[int, bool]]]
) -> list[str]:
    """Run epochs whose ranks, threads and sizes of batches change at random places; say what went wrong.

    Args:
        epochs: how many.
        seed: of what is random.
        take: takes a stretch of the samples, dicts of "id", on a rank; returns (id, real) of each.
    """
    draw, wrong = random.Random(seed), list[str]()
    for _ in range(epochs):
        size, epoch = draw.randint(1, 80), draw.randint(0, 3)
        ids = Dataset.from_tensor_slices({"id": np.arange(size)})
        samples = ids.global_shuffle(seed=draw.randint(0, 99))
        wanted = [int(sample["id"]) for sample in samples.epoch(epoch)]
        begin, stops = 0, draw.randint(0, 3)
        for number in range(stops + 1):
            ranks, batch, steps = draw.randint(1, 4), draw.randint(1, 9), draw.randint(0, 3)
            last = number == stops
            tail = draw.choice([None, "drop", "repeat"]) if last and size - begin >= ranks else None
            stretch = Stretch(
                draw, epoch, begin, ranks, batch, None if last else steps, tail, draw.choice([None, 1, 2, 5])
            )
            error = stretch.error([take(stretch, samples, rank) for rank in range(ranks)], wanted)
            wrong += [error] * bool(error)
            begin = min(size, begin + steps * batch * ranks)
    return wrong
