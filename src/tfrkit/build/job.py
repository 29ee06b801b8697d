"""Running a job: each task writes one shard, atomically, and the journal notes what is done.

The plan is `plan.py`'s, what stands in the folder `claim.py`'s, mixing `mix.py`'s. Running tasks is the engine's,
reading foreign files the formats'.
"""

from __future__ import annotations

import errno
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from tfrkit.build.claim import Found, claim, is_part, look, mix_folder
from tfrkit.build.plan import Group, Job, Recipe, check_plan, plan_shards, shard_names
from tfrkit.build.report import BuildReport, Finished, make_report, save_report
from tfrkit.build.watch import MAX_LISTED_BAD, BadInput, Moved, OnBad, Progress, Watch
from tfrkit.engines.local import Stop, run_tasks
from tfrkit.errors import CancelledError, InvalidArgumentError, OpError, ResourceExhaustedError
from tfrkit.model.block import Block
from tfrkit.records.manifest import ShardEntry, change_manifest
from tfrkit.records.pool import default_threads
from tfrkit.records.writer import TFRecordWriter
from tfrkit.storage.output import write_atomically

__all__ = [
    "BadInput",
    "BuildReport",
    "Group",
    "Job",
    "OnBad",
    "PlanSummary",
    "Progress",
    "Recipe",
    "Watch",
    "dry_run",
    "plan_shards",
    "run_job",
]

_MAX_LISTED_BAD: Final = 100_000  # of all tasks together, while the job runs
_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class PlanSummary:
    """What a job would do.

    Attributes:
        folder: where the shards would go.
        state: "new"; "resume": some shards are there; "complete": all are; "exists": refused without `overwrite`.
        shards: how many there will be, by prefix.
        finished: how many are there already, from a run that was interrupted.
        input_bytes: how much is to be read.
        mixed: whether records are mixed.
        compression: of the shards.
        files: names of further files.
        bad: inputs that the plan leaves out, by reason.
        noted: inputs that it noticed and keeps, or ignores on purpose, by reason.
        refusal: why the job would be refused; or empty.
    """

    folder: str
    state: str
    shards: dict[str, int]
    finished: int
    input_bytes: int
    mixed: bool
    compression: str
    files: tuple[str, ...]
    bad: dict[str, int]
    noted: dict[str, int]
    refusal: str

    def to_dict(self) -> dict[str, Any]:
        """Give everything as plain values, for JSON."""
        return asdict(self)


def dry_run(job: Job, *, overwrite: bool = False) -> PlanSummary:
    """Say what `run_job` would do, and change nothing.

    Raises:
        FailedPreconditionError: a running job writes under the same names.
        InvalidArgumentError: the plan cannot be run.
    """
    check_plan(job)
    found = look(job)
    state, refusal = found.state, found.refusal
    if overwrite and state in ("exists", "complete"):
        state, refusal = "new", ""
    finished = found.own.finished if found.own is not None else {}
    found.close()
    if found.own is not None:
        found.own.close()
    report = make_report(job, (), (), 0, 0)
    return PlanSummary(
        job.folder,
        state,
        {group.prefix: group.shards or 1 for group in job.groups},
        found.complete.resumed
        if state == "complete" and found.complete
        else sum(not is_part(n) for n in finished),
        job.input_bytes,
        any(group.mix_seed is not None for group in job.groups),
        job.compression,
        tuple(job.files),
        dict(report.bad),
        dict(report.noted),
        refusal,
    )


