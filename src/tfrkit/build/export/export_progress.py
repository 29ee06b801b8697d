"""How far an export has come: first the survey of all inputs, then the writing."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Final

from tfrkit.build.job.progress import Progress, Stage

__all__ = ["Meter"]

_EVERY_SECONDS: Final = 0.1


class Meter:
    """Counts for a `progress` callback; the size of the inputs counts twice, as they are read twice. Thread-safe."""

    def __init__(self, size: int, outputs: int, progress: Callable[[Progress], None] | None) -> None:
        self._progress = progress
        self._outputs = outputs
        self._size = size
        self._data_bytes = self._size
        self._lock = threading.Lock()
        self._started = time.perf_counter()
        self._told = 0.0
        self._surveyed = self._written = self._records = self._done = 0
        self._stage: Stage = "survey"

    def surveyed(self, records: int, data_bytes: int) -> None:
        """Note how much the survey has seen."""
        self._surveyed = min(data_bytes, self._size)
        self.tell()

    def begin(self, data_bytes: int) -> None:
        """Note that the survey is over, and how much there is to write."""
        self._surveyed = self._size
        self._data_bytes = max(1, data_bytes)
        self._stage = "write"

    def written(self, data_bytes: int, records: int) -> None:
        """Note that more records were written. From any thread."""
        with self._lock:
            self._written += data_bytes
            self._records += records

    def finished(self) -> None:
        """Note that an output is whole."""
        self._done += 1
        self.tell(at_once=True)

    def tell(self, *, at_once: bool = False) -> None:
        """Call the callback, unless it was called a moment ago. From the calling thread only."""
        now = time.perf_counter()
        if self._progress is None or (now - self._told < _EVERY_SECONDS and not at_once):
            return
        self._told = now
        done, seconds = self._surveyed, now - self._started
        if done == self._size:
            done += int(self._size * min(1.0, self._written / self._data_bytes))
        counts = (self._records, 0, self._done, self._outputs)
        self._progress(Progress(done, 2 * self._size, *counts, seconds, stage=self._stage))
