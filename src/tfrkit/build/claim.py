"""Claiming the names that a job writes: what is there already, whose it is, and what may be removed.

The journal is the claim. It is written before anything of another job is touched, so that a job that was killed may go
on clearing up; and the manifest forgets a shard before its file is removed or replaced. So no kill leaves a manifest
that names what is not there.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from tfrkit.build.journal import Header, Journal, found_journals
from tfrkit.build.plan import Job, belongs_to, job_digest, shard_names
from tfrkit.build.report import BuildReport, is_part, read_report
from tfrkit.build.watch import BadInput
from tfrkit.errors import AlreadyExistsError, FailedPreconditionError, OpError, from_os_error
from tfrkit.records.index import index_path
from tfrkit.records.manifest import (
    change_manifest,
    folder_lock,
    manifest_entries,
    manifest_path,
    read_manifest,
)
from tfrkit.storage.json_file import json_line
from tfrkit.storage.output import SIDECAR_FOLDER, temporary_of

__all__ = ["Found", "claim", "header_of", "look", "mix_folder"]


@dataclass(slots=True)
class Found:
    """What stands in the folder under the names of a job.

    Attributes:
        digest: of the job.
        shards: names of shards of its prefixes, in the folder or in the manifest.
        present: those of them that are in the folder.
        journals: of unfinished jobs with such prefixes; open.
        own: the journal of this very job, one of them.
        complete: the report, if this very job is complete already.
        same: the shards are this very job's, complete or not.
        refusal: why the job may not begin without `overwrite`; empty if it may.
    """

    digest: str
    shards: set[str]
    present: set[str]
    journals: list[Journal]
    own: Journal | None = None
    complete: BuildReport | None = None
    same: bool = False
    refusal: str = ""

    @property
    def state(self) -> str:
        """In one word: what will happen to the job."""
        if self.complete is not None:
            return "complete"
        if self.refusal:
            return "exists"
        return "resume" if self.own is not None and self.own.finished else "new"

    def close(self) -> None:
        """Close all journals but the own one."""
        for journal in self.journals:
            if journal is not self.own:
                journal.close()


def mix_folder(folder: str, digest: str) -> str:
    """Give the folder for the temporary files of a job that mixes."""
    return os.path.join(folder, SIDECAR_FOLDER, f"mix-{digest}")


def header_of(job: Job) -> Header:
    """Give what the journal says of a job. Pure: no I/O."""
    prefixes = {group.prefix: group.shards is None for group in job.groups}
    made_by, transient = json.loads(json_line([job.made_by, job.transient]))  # as the file has them
    return Header(job_digest(job), prefixes, made_by, transient)


def look(job: Job) -> Found:
    """Look at the folder of a job without changing anything; journals are locked until they are closed.

    Raises:
        FailedPreconditionError: a running job writes under the same names.
    """
    _check_folder(job.folder)
    header = header_of(job)
    found = Found(header.digest, set(), set(), _lock_journals(job.folder, header))
    try:
        # Behind the journals: a job that has just ended has none, but a manifest.
        names, manifest = os.listdir(job.folder), read_manifest(job.folder)
        listed = {entry["name"] for entry in manifest["shards"]}
        found.present = {name for name in names if belongs_to(name, header.prefixes)}
        found.shards = found.present | {name for name in listed if belongs_to(name, header.prefixes)}
        _judge(job, header, found, manifest)
    except FileNotFoundError:
        return found
    except BaseException as error:
        found.own = None
        found.close()
        if isinstance(error, OSError) and not isinstance(error, OpError):
            raise from_os_error(error, job.folder) from error
        raise
    return found


def _lock_journals(folder: str, header: Header) -> list[Journal]:
    """Give the journals of unfinished jobs with the same prefixes, read and locked."""
    found: list[Journal] = []
    for journal in found_journals(folder):
        if (
            journal.header is not None
            and journal.header.digest != header.digest
            and journal.header.prefixes.keys().isdisjoint(header.prefixes)
        ):
            journal.close()
        elif not journal.lock():
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


def _check_folder(folder: str) -> None:
    if os.path.isfile(folder):
        raise FailedPreconditionError(
            f"{folder}; it is a file, not a folder. Choose another place.", path=folder
        )


def _judge(job: Job, header: Header, found: Found, manifest: Mapping[str, Any]) -> None:
    for journal in found.journals:
        if journal.header is None:
            continue
        if journal.header.digest == header.digest and journal.header.transient == header.transient:
            found.own, found.same = journal, True
        elif journal.finished or found.present:
            found.refusal = _changed(job.folder, journal.header, header)
    if found.own is not None or found.refusal:
        return
    made = [manifest.get("made_by", {}).get(prefix) for prefix in header.prefixes]
    found.same = bool(found.shards) and made == [{"job": header.digest}] * len(made)
    if found.same:
        found.complete = _completed(job, header, manifest)
    elif found.present:
        first = os.path.join(job.folder, min(found.present))
        found.refusal = (
            f"{first}; there are {len(found.present)} shards of {_some(header.prefixes)} already, of another job. "
            f"{_difference(manifest, header)}Choose another folder, or pass overwrite=True (--overwrite)."
        )
    if not found.same:
        for name, content in job.files.items():
            path = os.path.join(job.folder, name)
            if not found.refusal and os.path.lexists(path) and not _holds(path, content):
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
        "choose another folder, or pass overwrite=True (--overwrite) to begin anew."
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


def _completed(job: Job, header: Header, manifest: Mapping[str, Any]) -> BuildReport | None:
    """Give the report of a complete job, if everything that it wrote is still there."""
    entries = manifest_entries(manifest)
    names = [name for group in job.groups for name in shard_names(job, group)]
    report = read_report(job.folder).get(header.digest)
    if report is None or set(report["prefixes"]) != header.prefixes.keys():
        return None
    for name in names:
        path = os.path.join(job.folder, name)
        if name not in entries or not _has_size(path, entries[name].bytes):
            return None
        if job.compression in ("", "GZIP") and not os.path.exists(index_path(path)):
            return None
    if not all(_holds(os.path.join(job.folder, name), content) for name, content in job.files.items()):
        return None
    return BuildReport(
        job.folder,
        tuple(entries[name] for name in sorted(names)),
        report["input_bytes"],
        report["bad"],
        tuple(BadInput(**bad) for bad in report["listed"]),
        len(names),
        0.0,
        report["noted"],
        tuple(BadInput(**bad) for bad in report["noted_listed"]),
        job.columns,
        report.get("passed", 0),
    )


def _has_size(path: str, size: int) -> bool:
    try:
        return os.stat(path).st_size == size
    except OSError:
        return False


def _holds(path: str, content: bytes) -> bool:
    try:
        if os.stat(path).st_size != len(content):
            return False
        with open(path, "rb") as file:
            return file.read() == content
    except OSError:
        return False


def claim(job: Job, *, overwrite: bool) -> Found:
    """Make the names of a job its own, and remove what is not; then its journal is locked and open.

    Nothing is changed if the job is complete already (unless `overwrite`).

    Raises:
        AlreadyExistsError: there is something of another job, and it may not be overwritten.
        FailedPreconditionError: a running job writes under the same names.
    """
    _check_folder(job.folder)
    try:
        os.makedirs(job.folder, exist_ok=True)
    except OSError as error:
        raise from_os_error(error, job.folder) from error
    with folder_lock(job.folder, "jobs.lock"):
        found = look(job)
        try:
            if found.complete is not None and not overwrite:
                return found
            if found.refusal and not overwrite:
                raise AlreadyExistsError(found.refusal, path=job.folder)
            found.complete = None
            if found.own is None:
                _discard(job.folder, found, found.digest)  # when the source has changed
                found.own = Journal.begin(job.folder, header_of(job))
            else:
                found.own.resume()
            _clear(job, found)
        except BaseException:
            if found.own is not None:
                found.own.close()
            raise
        finally:
            found.close()
    return found


def _discard(folder: str, found: Found, digest: str | None = None) -> None:
    """Remove journals of other jobs, with what they have mixed; or only those that have a certain digest."""
    for journal in list(found.journals):
        known = journal.header.digest if journal.header is not None else digest
        if journal is not found.own and digest in (None, known):
            if journal.header is not None:
                shutil.rmtree(mix_folder(folder, journal.header.digest), ignore_errors=True)
            journal.delete()
            found.journals.remove(journal)


def _clear(job: Job, found: Found) -> None:
    """Remove what other jobs, and killed runs of this one, have left under its names."""
    assert found.own is not None
    done = found.own.finished
    for name in list(done):  # somebody may have removed or changed a finished shard
        if not is_part(name) and not _is_whole(
            os.path.join(job.folder, name), done[name].bytes, job.compression
        ):
            del done[name]
    stale = found.shards - done.keys()
    prefixes = header_of(job).prefixes
    files = _forget(job.folder, stale, prefixes) - job.files.keys()
    _discard(job.folder, found)
    for name in (*stale, *files):
        _remove(os.path.join(job.folder, name))
    for name, content in job.files.items():
        path = os.path.join(job.folder, name)
        if os.path.lexists(path) and not _holds(path, content):
            _remove(path)
    sidecar = os.path.join(job.folder, SIDECAR_FOLDER)
    for name in os.listdir(sidecar):
        base = temporary_of(name)
        shard = (base or name).removesuffix(".idx")
        mine = belongs_to(shard, prefixes) or shard in job.files
        if mine and (base is not None or (name != shard and shard not in done)):
            _remove(os.path.join(sidecar, name))


def _is_whole(path: str, size: int, compression: str) -> bool:
    indexed = compression not in ("", "GZIP") or os.path.exists(index_path(path))
    return indexed and _has_size(path, size)


def _forget(folder: str, stale: set[str], prefixes: Mapping[str, bool]) -> set[str]:
    """Take shards out of the manifest, and how they were made, before they are removed.

    Gives the further files of jobs of which nothing is left.
    """
    files: set[str] = set()

    def change(content: dict[str, Any]) -> None:
        content["shards"] = [entry for entry in content["shards"] if entry["name"] not in stale]
        made = {prefix: content["made_by"].pop(prefix, None) for prefix in prefixes}
        left = [other.get("job") for other in content["made_by"].values()]
        gone = {other.get("job") for other in made.values() if other} - set(left)
        for digest, job in content.get("jobs", {}).items():
            if digest in gone:
                files.update(job.get("files", ()))
        for digest in left:
            files.difference_update(content.get("jobs", {}).get(digest, {}).get("files", ()))

    if os.path.exists(manifest_path(folder)):
        change_manifest(folder, change)
    return files


def _remove(path: str) -> None:
    with contextlib.suppress(FileNotFoundError):
        try:
            os.unlink(path)
        except FileNotFoundError:
            raise
        except OSError as error:
            raise from_os_error(error, path) from error
