"""What will be read next from behind a URL, fetched before it is asked for: some groups at a time, bounded in bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any, Final, Generic, TypeVar

__all__ = ["ReadAhead", "Result"]

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
_GROUP: Final = 16  # that are fetched at once
_GROUP_BYTES: Final = 8 << 20
_GROUPS: Final = 2  # the one that is read, and the next


@dataclass(frozen=True, slots=True)
class Result(Generic[_Value]):
    """A value that comes with a request, perhaps with others."""

    future: Future[Any]
    pick: Callable[[Any], _Value]

    def get(self) -> _Value:
        """Wait for the request; its error is raised."""
        return self.pick(self.future.result())


class ReadAhead(Generic[_Key, _Value]):
    """Values that are taken in the order in which they were announced. For one thread.

    Args:
        begin: begins to fetch what some keys stand for.
    """

    def __init__(self, begin: Callable[[list[_Key]], dict[_Key, Result[_Value]]]) -> None:
        self._begin = begin
        self._expected: deque[list[_Key]] = deque()
        self._running: deque[dict[_Key, Result[_Value]]] = deque()
        self._wanted: set[_Key] = set()  # announced, and not taken

    def expect(self, wanted: Sequence[tuple[_Key, int]]) -> None:
        """Say what will be taken, each with its bytes, instead of what was said before. Nothing is fetched yet."""
        self.close()
        group: list[_Key] = []
        size = 0
        for key, count in wanted:
            if group and (len(group) == _GROUP or size + count > _GROUP_BYTES):
                self._expected.append(group)
                group, size = [], 0
            group.append(key)
            size += count
        if group:
            self._expected.append(group)
        self._wanted = {key for key, _ in wanted}

    def take(self, key: _Key) -> _Value | None:
        """Return what a key stands for; None if it was not announced, or later ones were taken already."""
        if key not in self._wanted:
            return None
        self._advance()
        while key not in self._running[0]:
            self._wanted.difference_update(self._running[0])
            _wait(self._running.popleft())
            self._advance()
        self._wanted.discard(key)
        return self._running[0].pop(key).get()

    def _advance(self) -> None:
        """Let go of groups that were taken, and begin the next."""
        while self._running and not self._running[0]:
            self._running.popleft()
        while self._expected and len(self._running) < _GROUPS:
            self._running.append(self._begin(self._expected.popleft()))

    def close(self) -> None:
        """Forget everything, when the requests that were made have ended."""
        self._wanted = set()
        self._expected.clear()
        while self._running:
            _wait(self._running.popleft())


def _wait(group: dict[Any, Result[Any]]) -> None:
    for result in group.values():
        if not result.future.cancel():
            result.future.exception()
