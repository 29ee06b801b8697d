"""Folders for exported files: a local one appears whole or not at all; one in a store has a mark that tells.

The files of a local folder are gathered under another name beside it, synced, and the folder is renamed. A store has no
folders to rename: its files get their names one by one, and `.tfrkit/export.json` says `"complete": false` until all of
them are there. An export that fails removes them. What a killed one leaves, `overwrite` may replace.
"""

from __future__ import annotations

import json
import logging
import os
import secrets
import shutil
from collections import deque
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from typing import Any, Final, Protocol, Self

from tfrkit.errors import AlreadyExistsError, os_errors
from tfrkit.stores import files
from tfrkit.stores.output import SIDECAR_FOLDER, sync_folder
from tfrkit.stores.store import ABSENT, FileInfo
from tfrkit.stores.system.exchange import exchange
from tfrkit.stores.url import is_url
from tfrkit.threads import spawn, spawn_all

__all__ = ["ExportFolder", "StagedFolder", "StoreFolder", "Uploads", "export_folder"]

_log = logging.getLogger(__name__)

_SYNC_THREADS: Final = 16
_UPLOADS: Final = 32  # files on their way into a store at the same time
_UPLOAD_BYTES: Final = 1 << 26
_TITLE: Final = 50  # characters of the name in that of the temporary folder: at most 200 bytes
_MARK: Final = os.path.join(SIDECAR_FOLDER, "export.json")  # in a folder that an export made, and may replace


class ExportFolder(Protocol):
    """A folder to fill in a `with` block. Without `publish` in it, nothing is left.

    Attributes:
        name: what it is called.
        unicode: names in it must be Unicode.
    """

    name: str
    unicode: bool
    _begun: bool
    _made: set[str]
    _next_number: dict[str, int]

    def __init__(self, name: str) -> None:
        self.name, self._begun, self._made, self._next_number = name, False, set(), {}

    def __enter__(self) -> Self:
        return self

    def begin(self) -> None:
        """Say that files will come: all that could be wrong without them was looked at."""
        self._begun = True

    def add(self, folder: str, stem: str, suffix: str, data: bytes) -> bool:
        """Write a file, under a name with a number if its own is taken; return whether it was.

        Raises:
            OpError: a file cannot be written; it may be an earlier one.
        """

    def reserve(self, folder: str, stem: str, suffix: str) -> tuple[str, bool]:
        """Take a name as `add` does, for a file that another process writes; return its path, and whether numbered.

        The folder that it is in is there then.
        """

    @property
    def attempts(self) -> str:
        """A folder for local files that other processes have not finished, which they make; empty in a store."""

    def _free_name(self, stem: str, suffix: str, take: Callable[[str], bool]) -> tuple[str, bool]:
        """Take the first free name, without a number or with 2, 3 and so on; return it, and whether it has one."""
        number = self._next_number.get(stem + suffix, 1)
        while not take(name := stem + (f"-{number}" if number > 1 else "") + suffix):
            number += 1
            self._next_number[stem + suffix] = number
        return name, number > 1

    def publish(self, mark: Mapping[str, Any]) -> None:
        """Let the folder appear, or be marked as complete."""

    def __exit__(self, *error: object) -> None: ...


def export_folder(name: str, overwrite: bool) -> ExportFolder:
    """Return a local folder to fill, or one behind a URL; with `overwrite` one that an earlier export has made.

    Raises:
        AlreadyExistsError: there is such a folder, with something in it.
    """
    return StoreFolder(name, overwrite) if is_url(name) else StagedFolder(name, overwrite)


