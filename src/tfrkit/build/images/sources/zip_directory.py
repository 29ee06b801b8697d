"""The directory of a ZIP archive, read in pieces: a million members need not be a million objects.

Reads numbers and names, and no member. What the directory says is checked against the size of the file.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator
from typing import BinaryIO, Final, NamedTuple

from tfrkit.codecs.checksum import crc32
from tfrkit.errors import InvalidArgumentError

__all__ = ["LOCAL_HEADER", "ZipMember", "read_zip_directory"]

LOCAL_HEADER: Final = struct.Struct("<4s22xHH")  # signature, lengths of the name and of what follows
_END: Final = struct.Struct("<4s4H2IH")
_END_64: Final = struct.Struct("<4sQ2H2I4Q")
_LOCATOR: Final = struct.Struct("<4sIQI")
_ENTRY: Final = struct.Struct("<4s4xHH4x3I3H4xII")
_LOCAL: Final = b"PK\3\4"
_MAX_COMMENT: Final = 0xFFFF
_LARGE: Final = 0xFFFF_FFFF
_PIECE: Final = 1 << 20
_ZIP_64: Final = 0x0001
_UNICODE_PATH: Final = 0x7075


class ZipMember(NamedTuple):
    """An entry of the directory.

    Attributes:
        name: as it is stored; UTF-8 if `is_unicode`.
        is_unicode: whether the archive says so.
        flags: the format's own; bit 0 is encryption.
        method: of compression: 0 none, 8 deflate.
        crc: CRC-32 of the content.
        packed: bytes in the archive.
        size: bytes of the content.
        mode: of Unix, 0 if it is not said.
        offset: of the local header in the file.
    """

    name: bytes
    is_unicode: bool
    flags: int
    method: int
    crc: int
    packed: int
    size: int
    mode: int
    offset: int


def read_zip_directory(file: BinaryIO, path: str) -> Iterator[ZipMember]:
    """Yield the members of an archive in the order of its directory.

    Raises:
        InvalidArgumentError: it is no ZIP archive, or its directory is damaged.
    """
    begin, size, shift, said = _find_directory(file, path)
    file.seek(begin)
    data, at, left, count = b"", 0, size, 0
    while left or at < len(data):
        needed = _entry_bytes(data, at)
        if needed > len(data) - at:
            piece = file.read(min(_PIECE, left))
            if not piece:
                raise _damaged(path, "its directory ends too soon")
            left -= len(piece)
            data, at = data[at:] + piece, 0
            continue
        if data[at : at + 4] != b"PK\1\2":
            raise _damaged(path, f"there is no entry at byte {begin + size - left - len(data) + at}")
        yield _read_entry(data[at : at + needed], shift, begin, path)
        at += needed
        count += 1
    if said not in (count, count & 0xFFFF):  # old programs count no further
        raise _damaged(path, f"its directory has {count} members where {said} are said to be")


def _damaged(path: str, how: str) -> InvalidArgumentError:
    return InvalidArgumentError(
        f"{path}: expected a ZIP archive but {how}. Copy it again; `zip -F` may repair it.", path=path
    )


def _entry_bytes(data: bytes, at: int) -> int:
    """How many bytes the entry at `at` has, as far as that is known."""
    if len(data) - at < _ENTRY.size:
        return _ENTRY.size
    lengths: tuple[int, int, int] = struct.unpack_from("<3H", data, at + 28)
    return _ENTRY.size + sum(lengths)


def _find_directory(file: BinaryIO, path: str) -> tuple[int, int, int, int]:
    """Where the directory begins, its bytes, by how much all offsets are too small, and how many members it has."""
    total = file.seek(0, os.SEEK_END)
    tail_at = max(0, total - _END.size - _MAX_COMMENT - _LOCATOR.size)
    file.seek(tail_at)
    tail = file.read()
    at = tail.rfind(b"PK\5\6")
    if at < 0 or len(tail) - at < _END.size:
        raise _damaged(path, "it has no end of the directory: it is cut, or something else")
    _, disk, first_disk, _, count, size, offset, comment = _END.unpack_from(tail, at)
    if tail.find(_LOCAL, at + _END.size + comment) >= 0:
        raise _damaged(path, "there are members behind its end: archives were joined, and the last was cut")
    end = tail_at + at
    locator = at - _LOCATOR.size
    if locator >= 0 and tail[locator : locator + 4] == b"PK\6\7":
        end, count, size, offset, disk, first_disk = _read_end_64(file, tail_at + locator, path)
    if disk or first_disk:
        raise _damaged(path, "it is one of several parts")
    begin = end - size
    if begin < 0 or begin < offset:
        raise _damaged(path, f"its directory of {size} bytes does not fit")
    file.seek(0)
    if begin > offset and file.read(len(_LOCAL)) == _LOCAL:
        raise _damaged(
            path,
            f"its directory leaves out the first {begin - offset} bytes, which begin with a member: archives were "
            "joined, or it is cut behind an archive that was inside of it",
        )
    return begin, size, begin - offset, count


def _read_end_64(file: BinaryIO, locator: int, path: str) -> tuple[int, int, int, int, int, int]:
    at = locator - _END_64.size  # nothing is between them in practice, and offsets may be shifted
    if at >= 0:
        file.seek(at)
        found = file.read(_END_64.size)
        if found[:4] == b"PK\6\6":
            _, _, _, _, disk, first_disk, _, count, size, offset = _END_64.unpack(found)
            return at, count, size, offset, disk, first_disk
    raise _damaged(path, "its end of the directory is damaged")


def _read_entry(entry: bytes, shift: int, directory: int, path: str) -> ZipMember:
    _, flags, method, crc, packed, size, name_length, extra_length, _, external, offset = _ENTRY.unpack_from(
        entry
    )
    host = entry[5]
    name = entry[_ENTRY.size : _ENTRY.size + name_length]
    extra = entry[_ENTRY.size + name_length : _ENTRY.size + name_length + extra_length]
    is_unicode = bool(flags & 0x800)
    for kind, body in _extras(extra):
        if kind == _ZIP_64 and _LARGE in (packed, size, offset):
            size, packed, offset = _wide(body, size, packed, offset)
        elif kind == _UNICODE_PATH and body[:1] == b"\1" and body[1:5] == crc32(name).to_bytes(4, "little"):
            name, is_unicode = body[5:], True
    offset += shift
    if offset + LOCAL_HEADER.size + packed > directory:
        raise _damaged(path, f"the member {name[:100]!r} lies outside of it")
    mode = external >> 16 if host == 3 else 0
    return ZipMember(name, is_unicode, flags, method, crc, packed, size, mode, offset)


def _extras(extra: bytes) -> Iterator[tuple[int, bytes]]:
    at = 0
    while at + 4 <= len(extra):
        kind, length = struct.unpack_from("<HH", extra, at)
        yield kind, extra[at + 4 : at + 4 + length]
        at += 4 + length


def _wide(body: bytes, size: int, packed: int, offset: int) -> tuple[int, int, int]:
    """The numbers of 64 bits, of those that do not fit into 32; they stand in this order."""
    values = []
    at = 0
    for value in (size, packed, offset):
        is_wide = value == _LARGE and at + 8 <= len(body)
        values.append(int.from_bytes(body[at : at + 8], "little") if is_wide else value)
        at += 8 * is_wide
    return values[0], values[1], values[2]
