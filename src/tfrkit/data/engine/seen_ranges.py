"""SeenRanges: which of the next elements a consumer has already seen, where they came out of order. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["SeenRanges"]


class SeenRanges:
    """Ranges [begin, end) of the items that come next, counted from here; items are elements and errors.

    >>> given = SeenRanges([(1, 3), (3, 4), (6, 7)])
    >>> given.ranges()
    [[1, 4], [6, 7]]
    >>> given.first, given.advance(2), given.ranges()
    (False, None, [[0, 2], [4, 5]])
    """

    __slots__ = ("_ranges",)

    def __init__(self, ranges: Iterable[tuple[int, int]] | None = None) -> None:
        self._ranges: list[list[int]] = []
        for begin, end in ranges or ():
            self.add(begin, end)

    def __bool__(self) -> bool:
        return bool(self._ranges)

    def add(self, begin: int, end: int) -> None:
        """Add a range after all others; nothing if it is empty."""
        if begin >= end:
            return
        if self._ranges and self._ranges[-1][1] == begin:
            self._ranges[-1][1] = end
        else:
            self._ranges.append([begin, end])

    def ranges(self) -> list[list[int]]:
        """All ranges, for a state."""
        return [list(each) for each in self._ranges]

    @property
    def first(self) -> bool:
        """Whether the next item was given."""
        return self.has(0)

    def has(self, item: int) -> bool:
        """Whether an item was given."""
        return any(begin <= item < end for begin, end in self._ranges)

    def advance(self, count: int) -> None:
        """Advance by a number of items."""
        left = [[max(0, begin - count), end - count] for begin, end in self._ranges]
        self._ranges = [each for each in left if each[1] > 0]
