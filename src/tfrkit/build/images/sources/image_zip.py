"""Images inside a ZIP archive, read in place: nothing is unpacked to the disk."""

from __future__ import annotations

import stat
import zlib
from collections.abc import Iterator
from typing import Any, Final, TypeAlias

import numpy as np

from tfrkit.build.images.image_items import Findings, ImageBuffer, ImageItems, Ledger, shown
from tfrkit.build.images.sources.archive import DAMAGED, LINK, ArchiveReader, MemberList, split_name
from tfrkit.build.images.sources.zip_directory import LOCAL_HEADER, ZipMember, read_zip_directory
from tfrkit.codecs.checksum import crc32
from tfrkit.errors import InvalidArgumentError, os_errors
from tfrkit.images.codecs.image_header import EMPTY, TOO_LARGE, BadImageError
from tfrkit.stores.files import open_file

_fast: Any
try:
    from isal import isal_zlib as _fast
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _fast = zlib

__all__ = ["ZipReader", "list_zip", "name_encoding"]

Key: TypeAlias = tuple[int, int, int, int, int]  # offset, bytes in the archive, bytes, method, checksum
STORED: Final = 0
DEFLATED: Final = 8
_ENCRYPTED: Final = "encrypted in the archive"
_METHOD: Final = "unknown compression in the archive"
_OVERLAP: Final = "overlaps another member of the archive"
_LONG: Final = "\u0800"  # from here on, UTF-8 has three bytes for a character
_HEADER_ROOM: Final = 288  # the local header with its name, as a rule


def list_zip(path: str, found: Findings, *, encoding: str | None) -> ImageItems:
    """List the files of an archive, by folder and then by name.

    `encoding` is that of names that are not marked as UTF-8; None guesses.

    Raises:
        InvalidArgumentError: it is damaged, or a name leads out of it, or is not in the encoding.
    """
    members = MemberList(found, "offset", "packed", "method", "crc")
    with os_errors(path), open_file(path) as file:
        for member in read_zip_directory(file, path):
            if encoding is None and not (member.is_unicode or member.name.isascii()):
                encoding = _guessed_encoding(path)
            parts = split_name(_utf8(member, encoding, path), path, backslash=True)
            is_folder = member.name.endswith((b"/", b"\\")) and not member.size
            if not is_folder and members.takes(parts) and _is_good(member, parts, found.bad):
                members.add_member(
                    parts, member.size, member.offset, member.packed, member.method, member.crc
                )
    return _without_overlaps(members.finish(ordered=True), found.bad)


def _guessed_encoding(path: str) -> str:
    """Guess from all names of an archive together."""
    with open_file(path) as file:
        return name_encoding(
            member.name for member in read_zip_directory(file, path) if not member.is_unicode
        )


def name_encoding(names: Iterator[bytes]) -> str:
    """Guess the encoding of names that are not marked as UTF-8: UTF-8, GBK, or code page 437. Pure: no I/O.

    >>> name_encoding(iter(["猫/1.jpg".encode("gbk")])), name_encoding(iter(["café".encode("cp437")]))
    ('gbk', 'cp437')
    """
    is_utf8 = is_gbk = True
    is_short = True
    for name in names:
        if not name.isascii():
            text = _decoded(name, "utf-8")
            is_utf8 = is_utf8 and text is not None
            is_short = is_short and max(text or "", default="") < _LONG
            is_gbk = is_gbk and _decoded(name, "gb2312") is not None
    # Two bytes may be one character in both; a Chinese one is likelier.
    if is_utf8 and not (is_gbk and is_short):
        return "utf-8"
    return "gbk" if is_gbk else "cp437"


def _decoded(name: bytes, encoding: str) -> str | None:
    try:
        return name.decode(encoding)
    except UnicodeDecodeError:
        return None


def _utf8(member: ZipMember, encoding: str | None, path: str) -> bytes:
    if encoding is None or member.is_unicode or member.name.isascii():
        return member.name
    try:
        return member.name.decode(encoding).encode()
    except UnicodeDecodeError as error:
        raise InvalidArgumentError(
            f"{path}: expected names in {encoding} but got {member.name[:100]!r} ({error.reason}). "
            "Pass another zip_encoding (--zip-encoding).",
            path=path,
        ) from None


