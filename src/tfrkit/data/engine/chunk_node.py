"""ChunkNode: a stage that makes one element of each, whole chunks at a time."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from tfrkit.data.elements.chunk import Chunk, ObjectChunk
from tfrkit.data.engine.cursor import Cursor, CursorIterator
from tfrkit.data.engine.lookup import Lookup, MadeLookup
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run, UnaryNode

__all__ = ["ChunkFunction", "ChunkIterator", "ChunkNode", "each_element"]

# Of a chunk: what was made of the elements before the first that fails, and its error or None.
ChunkFunction = Callable[[Chunk], tuple[Chunk, Exception | None]]


def each_element(function: Callable[[Any], Any], chunk: Chunk) -> tuple[Chunk, Exception | None]:
    """Do to a chunk what a function does to one element, up to the first for which it fails."""
    made: list[Any] = []
    error: Exception | None = None
    try:
        made.extend(map(function, chunk.objects()))  # what came before an error is kept
    except Exception as failure:
        error = failure
    return ObjectChunk.made_of(chunk, made), error


@dataclass(frozen=True, eq=False)
class ChunkNode(UnaryNode):
    """A stage that makes one element of each.

    Batches may be fused with it if it is chunkwise: it cannot be observed how many elements are worked on at once.
    """

    takes_records: ClassVar[bool] = False  # its elements are records, or batches of them
    ahead: ClassVar[bool] = False  # it looks at single elements: takes many of a pure input at once

    unindexable = ""

    @property
    def chunkwise(self) -> bool:
        return self.keeps_count

    @property
    def takes(self) -> int:
        return int(self.keeps_count)

    def fused(self) -> Node | None:
        """With a batch before it: a batch of records that is then parsed, and verbs on features of batches."""
        return self.input.fused_with(self) if self.chunkwise else None

    @abstractmethod
    def chunk_function(self, context: Context) -> ChunkFunction:
        """What is done to a chunk."""

    def with_next(self, stage: Node) -> ChunkNode | None:
        """The stage that also does what the next one before a batch does; None if it cannot."""
        return None

    def used(self, count: int) -> int | None:
        return count if self.keeps_count else None

    def lookup(self, context: Context) -> Lookup:
        return self.lookup_over(self.input.lookup(context), context)

    def lookup_over(self, inner: Lookup, context: Context) -> Lookup:
        """Its elements by number, over those of another input."""
        return MadeLookup(inner, self.chunk_function(context))

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        cursor = Cursor(self.input, context, state)
        return ChunkIterator(self.chunk_function(context), cursor, ahead=self.ahead)


class ChunkIterator(CursorIterator):
    """What a function makes of the chunks that a cursor takes."""

    def __init__(self, function: ChunkFunction, cursor: Cursor, *, ahead: bool = False) -> None:
        super().__init__(cursor)
        self._function = function
        self._ahead = ahead

    def pull(self, n: int) -> Run | None:
        """Pull a run and do it to all elements up to the first that fails."""
        cursor = self._cursor
        run = cursor.take(n, cursor.ahead(n) if self._ahead else 0)
        if run is None:
            return None
        try:
            if not len(run.chunk):
                return run
            chunk, error = self._function(run.chunk)
            if error is None:
                return Run(chunk, run.error)
            cursor.put_back(run, len(chunk) + 1)
            return Run(chunk, error)
        except Exception:
            raise
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            cursor.undo((run,))
            raise
