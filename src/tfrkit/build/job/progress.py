"""What a recipe reports while it makes records, what comes of bad input, and how far a job is."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, fields
from typing import Any, Final, Literal, Protocol, TypeAlias

from tfrkit.errors import InvalidArgumentError

__all__ = [
    "MAX_LISTED_BAD",
    "SILENT",
    "BadInput",
    "BadInputError",
    "OnBad",
    "Progress",
    "ProgressMeter",
    "SurveyMeter",
    "TaskReporter",
]

OnBad: TypeAlias = Literal["skip", "raise"]
MAX_LISTED_BAD: Final = 1000  # of each task; all of them are counted
_TICK_SECONDS: Final = 0.1


class BadInputError(InvalidArgumentError):
    """Bad input ended a job, as the user has chosen."""


class _Checks(Protocol):
    """What knows whether a task is to stop."""

    def check(self) -> None:
        """Raise CancelledError if it is."""


@dataclass(frozen=True, slots=True)
class BadInput:
    """Something in the input that did not become a record.

    Attributes:
        source: file, or file and name inside it.
        line: line number in it, from 1 on; None where there are no lines.
        reason: a short sentence without the details of this one, by which they are counted.
        detail: what exactly was found.
    """

    source: str
    line: int | None
    reason: str
    detail: str = ""

    @property
    def shown(self) -> str:
        """Everything in one line, for people."""
        where = self.source if self.line is None else f"{self.source}, line {self.line}"
        return f"{where}: {self.reason}" + (f": {self.detail}" if self.detail else "")

    def to_error(self) -> BadInputError:
        """Return the error for a job in which bad input is fatal."""
        return BadInputError(
            f'{self.shown}. Fix the input, or pass on_bad="skip" (--on-bad skip).',
            path=self.source,
        )


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a job has come: a snapshot, given to `progress` callbacks.

    Attributes:
        done_bytes: input that is in shards, or was left out. Where records are shuffled, input that has been read
            counts half until it is in a shard.
        total_bytes: input of the whole job.
        records: records in shards so far, in unfinished ones too.
        bad: bad inputs so far.
        shards_done: finished shards.
        shards: all shards.
        seconds: since the job began.
        resumed_bytes: the part of `done_bytes` that an earlier run of the job has done.
        written_bytes: bytes of finished shards.
        stage: "survey" while inputs are looked at before the plan is made, "count" while rows are counted for it, then
            "write". Before that no record and no shard is done, and `total_bytes` is 0 if it is not known yet.
        files_done: input files that were looked at, in a survey.
        files: all of them; 0 if that is not known yet.
    """

    done_bytes: int
    total_bytes: int
    records: int
    bad: int
    shards_done: int
    shards: int
    seconds: float
    resumed_bytes: int = 0
    written_bytes: int = 0
    stage: str = "write"
    files_done: int = 0
    files: int = 0


_COUNTS: Final = [each.name for each in fields(Progress) if each.name not in ("seconds", "stage")]


class ProgressMeter:
    """Counts what is done, and reports it several times a second. Counting is thread-safe.

    Args:
        progress: takes the snapshots; None: nothing is reported.
        known: what is known of a `Progress` before anything is done, such as `total_bytes`.
    """

    def __init__(self, progress: Callable[[Progress], None] | None, **known: Any) -> None:
        self._progress = progress
        self._lock = threading.Lock()
        self._now: dict[str, Any] = {"stage": "write", **dict.fromkeys(_COUNTS, 0), **known}
        self._started = time.perf_counter()
        self._told = 0.0

    def count(self, **more: float) -> None:
        """Add to counts of `Progress`, by their names."""
        with self._lock:
            for name, number in more.items():
                self._now[name] += number

    def tick(self, *, last: bool = False) -> None:
        """Report, if it is time to, or for the last time; called from the thread that plans or waits."""
        now = time.perf_counter()
        if self._progress is not None and (last or now - self._told >= _TICK_SECONDS):
            self._told = now
            done, total = round(self._now["done_bytes"]), self._now["total_bytes"]
            if total or self._now["stage"] == "write":
                done = min(done, total)
            self._progress(Progress(**{**self._now, "done_bytes": done}, seconds=now - self._started))


class SurveyMeter(ProgressMeter):
    """Counts what a plan has looked at.

    Args:
        progress: takes the snapshots; None: nothing is reported.
        files: how many there are; 0: not known.
        total_bytes: of all of them; 0: not known.
        stage: what is done with them.
    """

    def __init__(
        self,
        progress: Callable[[Progress], None] | None,
        files: int = 0,
        total_bytes: int = 0,
        stage: str = "survey",
    ) -> None:
        super().__init__(progress, files=files, total_bytes=total_bytes, stage=stage)
        self._told = self._started

    def add(self, files: int = 0, size: int = 0) -> None:
        self.count(files_done=files, done_bytes=size)

    @contextmanager
    def file(self, size: int) -> Iterator[Callable[[int], None]]:
        """Count a file of `size` bytes: what is yielded takes how many more were looked at; the end counts the rest."""
        left = size

        def seen(more: int) -> None:
            nonlocal left
            more = min(more, left)
            left -= more
            self.count(done_bytes=more)

        yield seen
        seen(left)
        self.add(1)


SILENT: Final = SurveyMeter(None)


class TaskReporter:
    """What a recipe reports to while it makes records. One per task; called from its thread.

    `advance` and `bad` raise CancelledError when the job is to stop, so recipes need no check of their own.

    Attributes:
        listed: the first `most` bad inputs, 1,000 by default.
        counts: all bad inputs, by reason.
        noted: what was noticed and kept, by reason.
        noted_listed: the first of each reason.
        passed: good inputs that were not wanted.
        features: names of features that were looked for and found.
        input_bytes: how much was read.
    """

    def __init__(
        self, stop: _Checks, on_bad: OnBad, count: Callable[[int, int], None], most: int = MAX_LISTED_BAD
    ) -> None:
        self._most = most
        self._stop = stop
        self._on_bad = on_bad
        self._count = count
        self.listed: list[BadInput] = []
        self.counts: dict[str, int] = {}
        self.noted: dict[str, int] = {}
        self.noted_listed: list[BadInput] = []
        self.passed = 0
        self.features: set[str] = set()
        self.input_bytes = 0

    def check(self) -> None:
        """Raise CancelledError when the job is to stop."""
        self._stop.check()

    def advance(self, input_bytes: int = 0) -> None:
        """Report how much input was read since the last call."""
        self.check()
        self.input_bytes += input_bytes
        self._count(input_bytes, 0)

    def bad(self, found: BadInput) -> None:
        """Count something bad, or raise, as the user has chosen.

        Raises:
            BadInputError: bad input is fatal.
        """
        self._stop.check()
        if self._on_bad == "raise":
            raise found.to_error()
        self.counts[found.reason] = self.counts.get(found.reason, 0) + 1
        if len(self.listed) < self._most:
            self.listed.append(found)
        self._count(0, 1)

    def note(self, found: BadInput, count: int = 1) -> None:
        """Count something that was noticed and kept, never fatal; the first of each reason is listed."""
        if found.reason not in self.noted:
            self.noted_listed.append(found)
        self.noted[found.reason] = self.noted.get(found.reason, 0) + count
