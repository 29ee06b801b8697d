"""batch: consecutive elements put together.

Records stay references to their blocks and columns stay columns, so that a batch costs next to nothing; only objects
are stacked. What a batch of each kind of value is, is in `columns.py` and `collate.py`.

Stages round a batch run as one with it (`FusedBatchNode`): elements are taken, parsed and put together in one go,
without looking in between. `parse` and verbs on features are fused with the batch before or after them, and so is a
prefetch after it. If pulling ahead cannot be observed, several batches are made at once, also without a prefetch. The
state is that of the stages one by one: it is valid with and without fusing.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.data.batch.batch_iterators import BackgroundBatches, BatchIterator, BatchMaker
from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk
from tfrkit.data.elements.structure import flatten, map_structure
from tfrkit.data.elements.structure_specs import batched
from tfrkit.data.engine.cursor import Cursor, place, read_place
from tfrkit.data.engine.fetch_node import CountingNode
from tfrkit.data.engine.lookup import Found, Lookup, Windowed
from tfrkit.data.engine.node import AUTOTUNE, Context, Node, NodeIterator, Run, UnaryNode
from tfrkit.model.row_selection import IntArray, splits_of

__all__ = ["BatchNode", "BatchingNode", "FusedBatchNode", "PlainBatchIterator", "batch_count"]

_AT_ONCE: Final = 4096  # elements that are cut into batches in one go, if that many batches are asked for


def batch_count(elements: int, size: int, drop: bool) -> int:
    """The number of batches that a number of elements make; negative ones mean unknown, or without end.

    >>> batch_count(5, 2, False), batch_count(5, 2, True), batch_count(-1, 2, True)
    (3, 2, -1)
    """
    if elements < 0:
        return elements
    return elements // size if drop else -(-elements // size)


@dataclass(frozen=True, eq=False)
class BatchingNode(CountingNode, UnaryNode):
    """Batches of `size`; a last one with fewer elements is dropped or not."""

    size: int
    drop: bool

    unindexable = ""

    @property
    def takes(self) -> int:
        return self.size

    def used(self, count: int) -> int | None:
        return count * self.size

    def lookup(self, context: Context) -> Lookup:
        return _BatchLookup(self, self.input.lookup(context))

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return BatchIterator(self.maker(), Cursor(self.input, context, state))

    def maker(self) -> BatchMaker:
        """What makes the batches."""
        return BatchMaker(self.size, self.drop, self.make_function())

    @abstractmethod
    def make_function(self) -> Callable[[Chunk], Any]:
        """What puts elements together; it may be called in several threads at once."""

    def fused(self) -> Node | None:
        """With the chunkwise stages before it.

        Of elements with numbers, a batch is made of the same ones whether or not some of them are left out.
        """
        if (numbered := super().fused()) is not None:
            return numbered
        before: list[Node] = []
        source = self.input
        while source.chunkwise:
            before.append(source)
            (source,) = source.inputs
        source, moved = source.before_batch()
        stages = (*moved, *reversed(before))
        return FusedBatchNode(source, stages, self, (), moved=len(moved)) if stages else None

    def cardinality(self) -> int:
        return batch_count(self.input.cardinality(), self.size, self.drop)

    @property
    def rows(self) -> int | None:
        """The number of elements of every batch, None if the last may have fewer."""
        return self.size if self.drop else None

    def _shown(self) -> str:
        return f"{self.size}{', drop_remainder=True' if self.drop else ''}"


class _BatchLookup(Lookup):
    """Batches by number: the elements of all that are asked for are looked up at once."""

    def __init__(self, node: BatchingNode, inner: Lookup) -> None:
        self._inner = inner
        self._batch = node.size
        self._make = node.make_function()
        self.size = batch_count(inner.size, node.size, node.drop)

    def at(self, numbers: IntArray, epoch: int) -> Found:
        rows, splits = self._rows(numbers)
        chunk, kept = self._inner.at(rows, epoch)
        if kept is not None:
            splits = np.searchsorted(kept, splits)
        full = np.flatnonzero(np.diff(splits))
        parts = [chunk.slice(int(splits[row]), int(splits[row + 1])) for row in full]
        return Found(ObjectChunk([*map(self._make, parts)]), None if len(full) == len(numbers) else full)

    def element_bytes(self) -> float:
        return self._inner.element_bytes() * self._batch

    def windowed(self, numbers: IntArray, epoch: int) -> Iterator[Windowed]:
        rows, splits = self._rows(numbers)
        of_batch = np.repeat(np.arange(len(numbers)), np.diff(splits))
        yield from (each.among(of_batch) for each in self._inner.windowed(rows, epoch))

    def _rows(self, numbers: IntArray) -> tuple[IntArray, IntArray]:
        """The numbers of the elements of some batches, and where those of each begin."""
        ends = (numbers + 1) * self._batch
        if self._inner.size >= 0:
            ends = np.minimum(ends, self._inner.size)
        sizes = ends - numbers * self._batch
        splits = splits_of(sizes)
        return np.arange(splits[-1]) + np.repeat(numbers * self._batch - splits[:-1], sizes), splits


@dataclass(frozen=True, eq=False)
class BatchNode(BatchingNode):
    """Batches of elements as they are."""

    verb = "batch"

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return PlainBatchIterator(self.maker(), Cursor(self.input, context, state))

    def make_function(self) -> Callable[[Chunk], Any]:
        return lambda chunk: chunk.batch()

    def fused_with(self, stage: Any) -> Node | None:
        """With a stage that takes batches of records."""
        return FusedBatchNode(self.input, (), self, (stage,)) if stage.takes_records else None

    def element_spec(self) -> Any:
        return batched(self.input.element_spec(), self.rows)


@dataclass(frozen=True, eq=False)
class FusedBatchNode(UnaryNode):
    """A batch with the stages before and after it.

    Attributes:
        input: what the first stage reads.
        before: stages for single elements, first to last; their own inputs do not count.
        batch: BatchNode or PaddedBatchNode.
        after: stages for batches.
        depth: of the prefetch after them; None if there is none.
        moved: how many of the first stages have no part in states: a shard that has come before them writes for them.
    """

    before: tuple[Any, ...]
    batch: Any
    after: tuple[Any, ...]
    depth: int | None = None
    moved: int = 0

    verb = "batch"
    unindexable = ""

    def lookup(self, context: Context) -> Lookup:
        found = self.input.lookup(context)
        for stage in self.before:
            found = stage.lookup_over(found, context)
        found = _BatchLookup(self.batch, found)
        for stage in self.after:
            found = stage.lookup_over(found, context)
        return found

    @property
    def varies(self) -> bool:
        return any(each.varies for each in (self.input, *self.before))

    def at_epoch(self, epoch: int) -> Node:
        before = tuple(each.at_epoch(epoch) for each in self.before)
        return dataclasses.replace(self, input=self.input.at_epoch(epoch), before=before)

    @property
    def takes(self) -> int:
        return int(self.batch.takes)

    @property
    def place_units(self) -> tuple[int, ...]:
        batches = len(self.after) + self.prefetches
        return (int(self.batch.size),) * batches + (1,) * (len(self.before) - self.moved + 1)

    @property
    def prefetches(self) -> bool:
        return self.depth is not None

    def fused_with(self, stage: Node) -> Node | None:
        return dataclasses.replace(self, after=(*self.after, stage)) if self.depth is None else None

    def fused_with_prefetch(self, depth: int) -> Node | None:
        return dataclasses.replace(self, depth=depth) if self.pure and self.depth is None else None

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        # The stages write a state each, the last one the outermost: where its input stood, and what it used of a run.
        seen = 0
        for unit in self.place_units:
            state, skip = read_place(state)
            seen += unit * skip
        inner = place(state, seen)
        if self.pure:
            return BackgroundBatches(self._maker, self.depth, self.input, context, inner)
        return BatchIterator(self._maker(context), Cursor(self.input, context, inner))

    def _maker(self, context: Context) -> BatchMaker:
        maker: BatchMaker = self.batch.maker()
        return maker.among(self.before, self.after, context, moved=self.moved)

    def element_spec(self) -> Any:
        return (self.batch, *self.after)[-1].element_spec()

    def cardinality(self) -> int:
        return int(self.batch.cardinality())

    @property
    def label(self) -> str:
        labels = [stage.label for stage in (*self.before, self.batch, *self.after)]
        if self.depth is not None:
            labels.append(f"prefetch({'AUTOTUNE' if self.depth == AUTOTUNE else self.depth})")
        return " + ".join(labels)


class PlainBatchIterator(BatchIterator):
    """Batches of elements as they are."""

    def pull(self, n: int) -> Run | None:
        """Return several batches at once of arrays, which are cut without a copy; else one."""
        size = self._maker.count
        wanted = min(n, _AT_ONCE // size)
        if wanted > 1 and not self._cursor.pending:
            run = self._cursor.take(wanted * size)
            if run is None:
                return None
            count = len(run.chunk) // size
            cut = _cut_arrays(run.chunk, count, size) if count else None
            self._cursor.put_back(run, 0 if cut is None else count * size)
            if cut is not None:
                return Run(cut)
        return super().pull(1)


def _cut_arrays(chunk: Chunk, count: int, size: int) -> ColumnChunk | None:
    """Batches as rows of columns, if all columns are arrays."""
    if not isinstance(chunk, ColumnChunk) or not all(
        isinstance(column, np.ndarray) for column in flatten(chunk.columns)
    ):
        return None

    def cut(column: Any) -> Any:
        return column[: count * size].reshape(count, size, *column.shape[1:])

    return ColumnChunk(map_structure(cut, chunk.columns), count)
