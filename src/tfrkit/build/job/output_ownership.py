"""Claiming the names that a job writes: what is there already, whose it is, and what may be removed.

The journal is the claim. What stands under the names already stays until the job has something to put in its place
(`staging.py`). Of a complete job of which some shards were lost, the others are kept.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tfrkit.build.job.file_journal import FileJournal
from tfrkit.build.job.job_plan import Job, belongs_to, job_digest, shard_names
from tfrkit.build.job.journal import Header, Journal
from tfrkit.build.job.object_journal import ObjectJournal
from tfrkit.build.job.report import BuildReport, is_part, read_report, report_from
from tfrkit.build.job.staging import (
    StagingArea,
    clear_temporary,
    file_sizes,
    remove_all,
    remove_indexes,
    shuffle_folder,
)
from tfrkit.errors import AlreadyExistsError, FailedPreconditionError, OpError
from tfrkit.records.manifest import ShardEntry, folder_lock, manifest_entries, read_manifest, update_manifest
from tfrkit.stores import files
from tfrkit.stores.json_file import json_line
from tfrkit.stores.output import SIDECAR_FOLDER, check_sidecar

__all__ = ["Earlier", "OutputState", "claim", "header_of", "inspect_folder", "staging_of"]


@dataclass(frozen=True, slots=True)
class Earlier:
    """What is left of this very job, which was complete once.

    Attributes:
        report: what `report.json` says of it.
        kept: its shards that are still as the manifest says.
        lost: what the manifest says of the others, as far as it knows them.
    """

    report: Mapping[str, Any]
    kept: Mapping[str, ShardEntry]
    lost: Mapping[str, ShardEntry]


@dataclass(slots=True)
class OutputState:
    """What stands in the folder under the names of a job.

    Attributes:
        digest: of the job.
        shards: names of shards of its prefixes, in the folder or in the manifest.
        present: those of them that are in the folder.
        journals: of unfinished jobs with such prefixes; open.
        own: the journal of this very job, one of them.
        earlier: what is left of it, if this very job was complete once.
        complete: the report, if it still is.
        same: the shards are this very job's, complete or not.
        refusal: why the job may not begin without `overwrite`; empty if it may.
    """

    digest: str
    shards: set[str]
    present: set[str]
    journals: list[Journal]
    own: Journal | None = None
    earlier: Earlier | None = None
    complete: BuildReport | None = None
    same: bool = False
    refusal: str = ""

    @property
    def state(self) -> str:
        """What will happen to the job, in one word."""
        if self.complete is not None:
            return "complete"
        if self.refusal:
            return "exists"
        return "resume" if self.finished else "new"

    @property
    def finished(self) -> int:
        """How many shards are there already."""
        done = {name for name in self.own.finished if not is_part(name)} if self.own is not None else set()
        return len(done | (self.earlier.kept.keys() if self.earlier is not None else set()))

    def close(self, *, own: bool = False) -> None:
        """Close all journals of others, and perhaps the job's own."""
        for journal in {*self.journals, self.own}:
            if journal is not None and (own or journal is not self.own):
                journal.close()


def header_of(job: Job, *, staged: bool = False) -> Header:
    """Return what the journal says of a job. Pure: no I/O."""
    prefixes = {group.prefix: group.shards is None for group in job.groups}
    made_by, transient = json.loads(json_line([job.made_by, job.transient]))  # as the file has them
    return Header(job_digest(job), prefixes, made_by, transient, staged)


def staging_of(job: Job, header: Header) -> StagingArea:
    """Return where a job writes its shards. Pure: no I/O."""
    return StagingArea(job.folder, header.digest, header.staged, job.indexed)


def inspect_folder(job: Job, *, lock: bool = False) -> OutputState:
    """Inspect the folder of a job without changing anything.

    With `lock`, the journals of unfinished jobs are locked until they are closed.

    Raises:
        FailedPreconditionError: a running job writes under the same names.
    """
    _check_folder(job.folder)
    header = header_of(job)
    found = OutputState(header.digest, set(), set(), _open_journals(job.folder, header, lock=lock))
    try:
        # After the journals: a job that has just ended has none, but a manifest.
        names, manifest = files.list_names(job.folder), read_manifest(job.folder)
        listed = {entry["name"] for entry in manifest["shards"]}
        found.present = {name for name in names if belongs_to(name, header.prefixes)}
        found.shards = found.present | {name for name in listed if belongs_to(name, header.prefixes)}
        _decide(job, header, found, manifest)
    except BaseException:
        found.close(own=True)
        raise
    return found


