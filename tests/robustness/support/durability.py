"""Watches what is synced and renamed: whether files have their names before their contents are on the disk.

All syncs and renames of tfrkit go through `os`, on whatever thread. A file counts as synced if nothing has changed it
since its last fsync; a name is on the disk when its folder is synced after the rename.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tfrkit.build.export import export_folder
from tfrkit.build.job.file_journal import FileJournal
from tfrkit.build.job.report import is_part
from tfrkit.stores import output
from tfrkit.stores.system import exchange

__all__ = ["Durability", "watched"]


class Durability:
    """What was seen.

    Attributes:
        renamed: final paths of files and folders, in the order in which they got their names.
        early: paths that got their name before their contents were synced.
        promised: what a manifest or a journal names before its own name is on the disk.
        pending: paths whose folder was not synced after they got their name.
        syncs: how many there were.
    """

    def __init__(self) -> None:
        self.renamed: list[str] = []
        self.early: list[str] = []
        self.promised: list[str] = []
        self.pending: dict[str, tuple[int, int]] = {}
        self.syncs = 0
        self._synced: dict[tuple[int, int], tuple[int, int]] = {}
        self._lock = threading.Lock()

    def forget(self) -> None:
        """Begin again; what is synced stays so."""
        for found in (self.renamed, self.early, self.promised, self.pending):
            found.clear()

    def sync(self, fd: int) -> None:
        """Note a sync that has been done."""
        status = os.fstat(fd)
        place = status.st_dev, status.st_ino
        with self._lock:
            self.syncs += 1
            self._synced[place] = status.st_size, status.st_mtime_ns
            for path in [path for path, folder in self.pending.items() if folder == place]:
                del self.pending[path]

    def rename(self, source: Any, target: Any) -> None:
        """Note a rename that is about to be done."""
        target = os.path.abspath(os.fsdecode(target))
        with self._lock:
            source = os.path.abspath(os.fsdecode(source))
            self.early += [
                target + path.removeprefix(source) for path in _all_in(source) if not self._is_synced(path)
            ]
            if os.path.basename(target) == "manifest.json":
                self.promised += [path for path in self.pending if path.endswith(".tfrecord")]
            folder = os.stat(os.path.dirname(target))
            self.renamed.append(target)
            self.pending[target] = folder.st_dev, folder.st_ino

    def note(self, name: str) -> None:
        """Note that a journal is about to say that a file is there."""
        with self._lock:
            is_there = name in map(os.path.basename, self.renamed)
            if not is_there or name in map(os.path.basename, self.pending):
                self.promised.append(name)

    def _is_synced(self, path: str) -> bool:
        status = os.lstat(path)
        return self._synced.get((status.st_dev, status.st_ino)) == (status.st_size, status.st_mtime_ns)


def _all_in(path: str) -> Iterator[str]:
    """A file or folder, and everything in it."""
    yield path
    for place, folders, files in os.walk(path):
        yield from (os.path.join(place, name) for name in (*folders, *files))


@contextmanager
def watched() -> Iterator[Durability]:
    """Watch everything in a `with` block."""
    seen = Durability()
    fsync, replace, rename, swap, add = os.fsync, os.replace, os.rename, exchange.exchange, FileJournal.add

    def syncing(fd: int) -> None:
        fsync(fd)
        seen.sync(fd)

    def replacing(source: Any, target: Any) -> None:
        seen.rename(source, target)
        replace(source, target)

    def renaming(source: Any, target: Any) -> None:
        seen.rename(source, target)
        rename(source, target)

    def exchanging(one: str, other: str) -> bool:
        seen.rename(one, other)
        return swap(one, other)

    def adding(journal: FileJournal, done: Any) -> None:
        if not is_part(done.name):
            seen.note(done.name)
        add(journal, done)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(FileJournal, "add", adding)
        patch.setattr(os, "fsync", syncing)
        patch.setattr(os, "fdatasync", syncing)
        patch.setattr(output, "_sync_data", syncing)
        patch.setattr(os, "replace", replacing)
        patch.setattr(os, "rename", renaming)
        patch.setattr(export_folder, "exchange", exchanging)
        yield seen
