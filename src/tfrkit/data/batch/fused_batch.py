"""Stages round a batch as one: elements are taken, parsed and put together in one go, without looking in between.

`rewrites.py` makes it of `parse` and verbs on features before or after a batch. A batch can be made apart from taking
its elements, so that several can be made at once (`background_batch.py`). All comes out as it would from the stages one
by one, errors in their places, and the state is theirs too: it is valid with and without fusing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.elements.chunk import Chunk, ObjectChunk, concat
from tfrkit.data.engine.cursor import Cursor, Segment, SegmentCursor, split
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run, UnaryNode
from tfrkit.data.features.decode_image import DecodeImageNode
from tfrkit.data.features.image_column import BadImage

__all__ = ["BatchJob", "BatchMaker", "FusedBatchNode"]


@dataclass(frozen=True, eq=False)
class FusedBatchNode(UnaryNode):
    """A batch with the stages before and after it.

    Attributes:
        input: what the first stage reads.
        before: stages for single elements, first to last; their own inputs do not count.
        batch: BatchNode or PaddedBatchNode.
        after: stages for batches.
    """

    before: tuple[Any, ...]
    batch: Any
    after: tuple[Any, ...]

    verb = "batch"

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return FusedBatchNode(inputs[0], self.before, self.batch, self.after)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        inner, seen = self.read_state(state)
        return _FusedIterator(BatchMaker(self, Cursor(self.input, context, inner), context, seen))

    def read_state(self, state: Any) -> tuple[Any, int]:
        """Return the state of a cursor over the input, and how many elements of that were seen.

        The stages write a state each, the last one the outermost: where its input stood, and what it used of a run.
        """
        seen = 0
        for unit in [int(self.batch.size)] * len(self.after) + [1] * len(self.before):
            if state is not None:
                seen += unit * state["skip"]
                state = state["at"]
        return state, seen

    def element_spec(self) -> Any:
        return self._last.element_spec()

    def cardinality(self) -> int:
        return int(self._last.cardinality())

    @property
    def label(self) -> str:
        return " + ".join(stage.label for stage in (*self.before, self.batch, *self.after))

    @property
    def _last(self) -> Any:
        return (self.batch, *self.after)[-1]


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

    def __init__(self, node: FusedBatchNode, cursor: Cursor, context: Context, seen: int = 0) -> None:
        """Read from a cursor over the node's input, of which `seen` elements were seen already."""
        self.source = SegmentCursor(cursor)
        self._size = int(node.batch.size)
        self._drop = bool(node.batch.drop)
        self._levels = len(node.before) + len(node.after)
        self._before = [stage.chunk_function(context) for stage in _joined(node.before)]
        self._batch = node.batch.maker()
        self._after = [stage.chunk_function(context) for stage in node.after]
        self.source.drop(seen)

    def take(self) -> BatchJob | None:
        """Take the elements of the next batch; None at the end."""
        segments = self.source.take(self._size)
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

    def state_of(self, place: Any) -> Any:
        """The state of a place in the input (as a cursor writes it), as the stages one by one would write it."""
        for _ in range(self._levels):
            place = {"at": place, "skip": 0}
        return place


def _joined(stages: tuple[Any, ...]) -> list[Any]:
    """The stages, some of them as one that does the work of two."""
    found: list[Any] = []
    for stage in stages:
        both = found[-1].with_next(stage) if found and isinstance(found[-1], DecodeImageNode) else None
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


class _FusedIterator(NodeIterator):
    def __init__(self, jobs: BatchMaker) -> None:
        self._jobs = jobs

    def pull(self, n: int) -> Run | None:
        job = self._jobs.take()
        if job is None:
            return None
        run, used = self._jobs.make(job)
        if used is not None:
            self._jobs.source.put_back(split(job.segments, used)[1])
        return run

    def save(self) -> Any:
        return self._jobs.state_of(self._jobs.source.save())

    def close(self) -> None:
        self._jobs.source.close()
