"""Images inside a tar archive, plain or gzipped: nothing is unpacked to the disk.

A plain archive is read anywhere. A gzipped one can only be read from its beginning on, so its images keep the order of
the archive; a reader that has done its part waits for the one that wants to go on from there.
"""

from __future__ import annotations

import errno
import gzip
import os
import tarfile
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import IO, Any, Final, TypeAlias

from tfrkit._core import crc32c
from tfrkit.build.archive_file import ArchiveFile, open_archive
from tfrkit.build.archive_names import DAMAGED, LINK, MemberList, split_name
from tfrkit.build.image_duplicates import content_mark
from tfrkit.build.image_header import EMPTY, TOO_LARGE, BadImageError
from tfrkit.build.image_items import ImageBuffer, ImageItems, Ledger, shown
from tfrkit.errors import InvalidArgumentError, from_os_error

_gzip: Any
try:
    from isal import igzip as _gzip
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _gzip = gzip

__all__ = ["TarSource", "TarStreamSource", "list_tar", "list_tar_stream"]

Key: TypeAlias = tuple[int, int]  # offset and size
_SPECIAL: Final = "not a regular file"
_PIECE: Final = 1 << 20
_SAMPLE_BYTES: Final = 64
_MAX_EMPTY: Final = 8
_MAX_PARKED: Final = 64
_DAMAGES: Final = (tarfile.TarError, EOFError, zlib.error, ValueError, OverflowError)


def list_tar(path: str, bad: Ledger, noted: Ledger) -> ImageItems:
    """List the files of a plain archive, by folder and then by name.

    Raises:
        InvalidArgumentError: it is damaged, or a name leads out of it.
    """
    members = MemberList(path, bad, noted, "offset")
    for _, info, parts in _members(path, members, stream=False):
        members.add(parts, info.size, info.offset_data)
    return members.finish(ordered=True)


def list_tar_stream(path: str, bad: Ledger, noted: Ledger, *, max_bytes: int) -> ImageItems:
    """List the files of a gzipped archive, in its order. All of it is inflated once, and contents are marked.

    Raises:
        InvalidArgumentError: as `list_tar`.
    """
    members = MemberList(path, bad, noted, "offset", "mark")
    for tar, info, parts in _members(path, members, stream=True):
        mark = info.offset_data
        if info.size <= max_bytes and (content := tar.extractfile(info)) is not None:
            mark = content_mark(content.read())
        members.add(parts, info.size, info.offset_data, mark)
    return members.finish(ordered=False)


def _members(
    path: str, members: MemberList, *, stream: bool
) -> Iterator[tuple[tarfile.TarFile, tarfile.TarInfo, list[bytes]]]:
    """Give the files of an archive that are part of the data."""
    mode: Any = "r|" if stream else "r:"
    try:
        with (
            _gzip.open(path) if stream else open(path, "rb") as file,
            tarfile.open(fileobj=_fileobj(file, stream), mode=mode, bufsize=_PIECE) as tar,
        ):
            while (info := tar.next()) is not None:
                tar.members = []  # type: ignore[attr-defined]  # or it would keep all of them
                if info.size < 0:  # the next member would be one before
                    raise tarfile.ReadError("a size is negative")
                parts = split_name(os.fsencode(info.name), path)
                if not info.isdir() and members.takes(parts) and _is_good(info, parts, members.bad):
                    yield tar, info, parts
    except OSError as error:
        if isinstance(error, gzip.BadGzipFile) or error.errno == errno.EINVAL:  # no place of a file is so far
            raise _damaged(path, error) from error
        raise from_os_error(error, path) from error
    except InvalidArgumentError:
        raise
    except _DAMAGES as error:
        raise _damaged(path, error) from error


def _fileobj(file: IO[bytes], stream: bool) -> Any:
    return _Ending(file) if stream else file


