"""What is in a folder of shards, and what should be: by its manifest, its journals, and the numbers in names.

Reads no records but the heads of files whose names do not tell.
"""

from __future__ import annotations

import fnmatch
import itertools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

from tfrkit.errors import DataLossError, OpError
from tfrkit.records.check.unfinished import Unfinished, unfinished_jobs
from tfrkit.records.manifest import ANOTHERS, manifest_entries, manifest_path, read_manifest
from tfrkit.records.record_names import parse_other_name, shard_prefix
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, holds_records
from tfrkit.stores.files import (
    is_folder,
    is_local,
    is_there,
    list_files,
    list_names,
    open_source,
    traits_of,
)
from tfrkit.stores.output import SIDECAR_FOLDER, temporary_of
from tfrkit.stores.shard_names import ShardSet, shard_sets
from tfrkit.stores.store import FileInfo

__all__ = ["Expected", "FolderState", "Problem", "look_at_folder", "look_at_named", "look_at_some"]

MAX_MISSING: Final = 10_000  # that are listed of a set
_TEXT_INDEXES: Final = (".idx", ".index")
Expected: TypeAlias = tuple[int, int, str]  # records, bytes, and who says so


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is wrong with a set of shards, beyond damage inside a file.

    Attributes:
        kind: "missing" (a shard that is not there), "interrupted" and "running" (a job that is not complete),
            "manifest" (one that cannot be read), "differs" (a file is not as the manifest or the journal says),
            "not in manifest" (a shard that the manifest should name), "stray" (a number beyond the count in its name),
            "folder" (one that cannot be listed).
        path: the file that it is about; of a job its journal.
        text: what is wrong, and what to do.
    """

    kind: str
    path: str
    text: str

    def __str__(self) -> str:
        return f"{self.path}: {self.kind.upper()}: {self.text}"


@dataclass(slots=True)
class FolderState:
    """What is in a folder of shards.

    Attributes:
        folder: its path.
        shards: names of the data set's files: those of the manifest that are there, or else what looks like records.
        unlisted: names of what looks like records beside a manifest that does not name it.
        problems: what is wrong.
        others: names of files that do not belong to the set.
        expected: by name, the records and bytes that a shard should have, and who says so.
    """

    folder: str
    shards: list[str] = field(default_factory=list)
    unlisted: list[str] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    expected: dict[str, Expected] = field(default_factory=dict)


def look_at_folder(folder: str) -> FolderState:
    """Look at everything in a folder; a folder that cannot be listed is a problem of its own."""
    state = FolderState(folder)
    try:
        entries = {os.path.basename(info.path): info for info in list_files(folder) if not info.is_folder}
    except OpError as error:
        state.problems.append(Problem("folder", folder, str(error)))
        return state
    visible = [name for name in sorted(entries) if not name.startswith(".")]
    known = _read_known(state)
    jobs = unfinished_jobs(folder)
    there = [
        name
        for name in visible
        if name in known.shards or (name not in known.exports and _is_shard(name, entries[name]))
    ]
    _assess(state, there, known, jobs, lambda _: True)
    for name, size in known.exports.items():
        _check_export(state, name, size, entries.get(name))
    if any(name in known.shards for name in there):
        state.shards = [name for name in there if name in known.shards]
        state.unlisted = [name for name in there if name not in known.shards]
    else:  # no manifest, or one of something that was here once
        state.shards = there
    wrong = {problem.path for problem in state.problems}
    own = {*there, *_text_indexes(there), *_own_files(folder, known, wrong), *known.files, *known.exports}
    state.others = [
        name
        for name in (*(name for name in visible if name not in own), *state.unlisted)
        if os.path.join(folder, name) not in wrong and name not in state.expected
    ] + _temporaries(folder, jobs)
    _look_aside(state, known)
    return state


def look_at_some(folder: str, names: Sequence[str], wanted: Callable[[str], bool]) -> FolderState:
    """Look at some files of a folder, and at what else should be there and is wanted."""
    state = FolderState(folder)
    known = _read_known(state)
    jobs = unfinished_jobs(folder)
    given = set(names)
    prefixes = {shard_prefix(name) for name in names}
    jobs = [job for job in jobs if not job.prefixes or prefixes.intersection(job.prefixes)]
    _assess(state, names, known, jobs, wanted)
    state.problems = [
        problem
        for problem in state.problems
        if problem.kind != "not in manifest" or os.path.basename(problem.path) in given
    ]
    return state


def look_at_named(folder: str, names: Sequence[str]) -> FolderState:
    """Look at files that a user has named one by one."""
    if len(names) == 1:
        state = FolderState(folder)
        known = _read_known(state)
        state.problems.clear()
        state.expected = {name: known.shards[name] for name in names if name in known.shards}
        return state
    there = _names(folder)
    given = set(names)
    whole = [
        part
        for part in shard_sets(dict.fromkeys([*there, *names]))
        if len(given.intersection(part.names.values())) > 1 and given.issuperset(part.names.values())
    ]
    wanted = {(part.prefix, part.count) for part in whole}
    return look_at_some(
        folder, names, lambda name: any((p.prefix, p.count) in wanted for p in shard_sets([name]))
    )


def _assess(
    state: FolderState,
    there: Sequence[str],
    known: _Known,
    jobs: Sequence[Unfinished],
    wanted: Callable[[str], bool],
) -> None:
    """Compare what is there with what should be."""
    finished: dict[str, Expected] = {
        name: (*counts, "journal") for job in jobs if not job.waiting for name, counts in job.finished.items()
    }
    state.expected = {**finished, **known.shards}
    for job in jobs:
        state.problems.append(_job_problem(job))
    for name in sorted(filter(wanted, known.repairing)):
        text = "a repair of it is not complete. Wait for it, or run `tfr repair --replace` again"
        state.problems.append(Problem("interrupted", os.path.join(state.folder, name), text))
    begun = {prefix for job in jobs if not job.waiting for prefix in job.prefixes}
    exists = _look_for(state.folder)
    gone = [name for name in (*state.expected, *sorted(known.repairing)) if wanted(name) and not exists(name)]
    for name in gone[:MAX_MISSING]:
        why = f"the {state.expected[name][2] if name in state.expected else 'manifest'} names it"
        state.problems.append(
            Problem("missing", os.path.join(state.folder, name), f"{why}, but it is not there")
        )
    _add_more(state, len(gone) - MAX_MISSING, os.path.join(state.folder, "manifest.json"))
    for part in shard_sets(dict.fromkeys([*there, *filter(wanted, (*state.expected, *known.repairing))])):
        _assess_set(state, part, begun, wanted)
    prefixes = {*known.prefixes, *begun, *filter(None, map(shard_prefix, known.shards))}
    named = (state.expected, known.repairing, known.exports)
    for name in there:
        prefix = shard_prefix(name)
        if prefix in prefixes and not any(name in each for each in named):
            why = "the journal does not name it" if prefix in begun else "the manifest does not name it"
            state.problems.append(
                Problem(
                    "not in manifest",
                    os.path.join(state.folder, name),
                    f"{why}: it is left over from a writer that was killed, or was copied here",
                )
            )


def _check_export(state: FolderState, name: str, size: int, info: FileInfo | None) -> None:
    """See that a file of an export is there, as long as it was."""
    path = os.path.join(state.folder, name)
    if info is None:
        state.problems.append(Problem("missing", path, "the manifest names it, but it is not there"))
    elif info.size != size:
        text = f"the manifest says {size:,} bytes, but there are {info.size:,}"
        state.problems.append(Problem("differs", path, text))


def _assess_set(state: FolderState, part: ShardSet, begun: set[str], wanted: Callable[[str], bool]) -> None:
    for name in part.stray():
        text = f"its number is beyond the {part.count} shards of its set"
        state.problems.append(Problem("stray", os.path.join(state.folder, name), text))
    if not part.missing_count:
        return
    why = f"{part.count - part.missing_count:,} of {part.count:,} shards of {part.pattern!r} are there"
    if part.prefix in begun:
        why += "; the job that writes them is not complete"
    for name in filter(wanted, itertools.islice(part.missing(), MAX_MISSING)):
        state.problems.append(Problem("missing", os.path.join(state.folder, name), why))
    if wanted(next(itertools.islice(part.missing(), MAX_MISSING, None), "")):
        _add_more(state, part.missing_count - MAX_MISSING, os.path.join(state.folder, part.pattern))


def _add_more(state: FolderState, more: int, path: str) -> None:
    if more > 0:
        state.problems.append(Problem("missing", path, f"and {more:,} more"))


def _job_problem(job: Unfinished) -> Problem:
    names = ", ".join(map(repr, job.prefixes[:3])) + (" and others" if len(job.prefixes) > 3 else "")
    what = f"a job that writes {names}" if names else "a job"
    done = f"{len(job.finished):,} of its shards are finished"
    if job.waiting:
        done += " and wait to take their place, and what was there before is still there"
    if job.running:
        return Problem("running", job.path, f"{what} is being run by another process: {done}. Wait for it")
    return Problem(
        "interrupted",
        job.path,
        f"{what} was interrupted: {done}. Run the same command again, which does the rest",
    )


@dataclass(frozen=True, slots=True)
class _Known:
    """What the manifest says: shards by name, prefixes, further files of jobs, and shards that are being repaired.

    `exports`: the bytes of files of other formats, which are there or not, but are not read.
    """

    shards: Mapping[str, Expected]
    exports: Mapping[str, int] = field(default_factory=dict)
    prefixes: frozenset[str] = frozenset()
    files: frozenset[str] = frozenset()
    repairing: frozenset[str] = frozenset()


def _read_known(state: FolderState) -> _Known:
    try:
        content = read_manifest(state.folder)
    except OpError as error:
        if not _is_anothers(state.folder, error):
            state.problems.append(Problem("manifest", manifest_path(state.folder), error.message))
        return _Known({})
    entries = manifest_entries(content)
    exports = {name: entry.bytes for name, entry in entries.items() if parse_other_name(name) is not None}
    shards = {
        name: (entry.records, entry.bytes, "manifest")
        for name, entry in entries.items()
        if name not in exports
    }
    files = frozenset(name for job in content.get("jobs", {}).values() for name in job.get("files", ()))
    repairing = frozenset(entry["name"] for entry in content.get("repairing", ())) - shards.keys()
    return _Known(shards, exports, frozenset(content.get("made_by", {})), files, repairing)


def _is_anothers(folder: str, error: OpError) -> bool:
    """Tell whether a manifest is another program's, which is nothing bad: there is no trace of tfrkit beside it."""
    another = isinstance(error, DataLossError) and ANOTHERS in error.message
    return another and not is_folder(os.path.join(folder, SIDECAR_FOLDER))


