"""Batches made ready in the background, several at once, in order.

What a batch takes from its input is taken by one thread at a time, in order; making the batch is native work that
any number of threads do at once. If an element fails, the batches that were begun after it are made anew: their
elements go back, and what was made of them is dropped. That cannot be observed, as there is no user's code in it.
"""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import replace
from typing import Any, Final

from tfrkit.data.batch.batch_maker import BatchJob, BatchMaker
from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.engine.background import BackgroundInput, BackgroundIterator
from tfrkit.data.engine.cursor import Segment, place, read_place, split
from tfrkit.data.engine.node import Context, Node, Run

__all__ = ["BackgroundBatchIterator"]

_EACH: Final = 2  # batches for each thread, ready or under way; more if the user says so
_MOST_BYTES: Final = 64 << 20  # of their elements together, if that is more than one batch
_MEASURED: Final = 64  # one of this many batches is measured


class BackgroundBatchIterator(BackgroundIterator):
    """Batches of a pure input, made ahead."""

    def __init__(self, stages: Any, depth: int | None, *opening: Any) -> None:
        """Take the stages, as BatchMaker does, and the depth of the prefetch after them."""
        self._shared = _Batches(stages, depth, *opening)

    def pull(self, n: int) -> Run | None:
        """Return batches that are ready; make some if none is."""
        batches: _Batches = self._shared
        run = batches.take_ready(n)
        batches.hungry = run is None
        while run is None and not batches.over():
            if not batches.help():
                batches.wait(batches.ready, batches.push)
            run = batches.take_ready(n)
        batches.push()
        return run


class _Slot:
    """The place of a batch in the order of the results.

    Attributes:
        job: its elements.
        run: what was made of it, once `done`.
        cancelled: its elements have gone to other batches.
        own: the consumer itself makes it.
        measured: how large it is says how many may be under way.
    """

    __slots__ = ("cancelled", "done", "job", "measured", "own", "run")

    def __init__(self, job: BatchJob, *, own: bool) -> None:
        self.job = job
        self.own = own
        self.run: Run | None = None
        self.done = False
        self.cancelled = False
        self.measured = False