def _open_journals(folder: str, header: Header, *, lock: bool) -> list[Journal]:
    """Return the journals of unfinished jobs with the same prefixes, read and perhaps locked."""
    found: list[Journal] = []
    for journal in _kind_of_journal(folder).found(folder):
        if (
            journal.header is not None
            and journal.header.digest != header.digest
            and journal.header.prefixes.keys().isdisjoint(header.prefixes)
        ):
            journal.close()
        elif not journal.lock() if lock else journal.running():
            for other in (journal, *found):
                other.close()
            raise FailedPreconditionError(
                f"{folder}; another process is writing {_some(header.prefixes)} there right now. Wait for it, "
                "or choose another folder or prefix.",
                path=folder,
            )
        elif journal.deleted:  # the job has ended meanwhile
            journal.close()
        else:
            journal.read()  # again: there may be more lines by now
            found.append(journal)
    return found


def _kind_of_journal(folder: str) -> type[Journal]:
    traits = files.traits_of(folder)
    return FileJournal if traits.appends and traits.locks else ObjectJournal


def _check_folder(folder: str) -> None:
    if files.is_file(folder):
        raise FailedPreconditionError(
            f"{folder}; it is a file, not a folder. Choose another place.", path=folder
        )
    check_sidecar(folder)


def _decide(job: Job, header: Header, found: OutputState, manifest: Mapping[str, Any]) -> None:
    for journal in found.journals:
        if journal.header is None:
            continue
        if journal.header.digest == header.digest and journal.header.transient == header.transient:
            found.own, found.same = journal, True
        elif journal.finished or found.present:
            found.refusal = _changed(job.folder, journal.header, header)
    made = [manifest.get("made_by", {}).get(prefix) for prefix in header.prefixes]
    once = bool(found.shards) and made == [{"job": header.digest}] * len(made)
    if once:
        found.earlier = _earlier(job, header, manifest)
    if found.own is not None or found.refusal:
        return
    found.same = once
    if once:
        found.complete = _completed(job, found.earlier)
    elif found.present:
        first = os.path.join(job.folder, min(found.present))
        found.refusal = (
            f"{first}; there are {len(found.present)} shards of {_some(header.prefixes)} already, of another job. "
            f"{_difference(manifest, header)}Choose another folder, or pass overwrite=True (--overwrite)."
        )
    if not found.same:
        for name in job.further_files:
            path = os.path.join(job.folder, name)
            if not found.refusal and files.is_there(path) and not _holds(path, job.files.get(name)):
                found.refusal = (
                    f"{path}; it is there already, with other content. Choose another folder, "
                    "or pass overwrite=True (--overwrite)."
                )


def _changed(folder: str, before: Header, now: Header) -> str:
    what = _differing(before.made_by, now.made_by)
    if before.digest == now.digest or what == ["source"]:
        why = "the source has changed since"
    else:
        why = f"it had other arguments ({', '.join(what)})" if what else "it was planned differently"
    return (
        f"{folder}; a job that writes {_some(now.prefixes)} there was interrupted, and {why}. Run it again as it was, "
        "choose another folder, or pass overwrite=True (--overwrite) to start over."
    )


def _difference(manifest: Mapping[str, Any], header: Header) -> str:
    jobs = manifest.get("jobs", {})
    for prefix in header.prefixes:
        made = jobs.get(manifest.get("made_by", {}).get(prefix, {}).get("job"))
        if made is not None and (what := _differing(made.get("made_by", {}), header.made_by)):
            return "Its source was another. " if what == ["source"] else f"It differs in: {', '.join(what)}. "
    return ""


def _differing(before: Mapping[str, Any], now: Mapping[str, Any]) -> list[str]:
    return [key for key in sorted({*before, *now}) if before.get(key) != now.get(key)]