def run_job(
    job: Job,
    *,
    workers: int | None = None,
    on_bad: OnBad = "skip",
    overwrite: bool = False,
    progress: Callable[[Progress], None] | None = None,
) -> BuildReport:
    """Write all shards of a job that are not there yet.

    A job that was interrupted or killed goes on where it was; one that is complete is not run again, unless it is to
    overwrite itself.

    Args:
        job: the plan.
        workers: how many shards at once; all cores by default.
        on_bad: "skip" counts bad input, "raise" ends at the first of the first shard that has some.
        overwrite: replace what another job has left in the folder; else it is an error.
        progress: called some times a second, from the calling thread.

    Raises:
        AlreadyExistsError: there are shards of another job, or the source has changed since it was interrupted.
        FailedPreconditionError: a running job writes under the same names.
        InvalidArgumentError: bad input with on_bad="raise", or a plan that cannot be run.
        ResourceExhaustedError: the disk is full; run the job again when there is room.
    """
    started = time.perf_counter()
    check_plan(job)
    if workers is not None and workers < 1:
        raise InvalidArgumentError(f"Expected at least 1 worker but got {workers}.")
    if on_bad == "raise" and job.bad:
        raise job.bad[0].to_error()
    found = claim(job, overwrite=overwrite)
    if found.complete is not None:
        if on_bad == "raise" and found.complete.listed:
            raise found.complete.listed[0].to_error()
        return replace(found.complete, seconds=time.perf_counter() - started)
    return _Run(job, found, workers or default_threads(), on_bad, progress, started).run()


@dataclass(frozen=True, slots=True)
class Task:
    """One step of a job: writes one file, under the name that the journal will have.

    Attributes:
        name: of the shard, or of a part of a mixture.
        write: does it.
        input_bytes: what it counts for in the progress.
    """

    name: str
    write: Callable[[Watch, Stop], Finished]
    input_bytes: int


