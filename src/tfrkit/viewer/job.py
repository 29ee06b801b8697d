"""BackgroundJob: work in a thread of its own, what it has found so far, and how it is ended.

Knows nothing of what the work is: each kind has a file (`search.py`, `statistics_job.py`, `verify_job.py`,
`diff_job.py`), and `jobs.py` keeps the jobs of a server.
"""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Callable
from typing import Any, Final, Literal, TypeAlias

from tfrkit.errors import OpError
from tfrkit.threads import exiting, spawn

__all__ = ["BackgroundJob", "JobCancelled", "JobState", "Work"]

_log = logging.getLogger(__name__)
_PUBLISH_SECONDS: Final = 0.05  # between events of a job, which the server sends more rarely
JobState: TypeAlias = Literal["running", "done", "failed", "cancelled"]


class JobCancelled(Exception):  # noqa: N818  # a way out, not an error
    """Raised by `BackgroundJob.check` in the job's threads, to leave whatever is being read."""


class BackgroundJob:
    """One piece of work, begun when it is made. Thread-safe.

    Args:
        name: by which it is asked for.
        kind: what it does.
        set_name: the data set that it reads.
        where: of which records, as it was typed.
        work: what is done; it calls `check` often and `publish` now and then.

    Attributes:
        result: what the work keeps for others than the events, such as the numbers of matches.
        version: grows with each event.
    """

    def __init__(self, name: str, kind: str, set_name: str, where: str | None, work: Work) -> None:
        self.name, self.kind, self.set_name, self.where = name, kind, set_name, where
        self.result: Any = None
        self.version = 0
        self.state: JobState = "running"
        self._values: dict[str, Any] = {"done": 0, "of": None, "share": None}
        self._lock = threading.Lock()
        self._stop = threading.Event()
        self._began = time.monotonic()
        self._published = 0.0
        self._seconds: float | None = None
        self._future = spawn(self._run, work)

    @property
    def is_over(self) -> bool:
        """Whether its thread has ended, or will do so without reading anything more."""
        return self.state != "running"

    @property
    def is_stopping(self) -> bool:
        """Whether it has been cancelled."""
        return self._stop.is_set()

    def check(self) -> None:
        """Go on, unless the job is to end.

        Raises:
            JobCancelled: it was cancelled, or the process ends.
        """
        if self._stop.is_set() or exiting():
            raise JobCancelled

    def is_due(self) -> bool:
        """Whether it is time for another event."""
        return time.monotonic() - self._published >= _PUBLISH_SECONDS

    def publish(self, **values: Any) -> None:
        """Change what the events say; values that are not named stay."""
        with self._lock:
            self._values = {**self._values, **values}
            self._published = time.monotonic()
            self.version += 1

    def event(self) -> dict[str, Any]:
        """Return the latest event."""
        with self._lock:
            seconds = time.monotonic() - self._began if self._seconds is None else self._seconds
            fixed = {"id": self.name, "kind": self.kind, "set": self.set_name, "where": self.where}
            return {**fixed, "state": self.state, "seconds": round(seconds, 3), **self._values}

    def cancel(self) -> None:
        """Have it end at the next block; does not wait."""
        self._stop.set()

    def wait(self, seconds: float | None = None) -> bool:
        """Wait until its thread has ended; returns whether it has."""
        try:
            self._future.result(seconds)
        except TimeoutError:
            return False
        return True

    def _run(self, work: Work) -> None:
        state: JobState = "done"
        values: dict[str, Any] = {}
        try:
            work(self)
        except JobCancelled:
            state = "cancelled"
        except OpError as error:
            state, values = "failed", {"error": error.message, "at": error.at}
        except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
            state, values = "failed", {"error": f"{error}" or type(error).__name__, "at": None}
        except Exception as error:  # noqa: BLE001  # whoever follows the job is told
            _log.exception("the job %s failed", self.kind)
            state, values = (
                "failed",
                {"error": f"internal error: {type(error).__name__}: {error}", "at": None},
            )
        with self._lock:
            self._values = {**self._values, **values}
            self._seconds = time.monotonic() - self._began
            self.state = state
            self.version += 1


Work: TypeAlias = Callable[[BackgroundJob], None]
