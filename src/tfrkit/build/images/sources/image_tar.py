"""Images inside a tar archive, plain or gzipped: nothing is unpacked to the disk.

A plain archive is read anywhere. A gzipped one can only be read from its beginning on, so its images keep the order of
the archive; a reader that has done its part leaves its stream to one that continues from there.
"""

from __future__ import annotations

import gzip
import io
import os
import threading
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, Final, TypeAlias

from tfrkit._core import crc32c
from tfrkit.build.images.image_duplicates import content_mark
from tfrkit.build.images.image_items import ImageBuffer, ImageItems, ImageSource, Ledger, shown
from tfrkit.build.images.sources.archive_file import ArchiveReader
from tfrkit.build.images.sources.archive_names import DAMAGED, LINK, MemberList, split_name
from tfrkit.build.images.sources.tar_headers import MAX_PADDING, TarMember, TarWalk, damaged_tar
from tfrkit.build.job.progress import SILENT, SurveyMeter
from tfrkit.errors import OpError, from_os_error
from tfrkit.images.codecs.image_header import EMPTY, TOO_LARGE, BadImageError
from tfrkit.stores.at_exit import unless_exiting
from tfrkit.stores.files import open_source
from tfrkit.stores.source import SourceFile
from tfrkit.stores.url import is_url

_gzip: Any
_gzip_error: Any
try:
    from isal import igzip as _gzip
    from isal.isal_zlib import error as _gzip_error
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _gzip, _gzip_error = gzip, zlib.error

__all__ = ["TarReader", "list_tar", "list_tar_stream", "tar_stream"]

Key: TypeAlias = tuple[int, int]  # offset and size
_SPECIAL: Final = "not a regular file"
_PIECE: Final = 1 << 20
_SAMPLE_BYTES: Final = 64
_CONTENTS, _SAMPLES = 0, 1  # kinds of ranges
_MAX_PARKED: Final = 64
_JOINT: Final = "zero blocks inside of the archive: archives that were joined, or members that were wiped out"
_PADDING: Final = "more zeros at the end of the archive than tar puts there: members may be missing"
_DAMAGES: Final = (EOFError, zlib.error, _gzip_error, gzip.BadGzipFile)


def list_tar(path: str, bad: Ledger, noted: Ledger, *, meter: SurveyMeter = SILENT) -> ImageItems:
    """List the files of a plain archive, by folder and then by name; `meter` counts them.

    Raises:
        InvalidArgumentError: it is damaged, or a name leads out of it.
    """
    members = MemberList(path, bad, noted, "offset", meter=meter)
    with _naming(path), _in_order(path) as file:
        walk = TarWalk(file, path, file.seek(0, os.SEEK_END))
        file.seek(0)
        for member, parts in _files(walk, path, members, meter):
            members.add(parts, member.size, member.offset)
    _note_zeros(walk, noted)
    return members.finish(ordered=True)


def list_tar_stream(
    path: str, bad: Ledger, noted: Ledger, *, max_bytes: int, meter: SurveyMeter = SILENT
) -> ImageItems:
    """List the files of a gzipped archive, in its order. All of it is inflated once, and contents are marked.

    Raises:
        InvalidArgumentError: as `list_tar`.
    """
    members = MemberList(path, bad, noted, "offset", "mark", meter=meter)
    with _naming(path), _inflated(path) as file:
        walk = TarWalk(file, path)
        for member, parts in _files(walk, path, members, meter):
            mark = content_mark(walk.read(member)) if member.size <= max_bytes else member.offset
            members.add(parts, member.size, member.offset, mark)
    _note_zeros(walk, noted)
    return members.finish(ordered=False)


def _in_order(path: str) -> io.BufferedReader:
    """Open a file that is read from its beginning to its end; behind a URL what comes next is fetched ahead."""
    if not is_url(path):
        return open(path, "rb")
    source = open_source(path)
    if source.regular:
        source.read_ahead(0)
        return io.BufferedReader(SourceFile(source), _PIECE)
    return io.BufferedReader(_ForwardFile(source), _PIECE)


class _ForwardFile(SourceFile):
    """What can only be read in order; gzip asks where it stands, which needs a file that can seek."""

    def seekable(self) -> bool:
        return True


