"""ChunkIterator: a stage that makes one element of each, whole chunks at a time."""

from __future__ import annotations

from collections.abc import Callable

from tfrkit.data.elements.chunk import Chunk
from tfrkit.data.engine.cursor import Cursor, CursorIterator
from tfrkit.data.engine.node import Run

__all__ = ["ChunkIterator"]


class ChunkIterator(CursorIterator):
    """Applies a function to the runs of an input.

    Args:
        function: of a chunk; gives what was made of the elements before the first that fails, and its error or None.
        cursor: the input; what stands behind an element that fails stays there.
    """

    def __init__(self, function: Callable[[Chunk], tuple[Chunk, Exception | None]], cursor: Cursor) -> None:
        self._function = function
        self._cursor = cursor

    def pull(self, n: int) -> Run | None:
        """Pull a run and do it to all elements up to the first that fails."""
        run = self._cursor.take(n)
        if run is None or not len(run.chunk):
            return run
        chunk, error = self._function(run.chunk)
        if error is None:
            return Run(chunk, run.error)
        self._cursor.unread(run, len(chunk) + 1)
        return Run(chunk, error)
