"""Batches at work: made one by one in the consumer's thread, or several at once in the background, in order.

A BatchMaker makes a batch of elements that were taken, with the stages before and after it. All comes out as it would
from the stages one by one, errors in their places, and the state is theirs too.

In the background, what a batch takes from its input is taken by one thread at a time; making the batch is native work
that any number of threads do at once. If an element fails, the batches that were begun after it are made anew: their
elements go back, and what was made of them is dropped. That cannot be observed, as there is no user's code in it.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

from tfrkit.data.elements.chunk import Chunk, ObjectChunk, concat
from tfrkit.data.engine.background import Background, Slot
from tfrkit.data.engine.chunk_node import ChunkFunction
from tfrkit.data.engine.cursor import Cursor, CursorIterator, Segment, place, split
from tfrkit.data.engine.node import Context, Node, Run
from tfrkit.data.features.image_column import BadImage

__all__ = ["BackgroundBatches", "BatchIterator", "BatchMaker"]

_EACH: Final = 2  # batches for each thread, ready or under way; more if the user says so
_MOST_BYTES: Final = 64 << 20  # of their elements together, if that is more than one batch
_MEASURED: Final = 64  # one of this many batches is measured
_NEAR_SECONDS: Final = 0.002  # after making a batch itself, in which the consumer is about to do so again


class BatchMaker:
    """The work of a batch, and of the stages before and after it.

    Attributes:
        count: of the elements of a batch.
        levels: of a state: how many stages before and after it have a part in that.
    """

    def __init__(self, size: int, drop: bool, make: Callable[[Chunk], Any]) -> None:
        """Make batches of a size with `make`; a last one with fewer elements is dropped or not."""
        self.count = size
        self._drop = drop
        self._make = make
        self._before: list[ChunkFunction] = []
        self._after: list[ChunkFunction] = []
        self.levels = 0

    def among(
        self, before: Sequence[Any], after: Sequence[Any], context: Context, *, moved: int = 0
    ) -> BatchMaker:
        """Add the nodes of stages before and after the batch; `moved` of those before it have no part in states."""
        self._before = [each.chunk_function(context) for each in _joined(before)]
        self._after = [each.chunk_function(context) for each in after]
        self.levels = len(before) + len(after) - moved
        return self

    def make(self, segments: list[Segment]) -> tuple[Run | None, int | None]:
        """Make a batch of what `Cursor.take_all` returned.

        Returns:
            A run with the batch or an error, None if it is dropped at the end; and, if one of the elements failed, how
            many were used: the next batch begins after those.
        """
        first = segments[0].chunk
        elements = chunk = first if len(segments) == 1 else concat([segment.chunk for segment in segments])
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
    return error.locate(elements, error.row if row is None else row).error()


class BatchIterator(CursorIterator):
    """Takes the elements of one batch at a time, and makes it.

    An error loses the elements that were taken for its batch, as in TensorFlow; the next batch begins after it.
    """

    def __init__(self, maker: BatchMaker, cursor: Cursor) -> None:
        super().__init__(cursor)
        self._maker = maker

    def pull(self, n: int) -> Run | None:
        segments = self._cursor.take_all(self._maker.count)
        if not segments:
            return None
        try:
            if segments[-1].error is not None:
                self.lose(segments)
            run, used = self._maker.make(segments)
            if used is not None:
                self._cursor.put_all_back(split(segments, used)[1])
        except Exception:
            raise
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self._cursor.undo(segments)
            raise
        return run

    def lose(self, segments: list[Segment]) -> None:
        """Take what is lost with a batch, besides the segments that end with an error; nothing, usually."""

    def save(self) -> Any:
        """As the stages one by one would write it."""
        return place(*self._cursor.position(), self._maker.levels)


class BackgroundBatches(Background):
    """Batches of a pure input; `depth` is that of the prefetch after them, None if there is none."""

    whole = True

    def __init__(
        self,
        maker: Callable[[Context], BatchMaker],
        depth: int | None,
        node: Node,
        context: Context,
        state: Any,
    ) -> None:
        super().__init__(node, context, state)
        self._threads = max(1, context.threads)
        self._most = max(depth or 0, _EACH * self._threads)
        self._limit = min(self._most, self._threads)  # batches that are ready or under way
        self._each = replace(context, threads=1)  # for one batch
        self._maker = maker(self._each)
        self.levels = self._maker.levels + (depth is not None)
        self._begun = 0  # batches so far
        self._helped = -_NEAR_SECONDS  # when the consumer last made one
        self._measured: Slot | None = None  # whose size says how many may be under way

    def room(self) -> int:
        """Begin when half of the batches were taken, then make more until there are enough: waking a thread costs."""
        most = self._limit if self._tickets or self.hungry else self._limit // 2 + 1
        return self._maker.count if len(self._open_slots()) < most else 0

    def workers(self) -> int:
        """A hungry consumer works itself, and counts as one of the threads; also for a moment after that.

        One that only takes batches finds them ready and not ready by turns, and would begin and end a thread each time.
        """
        return self._threads - (self.hungry or time.perf_counter() - self._helped < _NEAR_SECONDS)

    def help(self, n: int) -> bool:
        """Make a batch if there is room, or one that was begun here and is not done: an interruption came between."""
        self.push()
        with self.lock:
            slot = next((slot for slot in self._slots if slot.own and not slot.done), None)
            if slot is None and (self.ended or self.room() <= 0):
                return False
        slot = slot or self._begin_slot(Exception)
        if slot is not None:
            self.work(slot, Exception)
        self._helped = time.perf_counter()
        return True

    def taken(self, slot: Slot) -> None:
        slot.count = 1
        if self._begun % _MEASURED == 0:
            self._measured = slot
            self._bound(sum(segment.chunk.nbytes for segment in slot.segments))
        self._begun += 1

    def work(self, slot: Slot, kept: type[BaseException]) -> None:
        used: int | None = None
        try:
            run, used = self._maker.make(slot.segments)
        except kept as error:
            run = Run(ObjectChunk([]), error)  # type: ignore[arg-type]  # raised as it is
        if used is not None:
            with self._taking:  # no other thread takes elements meanwhile
                self._give_back(slot, used)
        with self.lock:
            measured = slot is self._measured
            if measured:
                self._measured = None  # its elements may keep much memory
            if not slot.cancelled:
                if run is not None and measured:
                    self._bound(max(run.chunk.nbytes, sum(each.chunk.nbytes for each in slot.segments)))
                slot.finish(*(ObjectChunk([]), None) if run is None else (run.chunk, run.error))
            del run  # before the consumer can take it: what others refer to would be copied
        self.ring()

    def _bound(self, nbytes: int) -> None:
        """Let no more batches of that size be under way than memory allows, with more threads for each then."""
        self._limit = max(1, min(self._most, _MOST_BYTES // max(1, nbytes)))
        self._each.threads = max(1, self._threads // self._limit)

    def _give_back(self, slot: Slot, used: int) -> None:
        """An element failed: what follows it is for other batches."""
        with self.lock:
            if slot.cancelled or self.closed:
                return
            while self._slots[-1] is not slot:
                later = self._slots.pop()
                later.cancelled = True
                self._left -= 1
                self._cursor.put_all_back(later.segments)
            slot.segments, rest = split(slot.segments, used)
            self._cursor.put_all_back(rest)
            self.ended = False
