"""Where the shards of a job are until it is complete, and how they replace others.

A job writes its shards where they belong if nothing is there, and how much may be left out has no limit that is only
known to hold at the end. Else it writes them to `.tfrkit/job-<digest>/`, and what is there stays until all of them are
whole: then the journal says so, the manifest forgets the old shards, they are removed, the new ones are renamed, and
the manifest names them. A kill at any moment leaves the old set, the new one, or a journal by which the same job ends
what was begun; and never a manifest that names what is not there. A store that cannot rename copies and removes: that
takes longer, and until it is done readers that do not look into the manifest see a mixture.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.build.job.job_plan import Job, belongs_to
from tfrkit.build.job.report import Finished
from tfrkit.errors import NotFoundError, OpError, os_errors
from tfrkit.records.access.index import sidecar_paths, zones_path
from tfrkit.records.manifest import change_manifest, manifest_path, read_manifest
from tfrkit.stores import files
from tfrkit.stores.cache.folder import cache_folder
from tfrkit.stores.output import SIDECAR_FOLDER, rename_durably, sync_folder, temporary_of

__all__ = [
    "StagingArea",
    "clear_temporary",
    "differing",
    "file_sizes",
    "is_further_file",
    "remove_all",
    "remove_indexes",
    "remove_old",
    "shuffle_folder",
]

_FURTHER: Final = re.compile(r"(?s)[^.].*\.txt")  # such as labels.txt


@dataclass(frozen=True, slots=True)
class StagingArea:
    """Where a job puts its shards, which belong into `folder` and may each have an index.

    If they are `staged`, they wait in a folder of their own until all are there.
    """

    folder: str
    digest: str
    staged: bool
    indexed: bool

    @property
    def home(self) -> str:
        return os.path.join(self.folder, SIDECAR_FOLDER, f"job-{self.digest}") if self.staged else self.folder

    def path(self, name: str) -> str:
        return os.path.join(self.home, name)

    @property
    def attempts(self) -> str:
        """The folder for those of attempts; empty in a store, where they write under the final names."""
        local = files.is_local(self.folder)
        return os.path.join(self.folder, SIDECAR_FOLDER, "tmp", self.digest) if local else ""

    def take(self, done: Finished) -> None:
        """Put the shard that an attempt has written, and its sidecars, where shards of the job are."""
        if done.path == (path := self.path(done.name)):
            return
        files.make_folder(os.path.join(self.home, SIDECAR_FOLDER))
        for source, target in zip(sidecar_paths(done.path), sidecar_paths(path), strict=True):
            with contextlib.suppress(NotFoundError):
                files.move(source, target)
        rename_durably(done.path, path)
        files.remove_tree(os.path.dirname(done.path))

    def drop_attempts(self) -> None:
        """Remove what attempts have left that were not taken; of a link under that name, the link."""
        if self.attempts:
            if os.path.islink(shared := os.path.dirname(self.attempts)):
                files.remove(shared)
            files.remove_tree(self.attempts)
            with contextlib.suppress(OSError):  # not empty, or not there
                os.rmdir(shared)

    def whole(self, done: Iterable[Finished], *, moved: bool) -> set[str]:
        """Return the names of finished shards that are still there, or were `moved`, each with its index."""
        places = (self.home, self.folder) if moved else (self.home,)
        sizes = [file_sizes(place) for place in places]
        indexes = {name for place in places for name in file_sizes(os.path.join(place, SIDECAR_FOLDER))}
        return {
            task.name
            for task in done
            if any(found.get(task.name) == task.bytes for found in sizes)
            and (not self.indexed or f"{task.name}.idx" in indexes)
        }

    def begin(self) -> None:
        """Make the folder of shards that wait; a link under its name is removed."""
        if self.staged:
            if files.is_local(self.home) and os.path.islink(self.home):
                files.remove(self.home)
            files.make_folder(self.home)
            if not files.is_local(self.home):
                files.make_folder(os.path.join(self.home, SIDECAR_FOLDER))

    def clear(self, done: Collection[str]) -> None:
        """Remove what killed runs have left among the shards that wait, and is not finished."""
        if self.staged:
            kept = {SIDECAR_FOLDER, *done}
            for home in (self.home, os.path.join(self.home, SIDECAR_FOLDER)):
                names = (name for name in files.list_names(home) if shard_of_sidecar(name) not in kept)
                remove_all(os.path.join(home, name) for name in names)

    def drop(self, name: str) -> None:
        """Remove a shard that was not finished."""
        for path in (self.path(name), *sidecar_paths(self.path(name))):
            with contextlib.suppress(OSError, OpError):
                files.remove(path)

    def move(self, names: Collection[str], check: Callable[[], None]) -> None:
        """Give shards that wait, with their indexes and zones, their final names; those that have them stay.

        Before each `check` is called, which raises if they are another process's by now.
        """
        sidecar = os.path.join(self.folder, SIDECAR_FOLDER)
        files.make_folder(sidecar)
        zoned = set(files.list_names(sidecar))

        def move(new: str) -> None:
            check()
            old = self.path(os.path.basename(new))
            if os.path.basename(zones_path(new)) in zoned:
                files.remove(zones_path(new))  # before they may be taken for those of the new content
            for source, target in (*zip(sidecar_paths(old), sidecar_paths(new), strict=True), (old, new)):
                with contextlib.suppress(NotFoundError):
                    files.move(source, target)

        files.ask_all(move, [os.path.join(self.folder, name) for name in names])
        if files.is_local(self.folder):
            with os_errors(self.folder):
                sync_folder(self.folder)

    def remove(self) -> None:
        if self.staged:
            files.remove_tree(self.home)


def shard_of_sidecar(name: str) -> str:
    """Return the name of the shard whose index or zones have a name; any other name as it is. Pure: no I/O.

    >>> shard_of_sidecar("a.tfrecord.idx"), shard_of_sidecar("a.tfrecord.zones"), shard_of_sidecar("a.tfrecord")
    ('a.tfrecord', 'a.tfrecord', 'a.tfrecord')
    """
    return name.removesuffix(".zones") if name.endswith(".zones") else name.removesuffix(".idx")


def shuffle_folder(folder: str, digest: str) -> str:
    """Return the local folder for the temporary files of a job that shuffles. Pure: no I/O.

    They are beside the shards, or in the cache folder if those are not on this machine.
    """
    if files.is_local(folder):
        return os.path.join(folder, SIDECAR_FOLDER, f"mix-{digest}")
    place = hashlib.blake2b(folder.encode(errors="surrogateescape"), digest_size=4).hexdigest()
    return os.path.join(cache_folder(), "jobs", f"mix-{digest}-{place}")


def is_further_file(name: str) -> bool:
    """Return whether a name of a manifest can be that of a further file of a job, which may be removed. Pure: no I/O.

    >>> [is_further_file(name) for name in ("labels.txt", "a.tfrecord", ".hidden.txt", "../labels.txt", "a/b.txt")]
    [True, False, False, False, False]
    """
    return _FURTHER.fullmatch(name) is not None and os.path.basename(name) == name


def remove_old(job: Job, prefixes: Mapping[str, bool], names: Collection[str]) -> None:
    """Remove shards under some prefixes that are not a job's, and the further files of jobs of which nothing is left.

    The manifest forgets all shards of the prefixes first; who made them it forgets when it names others, so that a kill
    does not hide the further files.
    """
    files_of_others: set[str] = set()

    def change(content: dict[str, Any]) -> None:
        content["shards"] = [entry for entry in content["shards"] if not belongs_to(entry["name"], prefixes)]
        made, jobs = content["made_by"], content.get("jobs", {})
        gone = {made[prefix].get("job") for prefix in prefixes if prefix in made}
        left = {other.get("job") for prefix, other in made.items() if prefix not in prefixes}
        for digest in gone - left:
            files_of_others.update(jobs.get(digest, {}).get("files", ()))
        for digest in left:
            files_of_others.difference_update(jobs.get(digest, {}).get("files", ()))

    if files.is_there(manifest_path(job.folder)):
        change_manifest(job.folder, change)
    old = [name for name in files.list_names(job.folder) if belongs_to(name, prefixes) and name not in names]
    gone = [*old, *filter(is_further_file, files_of_others - set(job.further_files))]
    remove_all(os.path.join(job.folder, name) for name in gone)
    remove_indexes(job.folder, prefixes, names)


def remove_indexes(folder: str, prefixes: Mapping[str, bool], kept: Collection[str]) -> None:
    """Remove the indexes and zones of shards under some prefixes, except of some that are kept."""
    sidecar = os.path.join(folder, SIDECAR_FOLDER)
    shards = {name: shard_of_sidecar(name) for name in files.list_names(sidecar)}
    remove_all(
        os.path.join(sidecar, name)
        for name, shard in shards.items()
        if shard != name and belongs_to(shard, prefixes) and shard not in kept
    )


def clear_temporary(job: Job, prefixes: Mapping[str, bool]) -> None:
    """Remove what killed runs have left of attempts to write a job's files."""
    if not files.is_local(job.folder):
        return  # what is not whole is not there
    sidecar = os.path.join(job.folder, SIDECAR_FOLDER)
    for name in files.list_names(sidecar):
        base = temporary_of(name)
        if base is not None and (
            belongs_to(shard_of_sidecar(base), prefixes) or shard_of_sidecar(base) in job.further_files
        ):
            files.remove(os.path.join(sidecar, name))


def differing(folder: str, made: Mapping[str, tuple[int, int]]) -> set[str]:
    """Return those of some shards, by name with records and bytes, that a manifest describes otherwise."""
    return {
        entry["name"]
        for entry in read_manifest(folder)["shards"]
        if made.get(entry["name"], (entry["records"], entry["bytes"])) != (entry["records"], entry["bytes"])
    }


def file_sizes(folder: str, *, links: bool = False) -> dict[str, int]:
    """Return the sizes of the regular files in a folder, and perhaps of those behind links, by name.

    There are none if there is no such folder.
    """
    try:
        found = [info for info in files.list_files(folder) if info.regular and not info.is_folder]
    except NotFoundError:
        return {}
    keep_all = links or not files.is_local(folder)
    return {
        os.path.basename(info.path): info.size for info in found if keep_all or not os.path.islink(info.path)
    }


def remove_all(paths: Iterable[str]) -> None:
    """Remove files that may be there; of links, the links."""
    files.ask_all(files.remove, list(paths))
