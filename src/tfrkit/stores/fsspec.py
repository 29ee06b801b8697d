"""FsspecStore: everything else that fsspec knows, such as hdfs, hf, ftp, sftp and smb.

Reading is by ranges, as of an object store. A file is written under a temporary name beside its own and renamed when it
is whole. Making a file only if it is absent is a look and a write: of two that do so at once both may believe to be
first, which `traits.atomic_create` says.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from threading import Lock
from typing import Any, Final

from tfrkit.errors import (
    FailedPreconditionError,
    MissingExtraError,
    NotFoundError,
    OpError,
    UnavailableError,
    UnimplementedError,
    from_os_error,
)
from tfrkit.optional import require
from tfrkit.stores.cache.source import with_cache
from tfrkit.stores.object_config import is_cached
from tfrkit.stores.output import SIDECAR_FOLDER, WholeOutput, write_whole
from tfrkit.stores.remote_source import Pieces, RemoteSource, changed, deleted
from tfrkit.stores.source import ByteSource
from tfrkit.stores.store import ABSENT, FileInfo, Traits
from tfrkit.stores.url import display_name, parse_url

__all__ = ["FsspecStore", "make_store"]

_VERSION_KEYS: Final = (
    "ETag",
    "etag",
    "mtime",
    "modified",
    "modify",
    "LastModified",
    "last_modified",
    "created",
)
_CHECK_SECONDS: Final = 1.0


class FsspecStore:
    """Files of any file system that has an fsspec implementation."""

    traits = Traits(renames=True, atomic_create=False)

    def serves(self, scheme: str) -> bool:
        """Tell whether fsspec has an implementation of a scheme."""
        fsspec = require("fsspec", f"Opening {scheme}:// URLs")
        return (
            scheme in fsspec.available_protocols() or scheme in fsspec.registry
        )  # what a program has registered

    def stat(self, path: str) -> FileInfo | None:
        with _errors(path):
            system, name = self.inner(path)
            system.invalidate_cache()  # what others have written meanwhile counts
            try:
                return _info(path, system.info(name))
            except (FileNotFoundError, NotADirectoryError):
                return None

    def list(self, folder: str, *, recursive: bool = False) -> Iterator[FileInfo]:
        begin = folder.rstrip("/")
        with _errors(folder):
            system, name = self.inner(folder)
            system.invalidate_cache()
            rows = (
                list(system.find(name, detail=True).values()) if recursive else system.ls(name, detail=True)
            )
        root = name.rstrip("/")
        for row in rows:
            rest = row["name"].rstrip("/")[len(root) :].lstrip("/")
            if rest:
                yield _info(f"{begin}/{rest}", row)

    def open(self, path: str, *, cache: bool | None = None) -> ByteSource:
        system, name = self.inner(path)
        found = self.stat(path)
        if found is None:
            raise _missing(path)
        if found.is_folder:
            raise FailedPreconditionError(
                f"{path}; Is a directory. Name the files in it, for example {path.rstrip('/') + '/*.tfrecord'!r}.",
                path=path,
            )
        source = RemoteSource(_FsspecFile(self, system, name, found))
        scheme, host, _ = parse_url(path)
        if found.version != str(found.size) and is_cached(
            f"{scheme}://{host}", cache
        ):  # else it may have changed
            settings = require("fsspec", f"Opening {scheme}:// URLs").config.conf.get(scheme, {})
            return with_cache(source, f"{path}\n{sorted(settings.items())}")
        return source

    def create(self, path: str, *, durable: bool = True, at_once: int = 1) -> WholeOutput:
        system, name = self.inner(path)
        return _FsspecOutput(system, name, path, self)

    def write(self, path: str, data: bytes, *, expected: str | None = None) -> str | None:
        if expected is not None:
            found = self.stat(path)
            if (found.version if found is not None else ABSENT) != expected:
                return None
        write_whole(self.create(path), data)
        found = self.stat(path)
        return found.version if found is not None else ABSENT

    def remove(self, path: str) -> bool:
        with self._unless_missing(path):
            system, name = self.inner(path)
            system.rm_file(name)
            return True
        return False

    def move(self, source: str, target: str) -> None:
        with self._unless_missing(source):
            (system, old), (_, new) = self.inner(source), self.inner(target)
            system.mv(old, new)
            return
        raise _missing(source)

    @contextmanager
    def _unless_missing(self, path: str) -> Iterator[None]:
        """End the block quietly if it fails for a file that is missing, which file systems say in their own ways."""
        with _errors(path):
            try:
                yield
            except Exception:
                if self.stat(path) is not None:
                    raise

    def make_folder(self, path: str) -> None:
        with _errors(path):
            _make_folders(*self.inner(path))

    def remove_tree(self, path: str) -> None:
        with self._unless_missing(path):
            system, name = self.inner(path)
            system.rm(name, recursive=True)

    def inner(self, path: str) -> tuple[Any, str]:
        """Return fsspec's file system for a URL, and the name there."""
        scheme, host, key = parse_url(path)  # refuses passwords
        fsspec = require("fsspec", f"Opening {scheme}:// URLs")
        with _errors(path):
            if "?" not in key and "#" not in key:
                return fsspec.core.url_to_fs(path)  # type: ignore[no-any-return]  # fsspec has no types
            system, root = fsspec.core.url_to_fs(f"{scheme}://{host}/")  # which would take them for a query
            return system, f"{root.rstrip('/')}/{key}"


