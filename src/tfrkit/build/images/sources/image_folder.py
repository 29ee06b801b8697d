"""Images in folders of the disk: listed in the order of their names, and what reads one with one system call.

Links are followed, to files and to folders; inside one class every real folder is read once, so that loops end.
"""

from __future__ import annotations

import hashlib
import os
import stat
from typing import TypeAlias

from tfrkit.build.images.image_header import EMPTY, BadImageError
from tfrkit.build.images.image_items import (
    IGNORED,
    ImageBuffer,
    ImageItems,
    ItemColumns,
    Ledger,
    is_ignored,
    shown,
)
from tfrkit.build.job.input_stamp import InputChangedError, written_again
from tfrkit.errors import from_os_error, os_errors

__all__ = ["UNREADABLE", "list_folder", "read_file", "read_sample"]

UNREADABLE = "unreadable file"
_LOOP = "link to a folder that was read already"
_SPECIAL = "not a regular file"
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY

Folder: TypeAlias = tuple[int, int]  # device and inode


def read_file(path: bytes, size: int, buffer: ImageBuffer, time_ns: int | None = None) -> None:
    """Append a file of `size` bytes, which was written last at `time_ns`, to a buffer.

    Raises:
        InputChangedError: it has another size or time, or is gone.
    """
    with buffer.room(size + 1) as room:  # one more, to see that it has not grown
        try:
            fd = os.open(path, _FLAGS)
            try:
                got = os.readv(fd, (room,))
                while 0 < got < size and (more := os.readv(fd, (room[got:],))):
                    got += more
                now = os.fstat(fd)  # after reading, so that what is written meanwhile counts too
            finally:
                os.close(fd)
        except FileNotFoundError:
            raise InputChangedError(shown(path), f"expected {size:,} bytes but the file is gone") from None
        except OSError as error:
            raise BadImageError(UNREADABLE, os.strerror(error.errno or 0)) from None
    if got != size or now.st_size != size:
        raise InputChangedError(shown(path), f"expected {size:,} bytes but got {max(got, now.st_size):,}")
    if time_ns is not None and now.st_mtime_ns != time_ns:
        raise written_again(shown(path), time_ns, now.st_mtime_ns)
    buffer.at += size


def read_sample(path: bytes, begin: int, size: int) -> bytes:
    """Read some bytes of a file."""
    try:
        fd = os.open(path, _FLAGS)
        try:
            return os.pread(fd, size, begin)
        finally:
            os.close(fd)
    except OSError as error:
        raise BadImageError(UNREADABLE, os.strerror(error.errno or 0)) from None


def list_folder(path: str, ledger: Ledger, noted: Ledger, *, class_depth: int) -> tuple[ImageItems, str]:
    """List all files under a folder, by folder and then by name, in the order of their bytes.

    Args:
        path: of the folder.
        ledger: takes what is no file with bytes.
        noted: takes what is hidden.
        class_depth: how many folders deep classes begin; below it, each real folder is read once in a class.

    Returns:
        The files, and a digest of the times at which they were changed.

    Raises:
        NotFoundError, PermissionDeniedError: the folder cannot be read.
    """
    return _Lister(os.fsencode(path), ledger, noted, class_depth).walk()


class _Lister:
    """One walk over a folder. It keeps its own stack: folders may be nested deeper than calls."""

    def __init__(self, root: bytes, ledger: Ledger, noted: Ledger, class_depth: int) -> None:
        self._root = root
        self._ledger = ledger
        self._noted = noted
        self._class_depth = class_depth
        self._columns = ItemColumns()
        self._times = hashlib.blake2b(digest_size=8)

    def walk(self) -> tuple[ImageItems, str]:
        with os_errors(shown(self._root)):
            first = os.stat(self._root)
        # Path in the source, depth, which folder it is, and which were read: by those above, or by its class.
        stack: list[tuple[bytes, int, Folder, set[Folder]]] = [(b"", 0, (first.st_dev, first.st_ino), set())]
        while stack:
            path, depth, place, read = stack.pop()
            if place in read:
                self._ledger.add(shown(path), _LOOP)
                continue
            if depth <= self._class_depth:
                read = read | {place}
            else:
                read.add(place)
            inner = self._list_one(path)
            stack += [
                (path + b"/" + name if path else name, depth + 1, below, read)
                for name, below in reversed(inner)
            ]
        return self._columns.items(), self._times.hexdigest()

    def _list_one(self, path: bytes) -> list[tuple[bytes, Folder]]:
        """List the files of one folder, and return the folders in it."""
        try:
            with os.scandir(os.path.join(self._root, path)) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            if not path:
                raise from_os_error(error, shown(self._root)) from error
            self._ledger.add(shown(path), UNREADABLE, os.strerror(error.errno or 0))
            return []
        inner = []
        number = self._columns.folder(path)
        for entry in entries:
            if is_ignored(entry.name, top=not path and not entry.is_dir(follow_symlinks=False)):
                self._noted.add(shown(os.path.join(path, entry.name)), IGNORED)
                continue
            try:
                status = entry.stat()
            except OSError as error:
                self._ledger.add(
                    shown(os.path.join(path, entry.name)), UNREADABLE, os.strerror(error.errno or 0)
                )
                continue
            if stat.S_ISDIR(status.st_mode):
                inner.append((entry.name, (status.st_dev, status.st_ino)))
            elif self._is_good(path, entry.name, status):
                self._columns.add(number, entry.name, status.st_size, time=status.st_mtime_ns)
                self._times.update(status.st_mtime_ns.to_bytes(8, "little", signed=True))
        return inner

    def _is_good(self, path: bytes, name: bytes, status: os.stat_result) -> bool:
        """Return whether it is a regular file that is not empty."""
        if not stat.S_ISREG(status.st_mode):
            self._ledger.add(shown(os.path.join(path, name)), _SPECIAL)
            return False
        if not status.st_size:
            self._ledger.add(shown(os.path.join(path, name)), EMPTY)
            return False
        return True
