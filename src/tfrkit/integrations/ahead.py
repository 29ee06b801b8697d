"""Ahead: results that are made before they are asked for, in order and not too many.

A thread makes results until enough are ready, then ends; taking one begins the next thread. So nobody waits for room,
and what is abandoned ends by itself. The thread refers to the Ahead only, never to what a user holds.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from collections.abc import Callable, Iterator
from typing import Any, Final

from tfrkit.threads import exiting, spawn

__all__ = ["Ahead", "made_ahead"]

_LOOK_SECONDS: Final = 0.1  # a waiting consumer looks so often whether it was closed


class Ahead:
    """What a function returns, call after call, for one consumer.

    Args:
        make: makes the next result; StopIteration is the end. After another error it is called again.
        depth: how many results may be ready.

    >>> numbers = iter(range(3))
    >>> ahead = Ahead(lambda: next(numbers), 2)
    >>> ahead.take(), ahead.take(), ahead.take()
    (0, 1, 2)
    """

    def __init__(self, make: Callable[[], Any], depth: int) -> None:
        self._make = make
        self._depth = depth
        self._ready: deque[tuple[Any, BaseException | None]] = deque()
        self._lock = threading.RLock()  # the garbage collector may close it in a thread that holds it
        self._making = threading.Lock()  # held by the thread at work
        self._ticket: object | None = None  # of that thread
        self._bell = threading.Lock()  # released to wake the consumer
        self._bell.acquire()
        self._over = False  # nothing more will be made

    def take(self) -> Any:
        """Return the next result; wait if it is not ready.

        Raises:
            StopIteration: there are no more.
            Exception: that of the function.
        """
        while not self._ready:
            self._push()
            if self._over and not self._ready:
                raise StopIteration
            if not self._ready:
                self._bell.acquire(timeout=_LOOK_SECONDS)
        entry = self._ready[0]
        try:
            self._ready.popleft()
            self._push()
        except BaseException:  # interrupted: nothing was taken
            if not self._ready or self._ready[0] is not entry:
                self._ready.appendleft(entry)
            raise
        result, error = entry
        if error is not None:
            raise error
        return result

    def close(self) -> None:
        """Forget what is ready and make no more. A call that is under way is not waited for."""
        with self._lock:
            self._over = True
            self._ready.clear()
        self._ring()

    def end(self) -> None:
        """Close it, and wait for the call that is under way."""
        self.close()
        with self._making:
            pass

    def _push(self) -> None:
        """See to it that there is a thread, if there is room."""
        ticket = object()
        try:  # also round the first step: an interruption may come as soon as it is done
            with self._lock:
                if self._over or self._ticket is not None or len(self._ready) >= self._depth:
                    return
                self._ticket = ticket
            spawn(self._run, ticket)  # without the lock, since it may run in this thread
        except BaseException:  # interrupted: if it runs nevertheless, it sees that it is not wanted
            if self._ticket is ticket:
                self._ticket = None
            raise

    def _run(self, ticket: object) -> None:
        with self._making:
            while self._wanted(ticket):
                entry: tuple[Any, BaseException | None] | None = None
                try:
                    entry = self._make(), None
                except StopIteration:
                    self._over = True
                except BaseException as error:  # noqa: BLE001  # it belongs to the consumer
                    entry = None, error
                with self._lock:
                    if entry is not None and not self._over:
                        self._ready.append(entry)
                del entry  # what the consumer has got is not to be referred to
                self._ring()
                if exiting():
                    self._ticket = None
                    return

    def _wanted(self, ticket: object) -> bool:
        with self._lock:
            if self._ticket is not ticket:
                return False
            if self._over or len(self._ready) >= self._depth:
                self._ticket = None
                return False
            return True

    def _ring(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has been rung already
            self._bell.release()


@contextlib.contextmanager
def made_ahead(make: Callable[[Any], Any], depth: int, elements: Iterator[Any]) -> Iterator[Iterator[Any]]:
    """Make something of elements, so many ahead; nothing is at work any more when the context is left.

    >>> with made_ahead(str, 2, iter(range(3))) as made:
    ...     list(made)
    ['0', '1', '2']
    """
    ahead = Ahead(lambda: make(next(elements)), depth)

    def taken() -> Iterator[Any]:
        while True:
            try:
                made = ahead.take()
            except StopIteration:
                return
            yield made

    try:
        yield taken()
    finally:
        ahead.end()
