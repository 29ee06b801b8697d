"""WriteOverlap: one action on another thread while the next is prepared. UninterruptedStep: what must be done whole.

Ctrl-C can come between any two steps of the main thread, so nothing here relies on a step that it could leave out: the
owner knows the work before a thread can have it, one atomic call settles who does it, and waiting is not given up.
Other threads are never interrupted.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import TracebackType
from typing import Self

from tfrkit.threads import default_threads, thread_pool

__all__ = ["UninterruptedStep", "WriteOverlap"]


class _Work:
    """An action that one thread does, or none."""

    def __init__(self, action: Callable[[], None]) -> None:
        self._action: Callable[[], None] | None = action
        self._owner: dict[str, int] = {}
        self._error: BaseException | None = None
        self._over = False
        self._end = threading.Lock()  # released when it is over
        self._end.acquire()

    def claim(self) -> bool:
        """Whether this thread was the first to ask; the answer never changes."""
        me = threading.get_ident()
        return self._owner.setdefault("thread", me) == me

    def run(self) -> None:
        """Do it, unless another thread does it or has called it off."""
        if not self.claim() or self._action is None:
            return
        try:
            self._action()
        except BaseException as error:  # noqa: BLE001  # it belongs to the thread that waits
            self._error = error
        self._action = None  # it holds the writer
        self._over = True
        self._end.release()

    def wait(self) -> None:
        """Wait until another thread has done it, and raise its error; interruptions are raised afterwards."""
        interruption: BaseException | None = None
        while not self._over:
            try:
                self._end.acquire()
            except BaseException as error:  # noqa: BLE001  # raised below
                interruption = error
        failure, self._error = self._error, None
        if interruption is not None:
            raise interruption from failure
        if failure is not None:
            raise failure


class WriteOverlap:
    """Writes one run while the next is being framed: 1.4 times as fast on two cores (benchmarks/write_many.py).

    At most one run is under way, in order; errors come with the next call, at the latest when the block ends. Once it
    has ended, by an interruption too, nothing is under way and nothing begins any more.
    """

    def __init__(self, *, enabled: bool) -> None:
        self._overlap = enabled and default_threads() > 1
        self._pending: _Work | None = None

    def do(self, action: Callable[[], None], *, last: bool) -> None:
        """Wait for the action before, then start this one; the last is done here and now."""
        self._finish()
        if last or not self._overlap:
            action()
        else:
            self._pending = _Work(action)
            thread_pool().submit(self._pending.run)

    def _finish(self) -> None:
        """Wait for what is under way; what no thread has begun is done here."""
        if self._pending is not None:
            self._pending.run()
            self._pending.wait()
            self._pending = None

    def _stop(self) -> None:
        """Wait for what is under way; what no thread has begun never is."""
        if self._pending is not None and not self._pending.claim():
            self._pending.wait()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            self._finish()
        else:
            self._stop()


class UninterruptedStep:
    """A `with` block that knows when an interruption has left it halfway: what it worked on is then incomplete."""

    def __init__(self) -> None:
        self.inside = False

    def __enter__(self) -> None:
        self.inside = True

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None or issubclass(kind, Exception):
            self.inside = False
