"""batch: consecutive elements put together.

Records stay references to their blocks and columns stay columns, so that a batch costs next to nothing; only objects
are stacked. What a batch of each kind of value is, is in `columns.py` and `collate.py`.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.data.batch.batch_iterators import BatchIterator
from tfrkit.data.batch.batch_maker import BatchMaker
from tfrkit.data.batch.fused_batch import FusedBatchNode, fused_batch
from tfrkit.data.elements.chunk import Chunk, ColumnChunk
from tfrkit.data.elements.structure import flatten, map_structure
from tfrkit.data.elements.structure_specs import batched
from tfrkit.data.engine.cursor import Cursor
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run, UnaryNode

__all__ = ["BatchNode", "BatchingNode", "PlainBatchIterator", "batch_count"]

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
class BatchingNode(UnaryNode):
    """Batches of `size`; a last one with fewer elements is dropped or not."""

    size: int
    drop: bool

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return BatchIterator(self.maker(), Cursor(self.input, context, state))

    def maker(self) -> BatchMaker:
        """What makes the batches."""
        return BatchMaker(self.size, self.drop, self.make_function())

    @abstractmethod
    def make_function(self) -> Callable[[Chunk], Any]:
        """What puts elements together; it may be called in several threads at once."""

    def fused(self) -> Node | None:
        return fused_batch(self)

    def cardinality(self) -> int:
        return batch_count(self.input.cardinality(), self.size, self.drop)

    @property
    def rows(self) -> int | None:
        """The number of elements of every batch, None if the last may have fewer."""
        return self.size if self.drop else None

    def _shown(self) -> str:
        return f"{self.size}{', drop_remainder=True' if self.drop else ''}"


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
