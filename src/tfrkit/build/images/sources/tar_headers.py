"""The headers of a tar archive, from its first byte to its last: all members are found, or an error says why not.

Reads V7, ustar, GNU and pax headers, and no content. An archive ends with zero blocks and nothing after them: a header
that is damaged, or missing because the archive was cut, is never taken for that end.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import IO, Final, NamedTuple

from tfrkit.errors import InvalidArgumentError

__all__ = ["TarMember", "TarWalk", "damaged_tar"]

BLOCK: Final = 512
MAX_HEADER: Final = 1 << 20  # of a long name or the records of pax: they are read into memory
MAX_NAME: Final = 1 << 16
MAX_PADDING: Final = 2 * BLOCK + 10_240  # an end marker, and up to what tar writes at once by default
_PIECE: Final = 1 << 20
_ZEROS: Final = bytes(BLOCK)
_OCTAL: Final = re.compile(rb"[ \0]*([0-7]*)(?:[ \0].*)?", re.DOTALL)
_FULL: Final = 0o77777777777  # the largest size that a header has room for
_RECORD: Final = re.compile(rb"([1-9][0-9]{0,6}) ([^=]+)=")
_KNOWN: Final = frozenset({b"path", b"linkpath", b"size"})
_SPARSE: Final = b"GNU.sparse."
_WITHOUT_DATA: Final = frozenset(b"123456")  # links, devices, folders and pipes
_REGULAR: Final = frozenset(b"\x0007")


class TarMember(NamedTuple):
    """A member of an archive.

    Attributes:
        name: as the archive has it.
        size: bytes of its content.
        offset: where the content begins.
        link: what it links to, if it is a link.
        is_link: symbolic or hard.
        is_folder: a folder.
        is_regular: a file whose content lies there as it is.
    """

    name: bytes
    size: int
    offset: int
    link: bytes
    is_link: bool
    is_folder: bool
    is_regular: bool


class _Header(NamedTuple):
    """A header block."""

    name: bytes
    size: int
    kind: int
    link: bytes
    has_more: bool  # blocks of an old sparse file


class TarWalk:
    """Goes over an archive once.

    Args:
        file: the archive, at its beginning; it is not closed.
        path: for errors.
        total: bytes of the file, if it can be read anywhere; None for a stream.

    Attributes:
        joints: offsets of members after zero blocks: archives were joined, or something was wiped out.
        padding: zero bytes at the end of the archive.
    """

    def __init__(self, file: IO[bytes], path: str, total: int | None = None) -> None:
        self._file = file
        self._path = path
        self._total = total
        self._at = 0
        self.joints: list[int] = []
        self.padding = 0

    def __iter__(self) -> Iterator[TarMember]:
        """Yield the members. `read` may be called for each before the next.

        Raises:
            InvalidArgumentError: it is damaged or cut, or something else than a tar archive.
        """
        settings: dict[bytes, bytes] = {}  # of pax, for all that follow
        while (block := self._next_header()) is not None:
            start = self._at - BLOCK
            extended = dict(settings)
            header = self._parse(block)
            while header.kind in b"LKxXg":
                self._extend(header, extended, settings)
                header = self._parse(self._read(BLOCK, "a header"))
            member = self._member(header, extended, start)
            yield member
            self._skip(member.offset + -(-member.size // BLOCK) * BLOCK)

    def read(self, member: TarMember) -> bytes:
        """Read the content of the member that was given last."""
        return self._read(member.size, f"the member {member.name[-100:]!r}")

    def _next_header(self) -> bytes | None:
        """The block of the next header, or None at the end: zeros, and nothing after them."""
        start = self._at
        while True:
            block = self._some(BLOCK)
            if block != _ZEROS[: len(block)]:
                break
            if len(block) < BLOCK:
                self.padding = self._at - start
                if not self.padding:
                    raise self._damaged(
                        f"it has no end marker, so it was cut at byte {start} before one of its members, or its writer "
                        f"was not closed; if you know that it is whole: head -c {2 * BLOCK} /dev/zero >> FILE"
                    )
                return None
        if len(block) < BLOCK:
            raise self._damaged(f"it ends inside of the header at byte {self._at - len(block)}")
        if self._at - BLOCK > start:
            self._parse(block)  # the error says what is there
            self.joints.append(self._at - BLOCK)
        return block

    def _parse(self, block: bytes) -> _Header:
        at = self._at - BLOCK
        field = block[148:156]
        stored, total = _number(field), sum(block) - sum(field) + 8 * 32
        if stored != total:
            high = sum(byte > 127 for byte in block[:148] + block[156:])
            if stored is None or stored != total - 256 * high:  # some old programs add signed bytes
                raise self._damaged(f"there is no valid header at byte {at}: its checksum is wrong")
        size = _number(block[124:136])
        if size is None or size < 0:
            raise self._damaged(f"the size in the header at byte {at} is no number of bytes")
        name = _text(block[:100])
        kind = block[156]
        if block[257:263] == b"ustar\0" and (prefix := _text(block[345 : _prefix_end(block)])):
            name = prefix + b"/" + name
        return _Header(name, size, kind, _text(block[157:257]), kind == ord("S") and bool(block[482]))

    def _extend(self, header: _Header, extended: dict[bytes, bytes], settings: dict[bytes, bytes]) -> None:
        """Read what a header says of the next one, or of all that follow."""
        at = self._at - BLOCK
        if header.size > MAX_HEADER:
            raise self._damaged(
                f"the long header at byte {at} has {header.size} bytes, more than {MAX_HEADER}, which no name needs"
            )
        data = self._read(header.size, "a long header")
        self._skip(-(-self._at // BLOCK) * BLOCK)
        if header.kind in b"LK":
            found = {b"path" if header.kind == ord("L") else b"linkpath": _text(data)}
        else:
            found = self._records(data, at)
        if any(len(value) > MAX_NAME for value in found.values()):
            raise self._damaged(f"the long header at byte {at} has a name of more than {MAX_NAME} bytes")
        extended.update(found)
        if header.kind == ord("g"):
            settings.update(found)

    def _records(self, data: bytes, at: int) -> dict[bytes, bytes]:
        """The records of pax that matter: "LENGTH KEY=VALUE" lines, where LENGTH counts all of the line."""
        found: dict[bytes, bytes] = {}
        place = 0
        while place < len(data) and (data[place] or not place):
            start = _RECORD.match(data, place)
            end = place + int(start[1]) if start else 0
            if start is None or not start.end() < end <= len(data) or data[end - 1] != ord("\n"):
                raise self._damaged(f"the records of pax at byte {at} cannot be read")
            if start[2] in _KNOWN:
                found[start[2]] = data[start.end() : end - 1]
            elif start[2].startswith(_SPARSE):
                found[_SPARSE] = b"1"
            place = end
        if data[place:].strip(b"\0"):
            raise self._damaged(f"the records of pax at byte {at} cannot be read")
        return found

    def _member(self, header: _Header, extended: dict[bytes, bytes], start: int) -> TarMember:
        """Put together what all headers of a member say."""
        size = header.size
        if said := extended.get(b"size"):
            size = int(said) if said.isdigit() and len(said) < 20 else -1
            # Only where the header has no room for it do writers say another size.
            if size < 0 or (size != header.size and header.size and size <= _FULL):
                raise self._damaged(
                    f"the member at byte {start} has two sizes, {header.size} and {said[:20]!r}"
                )
        if header.kind in _WITHOUT_DATA:
            size = 0
        more = header.has_more
        while more:
            more = bool(self._read(BLOCK, "the header of a sparse file")[504])
        if self._total is not None and size > self._total - self._at:
            raise self._damaged(
                f"it ends inside of the member at byte {start}, which has {size} bytes from byte {self._at} on"
            )
        name = extended.get(b"path") or header.name
        is_regular = header.kind in _REGULAR and _SPARSE not in extended
        is_folder = header.kind == ord("5") or (is_regular and not size and name.endswith(b"/"))
        link = extended.get(b"linkpath") or header.link
        return TarMember(name, size, self._at, link, header.kind in b"12", is_folder, is_regular)

    def _damaged(self, how: str) -> InvalidArgumentError:
        return damaged_tar(self._path, how)

    # -- bytes -------------------------------------------------------------------------------------------------------

    def _some(self, size: int) -> bytes:
        """Read some bytes: fewer only at the end of the archive."""
        data = self._file.read(size)
        while 0 < len(data) < size and (more := self._file.read(size - len(data))):
            data += more
        self._at += len(data)
        return data

    def _read(self, size: int, what: str) -> bytes:
        data = self._some(size)
        if len(data) < size:
            raise self._damaged(f"it ends inside of {what} at byte {self._at}")
        return data

    def _skip(self, to: int) -> None:
        if self._total is not None and to <= self._total:
            self._file.seek(to)
            self._at = to
        while self._at < to:
            self._read(min(_PIECE, to - self._at), "a member")


def damaged_tar(path: str, how: object) -> InvalidArgumentError:
    """Make the error for an archive that cannot be read to its end."""
    return InvalidArgumentError(
        f"{path}: expected a tar archive but it is damaged, cut, or something else: {how}. Nothing was built, as "
        "images would be missing. Copy it again; or unpack what `tar` can still read, and build from that folder.",
        path=path,
    )


def _text(field: bytes) -> bytes:
    return field.partition(b"\0")[0]


def _prefix_end(block: bytes) -> int:
    return 476 if block[508:] == b"tar\0" else 500  # "star" keeps times after a shorter prefix


def _number(field: bytes) -> int | None:
    """Read a number in octal digits, or of 256 as base; None if it is neither. Pure: no I/O."""
    if field[0] in (0x80, 0xFF):
        return int.from_bytes(field[1:], "big") - (256 ** (len(field) - 1) if field[0] == 0xFF else 0)
    found = _OCTAL.fullmatch(field)
    return None if found is None else int(found[1] or b"0", 8)
