"""FileJournal: the journal of a job as a file `.tfrkit/job-<digest>.jsonl`, where files can be locked and grow.

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
from typing import Any, Final, Self

from tfrkit.build.job.journal import Header, Journal, read_finished, read_header
from tfrkit.build.job.report import Finished
from tfrkit.errors import NotFoundError, os_errors
from tfrkit.stores.json_file import json_line, parse_json
from tfrkit.stores.output import SIDECAR_FOLDER
from tfrkit.stores.system.file_lock import lock_file

__all__ = ["FileJournal"]

_READY: Final = {"ready": True}


class FileJournal(Journal):
    """An open file."""

    def __init__(self, path: str, *, create: bool = False) -> None:
        super().__init__(path)
        self._whole = 0
        self._lock = threading.Lock()
        flags = (
            os.O_RDWR | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW | (os.O_CREAT | os.O_EXCL if create else 0)
        )
        with os_errors(path):
            self._fd = os.open(path, flags, 0o666)

    @classmethod
    def begin(cls, folder: str, header: Header) -> Self:
        path = os.path.join(folder, SIDECAR_FOLDER, f"job-{header.digest}.jsonl")
        journal = cls(path, create=True)
        try:
            lock_file(journal._fd, path, wait=True)  # others look at it for a moment only
            journal.header = header
            journal._append(header.to_json())
        except BaseException:
            journal.delete()
            raise
        return journal

    @classmethod
    def found(cls, folder: str) -> list[Self]:
        pattern = os.path.join(glob.escape(folder), SIDECAR_FOLDER, "job-*.jsonl")
        journals = []
        for path in sorted(glob.glob(pattern)):
            with contextlib.suppress(NotFoundError):  # its job has ended meanwhile
                journals.append(cls(path))
                journals[-1].read()
        return journals

    def lock(self) -> bool:
        for pause in (0.02, 0.1, 0.0):  # another may just look at it
            if lock_file(self._fd, self.path, wait=False):
                return True
            time.sleep(pause)
        return False

    def running(self) -> bool:
        return not self.lock()  # which changes nothing on the disk

    @property
    def deleted(self) -> bool:
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
                        self.header = read_header(content, self.digest)
                    elif content == _READY:
                        self.ready = True
                    else:
                        done = read_finished(content, self.header)
                        self.finished[done.name] = done
                except ValueError:
                    break
                whole += len(line)
        self._whole = whole

    def resume(self) -> None:
        """Cut off a line that is not whole, so that more can be added; it must be locked and read."""
        os.ftruncate(self._fd, self._whole)

    def add(self, done: Finished) -> None:
        with self._lock:
            self._append(done.to_json())
            self.finished[done.name] = done

    def add_ready(self) -> None:
        with self._lock:
            if not self.ready:
                self._append(_READY)
                with os_errors(self.path):
                    os.fsync(self._fd)
                self.ready = True

    def close(self) -> None:
        with self._lock:
            fd, self._fd = self._fd, -1
            if fd >= 0:
                os.close(fd)

    def delete(self) -> None:
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
