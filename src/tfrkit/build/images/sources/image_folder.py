"""Images in folders of the disk: listed in the order of their names, read some megabytes with one native call.

Links are followed, to files and to folders; inside one class every real folder is read once, so that loops end.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from typing import TypeAlias

import numpy as np

from tfrkit._core import read_files
from tfrkit.build.images.image_items import (
    IGNORED,
    Findings,
    ImageBuffer,
    ImageItems,
    ItemColumns,
    ReadImage,
    is_ignored,
    shown,
)
from tfrkit.build.job.input_stamp import InputChangedError, written_again
from tfrkit.errors import from_os_error, os_errors
from tfrkit.images.codecs.image_header import EMPTY, BadImageError

__all__ = ["UNREADABLE", "KnownFile", "list_folder", "read_run", "read_sample"]

UNREADABLE = "unreadable file"
_LOOP = "link to a folder that was read already"
_SPECIAL = "not a regular file"
_FLAGS = os.O_RDONLY | os.O_CLOEXEC | os.O_NOCTTY

Folder: TypeAlias = tuple[int, int]  # device and inode
KnownFile: TypeAlias = tuple[bytes, int, int]  # path, size and time


def read_run(files: Sequence[KnownFile], buffer: ImageBuffer) -> Iterator[ReadImage]:
    """Read files that must still be what they were with one call, after what is in use in a buffer.

    Raises:
        InputChangedError: one has another size or time, or is gone.
    """
    begin = buffer.at
    sizes = np.array([size for _, size, _ in files])
    buffer.room(int(sizes.sum()) + 1)  # one more, to see that the last has not grown
    found = read_files([path for path, _, _ in files], sizes, buffer.data, begin)
    for file, *read in zip(files, *(part.tolist() for part in found), strict=True):
        yield ReadImage(begin, begin + file[1], _unreadable(*file, *read))
        begin += file[1]


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


def _unreadable(
    path: bytes, size: int, time_ns: int, got: int, now: int, now_ns: int, error_number: int
) -> BadImageError | None:
    """Compare what was read of a file with what it was when it was listed; return what is wrong with the file.

    Raises:
        InputChangedError: it is another.
    """
    if error_number == errno.ENOENT:
        raise InputChangedError(shown(path), f"expected {size:,} bytes but the file is gone")
    if error_number:
        return BadImageError(UNREADABLE, os.strerror(error_number))
    if got != size or now != size:
        raise InputChangedError(shown(path), f"expected {size:,} bytes but got {max(got, now):,}")
    if now_ns != time_ns:
        raise written_again(shown(path), time_ns, now_ns)
    return None


def list_folder(path: str, found: Findings, *, class_depth: int) -> tuple[ImageItems, str]:
    """List all files under a folder, by folder and then by name, in the order of their bytes.

    Args:
        path: of the folder.
        found: takes what is no file with bytes, and what is hidden.
        class_depth: how many folders deep classes begin; below it, each real folder is read once in a class.

    Returns:
        The files, and a digest of the times at which they were changed.

    Raises:
        NotFoundError, PermissionDeniedError: the folder cannot be read.
    """
    return _Lister(os.fsencode(path), found, class_depth).walk()


class _Lister(ItemColumns):
    """One walk over a folder. It keeps its own stack: folders may be nested deeper than calls."""

    def __init__(self, root: bytes, found: Findings, class_depth: int) -> None:
        super().__init__(found)
        self._root, self._class_depth = root, class_depth
        self._stamp = hashlib.blake2b(digest_size=8)

    def walk(self) -> tuple[ImageItems, str]:
        with os_errors(shown(self._root)):
            first = os.stat(self._root)
        # Path in the source, depth, which folder it is, and which were read: by those above, or by its class.
        stack: list[tuple[bytes, int, Folder, set[Folder]]] = [(b"", 0, (first.st_dev, first.st_ino), set())]
        while stack:
            path, depth, place, read = stack.pop()
            if place in read:
                self.bad.add(shown(path), _LOOP)
                continue
            if depth <= self._class_depth:
                read = read | {place}
            else:
                read.add(place)
            stack += [
                (path + b"/" + name if path else name, depth + 1, below, read)
                for name, below in reversed(self._list_one(path))
            ]
        return self.items(), self._stamp.hexdigest()

    def _list_one(self, path: bytes) -> list[tuple[bytes, Folder]]:
        """List the files of one folder, and return the folders in it."""
        try:
            with os.scandir(os.path.join(self._root, path)) as found:
                entries = sorted(found, key=lambda entry: entry.name)
        except OSError as error:
            if not path:
                raise from_os_error(error, shown(self._root)) from error
            self.bad.add(shown(path), UNREADABLE, os.strerror(error.errno or 0))
            return []

        def named(entry: os.DirEntry[bytes]) -> str:
            return shown(os.path.join(path, entry.name))

        inner = []
        number = self.folder(path)
        for entry in entries:
            if is_ignored(entry.name, top=not path and not entry.is_dir(follow_symlinks=False)):
                self.noted.add(named(entry), IGNORED)
                continue
            try:
                status = entry.stat()
            except OSError as error:
                self.bad.add(named(entry), UNREADABLE, os.strerror(error.errno or 0))
                continue
            if stat.S_ISDIR(status.st_mode):
                inner.append((entry.name, (status.st_dev, status.st_ino)))
            elif not stat.S_ISREG(status.st_mode):
                self.bad.add(named(entry), _SPECIAL)
            elif not status.st_size:
                self.bad.add(named(entry), EMPTY)
            else:
                self.add(number, entry.name, status.st_size, time=status.st_mtime_ns)
                self._stamp.update(status.st_mtime_ns.to_bytes(8, "little", signed=True))
        return inner
