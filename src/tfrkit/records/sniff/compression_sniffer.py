"""Which compression a TFRecord file has, by its first bytes. Pure: no I/O."""

from __future__ import annotations

import zlib
from typing import Final

from tfrkit import _core

__all__ = ["HEAD_BYTES", "holds_records", "sniff_compression", "starts_with_frame"]

HEAD_BYTES: Final = 512  # what `detect` wants to see of a file


def sniff_compression(head: bytes) -> str:
    """Tell the compression of a TFRecord file by its first HEAD_BYTES bytes. Pure: no I/O.

    Plain is tested first: if the CRC of the first length field holds, the file is plain whatever its first bytes
    look like. What is nothing known counts as plain, so that the reader can say what is wrong with it.
    """
    if starts_with_frame(head):
        return ""
    if head.startswith(b"\x1f\x8b\x08"):
        return "GZIP"
    if head.startswith(b"\xfd7zXZ\x00"):
        return "XZ"
    if head.startswith(b"\x28\xb5\x2f\xfd"):
        return "ZSTD"
    if _looks_like_zlib(head):
        return "ZLIB"
    return ""


def holds_records(head: bytes) -> bool:
    """Tell whether a file surely holds records, by its first HEAD_BYTES bytes. Pure: no I/O.

    Only what can be seen counts: a frame's header, plain or inflated. XZ and Zstandard do not show theirs.
    """
    inner = head
    if head.startswith(b"\x1f\x8b\x08") or _looks_like_zlib(head):
        try:
            inner = zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(head, 12)
        except zlib.error:
            return False
    return starts_with_frame(inner)


def starts_with_frame(head: bytes) -> bool:
    """Tell whether the first bytes of a stream are a frame's header: a length with its CRC. Pure: no I/O."""
    return len(head) >= 12 and _core.crc32c_masked(head[:8]) == int.from_bytes(head[8:12], "little")


def _looks_like_zlib(head: bytes) -> bool:
    # RFC 1950: method 8, window up to 32 kB, header a multiple of 31. That is weak (1 in 500 of all byte pairs), so
    # the stream must also inflate to a frame's header, or to nothing yet.
    if len(head) < 2 or head[0] & 0x8F != 0x08 or (head[0] << 8 | head[1]) % 31:
        return False
    try:
        inner = zlib.decompressobj().decompress(head, 12)
    except zlib.error:
        return False
    return len(inner) < 12 or starts_with_frame(inner)
