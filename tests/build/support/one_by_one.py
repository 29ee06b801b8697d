"""An engine of a test's: one task at a time in the calling thread, which looks at each before the next begins."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

from tfrkit.engines.engine import Outcome, Task, add_counts
from tfrkit.errors import CancelledError


class OneByOne:
    name = "one by one"
    shares_memory = True
    cores = 1

    def start(self, tasks: Sequence[Task[Any]], workers: int) -> _Inline:
        return _Inline(tasks)


class _Inline:
    """Runs a task whenever it is asked for news; counts like any other engine."""

    def __init__(self, tasks: Sequence[Task[Any]]) -> None:
        self._tasks = tasks
        self._waiting = deque(range(len(tasks)))
        self._limit = len(tasks)
        self._counts: dict[str, float] = {}

    def wait(self) -> list[Outcome[Any]]:
        number = self._waiting.popleft()
        if number >= self._limit:
            return [Outcome(number, None, CancelledError("stopped"))]
        try:
            return [Outcome(number, self._tasks[number].run(self), None)]
        except Exception as error:
            return [Outcome(number, None, error)]

    def check(self) -> None:
        pass

    def count(self, counts: Mapping[str, float]) -> None:
        add_counts(self._counts, counts)

    def counts(self) -> Mapping[str, float]:
        counts, self._counts = self._counts, {}
        return counts

    def stop_after(self, number: int) -> None:
        self._limit = min(self._limit, number + 1)

    def close(self) -> None:
        self._waiting.clear()
