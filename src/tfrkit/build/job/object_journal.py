"""ObjectJournal: the journal of a job as small objects in `.tfrkit/job-<digest>.journal/`, where nothing grows.

`header.json` is made only if it is absent, each finished task is an object of its own, and who runs the job holds a
lease. The header is written last when a journal begins and removed first when it ends: without it, the rest counts for
nothing.
"""

from __future__ import annotations

import time
from typing import Final, Self

from tfrkit.build.job.journal import Header, Journal, read_finished, read_header
from tfrkit.build.job.report import Finished
from tfrkit.errors import FailedPreconditionError, OpError
from tfrkit.records.check.journal_objects import (
    JournalObjects,
    journal_folders,
    look_into_journal,
    read_object,
)
from tfrkit.stores.files import ask_all, make_folder, remove, remove_tree, write_bytes
from tfrkit.stores.json_file import json_line
from tfrkit.stores.lease import Lease
from tfrkit.stores.output import SIDECAR_FOLDER
from tfrkit.stores.store import ABSENT

__all__ = ["ObjectJournal"]

_ENDING_SECONDS: Final = 10.0  # that removing the rest of a journal may take
_POLL_SECONDS: Final = 0.1


class ObjectJournal(Journal):
    """An open folder of objects."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self._lease = Lease(JournalObjects.lock_of(path))
        self._closed = False

    @classmethod
    def begin(cls, folder: str, header: Header) -> Self:
        journal = cls(f"{folder}/{SIDECAR_FOLDER}/job-{header.digest}.journal")
        make_folder(journal.path)
        journal._lease.acquire(wait=True)
        try:
            journal._remove_rest()  # a thread of a killed run's may have added something after all
            make_folder(f"{journal.path}/done")
            data = json_line(header.to_json())
            if write_bytes(JournalObjects.header_of(journal.path), data, expected=ABSENT) is None:
                raise FailedPreconditionError(
                    f"{folder}; another process has begun the same job there right now. Wait for it.",
                    path=folder,
                )
        except BaseException:
            journal.close()
            raise
        journal.header = header
        return journal

    def read_header(self) -> None:
        """Read only which job it belongs to."""
        try:
            content = read_object(JournalObjects.header_of(self.path))
            self.header = read_header(content, self.digest)
        except ValueError:
            self.header = None

    @classmethod
    def found(cls, folder: str) -> list[Self]:
        journals = []
        for path in journal_folders(folder):
            journal = cls(path)
            journal.read_header()
            if journal.header is not None or look_into_journal(path).objects:  # an empty folder is no journal
                journals.append(journal)
        return journals

    def lock(self) -> bool:
        until = time.monotonic() + _ENDING_SECONDS
        while not self._lease.acquire(wait=False):
            if self.header is not None or time.monotonic() > until:
                return False
            time.sleep(_POLL_SECONDS)  # it is being removed: its job has just ended
        return True

    def running(self) -> bool:
        return self._lease.is_held()

    @property
    def held(self) -> bool:
        try:
            self._lease.check()
        except OpError:  # the store does not answer: then nothing is known
            return False
        return True

    def check(self) -> None:
        self._lease.check()

    def read(self) -> None:
        """Read all objects, several at once; one that cannot be believed is ignored."""
        self.finished.clear()
        self.read_header()
        found = look_into_journal(self.path)
        self.ready = found.ready
        if self.header is None:
            return
        contents = ask_all(read_object, found.finished)
        for path, content in zip(found.finished, contents, strict=True):
            try:
                done = read_finished(content, self.header)
            except ValueError:
                continue
            if path == JournalObjects.task_of(self.path, done.name):
                self.finished[done.name] = done

    def add(self, done: Finished) -> None:
        self._write(JournalObjects.task_of(self.path, done.name), json_line(done.to_json()))
        self.finished[done.name] = done

    def add_ready(self) -> None:
        if not self.ready:
            self._write(JournalObjects.ready_of(self.path), json_line({"ready": True}))
            self.ready = True

    def _write(self, path: str, data: bytes) -> None:
        if self._closed:
            raise FailedPreconditionError(f"{self.path}; the journal is closed.", path=self.path)
        self.check()
        write_bytes(path, data)

    def close(self) -> None:
        self._end(remove=False)

    def _end(self, *, remove: bool) -> None:
        if not self._closed:
            self._closed = True
            self._lease.release(remove=remove)

    def delete(self) -> None:
        try:
            if self.held:
                remove(JournalObjects.header_of(self.path))
                self._remove_rest()
                self._end(remove=True)
        finally:
            self.close()

    def _remove_rest(self) -> None:
        remove(JournalObjects.ready_of(self.path))
        remove_tree(f"{self.path}/done")
