"""MemoryStore: `memory://` names in this process, for tests and small intermediate results."""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from tfrkit.errors import NotFoundError
from tfrkit.stores.output import WholeOutput
from tfrkit.stores.remote_source import Pieces, RemoteSource, changed, deleted
from tfrkit.stores.source import ByteSource
from tfrkit.stores.store import ABSENT, FileInfo, Store, Traits

__all__ = ["MemoryOutput", "MemoryStore", "make_store"]


@dataclass(frozen=True, slots=True)
class _Stored:
    data: bytes
    version: str


class MemoryStore:
    """Bytes by name. A process's own: a forked child has a copy."""

    traits = Traits(renames=True, lasting=False)

    def __init__(self) -> None:
        self._files: dict[str, _Stored] = {}
        self._versions = itertools.count(1)
        self._lock = threading.Lock()
        os.register_at_fork(after_in_child=self._after_fork)

    def _after_fork(self) -> None:
        self._lock = threading.Lock()

    def stat(self, path: str) -> FileInfo | None:
        found = self._files.get(path)
        if found is not None:
            return FileInfo(path, len(found.data), found.version)
        begin = _folder(path)
        there = begin == "memory://" or any(name.startswith(begin) for name in list(self._files))
        return FileInfo(path, 0, ABSENT, is_folder=True) if there else None

    def list(self, folder: str, *, recursive: bool = False) -> Iterator[FileInfo]:
        begin = _folder(folder)
        seen: set[str] = set()
        for name, found in sorted(self._files.items()):
            if not name.startswith(begin):
                continue
            first, slash, _ = name[len(begin) :].partition("/")
            if recursive or not slash:
                yield FileInfo(name, len(found.data), found.version)
            elif first not in seen:
                seen.add(first)
                yield FileInfo(begin + first, 0, ABSENT, is_folder=True)

    def open(self, path: str, *, cache: bool | None = None) -> ByteSource:
        found = self._files.get(path)
        if found is None:
            raise _missing(path)
        return RemoteSource(_MemoryFile(self, path, found))

    def create(self, path: str, *, durable: bool = True, at_once: int = 1) -> WholeOutput:
        return MemoryOutput(self, path)

    def write(self, path: str, data: bytes, *, expected: str | None = None) -> str | None:
        with self._lock:
            found = self._files.get(path)
            if expected is not None and expected != (found.version if found is not None else ABSENT):
                return None
            version = str(next(self._versions))
            self._files[path] = _Stored(bytes(data), version)
        return version

    def remove(self, path: str) -> bool:
        with self._lock:
            return self._files.pop(path, None) is not None

    def move(self, source: str, target: str) -> None:
        with self._lock:
            if source not in self._files:
                raise _missing(source)
            self._files[target] = self._files.pop(source)

    def make_folder(self, path: str) -> None:
        """Do nothing: a folder is there as soon as a name begins with it."""

    def remove_tree(self, path: str) -> None:
        begin = _folder(path)
        with self._lock:
            for name in [name for name in self._files if name.startswith(begin)]:
                del self._files[name]

    def current(self, path: str) -> _Stored | None:
        """Return what a name stands for now."""
        return self._files.get(path)


class _MemoryFile:
    """One version of one name."""

    def __init__(self, store: MemoryStore, name: str, found: _Stored) -> None:
        self.name, self.size, self.version = name, len(found.data), found.version
        self._store = store

    def fetch(self, start: int, stop: int) -> Pieces:
        found = self._store.current(self.name)
        if found is None:
            raise deleted(self.name, self.version)
        if found.version != self.version:
            raise changed(self.name, self.version, found.version)
        return [memoryview(found.data)[start:stop]]


class MemoryOutput:
    """Bytes that are kept in memory until they are whole, and then given to a store's `write`."""

    background = whole = True

    def __init__(self, store: Store, name: str) -> None:
        self.name = name
        self._store = store
        self._data = bytearray()
        self._done = False

    @property
    def position(self) -> int:
        """Bytes so far."""
        return len(self._data)

    def write(self, data: Any) -> None:
        self._data += data

    def write_pieces(self, pieces: list[Any]) -> None:
        self._data += b"".join(pieces)

    def flush(self) -> None:
        """Do nothing: it cannot be seen before it is whole."""

    def rollback(self, position: int) -> None:
        del self._data[position:]

    def finish(self) -> None:
        """Do nothing: what is in memory is as durable as it gets."""

    def publish(self, name: str | None = None) -> None:
        self.name = name or self.name
        self._store.write(self.name, bytes(self._data))
        self._done = True

    def close(self) -> None:
        if not self._done:
            self.publish()

    def discard(self) -> None:
        self._done = True


def _folder(path: str) -> str:
    return path if path == "memory://" else path.rstrip("/") + "/"


def _missing(path: str) -> NotFoundError:
    return NotFoundError(f"{path}; No such file or directory", path=path)


def make_store() -> MemoryStore:
    """Make the store of this process's memory."""
    return MemoryStore()
