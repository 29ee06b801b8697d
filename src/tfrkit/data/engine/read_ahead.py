"""ReadAhead: what an iterator will ask a lookup for, read as much at once as the storage likes.

A lookup says through `Lookup.windowed` which of its elements come out of a shuffle that reads ahead, and at which of
its places. All places of one window that the iterator will want are read at once, before their turn, by a thread of
their own; without windows, as many as the shuffle says. They come in pieces, each a `Reading`, and whoever asks the
shuffle for one of the places gets it from there. A reading lives as long as something refers to it: this object while
its numbers are near, and the chunks of numbers that were handed out. So what is used up takes no memory, while the rest
of what was read with it waits for its turn.
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
_EARLY: Final = (
    16  # of as many elements as are read at once without windows: with that part left the next are begun
)
_AT_ONCE: Final = 4096  # numbers that are looked at to find out where windows end
_FARTHEST: Final = 1 << 20  # numbers that are looked at before their turn; what is larger is read in parts


class Reading:
    """Elements of a shuffle: one of the pieces that are read at once.

    Attributes:
        epoch: that they are of.
        places: theirs, ascending; at least one.
        first: the first of the iterator's numbers that asks for one of them.
        last: the last of these.
    """

    def __init__(
        self, job: Future[list[Any]], piece: int, epoch: int, places: IntArray, numbers: IntArray
    ) -> None:
        self.epoch = epoch
        self.places = places
        self.first, self.last = int(numbers.min()), int(numbers.max())
        self._job = job
        self._piece = piece
        self._found: Found | None = None

    def found(self) -> Found | None:
        """Wait for the elements, in the order of the places; None if one of the job's fails."""
        if self._found is None:
            try:
                pieces = self._job.result()
            except Exception:
                return None
            found = pieces[self._piece]
            if found is not None:  # else another thread has just taken it
                self._found = found
                pieces[self._piece] = None  # it is this reading's now, and lives as long
        return self._found

    def rows_of(self, places: IntArray) -> tuple[IntArray, Any]:
        """Where some places stand among its own, and which of them do."""
        rows = np.minimum(np.searchsorted(self.places, places), len(self.places) - 1)
        return rows, self.places[rows] == places


class Readings:
    """The readings of one shuffle in one pass. Any thread may call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._alive: list[tuple[int, int, int, weakref.ref[Reading]]] = []  # epoch, first and last place

    def add(self, readings: Sequence[Reading]) -> None:
        """Let them be found as long as something else refers to them."""
        with self._lock:
            self._alive = [each for each in self._alive if each[3]() is not None]
            for each in readings:
                self._alive.append((each.epoch, int(each.places[0]), int(each.places[-1]), weakref.ref(each)))

    def of(self, epoch: int, first: int, last: int) -> list[Reading]:
        """Those of an epoch that may have some of the places from the first to the last."""
        near = [each[3] for each in self._alive if each[0] == epoch and each[1] <= last and each[2] >= first]
        return [reading for reference in near if (reading := reference()) is not None]


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
    count: int = 0
    places: list[IntArray] = field(default_factory=list)
    numbers: list[IntArray] = field(default_factory=list)  # that ask for them
    begun: bool = False
    readings: list[Reading] = field(default_factory=list)


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
        asked = [each.lookup for each in lookup.windowed(np.zeros(0, np.int64), epoch)]
        self._grown: set[WindowedLookup] = set()  # whose first elements were read
        self._ahead = 1 if all(each.most for each in asked) else _AHEAD
        self._closed = not asked

    def reach(self, begin: int, end: int) -> list[Reading]:
        """Have what the numbers [begin, end) need read, and what comes after it; return the readings of these.

        Numbers before `begin` are not asked for any more, except by who has the readings.
        """
        if self._closed:
            return []
        while self._windows and self._windows[0].last < begin:
            self._windows.popleft()
        for each in self._windows:
            if each.readings and each.readings[0].last < begin:
                each.readings = [reading for reading in each.readings if reading.last >= begin]
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
        for each in later[: self._ahead]:
            if not each.lookup.most or self._left(each, end) <= each.lookup.most // _EARLY:
                self._begin([each])
        return [reading for each in needed for reading in each.readings if reading.first < end]

    def _is_short(self, end: int) -> bool:
        """Whether too little is known of what comes next."""
        if self._seen < end or any(each.first < end for each in self._open.values()):
            return True
        return sum(each.first >= end for each in self._windows) < self._ahead

    def _left(self, window: _Window, end: int) -> float:
        """How many elements before a window, of the same shuffle, are read and not given out."""
        before = 0.0
        for each in self._windows:
            if each is window:
                break
            if each.lookup is window.lookup and each.last >= end:
                before += each.count * min(1.0, (each.last + 1 - end) / (each.last + 1 - each.first))
        return before

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
                    self._add(
                        lookup, epoch, int(windows[begin]), numbers[rows[begin:stop]], places[begin:stop]
                    )
        self._seen = end
        return True

    def _add(
        self, lookup: WindowedLookup, epoch: int, window: int, numbers: IntArray, places: IntArray
    ) -> None:
        """Note places of one window, and which numbers ask for them."""
        while len(places):
            known = self._open.get(lookup)
            if known is None or (known.epoch, known.window) != (epoch, window):
                if known is not None:
                    self._windows.append(known)
                first = int(numbers[0])
                known = self._open[lookup] = _Window(lookup, epoch, window, first, first)
            most = lookup.most or len(places)
            if lookup not in self._grown:  # so that the first elements do not wait for many others
                most = min(most, 2 * lookup.piece)
            count = min(len(places), most - known.count) if lookup.most else len(places)
            known.places.append(places[:count])
            known.numbers.append(numbers[:count])
            known.last = max(known.last, int(numbers[count - 1]))
            known.count += count
            numbers, places = numbers[count:], places[count:]
            if lookup.most and known.count >= most:
                self._grown.add(lookup)
                self._windows.append(self._open.pop(lookup))

    def _close_windows(self) -> list[_Window]:
        closed = list(self._open.values())
        self._windows.extend(closed)
        self._open.clear()
        return closed

    def _begin(self, windows: Sequence[_Window]) -> None:
        """Begin what has not begun: what is needed at once is read at once, however small the windows are."""
        new: dict[tuple[WindowedLookup, int], list[_Window]] = {}
        for each in windows:
            if not each.begun:
                each.begun = True
                new.setdefault((each.lookup, each.epoch), []).append(each)
        for (lookup, epoch), together in new.items():
            places = np.concatenate([part for each in together for part in each.places])
            numbers = np.concatenate([part for each in together for part in each.numbers])
            if not (np.diff(places) > 0).all():
                order = np.lexsort((numbers, places))
                places, numbers = places[order], numbers[order]
                last = np.append(places[1:] != places[:-1], True)  # where one comes twice
                places, numbers = places[last], numbers[last]
            job = spawn(lookup.read, places, epoch)
            self._running.append(job)
            size = lookup.piece
            readings = [
                Reading(job, at // size, epoch, places[at : at + size], numbers[at : at + size])
                for at in range(0, len(places), size)
            ]
            lookup.readings.add(readings)
            for each in together:
                each.readings, each.places, each.numbers = readings, [], []

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
