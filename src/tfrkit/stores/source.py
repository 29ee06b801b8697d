"""ByteSource: the bytes of one file, object, pipe or file object, as they are stored.

Decompression is in `codecs`. Regular files are read by position, so that threads can share one descriptor; everything
else is read in order only. What is not a local file is a `RemoteSource`, in `remote_source.py`. Nothing is
memory-mapped here: a file that shrinks would kill the process. Random access to records does map files, and guards
itself; see `records/access/record_file.py`.
"""

from __future__ import annotations

import io
import os
import stat
from collections.abc import Sequence
from typing import IO, Any, Final

from tfrkit.errors import FailedPreconditionError, from_os_error
from tfrkit.stores.at_exit import unless_exiting

__all__ = ["ByteSource", "SourceFile", "is_stream", "open_descriptor", "wrap_file"]

_IN_ORDER_BYTES: Final = 1 << 21  # read in order by a file object before what follows is fetched ahead
_ALL_BYTES: Final = 1 << 23  # at a time, where all is read


class ByteSource:
    """An open file to read from. Reading by position is thread-safe, reading in order is not.

    Attributes:
        name: for messages.
        regular: it can be read by position, and its size is known.
        remote: each read may be a request, so that fewer and larger ones are better.
        scan_bytes: how many bytes at once a scan had best read; 0: as many as of a local file.
        position: of the next byte that read() gives.
        opened_bytes: how many bytes a local file had when it was opened.
        fd: the descriptor of a local file, else None.

    The descriptor is closed with the last reference: a thread that still reads keeps it open, so that its number
    cannot be given to another file in the meantime.
    """

    __slots__ = (
        "__weakref__",
        "_ahead",
        "_file",
        "_owned",
        "fd",
        "name",
        "opened_bytes",
        "position",
        "regular",
    )

    remote = False
    scan_bytes = 0

    def __init__(self, name: str, fd: int | None, file: IO[bytes] | None, *, owned: bool) -> None:
        """Use `open_source` of `files.py`."""
        self._owned = owned  # first of all: whatever interrupts this, the descriptor is closed
        self.fd = fd
        self.name = name
        self._file = file
        status = None if fd is None else os.fstat(fd)
        self.regular = status is not None and stat.S_ISREG(status.st_mode)
        self.opened_bytes = 0 if status is None else status.st_size
        self.position = 0  # of the next byte that read() gives
        self._ahead = b""  # peeked but not read; sources without positions only

    @unless_exiting
    def __del__(self) -> None:
        fd = getattr(self, "fd", None)
        if fd is not None and self._owned:
            os.close(fd)
            self.fd = None

    @property
    def version(self) -> str:
        """Changes whenever the content does, as far as can be told; empty where that cannot be known."""
        if not self.regular or self.fd is None:
            return ""
        return str(os.fstat(self.fd).st_mtime_ns)

    def read_ahead(self, position: int, *, slowly: bool = False, stop: int | None = None) -> bool:
        """Say that all bytes from a position on are about to be read, roughly in order; regular files only.

        Args:
            position: of the first byte.
            slowly: using them takes longer than fetching them.
            stop: where the bytes end that are wanted; None means at the end of the file.

        Returns:
            Whether all of them are here or under way; if not, calling it again later may help.
        """
        return True

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

    def borrow(self, position: int, count: int) -> memoryview | None:
        """Return bytes without a copy, fewer only at the end of the file; None if that cannot be done here."""
        return None

    def look_at(self, position: int, count: int) -> bytes:
        """Return bytes as `read_at` does, of which the caller will read again; regular files only."""
        return self.read_at(position, count)

    def read_ranges(self, starts: Sequence[int], sizes: Sequence[int]) -> list[bytes | memoryview]:
        """Return the bytes of several ranges, in ascending order of their starts; regular files only.

        A range is shorter only where the file ends. What lies near each other is fetched together, and all at once.
        """
        return [self.read_at(start, size) for start, size in zip(starts, sizes, strict=True)]

    def fresh(self) -> ByteSource:
        """Return a source of the same file to read from its beginning: where threads share one anyway, this one."""
        return self

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
                f"expected a file opened in binary mode but {self.name} returns str; open it with 'rb'"
            )
        return bytes(data)


def open_descriptor(target: str, *, folders: bool = False) -> ByteSource:
    """Open a local file.

    Args:
        target: its path.
        folders: a folder is an error on the first read only, as in TensorFlow's old readers.

    Raises:
        NotFoundError, FailedPreconditionError, PermissionDeniedError: as the operating system says.
    """
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


def wrap_file(target: IO[bytes] | Any) -> ByteSource:
    """Take an open binary file as it is: read from where it stands, and not closed."""
    name = getattr(target, "name", None)
    return ByteSource(name if isinstance(name, str) else repr(target), None, target, owned=False)


class SourceFile(io.RawIOBase):
    """A source as a file object, for libraries that want one: pyarrow, zipfile, tarfile. Not for several threads."""

    def __init__(self, source: ByteSource) -> None:
        super().__init__()
        self.source = source
        self.name = source.name
        self._at = source.position
        self._in_order = 0  # bytes since the last seek

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return self.source.regular

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")
        if self.source.regular:
            if self._in_order >= _IN_ORDER_BYTES:
                self.source.read_ahead(self._at)
            count = self.source.read_into(view, self._at)
            self._in_order += count
        else:
            data = self.source.read(len(view))
            count = len(data)
            view[:count] = data
        self._at += count
        return count

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        if not self.source.regular:
            raise io.UnsupportedOperation("seek")
        base = {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: self.source.size() or 0}[whence]
        if base + offset < 0:
            raise ValueError(f"negative seek position {base + offset}")
        if base + offset != self._at:
            self._at, self._in_order = base + offset, 0
        return self._at

    def readall(self) -> bytes:
        """Return everything from here on; the default would ask for a few kilobytes at a time."""
        self.source.read_ahead(self._at)
        parts = []
        buffer = bytearray(_ALL_BYTES)
        while count := self.readinto(buffer):
            parts.append(bytes(memoryview(buffer)[:count]))
        return b"".join(parts)

    def tell(self) -> int:
        return self._at


def is_stream(path: str) -> bool:
    """Whether a path names something that can only be read once and in order, such as a named pipe."""
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)
