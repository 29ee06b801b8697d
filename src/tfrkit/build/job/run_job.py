"""The coordinator of a job that has claimed its names: an engine runs its tasks, a journal says what is done.

A task writes a shard, with its index, under a name of its attempt. The coordinator gives it its name, and notes it in
the journal; another attempt changes nothing. The manifest names all shards when all are there; `staging.py` says where
they are until then, and moves them. Claim, journal and manifest are the coordinator's alone.
"""

from __future__ import annotations

import contextlib
import errno
import os
import time
from collections.abc import Callable, Collection, Sequence
from contextlib import closing
from dataclasses import asdict, replace
from typing import Any, Final, TypeAlias

from tfrkit.build.job.bad_limit import BadLimit
from tfrkit.build.job.external_shuffle import MAX_SHUFFLERS, ExternalShuffle
from tfrkit.build.job.input_stamp import InputChangedError, check_unchanged
from tfrkit.build.job.job_plan import Job, Recipe, ShardGroup, shard_names
from tfrkit.build.job.json_fields import from_json
from tfrkit.build.job.output_ownership import OutputState, staging_of
from tfrkit.build.job.progress import MAX_LISTED_BAD, BadInputError, OnBad, Progress, ProgressMeter
from tfrkit.build.job.report import (
    BuildReport,
    Finished,
    ReportEntry,
    is_part,
    make_report,
    report_from,
    save_report,
)
from tfrkit.build.job.shuffle_tasks import PartTask, SplitTask
from tfrkit.build.job.staging import differing, remove_old, shuffle_folder
from tfrkit.build.job.tasks import ShardTask, TaskOptions
from tfrkit.engines.engine import Engine, outcomes
from tfrkit.errors import (
    CancelledError,
    FailedPreconditionError,
    InvalidArgumentError,
    OpError,
    ResourceExhaustedError,
    os_errors,
)
from tfrkit.records.access.zones import build_zones, load_zones
from tfrkit.records.manifest import ShardEntry, change_manifest, update_manifest
from tfrkit.stores import files
from tfrkit.stores.cache.folder import make_cache_folder
from tfrkit.stores.output import temporary_of
from tfrkit.threads import uninterrupted

__all__ = ["JobRun", "add_zones"]

_MAX_LISTED_BAD: Final = 100_000  # of all tasks together, while the job runs
_FULL: Final = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}

_Task: TypeAlias = ShardTask | PartTask | SplitTask


def add_zones(job: Job, zoned: Collection[str]) -> None:
    """Make the zones that shards of a complete job lack, of which some have theirs."""

    def add(path: str) -> None:
        if load_zones(path, files.open_source(path)) is None:
            build_zones(path, save=True)

    names = (name for group in job.groups for name in shard_names(job, group))
    files.ask_all(add, [os.path.join(job.folder, name) for name in names if name not in zoned])


