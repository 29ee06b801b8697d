"""Jobs: the background jobs of a server: begun on request, a few at a time, and none left when the server ends.

`job.py` says what a job is; what a kind does is in its own file and in the table `KINDS`.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tfrkit.errors import FailedPreconditionError, InvalidArgumentError, NotFoundError, ResourceExhaustedError
from tfrkit.records.compare.diff_options import CompareOptions
from tfrkit.records.where import WhereChoice, parse_where
from tfrkit.viewer.diff_job import comparison
from tfrkit.viewer.job import BackgroundJob, Work
from tfrkit.viewer.record_order import RecordOrder, SortedMatches
from tfrkit.viewer.record_pass import JobFiles
from tfrkit.viewer.search import Matches, search
from tfrkit.viewer.shown.rows import Matched
from tfrkit.viewer.statistics_job import statistics
from tfrkit.viewer.verify_job import verification

__all__ = ["KINDS", "JobRequest", "Jobs"]

_MOST_RUNNING: Final = 4
_MOST_THREADS: Final = 12  # with those of cancelled jobs that wait for a slow store
_MOST_KEPT: Final = 4  # that have ended, of one kind for one data set: a search has up to 32 MB of numbers
_CLOSE_SECONDS: Final = 10.0


@dataclass(frozen=True, slots=True)
class JobRequest:
    """What a job is asked for.

    Attributes:
        kind: a key of `KINDS`.
        set_name: the data set.
        where: which records, if not all.
        options: of the kind.
    """

    kind: str
    set_name: str
    where: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)


def _search(request: JobRequest, sets: Mapping[str, JobFiles]) -> Work:
    files = sets[request.set_name]
    order = RecordOrder.of(request.options.get("order"), files.kinds)
    return search(files, request.where or "", order)


def _statistics(request: JobRequest, sets: Mapping[str, JobFiles]) -> Work:
    where: WhereChoice | None = parse_where(request.where) if request.where else None
    columns = request.options.get("columns")
    if columns is not None and not (
        isinstance(columns, list) and all(isinstance(name, str) for name in columns)
    ):
        raise InvalidArgumentError("expected options.columns to be a list of names of features")
    return statistics(sets[request.set_name], where, columns)


def _verification(request: JobRequest, sets: Mapping[str, JobFiles]) -> Work:
    return verification(sets[request.set_name])


def _comparison(request: JobRequest, sets: Mapping[str, JobFiles]) -> Work:
    if "b" not in sets:
        raise FailedPreconditionError(
            "there is no second data set to compare with. Start the viewer with --compare PATH."
        )
    try:
        options = CompareOptions.of(dict(request.options))
    except (TypeError, ValueError) as error:
        raise InvalidArgumentError(f"options: {error}") from None
    return comparison(sets["a"], sets["b"], options)


KINDS: Final[Mapping[str, Callable[[JobRequest, Mapping[str, JobFiles]], Work]]] = {
    "search": _search,
    "stats": _statistics,
    "verify": _verification,
    "diff": _comparison,
}


class Jobs:
    """The jobs of one server. Thread-safe."""

    def __init__(self) -> None:
        self._jobs: dict[str, BackgroundJob] = {}
        self._left: set[BackgroundJob] = set()  # forgotten, with a thread that has not ended
        self._numbers = itertools.count(1)
        self._lock = threading.Lock()
        self._closed = False

    def start(self, request: JobRequest, sets: Mapping[str, JobFiles]) -> BackgroundJob:
        """Begin a job; one of its kind for this data set that is running is cancelled.

        Args:
            request: what is asked for.
            sets: the data sets by name, as they are known now.

        Raises:
            InvalidArgumentError: there is no such kind or data set, or the condition is none.
            FailedPreconditionError: there is nothing to compare with, or the server is ending.
            ResourceExhaustedError: too many are running.
        """
        if request.kind not in KINDS:
            raise InvalidArgumentError(f"expected one of {', '.join(KINDS)} but got {request.kind!r:.40}")
        if request.set_name not in sets:
            raise InvalidArgumentError(f"there is no data set {request.set_name!r:.40}")
        work = KINDS[request.kind](request, sets)
        with self._lock:
            if self._closed:
                raise FailedPreconditionError("the viewer is ending")
            for job in self._jobs.values():
                if (job.kind, job.set_name) == (request.kind, request.set_name):
                    job.cancel()
            self._check_room()
            self._drop_oldest(request)
            name = f"{request.kind}-{next(self._numbers)}"
            job = BackgroundJob(name, request.kind, request.set_name, request.where, work)
            self._jobs[name] = job
            return job

    def get(self, name: str) -> BackgroundJob:
        """Return a job.

        Raises:
            NotFoundError: there is none of this name.
        """
        job = self._jobs.get(name)
        if job is None:
            raise NotFoundError(f"there is no job {name!r:.40}. Start it again.")
        return job

    def matches(self, name: str, start: int, count: int) -> Matched:
        """Return some matches of a search by their numbers among the matches.

        Raises:
            NotFoundError: there is no such search.
        """
        job = self.get(name)
        if job.kind != "search":
            raise NotFoundError(f"the job {name!r:.40} has no matches: it is not a search.")
        found: Matches | SortedMatches | None = job.result
        if found is None:
            return Matched((), None)
        total = found.kept if job.is_over else None  # asked before the matches: those are all then
        return Matched(found.slice(start, count), total)

    def forget(self, name: str, seconds: float) -> bool:
        """Cancel a job, drop what it found, and wait for its thread; returns whether that has ended."""
        job = self.get(name)
        job.cancel()
        with self._lock:
            self._jobs.pop(name, None)
            self._left.add(job)
        has_ended = job.wait(seconds)
        if has_ended:
            self._left.discard(job)
        return has_ended

    def close(self) -> None:
        """Cancel all jobs and wait until their threads have ended; no other is begun."""
        with self._lock:
            self._closed = True
            jobs = [*self._jobs.values(), *self._left]
            self._jobs.clear()
        for job in jobs:
            job.cancel()
        for job in jobs:
            job.wait(_CLOSE_SECONDS)

    def _check_room(self) -> None:
        self._left = {job for job in self._left if not job.is_over}
        running = [job for job in self._jobs.values() if not job.is_over]
        wanted = sum(not job.is_stopping for job in running)
        if wanted >= _MOST_RUNNING or len(running) + len(self._left) >= _MOST_THREADS:
            raise ResourceExhaustedError(
                f"{wanted} jobs are running, and more are not begun at once. Wait, or cancel one."
            )

    def _drop_oldest(self, request: JobRequest) -> None:
        alike = ((name, job) for name, job in self._jobs.items() if job.kind == request.kind)
        ended = [name for name, job in alike if job.is_over and job.set_name == request.set_name]
        for name in ended[: max(0, len(ended) - _MOST_KEPT + 1)]:
            del self._jobs[name]
