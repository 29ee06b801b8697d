"""ByteSource: the bytes of one file, pipe or file object, as they are stored.

Decompression is in `inflate.py`. Regular files are read by position, so that threads can share one descriptor;
everything else is read in order only. Nothing is memory-mapped here: a file that shrinks would kill the process. Random
access to records does map files, and guards itself; see `records/access/record_file.py`.
"""

from __future__ import annotations

import os
import stat
from typing import IO, Any

from tfrkit.errors import FailedPreconditionError, from_os_error
from tfrkit.stores.at_exit import unless_exiting
from tfrkit.stores.scheme import check_local

__all__ = ["ByteSource", "is_stream", "open_source"]


class ByteSource:
    """An open file to read from. Reading by position is thread-safe, reading in order is not.

    The descriptor is closed with the last reference: a thread that still reads keeps it open, so that its number
    cannot be given to another file in the meantime.
    """

    __slots__ = ("_ahead", "_file", "_owned", "fd", "name", "position", "regular")

    def __init__(self, name: str, fd: int | None, file: IO[bytes] | None, *, owned: bool) -> None:
        """Use `open_source`."""
        self._owned = owned  # first of all: whatever interrupts this, the descriptor is closed
        self.fd = fd
        self.name = name
        self._file = file
        self.regular = fd is not None and stat.S_ISREG(os.fstat(fd).st_mode)
        self.position = 0  # of the next byte that read() gives
        self._ahead = b""  # peeked but not read; sources without positions only

    @unless_exiting
    def __del__(self) -> None:
        fd = getattr(self, "fd", None)
        if fd is not None and self._owned:
            os.close(fd)
            self.fd = None

    def size(self) -> int | None:
        """Bytes in the file now, or None where that cannot be known."""
        return os.fstat(self.fd).st_size if self.regular and self.fd is not None else None

    def read(self, count: int) -> bytes:
        """Return the next bytes in order: at most `count`, b"" at the end only."""
        if self._ahead:
            data, self._ahead = self._ahead[:count], self._ahead[count:]
        elif self.regular:
            data = self.read_at(self.position, count)
        else:
            data = self._read_raw(count)
        self.position += len(data)
        return data

    def peek(self, count: int) -> bytes:
        """Return the next bytes without moving on: fewer than `count` only at the end."""
        if self.regular:
            return self.read_at(self.position, count)
        while len(self._ahead) < count:
            more = self._read_raw(count - len(self._ahead))
            if not more:
                break
            self._ahead += more
        return self._ahead[:count]

    def seek(self, position: int) -> None:
        """Let read() continue at `position`; regular files only."""
        if not self.regular:
            raise FailedPreconditionError(f"{self.name}; cannot seek in a pipe or stream", path=self.name)
        self.position = position

    def read_at(self, position: int, count: int) -> bytes:
        """Return up to `count` bytes from `position` on; regular files only."""
        assert self.fd is not None
        try:
            return os.pread(self.fd, count, position)
        except OSError as error:
            raise from_os_error(error, self.name) from error

    def read_into(self, view: memoryview, position: int) -> int:
        """Fill `view` from `position` on and return the number of bytes; fewer only at the end of the file."""
        assert self.fd is not None
        done = 0
        try:
            while done < len(view):
                got = os.preadv(self.fd, [view[done:]], position + done)
                if got == 0:
                    break
                done += got
        except OSError as error:
            raise from_os_error(error, self.name) from error
        return done

    def _read_raw(self, count: int) -> bytes:
        try:
            if self._file is None:
                assert self.fd is not None
                return os.read(self.fd, count)
            data = self._file.read(count)
        except OSError as error:
            raise from_os_error(error, self.name) from error
        if data is None:
            raise FailedPreconditionError(
                f"{self.name}; the file object is in non-blocking mode. Open it in blocking mode.",
                path=self.name,
            )
        if isinstance(data, str):
            raise TypeError(
                f"expected a file opened in binary mode but {self.name} gives str; open it with 'rb'"
            )
        return bytes(data)


def open_source(target: str | IO[bytes] | Any, *, folders: bool = False) -> ByteSource:
    """Open a path, or take an open binary file as it is (read from where it stands; it is not closed).

    Args:
        target: what to open.
        folders: a folder is an error on the first read only, as in TensorFlow's old readers.

    Raises:
        NotFoundError, FailedPreconditionError, PermissionDeniedError: as the operating system says.
        UnimplementedError: it is a URL.
    """
    if not isinstance(target, str):
        name = getattr(target, "name", None)
        return ByteSource(name if isinstance(name, str) else repr(target), None, target, owned=False)
    check_local(target)
    try:
        fd = os.open(target, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise from_os_error(error, target) from error
    source = ByteSource(target, fd, None, owned=True)
    if not folders and stat.S_ISDIR(os.fstat(fd).st_mode):
        raise FailedPreconditionError(
            f"{target}; Is a directory. Name the files in it, for example {os.path.join(target, '*.tfrecord')!r}.",
            path=target,
        )
    return source


def is_stream(path: str) -> bool:
    """Whether a path names something that can only be read once and in order, such as a named pipe."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
