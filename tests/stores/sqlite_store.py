"""Files in an SQLite database, as an example of a store that tfrkit does not have: this file is all that it takes."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from typing import Any

from tfrkit.errors import NotFoundError
from tfrkit.stores.memory import MemoryOutput
from tfrkit.stores.output import WholeOutput
from tfrkit.stores.remote_source import Pieces, RemoteSource, changed, deleted
from tfrkit.stores.source import ByteSource
from tfrkit.stores.store import ABSENT, FileInfo, Traits

_BELOW = "substr(name, 1, length(?)) = ?"


class SqliteStore:
    """A table of names and bytes; a folder is the beginning of names, up to a slash."""

    traits = Traits(renames=True, tagged=True)

    def __init__(self, path: str) -> None:
        self._lock = threading.Lock()
        self.database = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self.ask("CREATE TABLE IF NOT EXISTS files (name TEXT PRIMARY KEY, data BLOB, version INTEGER)")

    def ask(self, statement: str, *values: Any) -> list[Any]:
        """Run a statement, which is a transaction of its own, and return its rows."""
        with self._lock:
            return self.database.execute(statement, values).fetchall()

    def stat(self, path: str) -> FileInfo | None:
        if rows := self.ask("SELECT length(data), version FROM files WHERE name = ?", path):
            return FileInfo(path, rows[0][0], str(rows[0][1]))
        begin = path.rstrip("/") + "/"
        there = self.ask(f"SELECT 1 FROM files WHERE {_BELOW} LIMIT 1", begin, begin)
        return FileInfo(path, 0, ABSENT, is_folder=True) if there else None

    def list(self, folder: str, *, recursive: bool = False) -> Iterator[FileInfo]:
        begin = folder.rstrip("/") + "/"
        rows = self.ask(f"SELECT name, length(data), version FROM files WHERE {_BELOW}", begin, begin)
        folders = set()
        for name, size, version in rows:
            first, slash, _ = name[len(begin) :].partition("/")
            if recursive or not slash:
                yield FileInfo(name, size, str(version))
            else:
                folders.add(begin + first)
        yield from (FileInfo(name, 0, ABSENT, is_folder=True) for name in folders)

    def open(self, path: str, *, cache: bool | None = None) -> ByteSource:
        found = self.stat(path)
        if found is None or found.is_folder:
            raise NotFoundError(f"{path}; No such file or directory", path=path)
        return RemoteSource(_SqliteFile(self, found))

    def create(self, path: str, *, durable: bool = True, at_once: int = 1) -> WholeOutput:
        return MemoryOutput(self, path)  # kept until it is whole, then given to `write`

    def write(self, path: str, data: bytes, *, expected: str | None = None) -> str | None:
        version = "abs(random())"  # never the same again
        if expected == ABSENT:
            statement, values = f"INSERT OR IGNORE INTO files VALUES (?, ?, {version})", [path, data]
        elif expected is None:
            statement, values = f"INSERT OR REPLACE INTO files VALUES (?, ?, {version})", [path, data]
        else:
            statement = f"UPDATE files SET data = ?, version = {version} WHERE name = ? AND version = ?"
            values = [data, path, expected]
        rows = self.ask(f"{statement} RETURNING version", *values)
        return str(rows[0][0]) if rows else None

    def remove(self, path: str) -> bool:
        return bool(self.ask("DELETE FROM files WHERE name = ? RETURNING 1", path))

    def move(self, source: str, target: str) -> None:
        if not self.ask("UPDATE OR REPLACE files SET name = ? WHERE name = ? RETURNING 1", target, source):
            raise NotFoundError(f"{source}; No such file or directory", path=source)

    def make_folder(self, path: str) -> None:
        """Do nothing: a folder is there as soon as a name begins with it."""

    def remove_tree(self, path: str) -> None:
        begin = path.rstrip("/") + "/"
        self.ask(f"DELETE FROM files WHERE {_BELOW}", begin, begin)


class _SqliteFile:
    """One version of one file, which is read by ranges."""

    def __init__(self, store: SqliteStore, found: FileInfo) -> None:
        self.name, self.size, self.version = found.path, found.size, found.version
        self._store = store

    def fetch(self, start: int, stop: int) -> Pieces:
        rows = self._store.ask(
            "SELECT version, substr(data, ?, ?) FROM files WHERE name = ?", start + 1, stop - start, self.name
        )
        if not rows:
            raise deleted(self.name, self.version)
        if str(rows[0][0]) != self.version:
            raise changed(self.name, self.version, str(rows[0][0]))
        return [rows[0][1]]
