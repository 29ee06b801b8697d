"""Test data made by hand: frames, gzip members and damage, written from the format's definition.

Slow and plain on purpose, and independent of the code under test.
"""

from __future__ import annotations

import random
import struct
import zlib
from collections.abc import Iterable
from pathlib import Path

_MASK = 0xFFFFFFFF


def _make_table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)
        table.append(value)
    return table


_TABLE = _make_table()


def crc32c(data: bytes) -> int:
    """CRC-32C, bit-reflected Castagnoli polynomial."""
    crc = _MASK
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ _MASK


def masked_crc(data: bytes) -> int:
    """The checksum as a frame stores it."""
    crc = crc32c(data)
    return (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & _MASK


def header(length: int) -> bytes:
    """The 12 bytes that announce a record of this length."""
    field = struct.pack("<Q", length)
    return field + struct.pack("<I", masked_crc(field))


def frame(data: bytes) -> bytes:
    """A whole frame."""
    return header(len(data)) + data + struct.pack("<I", masked_crc(data))


def frames(records: Iterable[bytes]) -> bytes:
    """A whole plain file."""
    return b"".join(map(frame, records))


def compress(data: bytes, compression: str, level: int = -1) -> bytes:
    """One stream of the type that TensorFlow's string names."""
    if not compression:
        return data
    engine = zlib.compressobj(level, zlib.DEFLATED, {"ZLIB": 15, "GZIP": 31}[compression], 9)
    return engine.compress(data) + engine.flush()


def member(data: bytes, padding: int = 0) -> bytes:
    """A gzip member; a padding of 6 or more puts so many bytes of extra field into its header."""
    engine = zlib.compressobj(6, zlib.DEFLATED, -15, 9)
    body = engine.compress(data) + engine.flush()
    head = b"\x1f\x8b\x08" + (b"\x04" if padding else b"\x00") + b"\0\0\0\0\0\x03"
    if padding:
        head += struct.pack("<H2sH", padding - 2, b"ZZ", padding - 6) + bytes(padding - 6)
    return head + body + struct.pack("<II", zlib.crc32(data), len(data) & _MASK)


def flip(data: bytes, position: int, mask: int = 0x01) -> bytes:
    """The same bytes with bits of one of them turned over; negative positions count from the end."""
    changed = bytearray(data)
    changed[position] ^= mask
    return bytes(changed)


def put(path: Path, data: bytes) -> Path:
    """Write a file and give its path."""
    path.write_bytes(data)
    return path


def grow(path: Path, data: bytes) -> None:
    """Put bytes behind a file."""
    with path.open("ab") as file:
        file.write(data)


def make_records(rng: random.Random, count: int, longest: int) -> list[bytes]:
    """Random records, some empty, some compressible."""
    records = []
    for _ in range(count):
        length = rng.choice((0, 1, rng.randrange(40), rng.randrange(longest)))
        records.append(rng.randbytes(length) if rng.random() < 0.6 else bytes([rng.randrange(256)]) * length)
    return records


def damage(rng: random.Random, data: bytes) -> tuple[bytes, str]:
    """Damage bytes somewhere: a flipped bit, a changed run, a cut end, or bytes put in or taken out."""
    at = rng.randrange(len(data) + 1)
    few = rng.choice((1, 1, 2, rng.randrange(1, 40)))
    kind = rng.choice(("flip", "flip", "change", "cut", "insert", "delete", "append"))
    if kind == "flip" and at < len(data):
        return flip(data, at, 1 << rng.randrange(8)), f"flip at {at}"
    if kind == "change":
        return data[:at] + rng.randbytes(few) + data[at + few :], f"change {few} at {at}"
    if kind == "insert":
        return data[:at] + rng.randbytes(few) + data[at:], f"insert {few} at {at}"
    if kind == "delete":
        return data[:at] + data[at + few :], f"delete {few} at {at}"
    if kind == "append":
        return data + rng.randbytes(few), f"append {few}"
    return data[:at], f"cut at {at}"
