"""The local engine: independent tasks on the threads of this process, which all end cleanly.

A task does its heavy work in native code with the GIL released, so that threads use every core; and what a table in
memory holds need not be copied to another process. Tasks are plain data that pickles, for engines on other machines.

The calling thread only waits: an interruption (Ctrl-C) can reach it at any moment, so it shares nothing with the tasks
but a queue that has no lock of Python's own.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Final, Generic, TypeVar

from tfrkit.errors import CancelledError
from tfrkit.threads import exiting, spawn

__all__ = ["Stop", "run_tasks"]

_Task = TypeVar("_Task")
_Result = TypeVar("_Result")
_TICK_SECONDS: Final = 0.1


class Stop:
    """A request to stop, which tasks look at whenever they can end cleanly. Thread-safe.

    Args:
        parent: a wider request, which stops this one's tasks as well.
    """

    def __init__(self, parent: Stop | None = None) -> None:
        self._asked = False
        self._parent = parent

    def set(self) -> None:
        """Ask all tasks to stop."""
        self._asked = True

    @property
    def asked(self) -> bool:
        """Whether tasks were asked to stop."""
        return self._asked or (self._parent.asked if self._parent is not None else exiting())

    def check(self) -> None:
        """Raise if tasks were asked to stop.

        Raises:
            CancelledError: tasks were asked to stop.
        """
        if self.asked:
            raise CancelledError("The job was stopped.")


class _Board(Generic[_Result]):
    """Results on their way from the tasks' threads to the calling one."""

    def __init__(self) -> None:
        self._results: deque[tuple[int, _Result | None, BaseException | None]] = deque()
        self._news = threading.Lock()  # released when something is added
        self._news.acquire()

    def add(self, number: int, result: _Result | None, error: BaseException | None) -> None:
        self._results.append((number, result, error))
        with contextlib.suppress(RuntimeError):  # not taken since the last time
            self._news.release()

    def wait(self) -> list[tuple[int, _Result | None, BaseException | None]]:
        """Return what has come, after a tick at most."""
        if not self._results:
            self._news.acquire(timeout=_TICK_SECONDS)
        return [self._results.popleft() for _ in range(len(self._results))]


def run_tasks(
    tasks: Sequence[_Task],
    work: Callable[[_Task], _Result],
    *,
    workers: int,
    stop: Stop,
    tick: Callable[[], None] | None = None,
) -> Iterator[tuple[_Task, _Result]]:
    """Do the work of every task, `workers` at a time, and yield each with its result as soon as it is done.

    Tasks begin in their order. After an error in a task, or when the caller stops iterating (an interrupt, too), the
    others are asked to stop and waited for; the first error is raised.

    Args:
        tasks: what is to be done.
        work: does one of them; called in other threads.
        workers: how many at a time.
        stop: what `work` checks.
        tick: called several times a second in the calling thread, while it waits.

    >>> sorted(run_tasks([1, 2, 3], lambda task: task * task, workers=2, stop=Stop()))
    [(1, 1), (2, 4), (3, 9)]
    """
    board: _Board[_Result] = _Board()
    numbers = itertools.count()
    begun: list[None] = []
    ended: list[None] = []

    def worker() -> None:
        begun.append(None)
        while not stop.asked and (number := next(numbers)) < len(tasks):
            try:
                board.add(number, work(tasks[number]), None)
            except BaseException as error:  # noqa: BLE001  # raised again in the calling thread
                stop.set()
                board.add(number, None, error)
        ended.append(None)

    left = len(tasks)
    try:
        for _ in range(min(max(1, workers), len(tasks))):
            spawn(worker)
        while left:
            for number, result, error in board.wait():
                if error is not None:
                    raise error
                left -= 1
                yield tasks[number], result  # type: ignore[misc]  # without an error there is a result
            if tick is not None:
                tick()
    except BaseException:
        stop.set()
        raise
    finally:
        while len(ended) < len(begun):
            board.wait()
