"""GZIP members that tell their own size, so that many threads can write and read one file.

Knows containers, not records. FORMAT.md defines the layout byte by byte; any gzip reader reads it.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, Final

from tfrkit.codecs.checksum import crc32
from tfrkit.codecs.codec import WINDOW_BYTES, MemberFormat, MemberHeader
from tfrkit.codecs.inflate import inflate_raw

_fast: Any
_quick: Any
try:
    from zlib_ng import zlib_ng as _fast
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _fast = zlib
try:
    from isal import isal_zlib as _quick
except ImportError:
    _quick = zlib

__all__ = [
    "EMPTY_MEMBER",
    "MAX_MEMBER_BYTES",
    "MEMBERS",
    "MEMBER_HEADER_BYTES",
    "deflate_huge",
    "deflate_member",
    "ends_badly",
    "inflate_member",
    "pad_member",
    "parse_member_header",
]

# 1f 8b, method 8, FEXTRA, no time, no extra flags, OS unknown; then the length of the extra field, then our subfield:
# "TR", 12 bytes: whole member's bytes (padding included), uncompressed bytes, number of frames.
_HEADER: Final = struct.Struct("<4sIBBH2sHIII")
_FIXED: Final = b"\x1f\x8b\x08\x04"
MEMBER_HEADER_BYTES: Final = _HEADER.size
_SAMPLE_BYTES: Final = 1 << 14
_PAD_BYTES: Final = 32
_DEFLATE_OVERHEAD: Final = 1024
_PADDING: Final = struct.pack("<2sH", b"TP", _PAD_BYTES - 4) + bytes(_PAD_BYTES - 4)
# The whole of a file without records: zlib's own empty stream, as TensorFlow writes it.
EMPTY_MEMBER: Final = bytes.fromhex("1f8b080000000000000303000000000000000000")
# Members keep their raw size in 32 bits; a larger run of frames goes into an ordinary stream member.
MAX_MEMBER_BYTES: Final = 1 << 31
# zlib-ng's level 5: files 4 % larger than TensorFlow's (zlib's level 6), 5.6 times as fast on two cores
# (benchmarks/gzip_write.py).
_LEVEL: Final = 5
_TRAILER_BYTES: Final = 8


def deflate_member(data: bytes | memoryview, frames: int, level: int) -> bytes:
    """Return `data` as one gzip member that tells its own size. Pure: no I/O; releases the GIL.

    Args:
        data: whole frames, at least one byte and under 2 GB.
        frames: how many there are, to count without inflating.
        level: 0 to 9.
    """
    engine = _raw_engine(data, level)
    body = engine.compress(data) + engine.flush()
    trailer = struct.pack("<II", crc32(data), len(data) & 0xFFFFFFFF)
    total = _HEADER.size + len(body) + len(trailer)
    header = _HEADER.pack(_FIXED, 0, 0, 255, 16, b"TR", 12, total, len(data), frames)
    return b"".join((header, body, trailer))


def _raw_engine(data: bytes | memoryview, level: int) -> Any:
    if level and _is_dense(data):
        return _quick.compressobj(1, zlib.DEFLATED, -15)
    return _fast.compressobj(level, zlib.DEFLATED, -15, 9)


def _is_dense(data: bytes | memoryview) -> bool:
    """Tell whether data is compressed already, such as JPEG, by three samples of it.

    Searching such data for repetitions is most of the time that deflate takes, and finds nothing: isal's quickest
    level gives 0.2 % more bytes at 25 times the speed (benchmarks/gzip_write.py).
    """
    size = len(data)
    if _quick is zlib or size < 3 * _SAMPLE_BYTES:
        return False
    starts = (0, (size - _SAMPLE_BYTES) // 2, size - _SAMPLE_BYTES)
    samples = (_quick.compress(data[at : at + _SAMPLE_BYTES], 1) for at in starts)
    return all(len(sample) >= 0.97 * _SAMPLE_BYTES for sample in samples)


def pad_member(member: bytes, start: int) -> bytes:
    """Return the member as it must stand at file position `start`. Pure: no I/O.

    TensorFlow reads a file in windows of 256 kB and, where a window ends inside a member's 8-byte trailer, takes the
    end of that member for the end of the file if all the rest is in the next window: the last records are lost
    without an error, in about one of 30,000 files with members. A member that would end just after such a boundary
    gets 32 bytes more header, so that none ever does.
    """
    if not ends_badly(start + len(member)):
        return member
    fixed, time, flags, system, extra, name, size, total, raw, frames = _HEADER.unpack_from(member)
    header = _HEADER.pack(
        fixed, time, flags, system, extra + _PAD_BYTES, name, size, total + _PAD_BYTES, raw, frames
    )
    return b"".join((header, _PADDING, member[_HEADER.size :]))


def ends_badly(end: int) -> bool:
    """Tell whether a member must not end at this file position; see `pad_member`. Pure: no I/O."""
    return 0 < end % WINDOW_BYTES <= _PAD_BYTES


def tensorflow_stumbles(end: int) -> bool:
    """Tell whether TensorFlow may lose what follows a member that ends here; see `pad_member`. Pure: no I/O."""
    return 0 < end % WINDOW_BYTES <= _TRAILER_BYTES


def deflate_huge(data: memoryview, level: int, padded: bool) -> Iterator[bytes]:
    """Return `data` of any size as the pieces of one ordinary gzip member. Pure: no I/O.

    Args:
        data: what to compress.
        level: 0 to 9.
        padded: make the header 34 bytes longer, see `pad_member`.
    """
    plain = b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\xff"
    yield plain if not padded else b"".join((_FIXED, plain[4:], struct.pack("<H", _PAD_BYTES), _PADDING))
    engine = _raw_engine(data, level)
    crc = 0
    for at in range(0, len(data), 1 << 24):
        piece = data[at : at + (1 << 24)]
        crc = _fast.crc32(piece, crc)
        yield engine.compress(piece)
    yield engine.flush() + struct.pack("<II", crc, len(data) & 0xFFFFFFFF)


def parse_member_header(head: bytes | memoryview) -> MemberHeader | None:
    """Read the header that `deflate_member` wrote: (bytes to skip, whole size, uncompressed size, frames).

    None if it is any other gzip member, or nothing at all. Nothing is believed that contradicts itself; whether the
    member is as it says is known only after inflating it. Pure: no I/O.
    """
    if len(head) < _HEADER.size:
        return None
    fixed, _, _, _, extra, name, size, total, raw, frames = _HEADER.unpack_from(head)
    skip = 12 + extra
    if fixed != _FIXED or name != b"TR" or size != 12 or extra < 16:
        return None
    if total < skip + 8 + 2 or raw > MAX_MEMBER_BYTES or frames * 16 > raw or (raw and not frames):
        return None
    # Deflate cannot shrink more than 1032-fold, and no encoder makes data much larger: what claims otherwise is no
    # member of ours, and must be neither allocated nor read at once.
    deflated = total - skip - 8
    if raw > deflated * 1032 or deflated > raw + raw // 4 + _DEFLATE_OVERHEAD:
        return None
    return skip, total, raw, frames


def inflate_member(member: bytes | memoryview) -> bytes | None:
    """Return the content of one whole member, or None if it is not what its header and trailer say. Pure: no I/O."""
    head = parse_member_header(member)
    if head is None or head[1] != len(member):
        return None
    skip, _, raw, _ = head
    try:
        inflated = inflate_raw(memoryview(member)[skip:-8], raw)
    except ValueError:
        return None
    stored, size = struct.unpack("<II", member[-8:])
    return inflated if size == raw and stored == crc32(inflated) else None


MEMBERS: Final = MemberFormat(
    header_bytes=MEMBER_HEADER_BYTES,
    max_bytes=MAX_MEMBER_BYTES,
    default_level=_LEVEL,
    empty=EMPTY_MEMBER,
    deflate=deflate_member,
    deflate_huge=deflate_huge,
    pad=pad_member,
    ends_badly=ends_badly,
    tensorflow_stumbles=tensorflow_stumbles,
    parse_header=parse_member_header,
    inflate=inflate_member,
)
