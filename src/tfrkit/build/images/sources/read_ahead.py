"""What will be read next from behind a URL, fetched before it is asked for: some groups at a time, bounded in bytes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Generator, Hashable, Iterator, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any, Final, Generic, TypeAlias, TypeVar

__all__ = ["Fetched", "Result", "read_ahead", "take_next"]

_Key = TypeVar("_Key", bound=Hashable)
_Value = TypeVar("_Value")
_GROUP: Final = 16  # that are fetched at once
_GROUP_BYTES: Final = 8 << 20
_GROUPS: Final = 2  # the one that is read, and the next


@dataclass(frozen=True, slots=True)
class Result(Generic[_Key, _Value]):
    """A value that comes with a request, perhaps with others, and what it was asked for by."""

    key: _Key
    future: Future[Any]
    pick: Callable[[Any], _Value]


Fetched: TypeAlias = Generator[Result[_Key, _Value], None, None]


def read_ahead(
    wanted: Sequence[tuple[_Key, int]], begin: Callable[[list[_Key]], list[Result[_Key, _Value]]]
) -> Fetched[_Key, _Value]:
    """Yield what keys stand for, in order; nothing is fetched before the first is asked for.

    Closing it waits for the requests that were made for nothing.

    Args:
        wanted: the keys, each with its bytes.
        begin: begins to fetch what some keys stand for, and returns that in the same order.
    """
    groups = _groups(wanted)
    running: deque[deque[Result[_Key, _Value]]] = deque()
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


def take_next(fetched: Fetched[_Key, _Value], key: _Key) -> _Value:
    """Wait for the next value, which must be that of a key; the error of its request is raised."""
    result = next(fetched)
    assert result.key == key
    return result.pick(result.future.result())


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
