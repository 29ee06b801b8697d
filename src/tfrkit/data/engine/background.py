"""Background: threads that take from an input, in order, and make something of it, for one consumer.

What is taken at once has a slot in the order. One thread at a time takes; any number make results, and the consumer
gets them as far as they are ready. Here is everything that prefetching, calls of a function and batches have in common:
threads, slots, waiting, errors, interruptions, the position of the oldest element that the consumer has not got. What
each of them says itself is how much may be taken now (`room`) and what is made of it (`work`).

A thread refers to a Background only, never to the iterator that the user holds, so that dropping the iterator ends the
work. Plain locks of C only, as an interruption in the main thread can leave `threading.Condition` locked; and one that
its holder may take again, as the garbage collector may close an iterator at any moment.
"""

from __future__ import annotations

import contextlib
import threading
from abc import abstractmethod
from collections import deque
from typing import Any, Final, Literal

from tfrkit.data.elements.chunk import Chunk, ObjectChunk, concat
from tfrkit.data.engine.cursor import Cursor, Segment, place
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run
from tfrkit.errors import CancelledError
from tfrkit.threads import exiting, spawn

__all__ = ["Background", "Slot"]

_LOOK_SECONDS: Final = 0.1  # a waiting thread looks so often whether the pipeline was closed
_NOTHING: Final = ObjectChunk([])


class Slot:
    """What one thread took at once, and what has been made of it so far.

    Attributes:
        segments: what was taken; the first of them says where it stands.
        own: the consumer's thread took it.
        count: results that will come of it, if none fails; an error counts as one.
        made: the results so far; while it is not done, a chunk that grows, whose slices do not.
        error: after the last of them.
        given: how many the consumer has got.
        done: nothing more will be made.
        over: and the consumer has got everything.
        cancelled: what was taken went to other slots.
    """

    __slots__ = ("cancelled", "count", "done", "error", "given", "made", "over", "own", "segments")

    def __init__(self, segments: list[Segment], *, own: bool) -> None:
        self.segments = segments
        self.own = own
        last = segments[-1]
        elements = len(last.chunk) if len(segments) == 1 else sum(len(each.chunk) for each in segments)
        self.count = elements + (last.error is not None)
        self.made: Chunk = _NOTHING
        self.error: BaseException | None = None
        self.given = 0
        self.done = self.over = self.cancelled = False

    def finish(self, made: Chunk, error: BaseException | None) -> None:
        """Nothing more will be made of it; with the lock held."""
        self.made, self.error, self.done = made, error, True
        if error is None and self.given == len(made):
            self.made, self.over = _NOTHING, True