def _inflated(path: str) -> Any:
    return _gzip.open(_in_order(path) if is_url(path) else path)


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Turn errors of the file and of its compression into errors that name it."""
    try:
        yield
    except OpError:
        raise
    except _DAMAGES as error:
        raise damaged_tar(path, error) from error
    except OSError as error:
        raise from_os_error(error, path) from error


def _files(
    walk: TarWalk, path: str, members: MemberList, meter: SurveyMeter
) -> Iterator[tuple[TarMember, list[bytes]]]:
    """Yield the files of an archive that are part of the data, and count them."""
    for member in walk:
        parts = split_name(member.name, path)
        if not member.is_folder and members.takes(parts) and _is_good(member, parts, members.bad):
            yield member, parts
            meter.add(1, member.size)
            meter.tick()


def _note_zeros(walk: TarWalk, noted: Ledger) -> None:
    """Count zeros that may have been images."""
    for offset in walk.joints:
        noted.add("", _JOINT, f"at byte {offset}")
    if walk.padding > MAX_PADDING:
        noted.add("", _PADDING, f"{walk.padding} bytes")


def _is_good(member: TarMember, parts: list[bytes], bad: Ledger) -> bool:
    name = shown(b"/".join(parts))
    if member.is_link:
        bad.add(name, LINK, f"to {shown(member.link)}")
    elif not member.is_regular:
        bad.add(name, _SPECIAL)
    elif not member.size:
        bad.add(name, EMPTY)
    else:
        return True
    return False


def _keys(items: ImageItems) -> list[Key]:
    return list(zip(items.places["offset"].tolist(), items.sizes.tolist(), strict=True))


def _sample_of(key: Key) -> Key:
    """Where some bytes in the middle are."""
    offset, size = key
    return offset + size // 2, min(size - size // 2, _SAMPLE_BYTES)


# -- plain archives ----------------------------------------------------------------------------------------------------


class TarReader(ArchiveReader):
    """Reads members by their offsets."""

    def __init__(self, path: str, max_bytes: int) -> None:
        super().__init__(path, max_bytes)
        self._sample = memoryview(bytearray(_SAMPLE_BYTES))

    def keys(self, items: ImageItems) -> list[Key]:
        keys = _keys(items)
        self.expect([key for key in keys if key[1] <= self.max_bytes], [_sample_of(key) for key in keys])
        return keys

    def mark(self, key: Key) -> int:
        begin, size = _sample_of(key)
        got = self.read_into(self._sample[:size], begin, _SAMPLES)
        return crc32c(self._sample[:got])

    def read(self, key: Key, buffer: ImageBuffer) -> None:
        offset, size = key
        if size > self.max_bytes:
            raise BadImageError(TOO_LARGE, f"{size} bytes")
        with buffer.room(size) as room:
            got = self.read_into(room, offset, _CONTENTS)
        if got < size:
            raise BadImageError(DAMAGED, "the archive ends inside it")
        buffer.at += size


# -- gzipped archives --------------------------------------------------------------------------------------------------


class _Parked:
    """Streams that were read up to some position, for readers that continue from there. Thread-safe; not pickled."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._streams: list[tuple[int, io.BufferedIOBase]] = []

    def take(self, position: int) -> io.BufferedIOBase | None:
        """Return the stream that is nearest before a position."""
        with self._lock:
            fit = [place for place, (at, _) in enumerate(self._streams) if at <= position]
            if not fit:
                return None
            return self._streams.pop(max(fit, key=lambda place: self._streams[place][0]))[1]

    def put(self, stream: io.BufferedIOBase) -> None:
        with self._lock:
            self._streams.append((stream.tell(), stream))
            unwanted = self._streams.pop(0)[1] if len(self._streams) > _MAX_PARKED else None
        if unwanted is not None:
            unwanted.close()

    @unless_exiting
    def __del__(self) -> None:
        for _, stream in self._streams:
            stream.close()

    def __reduce__(self) -> tuple[object, ...]:
        return _Parked, ()


def tar_stream(path: str, max_bytes: int) -> ImageSource:
    """Return the source of the images in a gzipped archive."""
    return ImageSource(path, max_bytes, partial(_StreamReader, _Parked()), streams=True)


class _StreamReader:
    """Reads members whose offsets ascend, from where another reader has stopped if that helps."""

    def __init__(self, parked: _Parked, path: str, max_bytes: int) -> None:
        self._parked, self._path, self._max_bytes = parked, path, max_bytes
        self._stream: io.BufferedIOBase | None = None

    def keys(self, items: ImageItems) -> list[Key]:
        return _keys(items)

    def mark(self, key: Key) -> int:
        """Not used: contents were marked when the archive was listed."""
        return key[0]

    def read(self, key: Key, buffer: ImageBuffer) -> None:
        offset, size = key
        if size > self._max_bytes:
            raise BadImageError(TOO_LARGE, f"{size} bytes")
        with _naming(self._path), buffer.room(size) as room:
            stream = self._at(offset)
            got = done = stream.readinto(room)
            while done and got < size:
                got += (done := stream.readinto(room[got:]))
        if got < size:
            raise BadImageError(DAMAGED, "the archive ends inside it")
        buffer.at += size

    def close(self) -> None:
        if self._stream is not None:
            self._parked.put(self._stream)
            self._stream = None

    def _at(self, offset: int) -> io.BufferedIOBase:
        if self._stream is None:
            self._stream = self._parked.take(offset) or _inflated(self._path)
        while (left := offset - self._stream.tell()) > 0:
            if not self._stream.read(min(left, _PIECE)):
                raise EOFError("it ends too soon")
        return self._stream
