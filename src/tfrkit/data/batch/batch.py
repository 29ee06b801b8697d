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

from tfrkit.data.batch.stack_like_first import stack_like_first
from tfrkit.data.elements.chunk import Chunk, Columns, Objects, concat
from tfrkit.data.elements.structure import flatten, map_structure
from tfrkit.data.elements.structure_specs import batched
from tfrkit.data.engine.cursor import Feed, Piece
from tfrkit.data.engine.node import Context, Inbox, Node, NodeIterator, Run
from tfrkit.errors import InvalidArgumentError

__all__ = ["BatchIterator", "BatchNode", "batch_count"]

_AT_ONCE: Final = 4096  # elements that are cut into batches in one go, if so many batches are asked for


def batch_count(elements: int, size: int, drop: bool) -> int:
    """How many batches so many elements make; negative numbers mean that it is not known, or without end.

    >>> batch_count(5, 2, False), batch_count(5, 2, True), batch_count(-1, 2, True)
    (3, 2, -1)
    """
    if elements < 0:
        return elements
    return elements // size if drop else -(-elements // size)


@dataclass(frozen=True, eq=False)
class BatchNode(Node):
    """Batches of `size`; a last one with fewer elements is dropped or not.

    `fused`: an error takes a place in its batch, and the whole batch is lost with it, as where TensorFlow runs a map
    and the batch behind it as one.
    """

    input: Node
    size: int
    drop: bool
    fused: bool = False

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin where the input begins."""
        inbox = Inbox(self.input, context, state)
        return _PlainBatchIterator(inbox, self.size, self.drop, fused=self.fused and context.fuses)

    def maker(self) -> Callable[[Chunk], Any]:
        """What makes a batch of elements."""
        return _stacked

    def element_spec(self) -> Any:
        """One dimension more."""
        return batched(self.input.element_spec(), self.size if self.drop else None)

    def cardinality(self) -> int:
        """The input's, divided."""
        return batch_count(self.input.cardinality(), self.size, self.drop)

    @property
    def label(self) -> str:
        """As written."""
        return f"batch({self.size}{', drop_remainder=True' if self.drop else ''})"


class BatchIterator(NodeIterator):
    """Collects the elements of one batch at a time; what is made of them is said by `make`.

    An error loses the elements that were collected for its batch, as in TensorFlow; the next batch begins after it, or,
    `fused`, where it would have begun without the error.
    """

    def __init__(self, inbox: Inbox, size: int, drop: bool, *, fused: bool = False) -> None:
        self._inbox = inbox
        self._fused = fused
        self._feed = Feed(inbox)
        self._size = size
        self._drop = drop

    def pull(self, n: int) -> Run | None:
        """Give one batch."""
        pieces = self._feed.take(self._size)
        if not pieces:
            return None
        error = pieces[-1].error
        if error is not None:
            if self._fused:
                self._drop_rest(pieces)
            return Run(Objects([]), error)
        chunk = concat([piece.chunk for piece in pieces])
        if self._drop and len(chunk) < self._size:
            return None
        try:
            return Run(Objects([self.make(chunk)]))
        except Exception as error:
            return Run(Objects([]), error)

    def _drop_rest(self, pieces: list[Piece]) -> None:
        """Take what is left of a batch that has an error; each further error has a place in it, too."""
        taken = list(pieces)
        try:
            while pieces and (missing := self._size - _places(taken)) > 0:
                pieces = self._feed.take(missing)
                taken += pieces
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self._feed.put_back(taken)
            raise

    @abstractmethod
    def make(self, chunk: Chunk) -> Any:
        """Make a batch of elements."""

    def save(self) -> Any:
        """Where the next batch begins."""
        return self._feed.save()

    def close(self) -> None:
        """Close the input."""
        self._feed.close()


class _PlainBatchIterator(BatchIterator):
    def pull(self, n: int) -> Run | None:
        """Give several batches at once of arrays, which are cut without a copy; else one."""
        wanted = min(n, _AT_ONCE // self._size)
        if wanted > 1 and not self._feed.pending:
            run = self._inbox.take(wanted * self._size)
            if run is None:
                return None
            count = len(run.chunk) // self._size
            used = count * self._size
            cut = _cut_arrays(run.chunk, count, self._size) if count else None
            if cut is None or used < len(run.chunk) or run.error is not None:
                self._inbox.unread(run, 0 if cut is None else used)
            if cut is not None:
                return Run(cut)
        return super().pull(1)

    def make(self, chunk: Chunk) -> Any:
        """Stack them."""
        try:
            return _stacked(chunk)
        except InvalidArgumentError:
            if self._fused:
                return stack_like_first(chunk.objects())
            raise


def _places(pieces: list[Piece]) -> int:
    return sum(len(piece.chunk) + (piece.error is not None) for piece in pieces)


def _stacked(chunk: Chunk) -> Any:
    return chunk.batch()


def _cut_arrays(chunk: Chunk, count: int, size: int) -> Columns | None:
    """Batches as rows of columns, if all columns are arrays."""
    if not isinstance(chunk, Columns) or not all(
        isinstance(column, np.ndarray) for column in flatten(chunk.columns)
    ):
        return None

    def cut(column: Any) -> Any:
        return column[: count * size].reshape(count, size, *column.shape[1:])

    return Columns(map_structure(cut, chunk.columns), count)
