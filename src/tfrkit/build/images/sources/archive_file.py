"""An archive as a file that is read anywhere: opened once by a reader, and read into a buffer without copies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from tfrkit.build.images.image_items import ImageReader
from tfrkit.errors import os_errors

__all__ = ["ArchiveFile", "ArchiveSource"]


class ArchiveFile:
    """An open archive."""

    def __init__(self, fd: int, path: str) -> None:
        self._fd = fd
        self._path = path

    def read_into(self, room: memoryview, offset: int) -> int:
        """Fill memory from a position of the file; returns how much there was.

        Raises:
            OpError: the operating system's reason.
        """
        with os_errors(self._path):
            got = done = os.preadv(self._fd, (room,), offset)
            while done and got < len(room):
                got += (done := os.preadv(self._fd, (room[got:],), offset + got))
        return got


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """An archive that is read anywhere.

    Attributes:
        path: of the archive.
        max_bytes: members that are larger are bad.
        reader: makes the reader of its members.
        streams: members can be read in any order.
    """

    path: str
    max_bytes: int
    reader: Callable[[ArchiveFile, int], ImageReader]
    streams: bool = False

    @contextmanager
    def open(self) -> Iterator[ImageReader]:
        """Open the archive."""
        with os_errors(self.path):
            fd = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        try:
            yield self.reader(ArchiveFile(fd, self.path), self.max_bytes)
        finally:
            os.close(fd)
