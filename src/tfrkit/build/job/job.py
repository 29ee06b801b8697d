"""Running a job: each task writes one shard, atomically, and the journal notes what is done.

The plan is in `job_plan.py`, what stands in the folder in `output_ownership.py`, shuffling in `external_shuffle.py`.
Tasks are run by the engine, foreign files are read by the formats.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import Any

from tfrkit.build.job.bad_limit import BadLimit, MaxBad
from tfrkit.build.job.column_report import ColumnReport
from tfrkit.build.job.input_stamp import check_unchanged
from tfrkit.build.job.job_plan import Job, Recipe, ShardGroup, check_plan, plan_shards
from tfrkit.build.job.output_ownership import claim, inspect_folder
from tfrkit.build.job.progress import BadInput, OnBad, Progress, SurveyMeter, TaskReporter
from tfrkit.build.job.report import BuildReport, make_report
from tfrkit.build.job.run_job import JobRun, add_zones
from tfrkit.engines.engine import Engine
from tfrkit.engines.local import ThreadEngine
from tfrkit.errors import InvalidArgumentError, UnimplementedError, from_os_error
from tfrkit.stores.files import is_local, traits_of
from tfrkit.stores.url import display_name, local_path

__all__ = [
    "BadInput",
    "BuildReport",
    "Job",
    "MaxBad",
    "OnBad",
    "PlanSummary",
    "Progress",
    "Recipe",
    "ShardGroup",
    "SurveyMeter",
    "TaskReporter",
    "dry_run",
    "plan_shards",
    "run_job",
]


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """What a job would do.

    Attributes:
        folder: where the shards would go.
        state: "new"; "resume": some shards are there; "complete": all are; "exists": refused without `overwrite`.
        shards: how many there will be, by prefix.
        finished: how many are there already, from a run that was interrupted.
        input_bytes: how much is to be read.
        mixed: whether records are shuffled.
        temporary_bytes: about how much disk space the shuffle takes in addition to the shards.
        compression: of the shards.
        files: names of further files.
        bad: inputs that the plan leaves out, by reason.
        noted: inputs that it noticed and keeps, or ignores on purpose, by reason.
        refusal: why the job would be refused; or empty.
        columns: how the columns of a table are settled.
        files_left_out: how many files are in partitions that are not wanted.
    """

    folder: str
    state: str
    shards: dict[str, int]
    finished: int
    input_bytes: int
    mixed: bool
    temporary_bytes: int
    compression: str
    files: tuple[str, ...]
    bad: dict[str, int]
    noted: dict[str, int]
    refusal: str
    columns: tuple[ColumnReport, ...] = ()
    files_left_out: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {**asdict(self), "columns": [column.to_json() for column in self.columns]}


def dry_run(
    job: Job, *, on_bad: OnBad = "skip", max_bad: MaxBad | None = None, overwrite: bool = False
) -> PlanSummary:
    """Say what `run_job` would do, and change nothing.

    What `run_job` would refuse before it begins is an error here too; but that there is something in the way is in the
    result, as `refusal`.

    Raises:
        DataLossError: an input has changed since the plan was made.
        FailedPreconditionError: a running job writes under the same names.
        InvalidArgumentError: bad input with on_bad="raise", too much of it, or a plan that cannot be run.
        PermissionDeniedError: the folder may not be written to.
    """
    job = _at_home(job)
    limit = _check_before(job, on_bad, max_bad)
    found = inspect_folder(job)
    state, refusal = found.state, found.refusal
    if overwrite:
        found.earlier, refusal = None, ""
        state = "resume" if found.finished else "new"
    found.close(own=True)
    if state == "complete" and found.complete is not None:
        _check_complete(found.complete, on_bad, limit)
    if is_local(job.folder):  # elsewhere that shows only when something is written
        _check_writable(job.folder)
    report = make_report(job, (), (), 0, 0)
    return PlanSummary(
        job.folder,
        state,
        {group.prefix: group.shards or 1 for group in job.groups},
        found.finished,
        job.input_bytes,
        any(group.shuffle_seed is not None for group in job.groups),
        sum(group.input_bytes for group in job.groups if group.shuffle_seed is not None),
        job.compression,
        job.further_files,
        dict(report.bad),
        dict(report.noted),
        refusal,
        job.columns,
        job.files_left_out,
    )


def run_job(
    job: Job,
    *,
    workers: int | None = None,
    on_bad: OnBad = "skip",
    max_bad: MaxBad | None = None,
    overwrite: bool = False,
    zones: bool = False,
    progress: Callable[[Progress], None] | None = None,
    engine: Engine | None = None,
) -> BuildReport:
    """Write all shards of a job that are not there yet.

    A job that was interrupted or killed resumes where it was; one that is complete is not run again, unless
    `overwrite` is set.

    Args:
        job: the plan.
        workers: how many shards at once; by default as many as the engine has cores, but on threads not more than 16,
            for the sake of memory.
        on_bad: "skip" counts bad input, "raise" ends at the first of the first shard that has some.
        max_bad: more bad inputs than this number, or than this share ("1%"), are an error, and nothing is published.
            If all are bad, that always is.
        overwrite: replace what another job has left in the folder; else it is an error.
        zones: keep zones beside the shards, also beside those that an earlier run has written without.
        progress: called several times a second, from the calling thread.
        engine: what runs the tasks; threads of this process by default. The result does not depend on it.

    Raises:
        AlreadyExistsError: there are shards of another job, or the source has changed since it was interrupted.
        DataLossError: an input has changed since the plan was made.
        FailedPreconditionError: a running job writes under the same names.
        InvalidArgumentError: bad input with on_bad="raise", too much of it, a feature that no record has, or a plan
            that cannot be run.
        ResourceExhaustedError: the disk is full; run the job again when there is room.
    """
    started = time.perf_counter()
    if workers is not None and workers < 1:
        raise InvalidArgumentError(f"Expected at least 1 worker but got {workers}.")
    job = _at_home(job)
    limit = _check_before(job, on_bad, max_bad)
    found = claim(job, overwrite=overwrite, staged=limit != BadLimit())
    if found.complete is not None:
        _check_complete(found.complete, on_bad, limit)
        if zones:
            add_zones(job, ())
        return replace(found.complete, seconds=time.perf_counter() - started)
    engine = engine or ThreadEngine()
    at_once = workers or engine.cores
    return JobRun(job, found, at_once, on_bad, progress, started, limit, engine, zones=zones).run()


def _at_home(job: Job) -> Job:
    """Return a job with one name of its folder, whatever slashes a user has put at the end. Pure: no I/O.

    Raises:
        UnimplementedError: no store knows the folder's scheme, or nothing can be written there.
    """
    folder = job.folder
    if is_local(folder):
        return replace(job, folder=local_path(folder))
    traits = traits_of(folder)
    if not (traits.writes and traits.lists):
        name = display_name(folder)
        raise UnimplementedError(
            f"{name}; nothing can be written there. Choose a local folder or one in an object store.",
            path=name,
        )
    return job if folder.endswith("://") else replace(job, folder=folder.rstrip("/"))


def _check_before(job: Job, on_bad: OnBad, max_bad: MaxBad | None) -> BadLimit:
    """Refuse what is wrong before anything is touched; returns the limit."""
    check_plan(job)
    if on_bad == "raise" and job.bad:
        raise job.bad[0].to_error()
    limit = BadLimit.parse(max_bad)
    planned = make_report(job, (), (), 0, 0)
    limit.check(planned.bad, None, planned.listed)
    check_unchanged(job.stamps)
    return limit


def _check_complete(complete: BuildReport, on_bad: OnBad, limit: BadLimit) -> None:
    """Refuse a complete job that does not meet the options given now."""
    if on_bad == "raise" and complete.listed:
        raise complete.listed[0].to_error()
    limit.check(complete.bad, complete.records + complete.passed, complete.listed)


def _check_writable(folder: str) -> None:
    path = os.path.abspath(folder)
    while not os.path.lexists(path):
        path = os.path.dirname(path)
    if not os.access(path, os.W_OK | os.X_OK):
        code = errno.EACCES if os.path.isdir(path) else errno.ENOTDIR
        raise from_os_error(OSError(code, os.strerror(code)), folder)
