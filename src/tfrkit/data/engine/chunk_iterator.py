"""ChunkIterator: a stage that makes one element of each, whole chunks at a time."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tfrkit.data.elements.chunk import Chunk
from tfrkit.data.engine.node import Inbox, NodeIterator, Run

__all__ = ["ChunkIterator"]


class ChunkIterator(NodeIterator):
    """Applies a function to the runs of an input.

    Args:
        function: of a chunk; gives what was made of the elements before the first that fails, and its error or None.
        inbox: the input; what stands behind an element that fails stays there.
    """

    def __init__(self, function: Callable[[Chunk], tuple[Chunk, Exception | None]], inbox: Inbox) -> None:
        self._function = function
        self._inbox = inbox

    def pull(self, n: int) -> Run | None:
        """Pull a run and do it to all elements up to the first that fails."""
        run = self._inbox.take(n)
        if run is None or not len(run.chunk):
            return run
        chunk, error = self._function(run.chunk)
        if error is None:
            return Run(chunk, run.error)
        self._inbox.unread(run, len(chunk) + 1)
        return Run(chunk, error)

    def save(self) -> Any:
        """Where the input stands."""
        return self._inbox.save()

    def close(self) -> None:
        """Close the input."""
        self._inbox.close()