class _Run:
    """A job that has claimed its names."""

    def __init__(
        self,
        job: Job,
        found: Found,
        workers: int,
        on_bad: OnBad,
        progress: Callable[[Progress], None] | None,
        started: float,
    ) -> None:
        assert found.own is not None
        self._job = job
        self._digest = found.digest
        self._journal = found.own
        self._workers = workers
        self._on_bad: OnBad = on_bad
        self._progress = progress
        self._started = started
        self._moved = Moved()
        self._planned_bad = sum(make_report(job, (), (), 0, 0).bad.values())
        self._resumed_bytes = 0
        self._names = [name for group in job.groups for name in shard_names(job, group)]
        self._resumed = sum(name in self._journal.finished for name in self._names)
        self._most_listed = max(10, min(MAX_LISTED_BAD, _MAX_LISTED_BAD // max(1, len(self._names))))

    def run(self) -> BuildReport:
        """Do what is left to do, and publish it."""
        done = self._journal.finished
        try:
            if self._on_bad == "raise":
                for task in done.values():
                    if task.listed:
                        raise task.listed[0].to_error()
            self._stage([task for group in self._job.groups for task in self._shard_tasks(group)])
            report = self._finish()
        except BaseException as error:
            self._give_up()
            if (cause := _out_of_room(error)) is not None:
                raise self._full(cause) from error
            raise
        return report

    def _shard_tasks(self, group: Group) -> list[Task]:
        names = shard_names(self._job, group)
        given = [group.recipes] if group.shards is None else [(recipe,) for recipe in group.recipes]
        return [self._shard_task(name, recipes) for name, recipes in zip(names, given, strict=True)]

    def _shard_task(self, name: str, recipes: tuple[Recipe, ...]) -> Task:
        def blocks(watch: Watch) -> Iterator[Block]:
            for recipe in recipes:
                yield from recipe.blocks(watch)

        def write(watch: Watch, stop: Stop) -> Finished:
            return self._write_shard(name, blocks(watch), watch, stop)

        return Task(name, write, sum(recipe.input_bytes for recipe in recipes))

    def _write_shard(self, name: str, blocks: Iterator[Block], watch: Watch, stop: Stop) -> Finished:
        path = os.path.join(self._job.folder, name)
        kind = self._job.compression
        with (
            closing(blocks),  # type: ignore[type-var]  # recipes are generators
            TFRecordWriter(
                path,
                compression=kind or "none",
                level=self._job.level,
                atomic=True,
                index=kind in ("", "GZIP"),
                threads=max(1, self._workers // len(self._names)),
            ) as writer,
        ):
            for block in blocks:
                stop.check()
                writer.write_frames(block)
                self._moved.add(records=len(block))
            stop.check()
        size = os.path.getsize(path)
        return Finished(name, writer.records, size, watch.input_bytes, watch.counts, tuple(watch.listed))

    def _stage(self, tasks: Sequence[Task]) -> None:
        """Run tasks that are not done; raise the error of the first of them that had bad input, if one had."""
        left = [task for task in tasks if task.name not in self._journal.finished]
        for task in tasks:
            if (done := self._journal.finished.get(task.name)) is not None:
                self._resumed_bytes += task.input_bytes
                self._moved.add(
                    task.input_bytes, 0 if is_part(task.name) else done.records, sum(done.bad.values())
                )
        numbers = {task.name: number for number, task in enumerate(left)}
        stop = Stop()
        stops = [Stop(stop) for _ in left]

        def work(task: Task) -> Finished | OpError:
            own = stops[numbers[task.name]]
            watch = Watch(own, self._on_bad, self._count, self._most_listed)
            try:
                own.check()
                return task.write(watch, own)
            except InvalidArgumentError as error:
                if watch.fatal is not error:
                    raise
                for later in stops[numbers[task.name] + 1 :]:  # those before may have an earlier one
                    later.set()
                return error
            except CancelledError as error:
                return error

        failed: dict[int, OpError] = {}
        for task, result in run_tasks(left, work, workers=self._workers, stop=stop, tick=self._tick):
            if isinstance(result, Finished):
                self._journal.add(result)
            else:
                failed[numbers[task.name]] = result
        if failed:
            raise failed[min(failed)]

    def _count(self, input_bytes: int, records: int, bad: int) -> None:
        self._moved.add(input_bytes, 0, bad)  # records are counted when they are written

    def _tick(self) -> None:
        if self._progress is not None:
            shards = [done for name, done in self._journal.finished.items() if not is_part(name)]
            total = self._job.input_bytes
            self._progress(
                Progress(
                    min(self._moved.input_bytes, total),
                    total,
                    self._moved.records,
                    self._moved.bad + self._planned_bad,
                    len(shards),
                    len(self._names),
                    time.perf_counter() - self._started,
                    self._resumed_bytes,
                    sum(done.bytes for done in shards),
                )
            )

    def _finish(self) -> BuildReport:
        """Write everything that describes the shards; only the last step makes the job complete."""
        job, done = self._job, self._journal.finished
        kind = job.compression
        entries = [ShardEntry(name, done[name].records, done[name].bytes, kind) for name in self._names]
        seconds = time.perf_counter() - self._started
        report = make_report(job, entries, self._in_order(), self._resumed, seconds)
        for name, content in job.files.items():
            write_atomically(os.path.join(job.folder, name), content)
        save_report(job.folder, self._digest, report.to_entry(job.prefixes))

        def change(content: dict[str, Any]) -> None:
            names = set(self._names)
            kept = [entry for entry in content["shards"] if entry["name"] not in names]
            content["shards"] = kept + [asdict(entry) for entry in entries]
            content["made_by"].update({prefix: {"job": self._digest} for prefix in job.prefixes})
            made = {"made_by": dict(job.made_by), "spec": job.spec, "files": sorted(job.files)}
            content.setdefault("jobs", {})[self._digest] = made

        change_manifest(job.folder, change)
        shutil.rmtree(mix_folder(job.folder, self._digest), ignore_errors=True)
        self._journal.delete()
        self._tick_last()
        return report

    def _tick_last(self) -> None:
        self._moved.input_bytes = max(self._moved.input_bytes, self._job.input_bytes)
        self._tick()

    def _in_order(self) -> list[Finished]:
        done = self._journal.finished
        return [done[name] for name in self._names]

    def _give_up(self) -> None:
        """Leave what is finished for the next run; if that is nothing, leave nothing."""
        if not self._journal.finished:
            shutil.rmtree(mix_folder(self._job.folder, self._digest), ignore_errors=True)
            self._journal.delete()
        self._journal.close()

    def _full(self, cause: OSError) -> ResourceExhaustedError:
        done = sum(name in self._journal.finished for name in self._names)
        full = ResourceExhaustedError(
            f"{self._job.folder}; {os.strerror(cause.errno or 0)}. {done} of {len(self._names)} shards are whole, and "
            "nothing half-written is left. Make room, then run the same job again: it does the rest.",
            path=self._job.folder,
        )
        full.errno = cause.errno
        return full


def _out_of_room(error: BaseException) -> OSError | None:
    """Give the operating system's error behind another, if it says that the disk is full."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _FULL:
            return cause
        cause = cause.__cause__
    return None