def _is_good(member: ZipMember, parts: list[bytes], bad: Ledger) -> bool:
    name = shown(b"/".join(parts))
    if member.mode and not stat.S_ISREG(member.mode) and stat.S_IFMT(member.mode):
        bad.add(name, LINK)
    elif member.flags & 1:
        bad.add(name, _ENCRYPTED)
    elif member.method not in (STORED, DEFLATED):
        bad.add(name, _METHOD, f"method {member.method}")
    elif not member.size:
        bad.add(name, EMPTY)
    elif member.method == STORED and member.packed != member.size:
        bad.add(name, DAMAGED, f"{member.packed} bytes are said to be {member.size}")
    else:
        return True
    return False


def _without_overlaps(items: ImageItems, bad: Ledger) -> ImageItems:
    """Leave out members that share bytes with one before: so are archives made that grow without end."""
    begins = items.places["offset"].astype(np.int64)
    ends = begins + LOCAL_HEADER.size + items.places["packed"].astype(np.int64)
    order = np.argsort(begins, kind="stable")
    reached = np.maximum.accumulate(ends[order]) if len(order) else ends
    overlaps = np.zeros(len(order), bool)
    overlaps[order[1:]] = begins[order][1:] < reached[:-1]
    return bad.drop(items, overlaps, _OVERLAP)


class ZipReader(ArchiveReader):
    """Reads members by their offsets."""

    def __init__(self, path: str, max_bytes: int) -> None:
        super().__init__(path, max_bytes)
        self._packed = ImageBuffer()

    def keys(self, items: ImageItems) -> list[Key]:
        places = items.places
        columns = (places["offset"], places["packed"], items.sizes, places["method"], places["crc"])
        keys = list(zip(*(column.tolist() for column in columns), strict=True))
        self.expect([(key[0], _HEADER_ROOM + key[1]) for key in keys if max(key[1:3]) <= self.max_bytes])
        return keys

    def read(self, key: Key, buffer: ImageBuffer) -> None:
        """Read a member, inflate it if it is deflated, and compare its checksum."""
        offset, packed, size, method, crc = key
        if packed > self.max_bytes:
            raise BadImageError(TOO_LARGE, f"{size} bytes")
        begin = buffer.at
        if method == STORED:
            self._read_packed(offset, packed, buffer)
        else:
            self._packed.clear()
            self._read_packed(offset, packed, self._packed)
            buffer.put(self._inflate(packed, size))
        with memoryview(buffer.data)[begin : buffer.at] as content:
            found = crc32(content)
        if found != crc:
            raise BadImageError(DAMAGED, f"its checksum is {found:#010x}, expected {crc:#010x}")

    def _read_packed(self, offset: int, packed: int, buffer: ImageBuffer) -> None:
        """Append the bytes after a local header; usually one call reads both."""
        with buffer.room(_HEADER_ROOM + packed) as room:
            got = self.read_into(room, offset)
            if got < LOCAL_HEADER.size:
                raise BadImageError(DAMAGED, "the archive ends before it")
            signature, name, extra = LOCAL_HEADER.unpack_from(room)
            if signature != b"PK\3\4":
                raise BadImageError(DAMAGED, "it does not begin where the directory says")
            start = LOCAL_HEADER.size + name + extra
            if start <= _HEADER_ROOM:
                got -= start
                room[:packed] = room[start : start + packed]
            else:
                got = self.read_into(room[:packed], offset + start, expected=False)
        if got < packed:
            raise BadImageError(DAMAGED, "the archive ends inside it")
        buffer.at += packed

    def _inflate(self, packed: int, size: int) -> bytes:
        """Inflate what was read, and no more than the directory says."""
        with memoryview(self._packed.data)[:packed] as view:
            try:
                inflater = _fast.decompressobj(-15)
                content: bytes = inflater.decompress(view, size + 1)
            except _fast.error as error:
                raise BadImageError(DAMAGED, f"it does not inflate: {error}") from None
        if len(content) != size or not inflater.eof:
            found = "more" if len(content) > size or not inflater.eof else f"{len(content)}"
            raise BadImageError(DAMAGED, f"it inflates to {found} bytes, expected {size}")
        return content
