"""Files made by hand for the tests: golden bytes, containers of every kind, and damage.

Nothing here uses the code under test.
"""

from __future__ import annotations

import lzma
import struct
import zlib
from collections.abc import Iterable, Sequence
from pathlib import Path

import zstandard

from tfrkit.testing.reference import frame, frames, header

__all__ = [
    "CONTAINERS",
    "GOLDEN",
    "GOLDEN_RECORDS",
    "SUFFIX",
    "contain",
    "flip",
    "frame",
    "frames",
    "header",
    "member",
    "members",
    "put",
]

# Three records as they stand in a plain file: "abc", an empty one, and ff 00.
GOLDEN_RECORDS = [b"abc", b"", b"\xff\x00"]
GOLDEN = bytes.fromhex(
    "0300000000000000 b099490e 616263 6e57f121"
    "0000000000000000 29039807 d8ea82a2"
    "0200000000000000 78270b34 ff00 dc8f2549"
)

CONTAINERS = ("", "GZIP", "MEMBERS", "ZLIB", "XZ", "ZSTD")
SUFFIX = {"": "", "GZIP": ".gz", "MEMBERS": ".gz", "ZLIB": ".zlib", "XZ": ".xz", "ZSTD": ".zst"}


def contain(stream: bytes, kind: str) -> bytes:
    """Put a stream into one container; MEMBERS cuts it anywhere, not only between frames."""
    if kind == "MEMBERS":
        third = len(stream) // 3 + 1
        return b"".join(member(stream[at : at + third]) for at in range(0, len(stream), third))
    if kind == "XZ":
        return lzma.compress(stream, lzma.FORMAT_XZ)
    if kind == "ZSTD":
        return zstandard.ZstdCompressor(3, write_checksum=True).compress(stream)
    if kind:
        engine = zlib.compressobj(6, zlib.DEFLATED, 31 if kind == "GZIP" else 15, 9)
        return engine.compress(stream) + engine.flush()
    return stream


def member(stream: bytes, count: int = 1, *, claim: int | None = None) -> bytes:
    """Make a gzip member that tells its own size; `claim` is what it says of its uncompressed bytes."""
    engine = zlib.compressobj(6, zlib.DEFLATED, -15)
    body = engine.compress(stream) + engine.flush()
    raw = len(stream) if claim is None else claim
    field = struct.pack("<2sHIII", b"TR", 12, 28 + len(body) + 8, raw, count)
    head = b"\x1f\x8b\x08\x04\0\0\0\0\0\xff" + struct.pack("<H", len(field)) + field
    return head + body + struct.pack("<II", zlib.crc32(stream), len(stream))


def members(groups: Iterable[Sequence[bytes]]) -> bytes:
    """Make a file of members, one for each group of records."""
    return b"".join(member(frames(group), len(group)) for group in groups)


def flip(data: bytes, at: int, mask: int = 1) -> bytes:
    """Turn over bits of one byte; negative positions count from the end."""
    changed = bytearray(data)
    changed[at] ^= mask
    return bytes(changed)


def put(path: Path, data: bytes) -> Path:
    """Write a file and give its path."""
    path.write_bytes(data)
    return path
