"""What will be read next from behind a URL, fetched before it is asked for: some groups at a time, bounded in bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final, Generic, TypeAlias, TypeVar

__all__ = ["Fetched", "Result", "read_ahead"]

_Key = TypeVar("_Key")
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
        """Wait for it; the error of its request is raised."""
        return self.pick(self.future.result())


Fetched: TypeAlias = Generator[Result[_Value], None, None]


def read_ahead(
    wanted: Sequence[tuple[_Key, int]], begin: Callable[[list[_Key]], list[Result[_Value]]]
) -> Fetched[_Value]:
    """Yield what keys stand for, in order; nothing is fetched before the first is asked for.

    Closing it waits for the requests that were made for nothing.

    Args:
        wanted: the keys, each with its bytes.
        begin: begins to fetch what some keys stand for, and returns that in the same order.
    """
    groups = _groups(wanted)
    running: deque[deque[Result[_Value]]] = deque()
    try:
        while True:
            running.extend(deque(begin(group)) for group in islice(groups, _GROUPS - len(running)))
            if not running:
                return
            while running[0]:
                yield running[0].popleft()
            running.popleft()
    finally:
        for result in chain.from_iterable(running):
            if not result.future.cancel():
                result.future.exception()


def _groups(wanted: Sequence[tuple[_Key, int]]) -> Iterator[list[_Key]]:
    group: list[_Key] = []
    size = 0
    for key, count in wanted:
        if group and (len(group) == _GROUP or size + count > _GROUP_BYTES):
            yield group
            group, size = [], 0
        group.append(key)
        size += count
    if group:
        yield group
