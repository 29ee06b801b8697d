"""Lookup: the elements of a pipeline by their numbers, in any order.

A stage that can says how in `Node.lookup`; most of them renumber what they are asked for, or do something to a chunk
that their input has found. Whole lists of numbers go through at once. `LookupIterator` runs a stage that way.

An epoch is the number of a pass. Only orders and seeds that differ from pass to pass look at it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ObjectChunk, concat, gather
from tfrkit.data.elements.owned import own_elements
from tfrkit.data.engine.cursor import place, read_place
from tfrkit.data.engine.node import INFINITE_CARDINALITY, Node, NodeIterator, Run, blocker
from tfrkit.data.engine.read_ahead import ReadAhead, Readings
from tfrkit.data.engine.tally import Tally
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.row_selection import IntArray, row_numbers

if TYPE_CHECKING:
    from tfrkit.data.engine.chunk_node import ChunkFunction

__all__ = [
    "Found",
    "Lookup",
    "LookupIterator",
    "LookupOver",
    "MadeLookup",
    "Renumbered",
    "Windowed",
    "WindowedLookup",
    "by_epoch",
    "checked_numbers",
    "has_position",
    "in_places",
    "out_of_range",
    "require_lookup",
    "samples_of",
]

_MOST: Final = int(np.iinfo(np.int64).max)  # what `row_numbers` makes of larger ones too


class Found(NamedTuple):
    """Elements that were asked for.

    Attributes:
        chunk: the elements, in the order of the numbers.
        kept: positions among the numbers of those that are there; None: all are. Damaged records may be left out.
    """

    chunk: Chunk
    kept: IntArray | None = None


class Lookup(ABC):
    """Elements by number. Thread-safe.

    Attributes:
        size: how many there are; INFINITE_CARDINALITY if there is no end.
    """

    size: int

    @abstractmethod
    def at(self, numbers: IntArray, epoch: int) -> Found:
        """Return the elements with these numbers, which must exist, as they are in a pass.

        Raises:
            Exception: that of an element which cannot be made.
        """

    def one(self, number: int, epoch: int) -> Any:
        """Return one element, for a user to own."""
        chunk, _ = self.at(np.array([number], np.int64), epoch)
        if not len(chunk):
            raise IndexError(f"element {number} is damaged, and was left out")
        return own_elements(chunk.objects())[0]

    def element_bytes(self) -> float:
        """Bytes that one element takes where it is stored, on average."""
        if not self.size:
            return 1.0
        return float(max(1, self.at(np.zeros(1, np.int64), 0).chunk.nbytes))

    def windowed(self, numbers: IntArray, epoch: int) -> Iterator[Windowed]:
        """What `at` would ask shuffles that read ahead for; each comes at least once, also if for nothing."""
        return iter(())

    def in_pieces(self, numbers: IntArray, epoch: int, each: int) -> list[Found]:
        """Return as `at` does, read in the order of the storage, in pieces of `each` of the numbers."""
        order = np.argsort(numbers, kind="stable")
        chunk, kept = self.at(numbers[order], epoch)
        found = order if kept is None else order[kept]  # which of the numbers
        rows = np.argsort(found, kind="stable")
        chunk, places = chunk.take(rows), found[rows]
        bounds = np.searchsorted(places, np.arange(0, len(numbers) + each, each)).tolist()
        return [
            Found(chunk.slice(begin, end), None if kept is None else places[begin:end] - number * each)
            for number, (begin, end) in enumerate(pairwise(bounds))
        ]

    def group(self) -> int:
        """How many elements a pass in random order best gets at once, by `in_pieces`; 0: as they come."""
        return 0

    def reordered(self, order: Callable[[Lookup], Lookup]) -> Lookup:
        """Put its elements in an order: before what is done to each of them, which is done when it is asked for."""
        return order(self)


class Windowed(NamedTuple):
    """What a shuffle that reads ahead is asked for.

    Attributes:
        lookup: the shuffle.
        rows: which of the numbers that were asked for it is asked for, ascending.
        places: what it is asked for: one for each of the rows.
        epoch: the pass.
    """

    lookup: WindowedLookup
    rows: IntArray
    places: IntArray
    epoch: int

    def among(self, rows: IntArray) -> Windowed:
        """The same where the numbers are some of others, those at `rows`."""
        return self._replace(rows=rows[self.rows])


class WindowedLookup(Lookup):
    """Elements that are best read many at a time: a window, or a number of them.

    Attributes:
        readings: what is read in this pass.
        most: elements that are read at once; 0: a whole window.
        piece: how many of them come in one.
    """

    readings: Readings
    most: int = 0
    piece: int

    @abstractmethod
    def windows(self, places: IntArray, epoch: int) -> IntArray:
        """The numbers of the windows of some places."""

    @abstractmethod
    def read(self, places: IntArray, epoch: int) -> list[Found]:
        """Read the elements at some places, in the order of the storage; return them in pieces."""


class LookupOver(Lookup):
    """A lookup that asks another, whose elements take as many bytes.

    Args:
        inner: the other.
        size: how many elements there are, if not as many as there.
    """

    def __init__(self, inner: Lookup, size: int | None = None) -> None:
        self.inner = inner
        self.size = inner.size if size is None else size

    def element_bytes(self) -> float:
        return self.inner.element_bytes()

    def windowed(self, numbers: IntArray, epoch: int) -> Iterator[Windowed]:
        """As the other says, where it is asked for the same numbers."""
        return self.inner.windowed(numbers, epoch)


class Renumbered(LookupOver):
    """Elements of another lookup under other numbers."""

    def __init__(self, inner: Lookup, size: int, number: Callable[[IntArray], IntArray]) -> None:
        super().__init__(inner, size)
        self._number = number

    def at(self, numbers: IntArray, epoch: int) -> Found:
        return self.inner.at(self._number(numbers), epoch)

    def one(self, number: int, epoch: int) -> Any:
        return self.inner.one(int(self._number(np.array([number]))[0]), epoch)

    def windowed(self, numbers: IntArray, epoch: int) -> Iterator[Windowed]:
        return self.inner.windowed(self._number(numbers), epoch)

    def in_pieces(self, numbers: IntArray, epoch: int, each: int) -> list[Found]:
        return self.inner.in_pieces(self._number(numbers), epoch, each)

    def group(self) -> int:
        return self.inner.group()


class MadeLookup(LookupOver):
    """What a function makes of the chunks of another lookup."""

    def __init__(self, inner: Lookup, function: ChunkFunction) -> None:
        super().__init__(inner)
        self._function = function

    def reordered(self, order: Callable[[Lookup], Lookup]) -> Lookup:
        return MadeLookup(self.inner.reordered(order), self._function)

    def at(self, numbers: IntArray, epoch: int) -> Found:
        """Do it, or raise the error of the first element that fails."""
        chunk, kept = self.inner.at(numbers, epoch)
        if not len(chunk):
            return Found(chunk, kept)
        made, error = self._function(chunk)
        if error is not None:
            located = getattr(error, "locate", None)  # a broken image
            raise error if located is None else located(chunk, len(made)).error()
        return Found(made, kept)


def by_epoch(lookup: Lookup, numbers: IntArray, epochs: IntArray) -> Found:
    """Return elements of several passes: those with these numbers, each in its own."""
    found = np.unique(epochs)
    if len(found) <= 1:
        return lookup.at(numbers, int(found[0]) if len(found) else 0)
    places = [(np.flatnonzero(epochs == epoch), epoch) for epoch in found.tolist()]
    return in_places([(place, lookup.at(numbers[place], epoch)) for place, epoch in places], len(numbers))


def in_places(parts: Sequence[tuple[IntArray, Found]], count: int) -> Found:
    """Return elements that were looked up in parts, each at its place among `count` numbers.

    Args:
        parts: the places of the numbers that were asked for, and what was found.
        count: of all numbers.
    """
    chunks = [found.chunk for _, found in parts]
    at = np.concatenate([places if found.kept is None else places[found.kept] for places, found in parts])
    if (at[1:] > at[:-1]).all():
        return Found(concat(chunks), None if len(at) == count else at)
    order = np.argsort(at, kind="stable")
    sizes = [*map(len, chunks)]
    which, rows = np.repeat(np.arange(len(chunks)), sizes), np.concatenate([*map(np.arange, sizes)])
    chunk = gather(chunks, which[order], rows[order]) if len(order) else concat(chunks)
    return Found(chunk, None if len(at) == count else at[order])


class LookupIterator(NodeIterator):
    """Elements of a lookup, one number after another, read ahead if they are of windows.

    Its state is the place of the next one among the numbers.
    """

    def __init__(self, lookup: Lookup, epoch: int, state: Any, tally: Tally | None = None) -> None:
        self._lookup = lookup
        self._epoch = epoch
        at, skip = read_place(state)
        self._next = (at or 0) + skip
        self._tally = tally
        self._given = (state or {}).get("given", 0)  # elements: fewer than numbers if some were left out
        if tally is not None:
            tally.begin(self._given, self._next)
        self._ahead = ReadAhead(lookup, epoch, self._next)

    def pull(self, n: int) -> Run | None:
        run: Run | None = Run(ObjectChunk([]))
        while run is not None and not len(run.chunk) and run.error is None:  # all were left out
            run, _ = self.pull_every(n, 0, 1)
        return run

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        size = self._lookup.size
        begin = self._next + first
        count = n if size == INFINITE_CARDINALITY else min(n, -(-(size - begin) // step))
        if count <= 0:
            past = max(0, size - self._next)
            self._next = max(self._next, size)
            return None, past
        self._ahead.reach(begin, begin + step * (count - 1) + 1)
        while True:
            numbers = begin + step * np.arange(count, dtype=np.int64)
            try:
                chunk, kept = self._lookup.at(numbers, self._epoch)
            except Exception as error:  # of one of them: those before it come first
                if count > 1:
                    count //= 2
                    continue
                return self._passed(numbers, Run(ObjectChunk([]), error))
            self._note(numbers if kept is None else numbers[kept])
            return self._passed(numbers, Run(chunk))

    def _note(self, numbers: IntArray) -> None:
        """Count elements that are given."""
        if self._tally is not None:
            self._tally.note(self._given, numbers + 1)
            self._given += len(numbers)

    def _passed(self, numbers: IntArray, run: Run) -> tuple[Run, int]:
        before, self._next = self._next, int(numbers[-1]) + 1
        return run, self._next - before

    def save(self) -> Any:
        at = place(self._next)
        return at if self._tally is None else {**at, "given": self._given}

    def close(self) -> None:
        self._ahead.close()


def checked_numbers(indices: Any, size: int) -> IntArray:
    """Numbers of elements as a user gives them, counted from the beginning.

    Raises:
        IndexError: one is out of range.
    """
    wanted = row_numbers(indices, max(0, size), flat=True)
    numbers = np.where(wanted < 0, wanted + size, wanted) if size >= 0 else wanted
    wrong = (numbers < 0) | (numbers >= (size if size >= 0 else _MOST))
    if wrong.any():
        raise out_of_range(np.ravel(indices)[wrong][0], size)  # which may be beyond what an int64 holds
    return numbers


def out_of_range(number: Any, size: int) -> IndexError:
    """The error for an element that is not there."""
    endless = "the dataset has no end to count from" if number < 0 else f"expected numbers below {_MOST}"
    there = f"there are {size}" if size >= 0 else endless
    return IndexError(f"element {number} is out of range: {there}")


def samples_of(node: Node) -> Node:
    """The stage whose elements are the samples that positions count: all after it make or choose elements of them."""
    while node.used(0) is not None or node.tallies:
        (node,) = node.inputs
    return node


def has_position(node: Node) -> bool:
    """Whether the samples of a pipeline can be counted."""
    return blocker(samples_of(node)) is None


def require_lookup(node: Node) -> None:
    """Refuse a pipeline whose elements cannot be had by number.

    Raises:
        InvalidArgumentError: it names the stage, and what to do.
    """
    found = blocker(node)
    if found is not None:
        raise InvalidArgumentError(
            f"{found.label} has no elements by number, so that the dataset can only be iterated. {found.unindexable}"
        )
