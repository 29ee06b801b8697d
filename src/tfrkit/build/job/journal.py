"""The journal of a job that is not complete: `.tfrkit/job-<digest>.jsonl`. FORMAT.md defines it.

Its first line says which job it belongs to, and each further one what is finished, or that all shards are ready to
replace others. The process that runs the job holds a lock on it, which ends with the process. A last line that was cut
off is ignored. Lines of finished tasks are not synced: losing one in a power cut only costs writing its shard again.
"""

from __future__ import annotations

import contextlib
import glob
import os
import threading
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Self

from tfrkit.build.job.job_plan import belongs_to
from tfrkit.build.job.json_fields import from_json
from tfrkit.build.job.report import Finished, is_part
from tfrkit.errors import NotFoundError, os_errors
from tfrkit.stores.file_lock import lock_file
from tfrkit.stores.json_file import is_count, is_digest, is_file_name, json_line, parse_json
from tfrkit.stores.output import SIDECAR_FOLDER

__all__ = ["Header", "Journal", "found_journals"]

_FORMAT: Final = "tfrkit-job"
_VERSION: Final = 1
_READY: Final = {"ready": True}


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
        """Return it as the first line has it."""
        return {"format": _FORMAT, "version": _VERSION, **asdict(self)}


class Journal:
    """An open journal. Several threads may add to it.

    Attributes:
        path: of the file.
        header: None if a kill came before it was written: such a journal says nothing.
        finished: tasks that are done, by name.
        ready: all shards are there, and take the place of what was there before.
    """

    def __init__(self, path: str, *, create: bool = False) -> None:
        self.path = path
        self.header: Header | None = None
        self.finished: dict[str, Finished] = {}
        self.ready = False
        self._whole = 0
        self._lock = threading.Lock()
        flags = (
            os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT | os.O_EXCL if create else 0)
        )
        with os_errors(path):
            self._fd = os.open(path, flags, 0o666)

    @classmethod
    def begin(cls, folder: str, header: Header) -> Self:
        """Make and lock the journal of a job that begins; the caller holds the folder's lock for jobs."""
        path = os.path.join(folder, SIDECAR_FOLDER, _name(header.digest))
        journal = cls(path, create=True)
        try:
            lock_file(journal._fd, path, wait=True)  # others look at it for a moment only
            journal.header = header
            journal._append(header.to_json())
        except BaseException:
            journal.delete()
            raise
        return journal

    def lock(self) -> bool:
        """Try to lock it, without waiting for long; False if a running process holds it."""
        for pause in (0.02, 0.1, 0.0):  # another may just look at it
            if lock_file(self._fd, self.path, wait=False):
                return True
            time.sleep(pause)
        return False

    @property
    def deleted(self) -> bool:
        """Whether the file is gone: its job is complete."""
        return os.fstat(self._fd).st_nlink == 0

    def read(self) -> None:
        """Read header and lines, up to the first that is not whole."""
        self.finished.clear()
        self.header, self.ready = None, False
        with open(self._fd, "rb", closefd=False) as file:
            file.seek(0)
            whole = 0
            for line in file:
                try:
                    content: Any = parse_json(line) if line.endswith(b"\n") else None
                    if self.header is None:
                        self.header = _read_header(content, os.path.basename(self.path))
                    elif content == _READY:
                        self.ready = True
                    else:
                        done = Finished.from_json(content)
                        if not is_part(done.name) and not belongs_to(done.name, self.header.prefixes):
                            raise ValueError("a shard of another job")
                        self.finished[done.name] = done
                except ValueError:
                    break
                whole += len(line)
        self._whole = whole

    def resume(self) -> None:
        """Cut off a line that is not whole, so that more can be added; it must be locked and read."""
        os.ftruncate(self._fd, self._whole)

    def add(self, done: Finished) -> None:
        """Note that a task is done: its file has its name, and its index too."""
        with self._lock:
            self._append(done.to_json())
            self.finished[done.name] = done

    def add_ready(self) -> None:
        """Note that all shards are there. It is on the disk before anything that was there before is touched."""
        with self._lock:
            if not self.ready:
                self._append(_READY)
                with os_errors(self.path):
                    os.fsync(self._fd)
                self.ready = True

    def close(self) -> None:
        """Release the lock; the journal stays for the next run. It waits for threads that add to it."""
        with self._lock:
            fd, self._fd = self._fd, -1
            if fd >= 0:
                os.close(fd)

    def delete(self) -> None:
        """Remove it: the job is complete, or given up."""
        with contextlib.suppress(FileNotFoundError):
            os.unlink(self.path)
        self.close()

    def _append(self, line: dict[str, Any]) -> None:
        data = json_line(line)
        with os_errors(self.path):
            size = os.fstat(self._fd).st_size
            try:
                written = os.write(self._fd, data)
                while written < len(data):
                    written += os.write(self._fd, data[written:])
            except BaseException:
                os.ftruncate(self._fd, size)
                raise


def _read_header(content: object, name: str) -> Header:
    """Read the first line. Pure: no I/O.

    Raises:
        ValueError: it is no journal of this version, or not one to be believed.
    """
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise ValueError("no journal")
    if not is_count(content.get("version")) or content["version"] != _VERSION:
        raise ValueError("no journal of this version")
    header = from_json(Header, content)
    if (
        not is_digest(header.digest)
        or name != _name(header.digest)
        or not all(map(is_file_name, header.prefixes))
    ):
        raise ValueError("a journal with odd fields")
    return header


def _name(digest: str) -> str:
    return f"job-{digest}.jsonl"


def found_journals(folder: str) -> list[Journal]:
    """Open and read all journals of a folder; they are not locked yet, and the caller closes them."""
    pattern = os.path.join(glob.escape(folder), SIDECAR_FOLDER, "job-*.jsonl")
    journals = []
    for path in sorted(glob.glob(pattern)):
        try:
            journal = Journal(path)
        except NotFoundError:  # its job has ended meanwhile
            continue
        journal.read()
        journals.append(journal)
    return journals