class _Batches(BackgroundInput):
    """What the consumer and the threads share.

    Attributes:
        hungry: the consumer found nothing ready, and works itself: it counts as one of the threads.
    """

    def __init__(self, stages: Any, depth: int | None, input: Node, context: Context, state: Any) -> None:
        super().__init__(input, context, state)
        self._threads = max(1, context.threads)
        self._implicit = depth is None
        self._most = max(depth or 0, _EACH * self._threads)
        self._limit = min(self._most, self._threads)  # batches that are ready or under way
        self._each = replace(context, threads=1)  # for one batch
        self._jobs = BatchMaker(stages, self._cursor, self._each)
        self._slots: deque[_Slot] = deque()
        self._taking = threading.Lock()  # held by the thread that takes elements
        self._at: Any = None  # where it began to
        self._taken = 0  # batches so far
        self.hungry = False

    # ---- the consumer

    def over(self) -> bool:
        """Whether nothing more will come."""
        with self.lock:
            return self.closed or (self.ended and not self._slots and self._at is None)

    def ready(self) -> bool:
        """Whether there is a batch to give, or never will be."""
        with self.lock:
            return self._slots[0].done if self._slots else self.over()

    def help(self) -> bool:
        """Make the next batch in this thread; False if there is no room for one."""
        self.push()
        with self.lock:  # one that was begun here and is not done: an interruption came between
            left = [slot for slot in self._slots if slot.own and not slot.done]
        slot = left[0] if left else self._begin_slot(Exception)
        if slot is None:
            return False
        self._finish_slot(slot, Exception)
        return True

    def take_ready(self, n: int) -> Run | None:
        """Return at most n batches that are ready, as far as the first error; None if none is."""
        items: list[Any] = []
        error: Exception | None = None
        with self.lock:
            while self._slots and self._slots[0].done and len(items) < n and error is None:
                run = self._slots[0].run
                if items and run is not None and not isinstance(run.error, Exception | None):
                    break  # what is raised here, alone
                self._slots.popleft().run = None  # the thread that made it may still have the slot
                if run is not None:  # else it is a last batch that is dropped
                    items += run.chunk.objects()
                    error = run.error
        if error is not None and not isinstance(error, Exception):
            raise error
        return Run(ObjectChunk(items), error) if items or error is not None else None

    def push(self) -> None:
        """See to it that there are threads for what may be begun."""
        while True:
            with self.lock:
                room = self._limit - len(self._slots)
                wanted = room > 0 and self.active < self._workers() and not (self.ended or self.stopped)
            if not wanted:
                return
            self.begin(self._work)

    def save(self) -> Any:
        with self.lock:
            if self._slots:
                where = self._slots[0].job.segments[0].save()
            else:
                where = self._jobs.source.save() if self._at is None else self._at
        state = self._jobs.state_of(where)
        return state if self._implicit else place(state)

    def close(self) -> None:
        super().close()
        with self.lock:
            self._slots.clear()

    # ---- threads

    def _workers(self) -> int:
        """How many threads there may be besides the consumer's."""
        return self._threads - self.hungry

    def _work(self, ticket: object) -> None:
        while self.active <= self._workers() and not self.stopped:
            slot = self._begin_slot(BaseException)
            if slot is None:
                break
            self._finish_slot(slot, BaseException)
        with self.lock:
            last = self.leave(ticket)
        if last:
            self.finish()
        self.ring()

    def _begin_slot(self, kept: type[BaseException]) -> _Slot | None:
        """Take the elements of the next batch; None if there is nothing to do. Errors of a kind are kept for later."""
        with self._taking:
            with self.lock:
                if self.closed or self.ended or len(self._slots) >= self._limit:
                    return None
            before = self._jobs.source.save()
            try:
                self._at = before
                try:
                    job = self._jobs.take()
                except kept as error:
                    job = BatchJob([Segment(ObjectChunk([]), error, *read_place(before))], 1)  # type: ignore[arg-type]  # raised as it is
                return self._add_slot(job, kept)
            finally:
                self._at = None

    def _add_slot(self, job: BatchJob | None, kept: type[BaseException]) -> _Slot | None:
        with self.lock:
            if job is None:
                self.ended = True
                return None
            slot = _Slot(job, own=kept is Exception)
            self._slots.append(slot)
            if self._taken % _MEASURED == 0:
                slot.measured = True
                self._bound(job.nbytes)
            self._taken += 1
            return slot

    def _bound(self, nbytes: int) -> None:
        """Let no more batches of that size be under way than memory allows, with more threads for each then."""
        self._limit = max(1, min(self._most, _MOST_BYTES // max(1, nbytes)))
        self._each.threads = max(1, self._threads // self._limit)

    def _finish_slot(self, slot: _Slot, kept: type[BaseException]) -> None:
        """Make a batch; errors of a kind are kept for the consumer."""
        used: int | None = None
        try:
            run, used = self._jobs.make(slot.job)
        except kept as error:
            run = Run(ObjectChunk([]), error)  # type: ignore[arg-type]  # raised as it is
        if used is not None:
            with self._taking:  # no other thread takes elements meanwhile
                self._give_back(slot, used)
        with self.lock:
            if not slot.cancelled:
                slot.run, slot.done = run, True
                if slot.measured and run is not None:
                    self._bound(max(slot.job.nbytes, run.chunk.nbytes))
            del run  # before the consumer can take it: what others refer to would be copied
        self.ring()

    def _give_back(self, slot: _Slot, used: int) -> None:
        """An element failed: what follows it is for other batches."""
        with self.lock:
            if slot.cancelled or self.closed:
                return
            while self._slots[-1] is not slot:
                later = self._slots.pop()
                later.cancelled = True
                self._jobs.source.put_all_back(later.job.segments)
            slot.job.segments, rest = split(slot.job.segments, used)
            self._jobs.source.put_all_back(rest)
            self.ended = False