class _Ending:
    """A stream that does not end quietly for ever: a member may say that it has more bytes than there are."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file
        self._empty = 0

    def read(self, size: int) -> bytes:
        """Read some bytes.

        Raises:
            EOFError: the end was met some times already.
        """
        data = self._file.read(size)
        self._empty = 0 if data else self._empty + 1
        if self._empty > _MAX_EMPTY:
            raise EOFError("it ends too soon")
        return data


def _damaged(path: str, error: Exception) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{path}: expected a tar archive but it is damaged, cut, or something else ({error}). Copy it again.",
        path=path,
    )


def _is_good(info: tarfile.TarInfo, parts: list[bytes], bad: Ledger) -> bool:
    name = shown(b"/".join(parts))
    if info.issym() or info.islnk():
        bad.add(name, LINK, f"to {shown(os.fsencode(info.linkname))}")
    elif not info.isreg() or info.issparse():
        bad.add(name, _SPECIAL)
    elif not info.size:
        bad.add(name, EMPTY)
    else:
        return True
    return False


def _keys(items: ImageItems) -> list[Key]:
    return list(zip(items.places["offset"].tolist(), items.sizes.tolist(), strict=True))


# -- plain archives ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class TarSource:
    """A plain archive.

    Attributes:
        path: of the archive.
        max_bytes: members that are larger are bad.
    """

    path: str
    max_bytes: int
    streams: bool = False

    @contextmanager
    def open(self) -> Iterator[_TarReader]:
        """Open the archive."""
        with open_archive(self.path) as archive:
            yield _TarReader(archive, self.max_bytes)


class _TarReader:
    """Reads members by their offsets."""

    def __init__(self, archive: ArchiveFile, max_bytes: int) -> None:
        self._archive = archive
        self._max_bytes = max_bytes
        self._sample = memoryview(bytearray(_SAMPLE_BYTES))

    def keys(self, items: ImageItems) -> list[Key]:
        """Offsets and sizes."""
        return _keys(items)

    def mark(self, key: Key) -> int:
        """The checksum of some bytes in the middle."""
        offset, size = key
        got = self._archive.read_into(self._sample[: size - size // 2], offset + size // 2)
        return crc32c(self._sample[:got])

    def read(self, key: Key, buffer: ImageBuffer) -> None:
        """Read a member."""
        offset, size = key
        if size > self._max_bytes:
            raise BadImageError(TOO_LARGE, f"{size} bytes")
        with buffer.room(size) as room:
            got = self._archive.read_into(room, offset)
        if got < size:
            raise BadImageError(DAMAGED, "the archive ends inside it")
        buffer.at += size


# -- gzipped archives --------------------------------------------------------------------------------------------------


class _Parked:
    """Streams that somebody has read up to some place, for whoever goes on from there. Thread-safe; not pickled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: list[tuple[int, IO[bytes]]] = []

    def take(self, position: int) -> IO[bytes] | None:
        """Give the stream that is nearest before a position."""
        with self._lock:
            fit = [place for place, (at, _) in enumerate(self._streams) if at <= position]
            if not fit:
                return None
            return self._streams.pop(max(fit, key=lambda place: self._streams[place][0]))[1]

    def put(self, stream: IO[bytes]) -> None:
        """Leave a stream."""
        with self._lock:
            self._streams.append((stream.tell(), stream))
            unwanted = self._streams.pop(0)[1] if len(self._streams) > _MAX_PARKED else None
        if unwanted is not None:
            unwanted.close()

    def __del__(self) -> None:
        for _, stream in self._streams:
            stream.close()

    def __reduce__(self) -> tuple[object, ...]:
        return _Parked, ()


@dataclass(frozen=True, slots=True)
class TarStreamSource:
    """A gzipped archive.

    Attributes:
        path: of the archive.
        max_bytes: members that are larger are bad.
    """

    path: str
    max_bytes: int
    streams: bool = True
    parked: _Parked = field(default_factory=_Parked, compare=False, repr=False)

    @contextmanager
    def open(self) -> Iterator[_StreamReader]:
        """Open the archive, at the place where another reader has stopped if that helps."""
        reader = _StreamReader(self)
        try:
            yield reader
        finally:
            reader.leave()


class _StreamReader:
    """Reads members whose offsets ascend."""

    def __init__(self, source: TarStreamSource) -> None:
        self._source = source
        self._stream: IO[bytes] | None = None

    def keys(self, items: ImageItems) -> list[Key]:
        """Offsets and sizes."""
        return _keys(items)

    def mark(self, key: Key) -> int:
        """Not used: contents were marked when the archive was listed."""
        return key[0]

    def read(self, key: Key, buffer: ImageBuffer) -> None:
        """Go on to a member, and read it."""
        offset, size = key
        if size > self._source.max_bytes:
            raise BadImageError(TOO_LARGE, f"{size} bytes")
        try:
            stream = self._at(offset)
            with buffer.room(size) as room:
                got = done = stream.readinto(room)  # type: ignore[attr-defined]
                while done and got < size:
                    got += (done := stream.readinto(room[got:]))  # type: ignore[attr-defined]
        except (*_DAMAGES, gzip.BadGzipFile) as error:
            raise _damaged(self._source.path, error) from error
        except OSError as error:
            raise from_os_error(error, self._source.path) from error
        if got < size:
            raise BadImageError(DAMAGED, "the archive ends inside it")
        buffer.at += size

    def leave(self) -> None:
        """Let others go on from here."""
        if self._stream is not None:
            self._source.parked.put(self._stream)
            self._stream = None

    def _at(self, offset: int) -> IO[bytes]:
        if self._stream is None:
            self._stream = self._source.parked.take(offset) or _gzip.open(self._source.path)
        while (left := offset - self._stream.tell()) > 0:
            if not self._stream.read(min(left, _PIECE)):
                raise EOFError("it ends too soon")
        return self._stream
