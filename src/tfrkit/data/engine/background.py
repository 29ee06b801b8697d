"""BackgroundInput: an input from which background threads pull, one at a time.

Owns what such a stage and its threads share: the input's position, whether a thread is pulling, and that the last user
of the input closes it. A thread refers to a BackgroundInput only, never to the iterator that the user holds, so that
dropping the iterator ends the work. The state of a stage that reads ahead is the position of the oldest element that
its consumer has not seen: every pull is therefore preceded by the input's `save`.

Plain locks of C only, as an interruption in the main thread can leave `threading.Condition` locked; and a lock that its
holder may take again, as the garbage collector may close an iterator at any moment.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from typing import Any, Final

from tfrkit.data.engine.cursor import Cursor, Segment
from tfrkit.data.engine.node import Context, Node, NodeIterator
from tfrkit.errors import CancelledError
from tfrkit.threads import exiting, spawn

__all__ = ["BackgroundInput", "BackgroundIterator"]

_LOOK_SECONDS: Final = 0.1  # a waiting thread looks so often whether the pipeline was closed


class BackgroundInput:
    """An input, the threads that pull from it, and the consumer that waits for them.

    Attributes:
        lock: to be held for changes of what is shared; never while pulling or calling a user's function.
        closed: the consumer wants no more elements.
        ended: the input is at its end.
    """

    def __init__(self, node: Node, context: Context, state: Any = None) -> None:
        self._cursor = Cursor(node, context, state)
        self._context = context
        self._place: dict[str, Any] | None = None  # before the pull that is under way
        self._tickets: set[object] = set()  # one for each thread at work
        self._failure: BaseException | None = None  # that ended a thread, outside of users' functions
        self._bell = threading.Lock()  # released to wake the consumer
        self._bell.acquire()
        self._waiting = False
        self.lock = threading.RLock()
        self.closed = False
        self.ended = False

    # ---- pulling: with the lock held, except `take`

    @property
    def pulling(self) -> bool:
        """Whether a thread is pulling; no other may."""
        return self._place is not None

    def reserve(self) -> None:
        """Be the one that pulls: the caller takes next."""
        self._place = self.now()

    def take(self, n: int) -> Segment | None:
        """Pull at most n elements; without the lock."""
        return self._cursor.take(n)

    def put_back(self, run: Segment, used: int) -> None:
        """Put back the run that was taken last, except its first elements."""
        self._cursor.put_back(run, used)

    def release(self, *, ended: bool = False) -> None:
        """Let others pull."""
        self._place = None
        self.ended = self.ended or ended

    def now(self) -> dict[str, Any]:
        """Where the input stands, or stood before the pull that is under way."""
        return self._cursor.save() if self._place is None else self._place

    # ---- threads

    @property
    def active(self) -> int:
        """Threads at work."""
        return len(self._tickets)

    @property
    def stopped(self) -> bool:
        """Whether threads shall end after what they are doing."""
        return self.closed or self._context.closed or exiting()

    def begin(self, work: Callable[[object], None]) -> None:
        """Run `work(ticket)` in a thread; without the lock, since it may run in this one."""
        ticket = object()
        try:  # also round the first step: an interruption may come as soon as it is done
            self._tickets.add(ticket)
            spawn(self._run, work, ticket)
        except BaseException:  # interrupted: if it runs nevertheless, it is not counted
            self._tickets.discard(ticket)
            raise

    def _run(self, work: Callable[[object], None], ticket: object) -> None:
        try:
            work(ticket)
        except BaseException as error:  # the consumer gets it: no thread would continue
            with self.lock:
                self._failure = error
                last = ticket in self._tickets and self.leave(ticket)
            self.ring()
            if last:
                self.finish()

    def leave(self, ticket: object) -> bool:
        """The thread has decided to end; with the lock held. True: it must `finish`."""
        self._tickets.discard(ticket)
        return self.closed and not self._tickets

    def finish(self) -> None:
        """Close the input, for a consumer that has gone; without the lock."""
        self._cursor.close()

    # ---- the consumer

    def ring(self) -> None:
        """Wake the consumer, if it waits."""
        if self._waiting:
            with contextlib.suppress(RuntimeError):  # another has rung
                self._bell.release()

    def wait(self, ready: Callable[[], bool], push: Callable[[], None]) -> None:
        """Wait until something is ready; `push` ensures that a thread works on it.

        Raises:
            CancelledError: the pipeline was closed meanwhile; this is not the end of the input.
        """
        self._waiting = True
        try:
            while not ready():
                if self._context.closed:
                    raise CancelledError("the iterator was closed")
                if self.closed:
                    return
                if self._failure is not None:
                    raise self._failure
                push()
                if not ready():
                    self._bell.acquire(timeout=_LOOK_SECONDS)
        finally:
            self._waiting = False

    def close(self) -> None:
        """Want no more; threads that are blocked inside the input close it when they come back."""
        with self.lock:
            free = not self._tickets and not self.closed
            self.closed = True
        if free:
            self._cursor.close()
        self.ring()


class BackgroundIterator(NodeIterator):
    """The consumer of a BackgroundInput, which has a `save`. Threads refer to that, never to this."""

    _shared: Any

    def save(self) -> Any:
        return self._shared.save()

    def close(self) -> None:
        """End the background work; calls that have begun are not waited for."""
        self._shared.close()
