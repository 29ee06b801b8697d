"""The journal of a job that is not complete: which job it is, what is finished, and who runs it. FORMAT.md defines it.

`file_journal.py` has it as a file that is locked and grows, `object_journal.py` as small objects, for stores in which
nothing grows or is locked.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Final, Protocol, Self

from tfrkit.build.job.job_plan import belongs_to
from tfrkit.build.job.json_fields import from_json
from tfrkit.build.job.report import Finished, is_part
from tfrkit.stores.json_file import is_count, is_digest, is_file_name

__all__ = ["Header", "Journal", "read_finished", "read_header"]

_FORMAT: Final = "tfrkit-job"
_VERSION: Final = 1


@dataclass(frozen=True, slots=True)
class Header:
    """Which job a journal belongs to.

    Attributes:
        digest: of the job.
        prefixes: what it writes; each with whether its one file has no number.
        made_by: as in the job.
        transient: as in the job.
        staged: its shards wait in a folder of their own until all are there.
    """

    digest: str
    prefixes: Mapping[str, bool]
    made_by: Mapping[str, Any]
    transient: Mapping[str, Any]
    staged: bool

    def to_json(self) -> dict[str, Any]:
        return {"format": _FORMAT, "version": _VERSION, **asdict(self)}


class Journal(Protocol):
    """An open journal. Several threads may add to it.

    Attributes:
        path: of the file, or of the folder of objects.
        header: None if a kill came before it was written: such a journal says nothing.
        finished: tasks that are done, by name.
        ready: all shards are there, and take the place of what was there before.
    """

    path: str
    header: Header | None
    finished: dict[str, Finished]
    ready: bool

    def __init__(self, path: str) -> None:
        self.path, self.header, self.finished, self.ready = path, None, {}, False

    @classmethod
    def begin(cls, folder: str, header: Header) -> Self:
        """Make and lock the journal of a job that begins; the caller holds the folder's lock for jobs."""

    @classmethod
    def found(cls, folder: str) -> Sequence[Self]:
        """Open all journals of a folder, with their headers; they are not locked yet, and the caller closes them."""

    def lock(self) -> bool:
        """Try to lock it, without waiting for long; False if a running process holds it."""

    def running(self) -> bool:
        """Return whether a running process holds it, without changing anything in the store."""

    @property
    def held(self) -> bool:
        """Whether what was locked still is: False once another process has taken the work over."""
        return True  # a lock of a file is lost only with the process

    def check(self) -> None:
        """Make sure that it is still held, before something is published.

        Raises:
            AbortedError: another process has taken the work over.
        """

    @property
    def deleted(self) -> bool:
        """Whether it is gone: its job is complete. What is left of objects says nothing, and is removed."""
        return False

    def read(self) -> None:
        """Read everything, as far as it can be believed."""

    def resume(self) -> None:
        """Make it ready for more; it must be locked and read."""

    def add(self, done: Finished) -> None:
        """Note that a task is done: its file has its name, and its index too."""

    def add_ready(self) -> None:
        """Note that all shards are there. It is durable before anything that was there before is touched."""

    def close(self) -> None:
        """Release the lock; the journal stays for the next run. It waits for threads that add to it."""

    def delete(self) -> None:
        """Remove it: the job is complete, or given up."""

    @property
    def digest(self) -> str:
        """The digest of the job, as the name of the journal has it."""
        return os.path.splitext(os.path.basename(self.path))[0].removeprefix("job-")


def read_header(content: object, digest: str) -> Header:
    """Read what a journal says of its job, whose digest is in the journal's name. Pure: no I/O.

    Raises:
        ValueError: it is no journal of this version, or not one to be believed.
    """
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError("no journal")
    if not is_count(content.get("version")) or content["version"] != _VERSION:
        raise ValueError("no journal of this version")
    header = from_json(Header, content)
    if not is_digest(header.digest) or header.digest != digest or not all(map(is_file_name, header.prefixes)):
        raise ValueError("a journal with odd fields")
    return header


def read_finished(content: object, header: Header) -> Finished:
    """Read what a journal says of a finished task. Pure: no I/O.

    Raises:
        ValueError: it is none, or one of another job.
    """
    done = Finished.from_json(content)
    if not is_part(done.name) and not belongs_to(done.name, header.prefixes):
        raise ValueError("a shard of another job")
    return done
