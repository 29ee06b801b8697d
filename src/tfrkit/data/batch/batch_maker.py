"""BatchMaker: makes batches of elements that were taken, with the stages before and after the batch.

Elements are taken by one thread at a time; batches can be made of them in several. All comes out as it would from the
stages one by one, errors in their places, and the state is theirs too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfrkit.data.elements.chunk import Chunk, ObjectChunk, concat
from tfrkit.data.engine.chunk_node import ChunkFunction
from tfrkit.data.engine.cursor import Segment, place
from tfrkit.data.engine.node import Context, Run
from tfrkit.data.features.image_column import BadImage

__all__ = ["BatchMaker"]


class BatchMaker:
    """The work of a batch, and of the stages before and after it.

    Attributes:
        count: of the elements of a batch.
    """

    def __init__(self, size: int, drop: bool, make: Callable[[Chunk], Any]) -> None:
        """Make batches of a size with `make`; a last one with fewer elements is dropped or not."""
        self.count = size
        self._drop = drop
        self._make = make
        self._before: list[ChunkFunction] = []
        self._after: list[ChunkFunction] = []
        self._levels = 0

    def among(self, before: Sequence[Any], after: Sequence[Any], context: Context) -> BatchMaker:
        """Add the nodes of stages before and after the batch."""
        self._before = [each.chunk_function(context) for each in _joined(before)]
        self._after = [each.chunk_function(context) for each in after]
        self._levels = len(before) + len(after)
        return self

    def make(self, segments: list[Segment]) -> tuple[Run | None, int | None]:
        """Make a batch of what `Cursor.take_all` returned.

        Returns:
            A run with the batch or an error, None if it is dropped at the end; and, if one of the elements failed, how
            many were used: the next batch begins after those.
        """
        elements = chunk = concat([segment.chunk for segment in segments])
        failure: Exception | None = None
        for function in self._before:
            if len(chunk):
                chunk, error = function(chunk)
                failure = error or failure
        if failure is not None:
            return Run(ObjectChunk([]), _located(failure, elements, len(chunk))), len(chunk) + 1
        if segments[-1].error is not None:  # the batch is lost
            return Run(ObjectChunk([]), segments[-1].error), None
        if self._drop and len(elements) < self.count:
            return None, None
        try:
            made: Chunk = ObjectChunk([self._make(chunk)])
        except Exception as error:  # elements that do not fit together
            return Run(ObjectChunk([]), error), None
        for function in self._after:
            made, failure = function(made)
            if failure is not None:
                return Run(ObjectChunk([]), _located(failure, elements)), None
        return Run(made), None

    def state_of(self, state: Any) -> Any:
        """The state of a place in the input (as a cursor writes it), as the stages one by one would write it."""
        for _ in range(self._levels):
            state = place(state)
        return state


def _joined(stages: Sequence[Any]) -> list[Any]:
    """The stages, some of them as one that does the work of two."""
    found: list[Any] = []
    for stage in stages:
        both = found[-1].with_next(stage) if found else None
        if both is None:
            found.append(stage)
        else:
            found[-1] = both
    return found


def _located(error: Exception, elements: Chunk, row: int | None = None) -> Exception:
    """The error for the user; a broken image is the row's that is given, or that of its own number."""
    if not isinstance(error, BadImage):
        return error
    number = error.row if row is None else row
    return error.locate(elements.slice(number, number + 1).origin, 0).error()