class _FsspecFile:
    """One version of a file. Whether it still is the one that was opened is asked once a second, and at its end."""

    def __init__(self, store: FsspecStore, system: Any, name: str, found: FileInfo) -> None:
        self.name, self.size, self.version = display_name(found.path), found.size, found.version
        self._store, self._system, self._inner, self._path = store, system, name, found.path
        # What fsspec does not share between its users has one connection, which threads cannot use at once.
        self._turn = nullcontext() if getattr(system, "cachable", True) else Lock()
        self._checked = time.monotonic()

    def fetch(self, start: int, stop: int) -> Pieces:
        with _errors(self._path):
            try:
                with self._turn:
                    data = self._system.cat_file(self._inner, start=start, end=stop)
            except Exception:
                self._check()
                raise
            if (
                len(data) != stop - start
                or stop == self.size
                or time.monotonic() > self._checked + _CHECK_SECONDS
            ):
                self._check()
        if len(data) != stop - start:
            raise UnavailableError(
                f"{self.name}; only {len(data)} of the bytes {start}-{stop - 1} arrived. Try again later.",
                path=self.name,
            )
        return [data]

    def _check(self) -> None:
        now = self._store.stat(self._path)
        if now is None:
            raise deleted(self.name, self.version)
        if now.version != self.version:
            raise changed(self.name, self.version, now.version)
        self._checked = time.monotonic()


class _FsspecOutput:
    """A file that is written under a temporary name, and renamed."""

    background = whole = True

    def __init__(self, system: Any, name: str, path: str, store: FsspecStore) -> None:
        self.name = display_name(path)
        self.position = 0
        self._system, self._target = system, name
        self._store = store
        folder, _, base = name.rpartition("/")
        self._temporary = (
            f"{folder}/.{base}.{os.getpid()}-{secrets.token_hex(4)}.tmp" if folder else f".{base}.tmp"
        )
        self._done = False
        with _errors(path):
            if folder.endswith(f"/{SIDECAR_FOLDER}"):  # which only tfrkit makes
                _make_folders(system, folder)
            self._file: Any = system.open(self._temporary, "wb")

    def write(self, data: Any) -> None:
        with _errors(self.name):
            self._file.write(data)
        self.position += len(memoryview(data))

    def write_pieces(self, pieces: list[Any]) -> None:
        self.write(b"".join(pieces))

    def flush(self) -> None:
        """Do nothing: it cannot be seen before it is whole."""

    def rollback(self, position: int) -> None:
        """Do nothing: after an error nothing is published."""

    def finish(self) -> None:
        with _errors(self.name):
            self._file.close()

    def publish(self, name: str | None = None) -> None:
        target = self._target if name is None else self._store.inner(name)[1]
        try:
            with _errors(self.name):
                self._system.mv(self._temporary, target)
        except BaseException:
            self.discard()
            raise
        self._done = True

    def close(self) -> None:
        if self._done:
            return
        try:
            self.finish()
        except BaseException:
            self.discard()
            raise
        self.publish()

    def discard(self) -> None:
        if self._done:
            return
        self._done = True
        with suppress(Exception):  # it was not there yet
            self._file.close()
            self._system.rm_file(self._temporary)


def _make_folders(system: Any, name: str) -> None:
    try:
        system.makedirs(name, exist_ok=True)
    except Exception:
        system.invalidate_cache()
        if not system.isdir(name):  # else another one has made it at the same time
            raise


def _info(path: str, row: Any) -> FileInfo:
    folder = row.get("type") == "directory"
    size = int(row.get("size") or 0)
    version = next((str(row[key]) for key in _VERSION_KEYS if row.get(key)), "")
    return FileInfo(
        path, 0 if folder else size, ABSENT if folder else f"{size} {version}".strip(), is_folder=folder
    )


@contextmanager
def _errors(path: str) -> Iterator[None]:
    """Raise what a file system raises, each in its own way, as tfrkit's error about a path."""
    try:
        yield
    except (OpError, MissingExtraError):
        raise
    except ImportError as error:  # fsspec's own drivers need packages, each its own
        raise MissingExtraError(f"{display_name(path)}; a package is not installed: {error}") from error
    except Exception as error:
        raise _translate(error, display_name(path)) from error


def _translate(error: Exception, name: str) -> OpError:
    if isinstance(error, OSError) and error.errno is not None:
        return from_os_error(error, name)
    if isinstance(error, FileNotFoundError):
        return _missing(name)
    if isinstance(error, NotImplementedError):
        return UnimplementedError(f"{name}; the store cannot do this: {error}.", path=name)
    return UnavailableError(f"{name}; {type(error).__name__}: {error}", path=name)


def _missing(path: str) -> NotFoundError:
    return NotFoundError(f"{display_name(path)}; No such file or directory", path=display_name(path))


def make_store() -> FsspecStore:
    """Make the store of what fsspec knows."""
    return FsspecStore()
