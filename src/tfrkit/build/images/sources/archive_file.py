"""An archive as a file that is read anywhere: opened once by a reader, and read into a buffer without copies."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from tfrkit.errors import from_os_error

__all__ = ["ArchiveFile", "open_archive"]


class ArchiveFile:
    """An open archive."""

    def __init__(self, fd: int, path: str) -> None:
        self._fd = fd
        self._path = path

    def read_into(self, room: memoryview, offset: int) -> int:
        """Fill memory from some place of the file; gives how much there was.

        Raises:
            OpError: the operating system's reason.
        """
        try:
            got = done = os.preadv(self._fd, (room,), offset)
            while done and got < len(room):
                got += (done := os.preadv(self._fd, (room[got:],), offset + got))
        except OSError as error:
            raise from_os_error(error, self._path) from error
        return got


@contextmanager
def open_archive(path: str) -> Iterator[ArchiveFile]:
    """Open an archive."""
    try:
        fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise from_os_error(error, path) from error
    try:
        yield ArchiveFile(fd, path)
    finally:
        os.close(fd)
