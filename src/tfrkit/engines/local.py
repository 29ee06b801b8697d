"""The local engine: independent tasks on the threads of this process, which all end cleanly.

A task does its heavy work in native code with the GIL released, so that threads use every core; and what a table in
memory holds need not be copied to another process.

The calling thread only waits: an interruption (Ctrl-C) can reach it at any moment, so it shares nothing with the tasks
but queues that have no lock of Python's own.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

from tfrkit.engines.engine import (
    TICK_SECONDS,
    Control,
    Outcome,
    Running,
    Task,
    add_counts,
    no_address,
    outcomes,
)
from tfrkit.errors import CancelledError
from tfrkit.threads import default_threads, exiting, spawn

__all__ = ["MAX_THREADS", "Stop", "ThreadEngine", "ThreadRun", "run_tasks"]

_Item = TypeVar("_Item")
_Result = TypeVar("_Result")
MAX_THREADS: Final = 16  # by default; each takes some 20 MB


class Stop:
    """A request to stop, which tasks look at whenever they can end cleanly. Thread-safe."""

    def __init__(self) -> None:
        self._asked = False

    def set(self) -> None:
        """Ask all tasks to stop."""
        self._asked = True

    @property
    def asked(self) -> bool:
        """Whether tasks were asked to stop."""
        return self._asked or exiting()

    def check(self) -> None:
        """Raise if tasks were asked to stop.

        Raises:
            CancelledError: tasks were asked to stop.
        """
        if self.asked:
            raise CancelledError("The job was stopped.")


class ThreadEngine:
    """Threads of this process."""

    name = "threads"
    shares_memory = True

    def __init__(self, address: str | None = None) -> None:
        no_address(self.name, address)

    @property
    def cores(self) -> int:
        return min(default_threads(), MAX_THREADS)

    def start(self, tasks: Sequence[Task[_Result]], workers: int) -> Running[_Result]:
        return ThreadRun(tasks, workers)


class ThreadRun(Generic[_Result]):
    """Tasks on threads: results and counts are on their way in queues."""

    def __init__(self, tasks: Sequence[Task[_Result]], workers: int, stop: Stop | None = None) -> None:
        self._tasks = tasks
        self._stop = (
            stop or Stop()
        )  # of all tasks: when the run is closed before its end; a given one after an error, too
        self._ends_all = stop is not None
        self._limit = len(tasks)  # tasks from this number on are to stop
        self._left = len(tasks)  # of which no outcome was returned
        self._ended: deque[Outcome[_Result]] = deque()
        self._counted: deque[Mapping[str, float]] = deque()
        self._news = threading.Lock()  # released when a task has ended
        self._news.acquire()
        self._numbers = itertools.count()
        self._alive: list[None] = []
        self._gone: list[None] = []
        try:
            for _ in range(min(max(1, workers), len(tasks))):
                spawn(self._work)
        except BaseException:
            self.close()
            raise

    def _work(self) -> None:
        self._alive.append(None)
        while not self._stop.asked and (number := next(self._numbers)) < len(self._tasks):
            try:
                control = _ThreadControl(self, number)
                control.check()
                self._add(Outcome(number, self._tasks[number].run(control), None))
            except BaseException as error:  # noqa: BLE001  # the coordinator raises it
                self._add(Outcome(number, None, error))
                if self._ends_all:
                    self._stop.set()
        self._gone.append(None)
        self._wake()

    def _add(self, outcome: Outcome[_Result]) -> None:
        self._ended.append(outcome)
        self._wake()

    def _wake(self) -> None:
        with contextlib.suppress(RuntimeError):  # not taken since the last time
            self._news.release()

    def count(self, counts: Mapping[str, float]) -> None:
        self._counted.append(counts)

    def stops(self, number: int) -> bool:
        return number >= self._limit or self._stop.asked

    def wait(self) -> list[Outcome[_Result]]:
        if not self._ended:
            self._news.acquire(timeout=TICK_SECONDS)
        ended = [self._ended.popleft() for _ in range(len(self._ended))]
        self._left -= len(ended)
        return ended

    def counts(self) -> Mapping[str, float]:
        totals: dict[str, float] = {}
        for _ in range(len(self._counted)):
            add_counts(totals, self._counted.popleft())
        return totals

    def stop_after(self, number: int) -> None:
        self._limit = min(self._limit, number + 1)

    def close(self) -> None:
        if self._left:
            self._stop.set()
        while len(self._gone) < len(self._alive):
            self._news.acquire(timeout=TICK_SECONDS)


@dataclass(frozen=True, slots=True)
class _ThreadControl:
    run: ThreadRun[Any]
    number: int

    def check(self) -> None:
        if self.run.stops(self.number):
            raise CancelledError("The job was stopped.")

    def count(self, counts: Mapping[str, float]) -> None:
        self.run.count(counts)


@dataclass(frozen=True, slots=True)
class _Call(Generic[_Item, _Result]):
    """A function of an item as a task: for threads of this process only."""

    work: Callable[[_Item], _Result]
    item: _Item
    name: str = "call"

    def run(self, control: Control) -> _Result:
        control.check()
        return self.work(self.item)


def run_tasks(
    items: Sequence[_Item],
    work: Callable[[_Item], _Result],
    *,
    workers: int,
    stop: Stop,
    tick: Callable[[], None] | None = None,
) -> Iterator[tuple[_Item, _Result]]:
    """Do the work of every item, `workers` at a time on threads, and yield each with its result when it is done.

    Items begin in their order. After an error, or when the caller stops iterating (an interrupt, too), the others are
    asked to stop and waited for; the first error is raised.

    Args:
        items: what is to be done.
        work: does one of them; called in other threads.
        workers: how many at a time.
        stop: what `work` checks.
        tick: called several times a second in the calling thread, while it waits.

    >>> sorted(run_tasks([1, 2, 3], lambda task: task * task, workers=2, stop=Stop()))
    [(1, 1), (2, 4), (3, 9)]
    """
    running: ThreadRun[_Result] = ThreadRun([_Call(work, item) for item in items], workers, stop)
    try:
        for ended in outcomes(running, len(items)):
            for outcome in ended:
                if outcome.error is not None:
                    raise outcome.error
                yield items[outcome.number], outcome.result  # type: ignore[misc]  # without an error there is one
            if tick is not None:
                tick()
    finally:
        running.close()
