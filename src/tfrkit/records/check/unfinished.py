"""Jobs that have not ended, read from the folder of their shards; changes nothing. FORMAT.md defines the journal.

What writes, locks and resumes journals is in `build/job/`: `file_journal.py` and `object_journal.py`.
"""

from __future__ import annotations

import fcntl
import glob
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.records.check.journal_objects import (
    JournalObjects,
    journal_folders,
    look_into_journal,
    read_object,
)
from tfrkit.stores.files import ask_all, traits_of
from tfrkit.stores.json_file import is_count, is_file_name, parse_json
from tfrkit.stores.lease import Lease
from tfrkit.stores.output import SIDECAR_FOLDER
from tfrkit.stores.url import local_path

__all__ = ["Unfinished", "unfinished_jobs"]

_FORMAT: Final = "tfrkit-job"
_READY: Final = {"ready": True}


@dataclass(frozen=True, slots=True)
class Unfinished:
    """A job that is not complete.

    Attributes:
        path: of its journal.
        prefixes: of the shards that it writes; none if the journal does not tell.
        finished: shards that it has finished, each with its records and bytes.
        running: whether a process works on it right now.
        waiting: its shards are not among those of the folder yet, but wait to take the place of what is there, which is
            as it was.
    """

    path: str
    prefixes: tuple[str, ...]
    finished: Mapping[str, tuple[int, int]]
    running: bool
    waiting: bool = False


def unfinished_jobs(folder: str) -> list[Unfinished]:
    """Read the journals of a folder, in order of their names. A line that cannot be believed ends a journal."""
    traits = traits_of(folder)
    if not (traits.appends and traits.locks):
        paths = journal_folders(folder) if traits.lists else []
        return [job for path in paths if (job := _read_objects(path)) is not None]
    folder = local_path(folder)
    pattern = os.path.join(glob.escape(folder), SIDECAR_FOLDER, "job-*.jsonl")
    return [job for path in sorted(glob.glob(pattern)) if (job := _read(path)) is not None]


def _read(path: str) -> Unfinished | None:
    prefixes: tuple[str, ...] = ()
    finished: dict[str, tuple[int, int]] = {}
    waiting = False
    try:
        with open(path, "rb") as file:
            running = _is_locked(file.fileno())
            if os.fstat(file.fileno()).st_nlink == 0:
                return None  # it has ended meanwhile
            for number, line in enumerate(file):
                try:
                    content = parse_json(line) if line.endswith(b"\n") else None
                except ValueError:
                    break
                if not isinstance(content, dict):
                    break
                if number == 0:
                    prefixes = _prefixes(content)
                    waiting = content.get("staged") is True
                elif content == _READY:
                    waiting = False
                elif is_count(content.get("records")) and is_count(content.get("bytes")):
                    if is_file_name(name := content.get("name")):  # not a part of a mixture
                        finished[name] = (content["records"], content["bytes"])
                else:
                    break
    except OSError:
        return None if not os.path.lexists(path) else Unfinished(path, (), {}, running=False)
    return Unfinished(path, prefixes, finished, running, waiting)


def _read_objects(path: str) -> Unfinished | None:
    """Read a journal in a store in which nothing grows; None if its job has ended."""
    found = look_into_journal(path)
    header = read_object(JournalObjects.header_of(path)) if found.header else None
    if not isinstance(header, dict):
        return None
    finished: dict[str, tuple[int, int]] = {}
    for content in ask_all(read_object, found.finished):
        read = content if isinstance(content, dict) else {}
        if (
            is_file_name(name := read.get("name"))
            and is_count(read.get("records"))
            and is_count(read.get("bytes"))
        ):
            finished[name] = (read["records"], read["bytes"])
    waiting = header.get("staged") is True and not found.ready
    return Unfinished(
        path, _prefixes(header), finished, Lease(JournalObjects.lock_of(path)).is_held(), waiting
    )


def _prefixes(header: Mapping[str, Any]) -> tuple[str, ...]:
    found = header.get("prefixes")
    if header.get("format") != _FORMAT or not isinstance(found, dict):
        return ()
    return tuple(prefix for prefix in found if is_file_name(prefix))


def _is_locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:  # a file system without locks: it cannot be known
        return False
    fcntl.flock(fd, fcntl.LOCK_UN)
    return False
