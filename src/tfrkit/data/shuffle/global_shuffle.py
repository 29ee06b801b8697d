"""global_shuffle: all elements in a random order that is computed, not stored.

The order is a permutation of the numbers of all elements (`values/permutation.py`) by seed and epoch: no buffer, any
part of it at once, the same on every machine. With a window, runs of neighbouring elements come in random order, and
the elements of so many runs as fit into the window are mixed: storage sees whole runs only.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tfrkit.data.arguments import integer
from tfrkit.data.elements.chunk import concat
from tfrkit.data.engine.fetch_node import NumberedNode
from tfrkit.data.engine.lookup import (
    Found,
    Lookup,
    LookupIterator,
    LookupOver,
    Windowed,
    WindowedLookup,
    in_places,
    require_lookup,
)
from tfrkit.data.engine.node import INFINITE_CARDINALITY, Context, Node, NodeIterator, Run
from tfrkit.data.engine.read_ahead import Reading, Readings
from tfrkit.data.shuffle.epoch_seeds import GlobalSeed
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.row_selection import IntArray
from tfrkit.stores.ranges import join_ranges
from tfrkit.values.permutation import Permutation

__all__ = ["GlobalShuffleNode", "drawn_seed", "given_seed", "make_global_shuffle_node"]

_RUN_BYTES: Final = 1 << 22  # of neighbours in a window: what object stores and disks deliver well at once
_LOOKED_AT: Final = 1 << 17  # elements of an epoch by which `explain` tells what it reads
_LOOKED_INTO: Final = 16  # windows of them
_PIECE: Final = 4096  # elements that are let go at once when they are used up
_PIECE_BYTES: Final = 1_900_000  # of them, about: with what their sizes differ by it fits into a large page
_LEAST_RUNS: Final = 16  # of a window, or its elements would be of few neighbourhoods


@dataclass(frozen=True, eq=False)
class GlobalShuffleNode(NumberedNode):
    """All elements in a random order.

    Attributes:
        seed: of the order.
        reshuffle: another order in every epoch.
        window: None, or about how many bytes of elements are mixed at a time.
        epoch: of the pass.
    """

    seed: GlobalSeed
    reshuffle: bool
    window: int | None
    epoch: int = field(default=0, metadata={"unsigned": True})

    verb = "global_shuffle"
    reorders = True
    numbers_elements = True
    unindexable = ""

    @property
    def varies(self) -> bool:
        return self.reshuffle or self.input.varies

    def lookup(self, context: Context) -> Lookup:
        inner = self.input.lookup(context)
        if inner.size == INFINITE_CARDINALITY:
            raise InvalidArgumentError(
                "global_shuffle: expected a dataset with an end. Shuffle before repeat(), which then has another order "
                "every time."
            )
        readings = context.readings.setdefault(self, Readings())
        if self.window is None:
            return inner.reordered(lambda base: self._shuffled(base, readings))
        return _WindowLookup(inner, _WindowOrder(inner, self), readings)

    def _shuffled(self, inner: Lookup, readings: Readings) -> Lookup:
        order = _PlainOrder(inner, self)
        return _GroupLookup(inner, order, readings) if inner.group() else _ShuffledLookup(inner, order)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        lookup = self.lookup(context)
        if not isinstance(lookup, _WindowLookup):
            return super().start(context, state)
        return _WindowIterator(lookup, self.epoch, state)

    @property
    def runs_by_number(self) -> bool:
        return self.window is None

    def plan(self, context: Context, after: Node) -> str:
        """What an epoch reads, for `explain`, if elements of this stage or of a later one are asked for by number."""
        lookup = after.lookup(context)
        count = _LOOKED_AT if lookup.size == INFINITE_CARDINALITY else min(lookup.size, _LOOKED_AT)
        for found, rows, places, epoch in lookup.windowed(np.arange(count), self.epoch):
            if isinstance(found, _WindowLookup) and found.order.node is self:
                # What follows the last of an epoch is of the next one, or of another dataset.
                return found.order.plan(places, epoch, whole=len(rows) < count or count == lookup.size)
        return "elements are read one by one: a later shuffle asks for them in another order"

    def _shown(self) -> str:
        given = f"seed={self.seed.value}" if self.seed.is_given else ""
        window = "" if self.window is None else f"window={self.window}"
        return ", ".join(filter(None, [given, window]))


def make_global_shuffle_node(input: Node, seed: int | None, reshuffle: bool, window: int | None) -> Node:
    """Check the arguments.

    Raises:
        InvalidArgumentError: elements of the input cannot be had by number, or the window is not positive.
    """
    require_lookup(input)
    if window is not None and integer(window, "window") < 1:
        raise InvalidArgumentError(f"Expected a window of at least 1 byte but got {window}.")
    return GlobalShuffleNode(input, GlobalSeed.of_user(seed), reshuffle, window)


def given_seed(node: Node) -> GlobalSeed | None:
    """The seed that the user gave to the last global shuffle of a pipeline which has one; None if there is none."""
    seeds = (each.seed for each in node.stages() if isinstance(each, GlobalShuffleNode))
    return next((seed for seed in seeds if seed.is_given), None)


def drawn_seed(node: Node) -> Node | None:
    """The global shuffle of a pipeline whose seed nobody gave; None if there is none."""
    return next(
        (each for each in node.stages() if isinstance(each, GlobalShuffleNode) and not each.seed.is_given),
        None,
    )


class _Order:
    """Which element of the input comes at each place of an epoch."""

    def __init__(self, inner: Lookup, node: GlobalShuffleNode) -> None:
        self.inner = inner
        self.size = inner.size
        self.node = node

    def epoch_of(self, epoch: int) -> int:
        return epoch if self.node.reshuffle else 0


class _PlainOrder(_Order):
    def numbers(self, places: IntArray, epoch: int) -> IntArray:
        """The numbers of the elements at some places."""
        return Permutation(self.size, self.node.seed.value, self.epoch_of(epoch)).at(places)


class _WindowOrder(_Order):
    """Runs of `run` neighbours in random order, `runs` of which are mixed."""

    def __init__(self, inner: Lookup, node: GlobalShuffleNode) -> None:
        super().__init__(inner, node)
        each = inner.element_bytes()
        window = max(1, min(self.size, int((node.window or 1) / each)))  # elements
        self.run = max(1, min(int(_RUN_BYTES / each), window // _LEAST_RUNS))
        self.runs = max(1, window // self.run)
        self.count = -(-self.size // self.run)  # of runs
        self._known: tuple[tuple[int, int], IntArray, IntArray] | None = (
            None  # the layout of an epoch, by a seed
        )

    def window_of(self, window: int, epoch: int) -> IntArray:
        """The numbers of the elements of a window, in their order."""
        first = window * self.runs
        chosen = self._layout(epoch)[0][first : first + self.runs]
        numbers = (chosen[:, None] * self.run + np.arange(self.run)).ravel()
        numbers = numbers[numbers < self.size]
        seed = self.node.seed.value
        own = (self.epoch_of(epoch) * (self.count + 1) + window + 1) % 2**64  # as FORMAT.md has it
        mixed = Permutation(len(numbers), seed, own)
        return numbers[mixed.run(0, len(numbers))]

    def _layout(self, epoch: int) -> tuple[IntArray, IntArray]:
        """The runs in the order of an epoch, and at which place each window begins."""
        known, which = self._known, (epoch, self.node.seed.value)
        if known is not None and known[0] == which:
            return known[1:]
        seed = ~which[1] % 2**64
        runs = Permutation(self.count, seed, self.epoch_of(epoch)).run(0, self.count)
        sizes = np.full(self.count, self.run)
        sizes[runs == self.count - 1] = self.size - (self.count - 1) * self.run
        starts = np.append(0, np.cumsum(sizes)[:-1])[:: self.runs]
        self._known = which, runs, starts
        return runs, starts

    def window_at(self, places: IntArray, epoch: int) -> tuple[IntArray, IntArray]:
        """The windows of some places, and where each window begins."""
        starts = self._layout(epoch)[1]
        return np.searchsorted(starts, places, side="right") - 1, starts

    def numbers(self, places: IntArray, epoch: int) -> IntArray:
        windows, starts = self.window_at(places, epoch)
        numbers = np.empty(len(places), np.int64)
        for window in np.unique(windows).tolist():
            chosen = windows == window
            numbers[chosen] = self.window_of(window, epoch)[places[chosen] - starts[window]]
        return numbers

    def plan(self, places: IntArray, epoch: int, *, whole: bool) -> str:
        """What is read for some places: the first ones that are wanted of an epoch, or all of them."""
        each = self.inner.element_bytes()
        mixed = self.runs * self.run
        mixes = f"{mixed} elements are mixed at a time ({mixed * each / 2**20:.0f} MiB)"
        if len(places) == self.size if whole else len(places) == np.ptp(places) + 1:
            size = self.run * each / 2**20
            return f"{self.count} reads an epoch of about {size:.1f} MiB each, every byte once; {mixes}"
        if not len(places):
            return "nothing is read"
        wanted = len(places) if whole else int(len(places) * self.size / (np.ptp(places) + 1))
        windows, _ = self.window_at(places, epoch)
        used = np.isin(windows, np.unique(windows)[:_LOOKED_INTO])
        reads = [end - begin for begin, end in self._reads(places[used], windows[used], epoch, each)]
        scale = wanted / np.count_nonzero(used)
        return (
            f"about {len(reads) * scale:.0f} reads an epoch of {sum(reads) / len(reads) / 2**20:.1f} MiB each for "
            f"{wanted} of {self.size} elements, {100 * sum(reads) * scale / each / self.size:.0f} % of all bytes if "
            f"the files are remote: what is near each other is read at once; {mixes}"
        )

    def _reads(
        self, places: IntArray, windows: IntArray, epoch: int, each: float
    ) -> Iterator[tuple[float, float]]:
        """Where the reads of some places in windows begin and end."""
        for window in np.unique(windows).tolist():
            starts = np.unique(self.numbers(places[windows == window], epoch)) * int(each)
            for begin, end, _ in join_ranges(starts.tolist(), (starts + int(each)).tolist()):
                yield begin, end


class _ShuffledLookup(LookupOver):
    def __init__(self, inner: Lookup, order: _PlainOrder | _WindowOrder) -> None:
        super().__init__(inner)
        self._order = order

    def at(self, numbers: IntArray, epoch: int) -> Found:
        return self.inner.at(self._order.numbers(numbers, epoch), epoch)

    def one(self, number: int, epoch: int) -> Any:
        return self.inner.one(int(self._order.numbers(np.array([number]), epoch)[0]), epoch)

    def windowed(self, numbers: IntArray, epoch: int) -> Iterator[Windowed]:
        """Nothing: what comes in windows is all over the place now."""
        return iter(())


class _AheadLookup(_ShuffledLookup, WindowedLookup):
    """Takes elements from what is read ahead of them, if something is."""

    def __init__(self, inner: Lookup, order: _PlainOrder | _WindowOrder, readings: Readings) -> None:
        super().__init__(inner, order)
        self.readings = readings
        self.piece = max(1, min(_PIECE, int(_PIECE_BYTES / inner.element_bytes())))

    def at(self, numbers: IntArray, epoch: int) -> Found:
        if not len(numbers):
            return super().at(numbers, epoch)
        near = self.readings.of(epoch, int(numbers.min()), int(numbers.max()))
        if (run := _run(near, numbers)) is not None:
            return run
        left = np.arange(len(numbers))
        parts: list[tuple[IntArray, Found]] = []
        for reading in near:
            rows, there = reading.rows_of(numbers[left])
            if there.any() and (found := reading.found()) is not None:
                parts.append((left[there], _some(found, rows[there])))
                left = left[~there]
                if not len(left):
                    break
        if not parts:
            return super().at(numbers, epoch)
        if len(left):
            parts.append((left, super().at(numbers[left], epoch)))
        return parts[0][1] if len(parts) == 1 else in_places(parts, len(numbers))

    def windowed(self, numbers: IntArray, epoch: int) -> Iterator[Windowed]:
        yield Windowed(self, np.arange(len(numbers)), numbers, epoch)

    def read(self, places: IntArray, epoch: int) -> list[Found]:
        return self.inner.in_pieces(self._order.numbers(places, epoch), epoch, self.piece)


class _WindowLookup(_AheadLookup):
    """Elements that are read a window at a time."""

    def __init__(self, inner: Lookup, order: _WindowOrder, readings: Readings) -> None:
        super().__init__(inner, order, readings)
        self.order = order

    def windows(self, places: IntArray, epoch: int) -> IntArray:
        return self.order.window_at(places, epoch)[0]


class _GroupLookup(_AheadLookup):
    """Elements that are read many at a time, wherever they are: one by one would leave whole files mapped."""

    def __init__(self, inner: Lookup, order: _PlainOrder, readings: Readings) -> None:
        super().__init__(inner, order, readings)
        self.most = inner.group()

    def windows(self, places: IntArray, epoch: int) -> IntArray:
        return np.zeros(len(places), np.int64)


def _run(readings: list[Reading], places: IntArray) -> Found | None:
    """Neighbouring places from readings of neighbours, the usual case; None if it is another."""
    at, end = int(places[0]), int(places[-1]) + 1
    if end - at != len(places) or not (places[1:] > places[:-1]).all():
        return None
    chunks = []
    for reading in sorted(readings, key=lambda each: int(each.places[0])):
        first, after = int(reading.places[0]), int(reading.places[-1]) + 1
        if not first <= at < after or after - first != len(reading.places):
            continue
        found = reading.found()
        if found is None or found.kept is not None:
            return None
        stop = min(end, after)
        chunks.append(found.chunk.slice(at - first, stop - first))
        at = stop
        if at == end:
            return Found(concat(chunks))
    return None


def _some(found: Found, rows: IntArray) -> Found:
    """What was found of some rows of what was asked for."""
    chunk, kept = found
    there = None
    if kept is not None:
        at = np.searchsorted(kept, rows)
        there = np.flatnonzero(np.append(kept, -1)[at] == rows)
        rows = at[there]
    if len(rows) and (np.diff(rows) == 1).all():
        return Found(chunk.slice(int(rows[0]), int(rows[-1]) + 1), there)
    return Found(chunk.take(rows), there)


class _WindowIterator(LookupIterator):
    """Ends its runs with the windows, as states of stages after it tell."""

    def __init__(self, lookup: _WindowLookup, epoch: int, state: Any) -> None:
        super().__init__(lookup, epoch, state)
        self._order = lookup.order

    def pull(self, n: int) -> Run | None:
        if 0 <= self._next < self._order.size:
            windows, starts = self._order.window_at(np.array([self._next]), self._epoch)
            after = int(windows[0]) + 1
            end = int(starts[after]) if after < len(starts) else self._order.size
            n = min(n, end - self._next)
        return super().pull(n)