class JobRun:
    """A job that has claimed its names."""

    def __init__(
        self,
        job: Job,
        found: OutputState,
        workers: int,
        on_bad: OnBad,
        progress: Callable[[Progress], None] | None,
        started: float,
        max_bad: BadLimit,
        engine: Engine,
        *,
        zones: bool = False,
    ) -> None:
        assert found.own is not None
        assert found.own.header is not None
        self._job = job
        self._digest = found.digest
        self._journal = found.own
        self._header = found.own.header
        self._staging = staging_of(job, self._header)
        self._replaces = bool(found.present) and self._staging.staged
        self._earlier = found.earlier
        self._publishing = found.own.ready  # what was there before may be gone
        self._kept = self._keep()
        self._engine = engine
        self._workers = workers
        self._on_bad: OnBad = on_bad
        self._started = started
        self._max_bad = max_bad
        self._zones = zones
        self._zoned: set[str] = set()  # shards that were written with them
        self._names = [name for group in job.groups for name in shard_names(job, group)]
        self._meter = ProgressMeter(
            progress,
            total_bytes=job.input_bytes,
            shards=len(self._names),
            bad=sum(make_report(job, (), (), 0, 0).bad.values()),
        )
        self._resumed = sum(name in self._journal.finished for name in self._names)
        self._shuffles = self._begin_shuffles()
        self._options = TaskOptions(
            self._staging.attempts,
            job.compression,
            job.level,
            zones,
            max(1, workers // max(1, len(self._names))),
            on_bad,
            max(10, min(MAX_LISTED_BAD, _MAX_LISTED_BAD // max(1, len(self._names)))),
            job.form,
        )

    def run(self) -> BuildReport:
        """Do what is left to do, and publish it."""
        done = self._journal.finished
        try:
            if self._on_bad == "raise":
                listed = [bad for task in done.values() for bad in task.listed]
                if self._earlier is not None:
                    listed = list(from_json(ReportEntry, self._earlier.report).listed)
                if listed:
                    raise listed[0].to_error()
            self._write_all()
            report = self._finish()
        except BaseException as error:
            held = self._journal.held  # else all is another process's by now
            changed = None if self._publishing else self._changed(error)
            if held and changed is not None:
                self._forget()
            self._give_up(held=held)
            if changed is not None and changed is not error:
                raise changed from error
            if (cause := _out_of_room(error)) is not None:
                raise self._full(cause) from error
            raise
        if self._zones:
            add_zones(self._job, self._zoned)
        return report

    def _keep(self) -> set[str]:
        """Take shards of an earlier, complete run as finished; returns their names."""
        kept = self._earlier.kept if self._earlier is not None else {}
        missing = kept.keys() - self._journal.finished.keys()
        for name in missing:
            self._journal.finished[name] = Finished(name, kept[name].records, kept[name].bytes, 0, {}, ())
        return set(missing)

    def _write_all(self) -> None:
        groups, shuffles, options = self._job.groups, self._shuffles, self._options
        plain = [task for group in groups if group.shuffle_seed is None for task in self._shard_tasks(group)]
        self._stage([*plain, *(task for shuffle in shuffles for task in shuffle.part_tasks(options))])
        while splits := [task for shuffle in shuffles for task in shuffle.split_tasks(options)]:
            self._stage(splits)
        for shuffle in shuffles:
            shuffle.drop_split()
        self._stage([task for shuffle in shuffles for task in self._gather_tasks(shuffle)])

    def _begin_shuffles(self) -> list[ExternalShuffle]:
        """Return the shuffles of groups whose shards are not all there."""
        folder, done = shuffle_folder(self._job.folder, self._digest), self._journal.finished
        found = []
        for number, group in enumerate(self._job.groups):
            if group.shuffle_seed is not None and not done.keys() >= set(shard_names(self._job, group)):
                remote = not files.is_local(self._job.folder)
                if remote:
                    with os_errors(folder):
                        make_cache_folder("jobs", os.path.basename(folder))  # for this user alone
                workers = min(self._workers, MAX_SHUFFLERS)
                found.append(ExternalShuffle(folder, number, group, workers, done))
                found[-1].restore()
                if remote:
                    found[-1].mark()
        return found

    def _gather_tasks(self, shuffle: ExternalShuffle) -> list[ShardTask]:
        group, names = shuffle.group, shard_names(self._job, shuffle.group)
        share = group.input_bytes / 2  # the other half was counted when it was read
        per_record = share / max(1, sum(bucket.records for bucket in shuffle.buckets()))
        return [
            self._shard_task(name, (recipe,), int(share / len(names)), per_record)
            for name, recipe in zip(names, shuffle.shard_recipes(), strict=True)
        ]

    def _shard_tasks(self, group: ShardGroup) -> list[ShardTask]:
        given = [group.recipes] if group.shards is None else [(recipe,) for recipe in group.recipes]
        return [
            self._shard_task(name, recipes, sum(recipe.input_bytes for recipe in recipes))
            for name, recipes in zip(shard_names(self._job, group), given, strict=True)
        ]

    def _shard_task(
        self, name: str, recipes: tuple[Recipe, ...], input_bytes: int, per_record: float = 0
    ) -> ShardTask:
        return ShardTask(name, recipes, self._staging.home, self._options, input_bytes, per_record)

    def _stage(self, tasks: Sequence[_Task]) -> None:
        """Run tasks that are not done; raise the error of the first of them that had bad input, if one had."""
        left = [task for task in tasks if not self._is_done(task)]
        workers = min(self._workers, MAX_SHUFFLERS) if self._shuffles else self._workers
        failed: dict[int, BaseException] = {}
        with closing(self._engine.start(left, workers)) as running:
            for ended in outcomes(running, len(left)):
                for outcome in ended:
                    if outcome.result is not None:
                        uninterrupted(self._take, outcome.result)
                    elif isinstance(outcome.error, BadInputError | CancelledError):
                        running.stop_after(outcome.number)  # those before may have an earlier one
                        failed[outcome.number] = outcome.error
                    elif outcome.error is not None:
                        self._drop(left[outcome.number].name)
                        raise outcome.error
                self._meter.count(**running.counts())
                self._meter.tick(last=True)
                self._journal.check()
        if failed:
            raise failed[min(failed)]

    def _drop(self, name: str) -> None:
        """Remove what a failed task may have left under the final name of its shard."""
        if not is_part(name) and self._journal.held:
            self._staging.drop(name)

    def _take(self, done: Finished) -> None:
        """Publish what one attempt at a task has written, and note it; a shard that cannot be noted is removed."""
        if is_part(done.name):  # the journal says which attempt's file counts
            self._journal.add(replace(done, path=os.path.basename(done.path)))
            return
        try:
            self._staging.take(done)
            self._journal.add(done)
        except BaseException:
            self._drop(done.name)
            raise
        if self._options.zones:
            self._zoned.add(done.name)
        self._meter.count(shards_done=1, written_bytes=done.bytes)

    def _is_done(self, task: _Task) -> bool:
        """Return whether an earlier run has done a task, which then counts as progress."""
        done = self._journal.finished.get(task.name)
        if done is None:
            return False
        size = task.input_bytes
        self._meter.count(resumed_bytes=size, done_bytes=size, bad=sum(done.bad.values()))
        if not is_part(task.name):
            self._meter.count(records=done.records, shards_done=1, written_bytes=done.bytes)
        return True

    def _finish(self) -> BuildReport:
        """Write everything that describes the shards; only the last step makes the job complete."""
        job, done = self._job, self._journal.finished
        kind = job.compression
        entries = [ShardEntry(name, done[name].records, done[name].bytes, kind) for name in self._names]
        seconds = time.perf_counter() - self._started
        if self._earlier is not None:
            report = report_from(self._earlier.report, job, entries, self._resumed, seconds)
        else:
            report = make_report(job, entries, self._in_order(), self._resumed, seconds)
        if not self._publishing:
            self._check(report)
        self._journal.check()
        self._publishing = True
        if job.closing is not None:  # until all is in its place
            files.remove(os.path.join(job.folder, job.closing.name))
        self._take_place()
        for name, content in job.files.items():
            files.write_bytes(os.path.join(job.folder, name), content)
        save_report(job.folder, self._digest, report.to_entry(job.prefixes))
        if job.closing is not None:
            files.write_bytes(os.path.join(job.folder, job.closing.name), job.closing.content(entries))

        def change(content: dict[str, Any]) -> None:
            names = set(self._names)
            kept = [entry for entry in content["shards"] if entry["name"] not in names]
            content["shards"] = kept + [asdict(entry) for entry in entries]
            content["made_by"].update({prefix: {"job": self._digest} for prefix in job.prefixes})
            made = {"made_by": dict(job.made_by), "spec": job.spec, "files": sorted(job.further_files)}
            if report.passed:
                made["passed"] = report.passed
            content.setdefault("jobs", {})[self._digest] = made

        self._journal.check()
        change_manifest(job.folder, change)
        self._staging.drop_attempts()
        self._staging.remove()
        files.remove_tree(shuffle_folder(job.folder, self._digest))
        self._journal.delete()
        self._meter.count(done_bytes=job.input_bytes)  # whatever was left out
        self._meter.tick(last=True)
        return report

    def _check(self, report: BuildReport) -> None:
        """Refuse to publish if inputs have changed, wanted features are missing, or too much was left out."""
        job, tasks = self._job, self._in_order()
        check_unchanged(job.stamps)
        good = report.records + report.passed
        try:
            BadLimit().check(report.bad, good, report.listed)
            if job.wanted is not None and self._earlier is None:
                job.wanted.check({name for task in tasks for name in task.features})
        except InvalidArgumentError:
            self._forget()  # no other run can use it
            raise
        self._max_bad.check(report.bad, good, report.listed)

    def _changed(self, error: BaseException) -> InputChangedError | None:
        """Return the error of an input that has changed, which then is the cause of any other error."""
        if isinstance(error, InputChangedError):
            return error
        if isinstance(error, Exception) and not isinstance(error, CancelledError):
            try:
                check_unchanged(self._job.stamps)
            except InputChangedError as changed:
                return changed
        return None

    def _take_place(self) -> None:
        """Replace what is there under the names of the shards."""
        if not self._staging.staged:
            return
        if self._earlier is None:
            self._journal.add_ready()
            remove_old(self._job, self._header.prefixes, self._names)
        else:
            self._check_unchanged()
            made = {name: self._journal.finished[name] for name in self._names}
            other = differing(
                self._job.folder, {name: (task.records, task.bytes) for name, task in made.items()}
            )
            if other:
                update_manifest(self._job.folder, (), other, {})
        self._staging.move(self._names, self._journal.check)

    def _check_unchanged(self) -> None:
        """Compare shards that were lost and made again with what the manifest says of them."""
        assert self._earlier is not None
        for name, lost in self._earlier.lost.items():
            made = self._journal.finished[name]
            if made.records != lost.records or (made.bytes != lost.bytes and not self._job.compression):
                path = os.path.join(self._job.folder, name)
                raise FailedPreconditionError(
                    f"{path}; it was lost, and made again it has {made.records} records in {made.bytes} bytes where "
                    f"the manifest says {lost.records} in {lost.bytes}: the source has changed since. "
                    "Pass overwrite=True (--overwrite) to make all shards again.",
                    path=path,
                )

    def _in_order(self) -> list[Finished]:
        """Return finished tasks in the order of the plan: parts of shuffles have what their shards do not say."""
        done = self._journal.finished
        names = sorted(filter(is_part, done), key=lambda name: (int(name.split("/")[1]), name))
        return [done[name] for name in names + self._names]

    def _forget(self) -> None:
        """Remove what is finished: no later run can use it."""
        for name in self._journal.finished.keys() - self._kept:
            if not is_part(name):
                self._staging.drop(name)
        self._journal.finished.clear()

    def _give_up(self, *, held: bool) -> None:
        """Keep what is finished for the next run; if that is nothing, leave nothing."""
        if held:
            with contextlib.suppress(OSError, OpError):
                self._staging.drop_attempts()
        if held and self._journal.finished.keys() <= self._kept and not self._publishing:
            # After an error the journal stays, and the next run removes the rest.
            with contextlib.suppress(OSError, OpError):
                self._staging.remove()
                files.remove_tree(shuffle_folder(self._job.folder, self._digest))
                if self._staging.staged or not any(
                    files.is_there(self._staging.path(name)) for name in self._names
                ):
                    self._journal.delete()
        self._journal.close()

    def _full(self, cause: OSError) -> ResourceExhaustedError:
        done = sum(name in self._journal.finished for name in self._names)
        path = cause.filename or self._job.folder
        final = temporary_of(os.path.basename(path))
        old = (
            "What is to be overwritten is still there: if there is no room for both, remove it by hand. "
            if self._replaces and not self._journal.ready
            else ""
        )
        full = ResourceExhaustedError(
            f"{path if final is None else os.path.join(self._job.folder, final)}; {os.strerror(cause.errno or 0)}. "
            f"{done} of {len(self._names)} shards are whole, and nothing half-written is left. {old}Make room, then "
            "run the same job again: it does the rest.",
            path=path,
        )
        full.errno = cause.errno
        return full


def _out_of_room(error: BaseException) -> OSError | None:
    """Return the cause of an error that says that the disk is full, with the name of the file if it is known."""
    found = None
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in _FULL and (found is None or cause.filename):
            found = cause
        cause = cause.__cause__
    return found
