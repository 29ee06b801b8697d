"""BatchMaker: takes the elements of a batch, and makes the batch of them, with the stages before and after it.

A batch can be made apart from taking its elements, so that several can be made at once (`background_batch.py`). All
comes out as it would from the stages one by one, errors in their places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tfrkit.data.elements.chunk import Chunk, ObjectChunk, concat
from tfrkit.data.engine.cursor import Cursor, Segment, place
from tfrkit.data.engine.node import Context, Run
from tfrkit.data.features.image_column import BadImage

__all__ = ["BatchJob", "BatchMaker"]


class BatchJob:
    """A batch that is to be made.

    Attributes:
        segments: its elements.
        error: of the input, after them: the batch is lost.
        short: the input ended before the batch was whole.
    """

    __slots__ = ("error", "segments", "short")

    def __init__(self, segments: list[Segment], size: int) -> None:
        self.segments = segments
        self.error = segments[-1].error
        self.short = self.error is None and sum(len(segment.chunk) for segment in segments) < size

    @property
    def nbytes(self) -> int:
        """Bytes of the elements, as far as that is quickly said."""
        return sum(segment.chunk.nbytes for segment in self.segments)


class BatchMaker:
    """Takes jobs from an input, one thread at a time, and does them, any number of threads at once."""

    def __init__(self, stages: Any, cursor: Cursor, context: Context) -> None:
        """Read from a cursor over the input of the stages: those before the batch, the batch, and those after it."""
        before, batch, after = stages
        self.source = cursor
        self._size = int(batch.size)
        self._drop = bool(batch.drop)
        self._levels = len(before) + len(after)
        self._before: list[Callable[..., Any]] = [each.chunk_function(context) for each in _joined(before)]
        self._batch = batch.maker()
        self._after: list[Callable[..., Any]] = [each.chunk_function(context) for each in after]

    def take(self) -> BatchJob | None:
        """Take the elements of the next batch; None at the end."""
        segments = self.source.take_all(self._size)
        return BatchJob(segments, self._size) if segments else None

    def make(self, job: BatchJob) -> tuple[Run | None, int | None]:
        """Make the batch.

        Returns:
            A run with the batch or an error, None if it is dropped at the end; and, if an element of the job failed,
            how many were used: the next batch begins after those.
        """
        elements = chunk = concat([segment.chunk for segment in job.segments])
        failure: Exception | None = None
        for function in self._before:
            if len(chunk):
                chunk, error = function(chunk)
                failure = error or failure
        if failure is not None:
            return Run(ObjectChunk([]), _located(failure, elements, len(chunk))), len(chunk) + 1
        if job.error is not None:
            return Run(ObjectChunk([]), job.error), None
        if job.short and self._drop:
            return None, None
        try:
            made: Chunk = ObjectChunk([self._batch(chunk)])
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
    place = error.row if row is None else row
    return error.locate(elements.slice(place, place + 1).origin, 0).error()
