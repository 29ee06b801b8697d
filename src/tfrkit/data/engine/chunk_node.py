"""ChunkNode: a stage that makes one element of each, whole chunks at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from tfrkit.data.elements.chunk import Chunk
from tfrkit.data.engine.cursor import Cursor, CursorIterator
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run, UnaryNode

__all__ = ["ChunkFunction", "ChunkNode"]

# Of a chunk: what was made of the elements before the first that fails, and its error or None.
ChunkFunction = Callable[[Chunk], tuple[Chunk, Exception | None]]


@dataclass(frozen=True, eq=False)
class ChunkNode(UnaryNode):
    """A stage in which it cannot be observed how many elements are worked on at once: batches may be fused with it."""

    takes_records: ClassVar[bool] = False  # its elements are records, or batches of them

    @property
    def chunkwise(self) -> bool:
        return self.keeps_count

    def fused(self) -> Node | None:
        """With a batch before it: a batch of records that is then parsed, and verbs on features of batches."""
        return self.input.fused_with(self) if self.chunkwise else None

    @abstractmethod
    def chunk_function(self, context: Context) -> ChunkFunction:
        """What is done to a chunk."""

    def with_next(self, stage: Node) -> ChunkNode | None:
        """The stage that also does what the next one before a batch does; None if it cannot."""
        return None

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _ChunkIterator(self.chunk_function(context), Cursor(self.input, context, state))


class _ChunkIterator(CursorIterator):
    def __init__(self, function: ChunkFunction, cursor: Cursor) -> None:
        super().__init__(cursor)
        self._function = function

    def pull(self, n: int) -> Run | None:
        """Pull a run and do it to all elements up to the first that fails."""
        run = self._cursor.take(n)
        if run is None or not len(run.chunk):
            return run
        chunk, error = self._function(run.chunk)
        if error is None:
            return Run(chunk, run.error)
        self._cursor.put_back(run, len(chunk) + 1)
        return Run(chunk, error)