def _some(prefixes: Iterable[str]) -> str:
    names = [repr(prefix) for prefix in prefixes]
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def _earlier(job: Job, header: Header, manifest: Mapping[str, Any]) -> Earlier | None:
    """Return what is left of a job that was complete; None if that is not known."""
    report = read_report(job.folder).get(header.digest)
    if report is None or set(report["prefixes"]) != header.prefixes.keys():
        return None
    mended = {
        entry["name"] for entry in manifest["shards"] if entry.get("lost")
    }  # of which records are missing
    entries = {name: entry for name, entry in manifest_entries(manifest).items() if name not in mended}
    kept: dict[str, ShardEntry] = {}
    lost: dict[str, ShardEntry] = {}
    sizes = file_sizes(job.folder, links=True)
    indexes = file_sizes(os.path.join(job.folder, SIDECAR_FOLDER), links=True)
    for name in (name for group in job.groups for name in shard_names(job, group)):
        indexed = not job.indexed or f"{name}.idx" in indexes
        if name in entries:
            whole = indexed and sizes.get(name) == entries[name].bytes
            (kept if whole else lost)[name] = entries[name]
    return Earlier(report, kept, lost)


def _completed(job: Job, earlier: Earlier | None) -> BuildReport | None:
    """Return the report of a complete job, if everything that it wrote is still there."""
    names = {name for group in job.groups for name in shard_names(job, group)}
    if earlier is None or earlier.kept.keys() != names:
        return None
    contents = dict(job.files)
    if job.closing is not None:
        shards = [earlier.kept[name] for group in job.groups for name in shard_names(job, group)]
        contents[job.closing.name] = job.closing.content(shards)
    if not all(_holds(os.path.join(job.folder, name), content) for name, content in contents.items()):
        return None
    return report_from(earlier.report, job, earlier.kept.values(), len(names), 0.0)


def _holds(path: str, content: bytes | None) -> bool:
    if content is None:
        return False
    try:
        found = files.file_info(path)
        return found is not None and found.size == len(content) and files.read_bytes(path) == content
    except (OSError, OpError):
        return False


def claim(job: Job, *, overwrite: bool, staged: bool = False) -> OutputState:
    """Claim the names that a job writes, and remove what is not its own; its journal is then locked and open.

    Nothing is written if the job is complete already (unless `overwrite`).

    Args:
        job: the plan.
        overwrite: what is there of other jobs may be replaced.
        staged: shards wait until all are there even if nothing stands under their names.

    Raises:
        AlreadyExistsError: there is something of another job, and it may not be overwritten.
        FailedPreconditionError: a running job writes under the same names.
    """
    _check_folder(job.folder)
    files.make_folder(job.folder)
    with folder_lock(job.folder, "jobs.lock"):
        found = inspect_folder(job, lock=True)
        try:
            if found.complete is not None and not overwrite:
                for journal in found.journals:
                    if journal.header is None:  # what a kill has left while it was removed
                        journal.delete()
                return found
            if found.refusal and not overwrite:
                raise AlreadyExistsError(found.refusal, path=job.folder)
            found.complete = None
            if overwrite:
                found.earlier = None
            _discard(job.folder, found)
            if found.own is None:
                header = header_of(job, staged=staged or bool(found.shards))
                found.own = _kind_of_journal(job.folder).begin(job.folder, header)
            else:
                found.own.resume()
            _clear(job, found.own, found)
        except BaseException:
            found.close(own=True)
            raise
        finally:
            found.close()
    return found


def _discard(folder: str, found: OutputState) -> None:
    """Remove the journals of other jobs, with their temporary files and the shards that wait."""
    for journal in list(found.journals):
        if journal is not found.own:
            if journal.header is not None:
                files.remove_tree(shuffle_folder(folder, journal.header.digest))
                staging = StagingArea(folder, journal.header.digest, True, True)
                staging.drop_attempts()
                staging.remove()
            journal.delete()
            found.journals.remove(journal)


def _clear(job: Job, own: Journal, found: OutputState) -> None:
    """Forget finished shards that are no longer whole, and remove what killed runs of this job have left."""
    header = own.header
    assert header is not None
    staging, done = staging_of(job, header), own.finished
    shards = [task for task in done.values() if not is_part(task.name)]
    for name in {task.name for task in shards} - staging.whole(shards, moved=own.ready):
        del done[name]
    clear_temporary(job, header.prefixes)
    if os.path.islink(folder := shuffle_folder(job.folder, header.digest)):
        files.remove(folder)
    staging.drop_attempts()
    staging.begin()
    staging.clear(done)
    if not staging.staged:
        kept = found.earlier.kept.keys() if found.earlier is not None else set()
        stale = found.shards - done.keys() - kept
        if stale:
            update_manifest(job.folder, (), stale, {})
        remove_all(os.path.join(job.folder, name) for name in stale)
        remove_indexes(job.folder, header.prefixes, {*done, *kept})
