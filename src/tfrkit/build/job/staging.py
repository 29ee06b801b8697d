"""Where the shards of a job are until it is complete, and how they replace others.

A job writes its shards where they belong if nothing is there, and how much may be left out has no limit that is only
known to hold at the end. Else it writes them to `.tfrkit/job-<digest>/`, and what is there stays until all of them are
whole: then the journal says so, the manifest forgets the old shards, they are removed, the new ones are renamed, and
the manifest names them. A kill at any moment leaves the old set, the new one, or a journal by which the same job ends
what was begun; and never a manifest that names what is not there.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import stat
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.build.job.job_plan import Job, belongs_to
from tfrkit.errors import from_os_error, os_errors
from tfrkit.records.access.index import index_path
from tfrkit.records.manifest import change_manifest, manifest_path, read_manifest
from tfrkit.stores.output import SIDECAR_FOLDER, sync_folder, temporary_of

__all__ = [
    "StagingArea",
    "clear_temporary",
    "differing",
    "is_further_file",
    "is_regular",
    "remove",
    "remove_old",
    "remove_tree",
    "shuffle_folder",
]

_FURTHER: Final = re.compile(r"(?s)[^.].*\.txt")  # such as labels.txt


@dataclass(frozen=True, slots=True)
class StagingArea:
    """Where a job puts its shards.

    Attributes:
        folder: where they belong.
        digest: of the job.
        staged: they wait in a folder of their own until all are there.
        indexed: each has an index.
    """

    folder: str
    digest: str
    staged: bool
    indexed: bool

    @property
    def home(self) -> str:
        """Where shards are written."""
        return os.path.join(self.folder, SIDECAR_FOLDER, f"job-{self.digest}") if self.staged else self.folder

    def path(self, name: str) -> str:
        """Where a shard is written."""
        return os.path.join(self.home, name)

    def is_whole(self, name: str, size: int, *, moved: bool) -> bool:
        """Return whether a shard that was finished is still there, with its index.

        Args:
            name: of the shard.
            size: that it had.
            moved: it may be where it belongs already.
        """
        paths = [self.path(name), *([os.path.join(self.folder, name)] if moved else [])]
        return any(is_regular(path, size) for path in paths) and (
            not self.indexed or any(is_regular(index_path(path)) for path in paths)
        )

    def begin(self) -> None:
        """Make the folder of shards that wait; a link under its name is removed."""
        if self.staged:
            with os_errors(self.home):
                if os.path.islink(self.home):
                    os.unlink(self.home)
                os.makedirs(self.home, exist_ok=True)

    def clear(self, done: Collection[str]) -> None:
        """Remove what killed runs have left among the shards that wait, and is not finished."""
        if self.staged:
            sidecar = os.path.join(self.home, SIDECAR_FOLDER)
            for name in _names(self.home):
                if name != SIDECAR_FOLDER and name not in done:
                    remove(os.path.join(self.home, name))
            for name in _names(sidecar):
                if name.removesuffix(".idx") not in done:
                    remove(os.path.join(sidecar, name))

    def drop(self, name: str) -> None:
        """Remove a shard that was not finished."""
        for path in (self.path(name), index_path(self.path(name))):
            with contextlib.suppress(OSError):
                os.unlink(path)

    def move(self, names: Collection[str]) -> None:
        """Rename shards that wait, and their indexes, to their final names; those that have them stay."""
        if not self.staged:
            return
        with os_errors(self.folder):
            os.makedirs(os.path.join(self.folder, SIDECAR_FOLDER), exist_ok=True)
            for name in names:
                old, new = self.path(name), os.path.join(self.folder, name)
                for source, target in ((index_path(old), index_path(new)), (old, new)):
                    with contextlib.suppress(FileNotFoundError):
                        os.replace(source, target)
            sync_folder(self.folder)

    def remove(self) -> None:
        """Remove the folder of shards that wait."""
        if self.staged:
            remove_tree(self.home)


def shuffle_folder(folder: str, digest: str) -> str:
    """Return the folder for the temporary files of a job that shuffles."""
    return os.path.join(folder, SIDECAR_FOLDER, f"mix-{digest}")


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
    files: set[str] = set()

    def change(content: dict[str, Any]) -> None:
        content["shards"] = [entry for entry in content["shards"] if not belongs_to(entry["name"], prefixes)]
        made, jobs = content["made_by"], content.get("jobs", {})
        gone = {made[prefix].get("job") for prefix in prefixes if prefix in made}
        left = {other.get("job") for prefix, other in made.items() if prefix not in prefixes}
        for digest in gone - left:
            files.update(jobs.get(digest, {}).get("files", ()))
        for digest in left:
            files.difference_update(jobs.get(digest, {}).get("files", ()))

    if os.path.exists(manifest_path(job.folder)):
        change_manifest(job.folder, change)
    old = {name for name in _names(job.folder) if belongs_to(name, prefixes) and name not in names}
    for name in (*old, *filter(is_further_file, files - job.files.keys())):
        remove(os.path.join(job.folder, name))
    sidecar = os.path.join(job.folder, SIDECAR_FOLDER)
    for name in _names(sidecar):
        shard = name.removesuffix(".idx")
        if shard != name and belongs_to(shard, prefixes) and shard not in names:
            remove(os.path.join(sidecar, name))


def clear_temporary(job: Job, prefixes: Mapping[str, bool]) -> None:
    """Remove what killed runs have left of attempts to write a job's files."""
    sidecar = os.path.join(job.folder, SIDECAR_FOLDER)
    for name in _names(sidecar):
        base = temporary_of(name)
        if base is not None and (
            belongs_to(base.removesuffix(".idx"), prefixes) or base.removesuffix(".idx") in job.files
        ):
            remove(os.path.join(sidecar, name))


def differing(folder: str, made: Mapping[str, tuple[int, int]]) -> set[str]:
    """Return those of some shards, by name with records and bytes, that a manifest describes otherwise."""
    return {
        entry["name"]
        for entry in read_manifest(folder)["shards"]
        if made.get(entry["name"], (entry["records"], entry["bytes"])) != (entry["records"], entry["bytes"])
    }


def is_regular(path: str, size: int | None = None) -> bool:
    """Return whether a path is a regular file, not a link; of a certain size if given."""
    try:
        found = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISREG(found.st_mode) and size in (None, found.st_size)


def remove(path: str) -> None:
    """Remove a file if it is there; of a link, the link."""
    try:
        os.unlink(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise from_os_error(error, path) from error


def remove_tree(path: str) -> None:
    """Remove a folder with all that is in it, if it is there; links are removed, never followed."""
    try:
        if os.path.islink(path):
            os.unlink(path)
        elif os.path.lexists(path):
            shutil.rmtree(path)
    except FileNotFoundError:
        return
    except OSError as error:
        raise from_os_error(error, path) from error


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except FileNotFoundError:
        return []
    except OSError as error:
        raise from_os_error(error, folder) from error
