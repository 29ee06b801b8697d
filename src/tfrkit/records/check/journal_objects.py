"""Where the journal of a job is in a store in which nothing grows: names of its objects, and what they say.

FORMAT.md defines them. What writes and resumes such journals is `build/job/object_journal.py`.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.errors import NotFoundError
from tfrkit.stores.files import list_files, list_names, read_bytes
from tfrkit.stores.json_file import parse_json
from tfrkit.stores.output import SIDECAR_FOLDER

__all__ = ["JournalObjects", "journal_folders", "look_into_journal", "read_object"]

_FOLDER: Final = re.compile(r"job-[0-9a-f]{1,64}\.journal")


@dataclass(frozen=True, slots=True)
class JournalObjects:
    """The names in a journal.

    Attributes:
        folder: of its objects.
        objects: how many there are.
        header: whether there is one; without it the rest counts for nothing.
        ready: whether all shards are there.
        finished: the objects of finished tasks, sorted.
    """

    folder: str
    objects: int
    header: bool
    ready: bool
    finished: tuple[str, ...]

    @staticmethod
    def header_of(folder: str) -> str:
        """Return the name of the object that says which job it is. Pure: no I/O."""
        return f"{folder}/header.json"

    @staticmethod
    def ready_of(folder: str) -> str:
        """Return the name of the object that says that all shards are there. Pure: no I/O."""
        return f"{folder}/ready.json"

    @staticmethod
    def lock_of(folder: str) -> str:
        """Return the name of the lease of the process that runs the job. Pure: no I/O."""
        return f"{folder}/lock.json"

    @staticmethod
    def task_of(folder: str, name: str) -> str:
        """Return the name of the object of a finished task. Pure: no I/O."""
        return f"{folder}/done/{name.replace('/', '-')}.json"


def journal_folders(folder: str) -> list[str]:
    """Return the folders of all journals of a folder of shards, sorted."""
    sidecar = os.path.join(folder, SIDECAR_FOLDER)
    return [f"{sidecar}/{name}" for name in sorted(list_names(sidecar)) if _FOLDER.fullmatch(name)]


def look_into_journal(folder: str) -> JournalObjects:
    """List the objects of a journal, which may be gone meanwhile."""
    try:
        found = [info.path for info in list_files(folder, recursive=True)]
    except NotFoundError:
        found = []
    own = f"/{os.path.basename(folder)}/"
    names = {path.rpartition(own)[2] for path in found}
    done = sorted(name for name in names if name.startswith("done/"))
    return JournalObjects(
        folder,
        len(names),
        "header.json" in names,
        "ready.json" in names,
        tuple(f"{folder}/{name}" for name in done),
    )


def read_object(path: str) -> Any:
    """Return what an object of a journal says; None if it is gone, or no JSON."""
    try:
        return parse_json(read_bytes(path))
    except (NotFoundError, ValueError):
        return None