class StagedFolder(ExportFolder):
    """A local folder, whose files are gathered in the folder `path` meanwhile."""

    unicode = False

    def __init__(self, name: str, overwrite: bool) -> None:
        super().__init__(os.path.normpath(name))
        self.path = ""
        if os.path.lexists(self.name) and not _may_replace(self.name, overwrite):
            raise _occupied(self.name, overwrite)

    def __enter__(self) -> Self:
        folder, title = os.path.split(os.path.abspath(self.name))
        with os_errors(self.name):
            os.makedirs(folder, exist_ok=True)
            path = os.path.join(folder, f".{title[:_TITLE]}.{secrets.token_hex(4)}.tmp")
            os.mkdir(path)
            self.path = path
        return self

    def add(self, folder: str, stem: str, suffix: str, data: bytes) -> bool:
        return self._take(folder, stem, suffix, data)[1]

    def reserve(self, folder: str, stem: str, suffix: str) -> tuple[str, bool]:
        return self._take(folder, stem, suffix, b"")

    def _take(self, folder: str, stem: str, suffix: str, data: bytes) -> tuple[str, bool]:
        path = os.path.join(self.path, folder, stem)
        with os_errors(path + suffix):
            if folder not in self._made:
                os.makedirs(os.path.join(self.path, folder), exist_ok=True)
                self._made.add(folder)
            return self._free_name(path, suffix, lambda name: _write_new(name, data))

    @property
    def attempts(self) -> str:
        return os.path.join(self.path, SIDECAR_FOLDER, "tmp")

    def publish(self, mark: Mapping[str, Any]) -> None:
        """Rename the folder when all of it is on the disk; what an earlier export has left there is removed."""
        with os_errors(self.name):
            os.makedirs(os.path.join(self.path, SIDECAR_FOLDER), exist_ok=True)
            shutil.rmtree(self.attempts, ignore_errors=True)
            with open(os.path.join(self.path, _MARK), "w", encoding="utf-8") as file:
                json.dump(mark, file)
            _sync_all(self.path)
            self._take_name()
            sync_folder(os.path.dirname(os.path.abspath(self.name)))

    def _take_name(self) -> None:
        """Rename the folder. Then `path` is that of the old one, if there was one."""
        if not os.path.lexists(self.name):
            os.rename(self.path, self.name)
            self.path = ""
        elif not exchange(self.path, self.name):
            old = self.path + ".old"
            os.rename(self.name, old)
            try:
                os.rename(self.path, self.name)
            except BaseException:
                os.rename(old, self.name)
                raise
            self.path = old

    def __exit__(self, *error: object) -> None:
        if self.path:
            _remove(self.path)


class StoreFolder(ExportFolder):
    """A folder behind a URL; what an earlier export has left there is removed before the first file comes."""

    unicode = True

    def __init__(self, name: str, overwrite: bool) -> None:
        super().__init__(name.rstrip("/"))
        self._mark = f"{self.name}/{_MARK}"
        self._names: set[str] = set()
        self._uploads = Uploads()
        self._replaced = ABSENT  # version of the mark of what is replaced
        if (found := files.file_info(self.name)) is not None:
            self._look(found, overwrite)

    def _look(self, found: FileInfo, overwrite: bool) -> None:
        if found.is_folder and not any(True for _ in files.list_files(self.name)):
            return  # an empty bucket
        mark = files.file_info(self._mark) if found.is_folder and overwrite else None
        if mark is None:
            raise _occupied(self.name, overwrite)
        self._replaced = mark.version

    def begin(self) -> None:
        """Mark the folder as incomplete, and remove what an earlier export has left there.

        Raises:
            AlreadyExistsError: another export has begun meanwhile.
        """
        files.make_folder(os.path.dirname(self._mark))
        data = json.dumps({"complete": False, "token": secrets.token_hex(8)}).encode()
        if files.write_bytes(self._mark, data, expected=self._replaced) is None:
            raise _occupied(self.name, overwrite=False)
        super().begin()
        if self._replaced != ABSENT:
            old = [info.path for info in files.list_files(self.name, recursive=True)]
            files.ask_all(files.remove, [path for path in old if path != self._mark])

    def add(self, folder: str, stem: str, suffix: str, data: bytes) -> bool:
        path, numbered = self.reserve(folder, stem, suffix)
        self._uploads.add(path, data)
        return numbered

    def reserve(self, folder: str, stem: str, suffix: str) -> tuple[str, bool]:
        if folder not in self._made:
            files.make_folder(f"{self.name}/{folder}".rstrip("/"))
            self._made.add(folder)
        path = f"{folder}/{stem}" if folder else stem
        name, numbered = self._free_name(path, suffix, self._take)
        return f"{self.name}/{name}", numbered

    def _take(self, name: str) -> bool:
        """Take a name, unless it is taken."""
        if name in self._names:
            return False
        self._names.add(name)
        return True

    @property
    def attempts(self) -> str:
        return ""

    def publish(self, mark: Mapping[str, Any]) -> None:
        """Mark the folder as complete when all files are there."""
        self._uploads.finish()
        files.write_bytes(self._mark, json.dumps({**mark, "complete": True}).encode())
        self._begun = False

    def __exit__(self, *error: object) -> None:
        self._uploads.stop()
        if self._begun:
            files.ask_all(files.remove, [f"{self.name}/{name}" for name in sorted(self._names)])
            files.remove(self._mark)
            if not any(True for _ in files.list_files(self.name, recursive=True)):
                files.remove_tree(self.name)  # folders, where there are any


