"""How far an export has come: first the survey of all inputs, then the writing."""

from __future__ import annotations

from collections.abc import Callable

from tfrkit.build.job.progress import Progress, ProgressMeter

__all__ = ["Meter"]


class Meter(ProgressMeter):
    """Counts for a `progress` callback; the size of the inputs counts twice, as they are read twice. Thread-safe."""

    def __init__(self, size: int, outputs: int, progress: Callable[[Progress], None] | None) -> None:
        super().__init__(progress, total_bytes=2 * size, shards=outputs, stage="survey")
        self._size = size
        self.ratio = 1.0  # of the size of inputs to the bytes of their records

    def surveyed(self, records: int, data_bytes: int) -> None:
        """Note how much the survey has seen."""
        self._now["done_bytes"] = min(data_bytes, self._size)
        self.tick()

    def begin(self, data_bytes: int) -> None:
        """Note that the survey is over, and how much there is to write."""
        self._now.update(done_bytes=self._size, stage="write")
        self.ratio = self._size / max(1, data_bytes)

    def written(self, data_bytes: int, records: int) -> None:
        """Note that more records were written. From any thread."""
        self.count(done_bytes=data_bytes * self.ratio, records=records)

    def finished(self) -> None:
        """Note that an output is whole."""
        self.count(shards_done=1)
        self.tick(last=True)