def _own_files(folder: str, known: _Known, wrong: set[str]) -> set[str]:
    own = {"report.json", "labels.txt"} if is_folder(os.path.join(folder, SIDECAR_FOLDER)) else set()
    return own | {"manifest.json"} if known.shards or manifest_path(folder) in wrong or own else own


def _temporaries(folder: str, jobs: Sequence[Unfinished]) -> list[str]:
    """Return temporary files: of writers that were killed, or still run."""
    if jobs:
        return []  # which the job clears up
    names = sorted(_names(os.path.join(folder, SIDECAR_FOLDER)))
    return [os.path.join(SIDECAR_FOLDER, name) for name in names if temporary_of(name) is not None]


def _look_aside(state: FolderState, known: _Known) -> None:
    """Look at what lies aside while another set takes its place: of a writer that was killed, or still runs."""
    folder = os.path.join(state.folder, SIDECAR_FOLDER)
    for name in sorted(fnmatch.filter(_names(folder), "*-of-*.tfrecord*.old")):
        path = os.path.join(folder, name)
        if shard_prefix(name) in known.prefixes:
            state.others.append(os.path.join(SIDECAR_FOLDER, name))  # the new set is whole
        else:
            text = (
                "it is a shard of a set that a writer was replacing when it was killed. Write the set again"
            )
            state.problems.append(Problem("interrupted", path, text))