class Uploads:
    """Files on their way into a store, some at the same time; a `with` block waits for those that have begun."""

    def __init__(self) -> None:
        self._under_way: deque[tuple[Future[str | None], int]] = deque()
        self._bytes = 0  # of what is on its way

    def __enter__(self) -> Self:
        return self

    def add(self, path: str, data: bytes) -> None:
        """Begin to write a file, when there is room; the error of an earlier one is raised."""
        while self._under_way and (
            len(self._under_way) >= _UPLOADS or self._bytes + len(data) > _UPLOAD_BYTES
        ):
            self._wait()
        self._under_way.append((spawn(files.write_bytes, path, data), len(data)))
        self._bytes += len(data)

    def _wait(self) -> None:
        """Wait for the upload that began first."""
        future, size = self._under_way.popleft()
        self._bytes -= size
        future.result()

    def finish(self) -> None:
        """Wait until all are there."""
        while self._under_way:
            self._wait()

    def stop(self) -> None:
        """Begin nothing more, and wait for what cannot be stopped."""
        for future, _ in self._under_way:
            if not future.cancel():
                future.exception()

    def __exit__(self, *error: object) -> None:
        self.stop()


def _occupied(name: str, overwrite: bool) -> AlreadyExistsError:
    advice = "It is not the folder of an export, so it is never replaced: remove" if overwrite else "Remove"
    return AlreadyExistsError(
        f"{name}; it exists already. {advice} it, or choose another folder"
        + ("." if overwrite else ", or pass overwrite=True."),
        path=name,
    )


def _write_new(name: str, data: bytes) -> bool:
    """Write a file, unless its name is taken, which the file system knows."""
    try:
        fd = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o666)
    except FileExistsError:
        return False
    with open(fd, "wb") as file:
        file.write(data)
    return True


def _remove(folder: str) -> None:
    """Remove a folder with its content; an interruption is raised afterwards."""
    interruption: KeyboardInterrupt | None = None
    while os.path.lexists(folder):
        try:
            shutil.rmtree(folder)
        except KeyboardInterrupt as error:
            interruption = error
        except OSError as error:
            _log.warning("%s could not be removed: %s. It is not needed: remove it.", folder, error.strerror)
            break
    if interruption is not None:
        raise interruption


def _may_replace(name: str, overwrite: bool) -> bool:
    if not os.path.isdir(name) or os.path.islink(name):
        return False
    return not os.listdir(name) or (overwrite and os.path.isfile(os.path.join(name, _MARK)))


def _sync_all(folder: str) -> None:
    """Wait until all files and folders in a folder are on the disk; many at once, so that they share the waiting."""
    for place, _, names in os.walk(folder, onerror=_fail):
        spawn_all(sync_folder, [os.path.join(place, name) for name in names], _SYNC_THREADS)
        sync_folder(place)


def _fail(error: OSError) -> None:
    raise error
