"""ReadAhead: what an iterator will ask a lookup for, read as much at once as the storage likes.

A lookup says through `Lookup.windowed` which of its elements come out of a shuffle with a window, and at which of its
places. All places of one window that the iterator will want are one `Reading`: it is begun before its turn, by a thread
of its own, and whoever asks the shuffle for one of the places gets it from there. A reading lives as long as something
refers to it: this object while its numbers are near, and the chunks of numbers that were handed out.
"""

from __future__ import annotations

import threading
import weakref
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfrkit.data.elements.chunk import ColumnChunk
from tfrkit.data.engine.node import INFINITE_CARDINALITY
from tfrkit.model.row_selection import IntArray
from tfrkit.threads import spawn

if TYPE_CHECKING:
    from tfrkit.data.engine.lookup import Found, Lookup, WindowedLookup

__all__ = ["NumbersChunk", "ReadAhead", "Reading", "Readings"]

_AHEAD: Final = 2  # windows that are read while one is given out: one arrives while another is asked for
_AT_ONCE: Final = 4096  # numbers that are looked at to find out where windows end
_FARTHEST: Final = 1 << 20  # numbers that are looked at before their turn; what is larger is read in parts


class Reading:
    """Elements of a shuffle that are read at once.

    Attributes:
        epoch: that they are of.
        places: theirs, ascending.
    """

    def __init__(self, lookup: WindowedLookup, places: IntArray, epoch: int) -> None:
        self.epoch = epoch
        self.places = places
        self.future: Future[Found] = spawn(lookup.read, places, epoch)

    def found(self) -> Found | None:
        """Wait for the elements, in the order of the places; None if one of them fails."""
        try:
            return self.future.result()
        except Exception:
            return None

    def rows_of(self, places: IntArray) -> tuple[IntArray, Any]:
        """Where some places stand among its own, and which of them do."""
        rows = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return rows, self.places[rows] == places


class Readings:
    """The readings of one shuffle in one pass. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._alive: weakref.WeakSet[Reading] = weakref.WeakSet()

    def add(self, reading: Reading) -> None:
        """Let it be found as long as something else refers to it."""
        with self._lock:
            self._alive.add(reading)

    def of(self, epoch: int) -> list[Reading]:
        """Those of an epoch."""
        with self._lock:
            return [each for each in self._alive if each.epoch == epoch]


class NumbersChunk(ColumnChunk):
    """Numbers of elements, with the readings that these are of."""

    __slots__ = ("_readings",)

    def __init__(self, numbers: IntArray, readings: Sequence[Reading]) -> None:
        super().__init__(numbers, len(numbers))
        self._readings = readings

    def slice(self, start: int, stop: int) -> NumbersChunk:
        return NumbersChunk(self.columns[start:stop], self._readings)

    def take(self, rows: IntArray) -> NumbersChunk:
        return NumbersChunk(self.columns[rows], self._readings)


@dataclass(slots=True)
class _Window:
    """What is wanted of a window, by the first of the numbers and the last."""

    lookup: WindowedLookup
    epoch: int
    window: int
    first: int
    last: int
    places: list[IntArray] = field(default_factory=list)
    reading: Reading | None = None


class ReadAhead:
    """Reads for one iterator that asks for one number after another. Used by one thread at a time.

    Args:
        lookup: whose elements.
        epoch: of the pass.
        first: the number that comes first.
    """

    def __init__(self, lookup: Lookup, epoch: int, first: int) -> None:
        self._lookup = lookup
        self._epoch = epoch
        self._seen = first  # numbers before it were looked at
        self._open: dict[WindowedLookup, _Window] = {}  # what is wanted of them may not be all
        self._windows: deque[_Window] = deque()  # by their last numbers
        self._running: list[Future[Any]] = []
        self._closed = not any(True for _ in lookup.windowed(np.zeros(0, np.int64), epoch))  # has none

    def reach(self, begin: int, end: int) -> list[Reading]:
        """Have what the numbers [begin, end) need read, and what comes after it; return the readings of these.

        Numbers before `begin` are not asked for any more, except by who has the readings.
        """
        if self._closed:
            return []
        while self._windows and self._windows[0].last < begin:
            self._windows.popleft()
        if self._seen < begin:
            self._open.clear()
            self._seen = begin
        while self._is_short(end) and self._look(end + _FARTHEST):
            pass
        needed = [each for each in self._windows if each.first < end]
        if any(each.first < end for each in self._open.values()):  # the rest of it is too far away
            needed += self._close_windows()
        self._running = [each for each in self._running if not each.done()]
        self._begin(needed)
        later = [each for each in self._windows if each.first >= end]
        for each in later[:_AHEAD]:
            self._begin([each])
        return list({id(each.reading): each.reading for each in needed if each.reading is not None}.values())

    def _is_short(self, end: int) -> bool:
        """Whether too little is known of what comes next."""
        if self._seen < end or any(each.first < end for each in self._open.values()):
            return True
        return sum(each.first >= end for each in self._windows) < _AHEAD

    def _look(self, limit: int) -> bool:
        """Find out of which windows the next numbers are; False if there are none up to the limit."""
        end, size = min(self._seen + _AT_ONCE, limit), self._lookup.size
        end = end if size == INFINITE_CARDINALITY else min(end, size)
        if end <= self._seen:
            if end == size:
                self._close_windows()
            return False
        numbers = np.arange(self._seen, end)
        for lookup, rows, places, epoch in self._lookup.windowed(numbers, self._epoch):
            windows = lookup.windows(places, epoch)
            cuts = [0, *(np.flatnonzero(np.diff(windows)) + 1).tolist(), len(places)]
            for begin, stop in pairwise(cuts):
                if begin < stop:
                    first, last = int(numbers[rows[begin]]), int(numbers[rows[stop - 1]])
                    self._add(lookup, epoch, int(windows[begin]), first, last).append(places[begin:stop])
        self._seen = end
        return True

    def _add(self, lookup: WindowedLookup, epoch: int, window: int, first: int, last: int) -> list[IntArray]:
        known = self._open.get(lookup)
        if known is None or (known.epoch, known.window) != (epoch, window):
            if known is not None:
                self._windows.append(known)
            known = self._open[lookup] = _Window(lookup, epoch, window, first, last)
        known.last = max(known.last, last)
        return known.places

    def _close_windows(self) -> list[_Window]:
        closed = list(self._open.values())
        self._windows.extend(closed)
        self._open.clear()
        return closed

    def _begin(self, windows: Sequence[_Window]) -> None:
        """Begin what has not begun: what is needed at once is read at once, however small the windows are."""
        new: dict[tuple[WindowedLookup, int], list[_Window]] = {}
        for each in windows:
            if each.reading is None:
                new.setdefault((each.lookup, each.epoch), []).append(each)
        for (lookup, epoch), together in new.items():
            places = np.unique(np.concatenate([part for each in together for part in each.places]))
            reading = Reading(lookup, places, epoch)
            lookup.readings.add(reading)
            self._running.append(reading.future)
            for each in together:
                each.reading, each.places = reading, []

    def close(self) -> None:
        """Wait for what is under way: nothing that uses files outlives its owner."""
        self._closed = True
        self._windows.clear()
        self._open.clear()
        running, self._running = self._running, []
        for future in running:
            future.cancel()
        for future in running:
            if not future.cancelled():
                future.exception()