def _text_indexes(shards: Sequence[str]) -> set[str]:
    """Return the names that indexes of shards may have, as DALI makes them. Pure: no I/O."""
    bases = {*shards, *(os.path.splitext(shard)[0] for shard in shards)}
    return {base + suffix for base in bases for suffix in _TEXT_INDEXES}


def _is_shard(name: str, info: FileInfo) -> bool:
    if name in ("manifest.json", "report.json", "labels.txt"):
        return False
    if ".tfrecord" in name:
        return not name.endswith(_TEXT_INDEXES)
    try:
        return info.regular and holds_records(open_source(info.path).peek(HEAD_BYTES))
    except OpError:
        return False


def _names(folder: str) -> list[str]:
    """Return the names in a folder; none if they cannot be listed."""
    try:
        return list_names(folder)
    except (OSError, OpError):
        return []


def _look_for(folder: str) -> Callable[[str], bool]:
    """Return what tells whether a folder has a file of a name."""
    if is_local(folder) or not traits_of(folder).lists:
        return partial(_exists, folder)
    names: frozenset[str] | None = None

    def exists(name: str) -> bool:
        nonlocal names
        if names is None:  # one listing instead of a request for each
            names = frozenset(
                os.path.basename(info.path) for info in list_files(folder) if not info.is_folder
            )
        return name in names

    return exists


def _exists(folder: str, name: str) -> bool:
    path = os.path.join(folder, name)
    return is_there(path) and not is_folder(path)