class Background(NodeIterator):
    """A stage that works ahead of its consumer.

    Attributes:
        ordered: results come in the order of the input.
        whole: a slot has as many elements as there is room for; else what the input has at once, if that is less.
        levels: of a state: how many stages it passes over; see `place`.
        lock: to be held for changes of what is shared; never while pulling or calling a user's function.
        closed: the consumer wants no more elements.
        ended: the input is at its end.
        asked: what the consumer asked for last.
        wanted: elements that it waits for.
        hungry: it found nothing ready then.
    """

    ordered = True
    whole = False
    levels = 0

    def __init__(self, node: Node, context: Context, state: Any = None) -> None:
        self._cursor = Cursor(node, context, state)
        self._context = context
        self._pure = node.pure
        self._slots: deque[Slot] = deque()
        self._left = 0  # results that were begun and not given
        self._taking = threading.Lock()  # held by the thread that takes
        self._before: tuple[Any, int] | None = None  # where the input stood before that
        self._tickets: set[object] = set()  # one for each thread at work
        self._failure: BaseException | None = None  # that ended a thread, outside of users' functions
        self._bell = threading.Lock()  # released to wake the consumer
        self._bell.acquire()
        self._waiting = self._interrupted = False
        self._noted: list[
            tuple[Slot, Chunk, BaseException | None, int]
        ] = []  # how slots were that give something
        self.lock = threading.RLock()
        self.closed = self.ended = self.hungry = False
        self.asked, self.wanted = 1, 0

    # ---- what a stage says

    @abstractmethod
    def room(self) -> int:
        """How many elements a thread may take at once now; with the lock held."""

    def taken(self, slot: Slot) -> None:  # most stages say nothing
        """Look at what was taken, before it has its place; with the lock held."""

    @abstractmethod
    def work(self, slot: Slot, kept: type[BaseException]) -> None:
        """Make the results of a slot and `finish` it; errors of a kind are kept for the consumer."""

    def workers(self) -> int:
        """How many threads there may be."""
        return 1

    def help(self, n: int) -> Run | bool:
        """Do something in the consumer's thread, where nothing is ready: make at most n results, or a slot.

        Returns:
            The results; True if something else was done, and False if there is nothing to do but wait.
        """
        return False

    # ---- the consumer

    def pull(self, n: int) -> Run | None:
        """Return what is ready; wait if nothing is."""
        if self._interrupted:  # put right what a pull may have left half done
            with self.lock:
                self._left = sum(each.count - each.given for each in self._slots if not each.over)
        self._interrupted = True  # until it is known not to be
        self.asked = self.wanted = n
        try:
            run = self._take_ready(n)
            self.hungry = not run
            while run is False:
                helped = self.help(n)
                if not helped:
                    self._wait()
                run = helped if isinstance(helped, Run) else self._take_ready(n)
            self.wanted = 0
            self.push()
        except BaseException as error:
            self.wanted = 0
            if not isinstance(
                error, Exception
            ):  # such as KeyboardInterrupt: as if nothing had been asked for
                self._give_again()
            raise
        self._interrupted, self._noted = False, []
        return run

    def _give_again(self) -> None:
        """Have what was given last come again."""
        with self.lock:
            for slot, made, error, given in reversed(self._noted):
                if not any(each is slot for each in self._slots):
                    self._slots.appendleft(slot)
                slot.given, slot.over = given, False
                if slot.done:
                    slot.made, slot.error = made, error
            self._noted = []

    def ready(self) -> bool:
        """Whether there is something to give, or never will be."""
        with self.lock:
            slots = self._open_slots()
            return slots[0].done if slots else self.exhausted

    @property
    def exhausted(self) -> bool:
        """Nothing more will be taken; with the lock held."""
        return self.closed or (self.ended and self._before is None)

    def save(self) -> dict[str, Any]:
        """Where the oldest element stands that the consumer has not got."""
        with self.lock:
            slots = self._open_slots()
            if slots:
                first = slots[0].segments[0]
                return place(first.at, first.skip + slots[0].given, self.levels)
            before = self._cursor.position() if self._before is None else self._before
            return place(*before, self.levels)

    def close(self) -> None:
        """End the work. What has begun is not waited for: threads inside the input close it when they are done."""
        with self.lock:
            free = not self._tickets and not self.closed
            self.closed = True
            self._slots.clear()
        if free:
            self._cursor.close()
        self.ring()

    def push(self) -> None:
        """See to it that there is a thread for what may be taken; each begins the next."""
        if len(self._tickets) >= self.workers() or self.ended:
            return
        with self.lock:
            if self.closed or self.ended or self.room() <= 0:
                return
        ticket = object()
        try:  # also round the first step: an interruption may come as soon as it is done
            self._tickets.add(ticket)
            spawn(self._run, ticket)  # without the lock, since it may run in this thread
        except BaseException:  # interrupted: if it runs nevertheless, it is not counted
            self._tickets.discard(ticket)
            raise

    def _open_slots(self) -> deque[Slot]:
        """The slots from the first one on that is not over; with the lock held."""
        while self._slots and self._slots[0].over:
            self._slots.popleft()
        return self._slots

    def _take_ready(self, n: int) -> Run | Literal[False] | None:
        """Return at most n results that are ready, as far as the first error; False if none is, None at the end."""
        chunks: list[Chunk] = []
        error: BaseException | None = None
        with self.lock:
            slots = self._open_slots()
            over = self.exhausted and not slots
            for slot in slots:
                if not slot.over:
                    self._noted.append((slot, slot.made, slot.error, slot.given))
                begin, size = slot.given, len(slot.made)
                end = slot.given = begin if slot.over else min(size, begin + n)
                if end > begin:
                    chunks.append(slot.made.slice(begin, end))
                    n -= end - begin
                    self._left -= end - begin
                # What is raised here comes alone.
                due = slot.error is None or isinstance(slot.error, Exception) or not chunks
                if due and slot.done and not slot.over and end == size:
                    # The thread that made the results may still have the slot.
                    error, slot.error, slot.made, slot.over = slot.error, None, _NOTHING, True
                    slot.given += error is not None
                    self._left -= error is not None
                if not n or error is not None or (self.ordered and not slot.over):
                    break
        if error is not None and not isinstance(error, Exception):
            self._noted = []  # it comes once
            raise error
        if not chunks and error is None:
            return None if over else False
        return Run(chunks[0] if len(chunks) == 1 else concat(chunks), error)

    def _wait(self) -> None:
        """Wait until something is ready.

        Raises:
            CancelledError: the pipeline was closed meanwhile; this is not the end of the input.
        """
        self._waiting = True
        try:
            while not self.ready():
                if self._context.closed:
                    raise CancelledError("the iterator was closed")
                if self.closed:
                    return
                if self._failure is not None:
                    raise self._failure
                self.push()
                if not self.ready():
                    self._bell.acquire(timeout=_LOOK_SECONDS)
        finally:
            self._waiting = False

    def ring(self) -> None:
        """Wake the consumer, if it waits."""
        if self._waiting:
            with contextlib.suppress(RuntimeError):  # another has rung
                self._bell.release()

    # ---- threads

    @property
    def active(self) -> int:
        """Threads at work."""
        return len(self._tickets)

    def _run(self, ticket: object) -> None:
        """Do slots as long as there is room."""
        try:
            first = True
            while self.active <= self.workers():
                if not first and (self.closed or self._context.closed or exiting()):
                    break
                slot = self._begin_slot(BaseException, ticket)
                if slot is None:
                    break
                self.push()
                self.work(slot, BaseException)
                first = False
                del slot  # what the consumer has got is not to be referred to
        except BaseException as error:  # the consumer gets it: no thread would continue
            self._failure = error
        with self.lock:
            self._tickets.discard(ticket)
            last = self.closed and not self._tickets
        if last:
            self._cursor.close()
        self.ring()

    def _begin_slot(self, kept: type[BaseException], ticket: object = None) -> Slot | None:
        """Take what is next; None if there is no room, and then the thread with the ticket is about to end."""
        with self._taking:
            with self.lock:
                n = 0 if self.closed or self.ended else self.room()
                if n <= 0:
                    self._tickets.discard(ticket)
                    return None
                before = self._before = self._cursor.position()
            segments: list[Segment] = []
            try:
                try:
                    if self.whole:
                        segments = self._cursor.take_all(n)
                    elif (segment := self._cursor.take(n)) is not None:
                        segments = [segment]
                except kept as error:
                    segments = [Segment(_NOTHING, error, *before)]  # type: ignore[arg-type]  # raised as it is
                slot = None
                with self.lock:
                    if segments:
                        slot = Slot(segments, own=ticket is None)
                        self.taken(slot)
                    else:
                        self.ended = True
                    if slot is not None and not self.closed:
                        self._left += slot.count - slot.given
                        self._slots.append(slot)
                    self._before = None
            except BaseException:  # an interruption: as if nothing had been taken
                if not (self._slots and self._slots[-1].segments is segments):
                    self._cursor.put_all_back(segments)
                raise
            finally:
                self._before = None
        self.ring()
        return slot
