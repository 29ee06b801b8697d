"""zip: elements of several datasets side by side.

One element of each makes one. An error of one of them takes the place of the whole element, and the others advance too,
so that they stay in step, as in TensorFlow. As long as it cannot be observed, whole runs are zipped at once.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, RecordChunk
from tfrkit.data.elements.structure import flatten, is_nested, map_structure, pack
from tfrkit.data.engine.cursor import Cursor, Segment
from tfrkit.data.engine.fetch_node import CountingNode
from tfrkit.data.engine.lookup import Found, Lookup, Windowed
from tfrkit.data.engine.node import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Context,
    Node,
    NodeIterator,
    Run,
)
from tfrkit.model.row_selection import IntArray

__all__ = ["ZipNode", "make_zip_node"]

_WRONG = "Invalid input to `zip`. Inputs are expected to be (nested) structures of `tf.data.Dataset` objects"


@dataclass(frozen=True, eq=False)
class ZipNode(CountingNode):
    """Parts in a structure; `packing` is that structure with numbers of the parts as leaves."""

    parts: tuple[Node, ...]
    packing: Any

    verb = "zip"
    counts = True
    unindexable = ""

    def lookup(self, context: Context) -> Lookup:
        return _ZipLookup(self.packing, [part.lookup(context) for part in self.parts])

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        states = [None] * len(self.parts) if state is None else state
        cursors = [Cursor(part, context, at) for part, at in zip(self.parts, states, strict=bool(states))]
        return _ZipIterator(self, cursors)

    def element_spec(self) -> Any:
        return map_structure(lambda number: self.parts[number].element_spec(), self.packing)

    def cardinality(self) -> int:
        counts = [part.cardinality() for part in self.parts]
        finite = [count for count in counts if count != INFINITE_CARDINALITY]
        if not finite:
            return INFINITE_CARDINALITY
        return UNKNOWN_CARDINALITY if UNKNOWN_CARDINALITY in finite else min(finite)


class _ZipLookup(Lookup):
    def __init__(self, packing: Any, parts: list[Lookup]) -> None:
        self._packing = packing
        self._parts = parts
        self.size = min((part.size for part in parts if part.size >= 0), default=INFINITE_CARDINALITY)

    def at(self, numbers: IntArray, epoch: int) -> Found:
        """What is left out of one part is left out of all."""
        found = [part.at(numbers, epoch) for part in self._parts]
        kept = functools.reduce(_both, (part.kept for part in found), None)
        count = len(numbers) if kept is None else len(kept)
        chunks = [part.chunk if part.kept is kept else _only(part, kept) for part in found]
        return Found(_zip_chunks(self._packing, chunks, count) if count else ObjectChunk([]), kept)

    def element_bytes(self) -> float:
        return sum(part.element_bytes() for part in self._parts)

    def windowed(self, numbers: IntArray, epoch: int) -> Iterator[Windowed]:
        for part in self._parts:
            yield from part.windowed(numbers, epoch)


def _both(first: IntArray | None, second: IntArray | None) -> IntArray | None:
    if first is None or second is None:
        return second if first is None else first
    return np.intersect1d(first, second)


def _only(found: Found, kept: IntArray | None) -> Chunk:
    """The elements at some of the places that were found."""
    assert kept is not None
    return found.chunk.take(kept if found.kept is None else np.searchsorted(found.kept, kept))


def make_zip_node(args: tuple[Any, ...], datasets: Any) -> Node:
    """Check the arguments as TensorFlow does; each leaf is a Dataset, whose `.node` counts.

    Raises:
        TypeError: with TensorFlow's text.
    """
    if not args and datasets is None:
        raise TypeError("Must pass at least one dataset to `zip`.")
    if args and datasets is not None:
        raise TypeError("Both `*args` and `datasets` cannot be set.")
    given = datasets if not args else args[0] if len(args) == 1 else args
    parts: list[Node] = []

    def number(leaf: Any) -> int:
        node = getattr(leaf, "node", None)
        if isinstance(leaf, list):
            raise TypeError(f"{_WRONG}. Python `list` is not supported and you should use `tuple` instead.")
        if not isinstance(node, Node):
            raise TypeError(f"{_WRONG} but encountered object of type {type(leaf)}.")
        parts.append(node)
        return len(parts) - 1

    packing = map_structure(number, given)
    return ZipNode(tuple(parts), packing)


class _ZipIterator(NodeIterator):
    def __init__(self, node: ZipNode, cursors: list[Cursor]) -> None:
        self._packing = node.packing
        self._cursors = cursors
        # Those that may be asked for more than is used come first, then at most one that may not.
        order = sorted(range(len(cursors)), key=lambda number: not node.parts[number].pure)
        self._order = order if sum(not part.pure for part in node.parts) <= 1 else []
        self._ended = not cursors

    def pull(self, n: int) -> Run | None:
        if self._ended:
            return None
        return self._pull_many(n) or self._pull_one()

    def _pull_many(self, n: int) -> Run | None:
        """Zip runs without errors; None if a part is at its end or at an error, with nothing taken."""
        runs: dict[int, Segment] = {}
        for number in self._order:
            run = self._cursors[number].take(n)
            if run is not None:
                runs[number] = run
                n = min(n, len(run.chunk))
            if run is None or not n:
                n = 0
                break
        used = n if self._order else 0
        for number, taken in runs.items():
            self._cursors[number].put_back(taken, used)
        if not used:
            return None
        chunks = [runs[number].chunk for number in range(len(self._cursors))]
        return Run(_zip_chunks(self._packing, [chunk.slice(0, used) for chunk in chunks], used))

    def _pull_one(self) -> Run | None:
        """Take one element of each part in turn."""
        error: Exception | None = None
        chunks: list[Chunk] = []
        for cursor in self._cursors:
            run = cursor.take_one()
            if run is None:
                self._ended = True  # also if another part has an error here, which still comes
                return None if error is None else Run(ObjectChunk([]), error)
            error = error or run.error
            chunks.append(run.chunk)
        if error is not None:
            return Run(ObjectChunk([]), error)
        return Run(_zip_chunks(self._packing, chunks, 1))

    def save(self) -> Any:
        """Where each part stands; nothing at the end."""
        return [] if self._ended else [cursor.save() for cursor in self._cursors]

    def close(self) -> None:
        for cursor in self._cursors:
            cursor.close()


def _zip_chunks(packing: Any, chunks: list[Chunk], count: int) -> Chunk:
    """Elements side by side; columns if all are, and records as a column if there is another."""
    if not is_nested(packing):
        return chunks[0]
    columns = [chunk.columns for chunk in chunks if isinstance(chunk, (RecordChunk, ColumnChunk))]
    if len(columns) == len(chunks):
        return ColumnChunk(map_structure(lambda number: columns[number], packing), count)
    lists = [chunk.objects() for chunk in chunks]
    rows = list(zip(*lists, strict=True))
    if packing == tuple(range(len(lists))) and type(packing) is tuple:
        return ObjectChunk(rows)
    order = flatten(packing)
    return ObjectChunk([pack(packing, [row[number] for number in order]) for row in rows])
