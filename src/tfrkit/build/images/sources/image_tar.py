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

from tfrkit.build.images.image_duplicates import content_mark
from tfrkit.build.images.image_items import (
    Findings,
    ImageBuffer,
    ImageItems,
    ImageReader,
    ImageSource,
    Ledger,
    shown,
)
from tfrkit.build.images.sources.archive import DAMAGED, LINK, ArchiveReader, MemberList, split_name
from tfrkit.build.images.sources.tar_headers import MAX_PADDING, TarMember, TarWalk, damaged_tar
from tfrkit.errors import os_errors
from tfrkit.images.codecs.image_header import EMPTY, BadImageError
from tfrkit.stores.at_exit import unless_exiting
from tfrkit.stores.files import open_source
from tfrkit.stores.source import SourceFile

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
_MAX_PARKED: Final = 64
_JOINT: Final = "zero blocks inside of the archive: archives that were joined, or members that were wiped out"
_PADDING: Final = "more zeros at the end of the archive than tar puts there: members may be missing"
_DAMAGES: Final = (EOFError, zlib.error, _gzip_error, gzip.BadGzipFile)


def list_tar(path: str, found: Findings) -> ImageItems:
    """List the files of a plain archive, by folder and then by name.

    Raises:
        InvalidArgumentError: it is damaged, or a name leads out of it.
    """
    members = MemberList(found, "offset")
    with _naming(path), _in_order(path) as file:
        walk = TarWalk(file, path, file.seek(0, os.SEEK_END))
        file.seek(0)
        for member, parts in _files(walk, path, members):
            members.add_member(parts, member.size, member.offset)
    _note_zeros(walk, found.noted)
    return members.finish(ordered=True)


def list_tar_stream(path: str, found: Findings, *, max_bytes: int) -> ImageItems:
    """List the files of a gzipped archive, in its order. All of it is inflated once, and contents are marked.

    Raises:
        InvalidArgumentError: as `list_tar`.
    """
    members = MemberList(found, "offset", "mark")
    with _naming(path), _inflated(path) as file:
        walk = TarWalk(file, path)
        for member, parts in _files(walk, path, members):
            mark = content_mark(walk.read(member)) if member.size <= max_bytes else member.offset
            members.add_member(parts, member.size, member.offset, mark)
    _note_zeros(walk, found.noted)
    return members.finish(ordered=False)


def _in_order(path: str) -> io.BufferedReader:
    """Open a file that is read from its beginning to its end; behind a URL what comes next is fetched ahead."""
    source = open_source(path)
    if source.regular:
        source.read_ahead(0)
    return io.BufferedReader((SourceFile if source.regular else _ForwardFile)(source), _PIECE)


class _ForwardFile(SourceFile):
    """What can only be read in order; gzip asks where it stands, which needs a file that can seek."""

    def seekable(self) -> bool:
        return True


def _inflated(path: str) -> Any:
    return _gzip.open(_in_order(path))


@contextmanager
def _naming(path: str) -> Iterator[None]:
    """Turn errors of the file and of its compression into errors that name it."""
    with os_errors(path):
        try:
            yield
        except _DAMAGES as error:
            raise damaged_tar(path, error) from error


def _files(walk: TarWalk, path: str, members: MemberList) -> Iterator[tuple[TarMember, list[bytes]]]:
    """Yield the files of an archive that are part of the data."""
    for member in walk:
        parts = split_name(member.name, path)
        if not member.is_folder and members.takes(parts) and _is_good(member, parts, members.bad):
            yield member, parts


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


# -- plain archives ----------------------------------------------------------------------------------------------------


class TarReader(ArchiveReader):
    """Reads members by their offsets."""

    def __init__(self, path: str, max_bytes: int) -> None:
        super().__init__(path, max_bytes)
        self._sample = memoryview(bytearray(_SAMPLE_BYTES))

    def keys(self, items: ImageItems) -> list[Key]:
        keys = _keys(items)
        self.expect([key for key in keys if key[1] <= self.max_bytes])
        return keys

    def samples(self, items: ImageItems) -> Iterator[bytes]:
        """Read some bytes in the middle of each member."""
        places = [(offset + size // 2, min(size - size // 2, _SAMPLE_BYTES)) for offset, size in _keys(items)]
        self.expect(places)
        for begin, size in places:
            got = self.read_into(self._sample[:size], begin)
            yield bytes(self._sample[:got])

    def read(self, key: Key, buffer: ImageBuffer) -> None:
        offset, size = key
        with buffer.room(size) as room:
            got = self.read_into(room, offset)
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


class _StreamReader(ImageReader):
    """Reads members whose offsets ascend, from where another reader has stopped if that helps."""

    def __init__(self, parked: _Parked, path: str, max_bytes: int) -> None:
        super().__init__(path, max_bytes)
        self._parked = parked
        self._stream: io.BufferedIOBase | None = None

    def keys(self, items: ImageItems) -> list[Key]:
        return _keys(items)

    def read(self, key: Key, buffer: ImageBuffer) -> None:
        offset, size = key
        with _naming(self.path), buffer.room(size) as room:
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
            self._stream = self._parked.take(offset) or _inflated(self.path)
        while (left := offset - self._stream.tell()) > 0:
            if not self._stream.read(min(left, _PIECE)):
                raise EOFError("it ends too soon")
        return self._stream
