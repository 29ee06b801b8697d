"""ThreadChoice: decides whether a function's calls run in threads, by timing the first of them.

Threads gain nothing for a function that only computes in Python, because one thread at a time does that; handing over
costs some 20 us. They gain much for one that waits, or computes in native code that releases Python's lock.
"""

from __future__ import annotations

from statistics import median
from typing import Final

__all__ = ["CHEAP_SECONDS", "ThreadChoice"]

_FEW: Final = 9  # calls that are timed before something is decided
CHEAP_SECONDS: Final = 0.00005  # a call that takes less is not worth handing over
_WAITS: Final = 0.5  # a call that keeps its core busy for less than this part of its time waits for something
# Threads pay off if a concurrent call takes less than this x threads x the time of a lone call.
_WORTH: Final = 0.95
_TRIALS: Final = 3  # a busy machine may spoil one


class ThreadChoice:
    """Decides from timings; how many threads there may be is given.

    Args:
        threads: how many calls may run at once.
        fixed: the user gave the number: calls run in threads from the beginning, unless they turn out to be cheap.

    Attributes:
        inline: calls run in the consumer's thread for now.
        settled: it stays as it is.
        seconds: that a call takes, once it is settled.
    """

    def __init__(self, threads: int, *, fixed: bool) -> None:
        self.threads = threads
        self.inline = not fixed
        self.settled = False
        self.seconds = 0.0
        self.fixed = fixed
        self._alone = 0.0  # seconds of one call, when nothing else runs
        self._seconds: list[float] = []
        self._busy = 0.0
        self._trials = 0

    def timed(self, seconds: float, busy: float) -> None:
        """One call took so long, and kept a core busy for so long."""
        if self.settled:
            return
        self._seconds.append(seconds)
        self._busy += busy
        if self.fixed or self.inline:
            if len(self._seconds) >= _FEW:
                self._after_first()
        elif len(self._seconds) >= max(_FEW, 4 * self.threads):
            self.seconds = median(self._seconds)
            self._trials += 1
            slow = self.seconds > _WORTH * self.threads * self._alone
            self.settled = not slow or self._trials == _TRIALS
            self.inline = slow and self.settled
            self._seconds = []

    def _after_first(self) -> None:
        self._alone = self.seconds = median(self._seconds)
        if self._alone < CHEAP_SECONDS:
            self.inline = self.settled = True
        elif self.fixed or self._busy < _WAITS * sum(self._seconds):
            self.inline, self.settled = False, True
        elif self.threads == 1:
            self.settled = True
        else:  # try
            self.inline = False
            self._seconds = []
