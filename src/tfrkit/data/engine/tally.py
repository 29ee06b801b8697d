"""Tally: how much of its input a stage had used when it gave each of its elements.

For stages that leave elements out, of which the number of elements says nothing about that of the input's. A tally
begins where the stage does, also after resuming, and forgets what nobody can ask for any more.
"""

from __future__ import annotations

import threading
from collections import deque

import numpy as np

from tfrkit.model.row_selection import IntArray

__all__ = ["Tally"]


class Tally:
    """Elements of the input that were used for so many of a stage. The stage may run in another thread.

    >>> tally = Tally()
    >>> tally.note(0, np.array([1, 4, 5]))  # the second element was the fourth of the input
    >>> [tally.used(given) for given in range(4)]
    [0, 1, 4, 5]
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._notes: deque[tuple[int, IntArray]] = deque()  # by elements given before each
        self._before = 0  # used for those that are forgotten

    def begin(self, given: int, used: int) -> None:
        """Resume where so many elements were given, for which so many were used."""
        with self._lock:
            self._notes.clear()
            self._notes.append((given, np.zeros(0, np.int64)))
            self._before = used

    def note(self, given: int, used: IntArray) -> None:
        """Note what was used when each of some elements was given, after `given` others.

        What was noted of them before, by an attempt that was interrupted, no longer counts.
        """
        with self._lock:
            while self._notes and self._notes[-1][0] >= given and len(self._notes) > 1:
                self._notes.pop()
            if self._notes:
                first, last = self._notes.pop()
                self._notes.append((first, last[: max(0, given - first)]))
            self._notes.append((given, used))

    def used(self, given: int) -> int:
        """What was used when so many were given; all that is known of, if they are more."""
        with self._lock:
            for first, used in reversed(self._notes):
                if given > first and len(used):
                    return int(used[min(given - first, len(used)) - 1])
            return self._before

    def forget(self, given: int) -> None:
        """Forget what was used before so many were given."""
        with self._lock:
            while len(self._notes) > 1 and self._notes[1][0] <= given:
                _, used = self._notes.popleft()
                self._before = int(used[-1]) if len(used) else self._before
