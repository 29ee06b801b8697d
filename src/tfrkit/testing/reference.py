"""A slow and obvious model of TFRecord files: frames, checksums, reading, and finding the way back after damage.

Works on a whole file in memory, with the standard library alone and none of tfrkit's code, so that the fast paths can
be compared with it. Containers (GZIP and others) are not modelled: damage the stream, then compress it.

    file  = frame*                     frame = length (8 bytes), CRC of it (4), data, CRC of the data (4)
    CRC   = masked CRC-32C             all numbers little-endian
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

__all__ = ["Lost", "crc32c", "frame", "frames", "header", "masked_crc", "read"]

_LIMIT: Final = 1 << 32  # a record that claims more is damage
_ABSURD: Final = 2**63 - 4  # with its footer, no signed 64-bit number holds it


def _table() -> list[int]:
    table = []
    for value in range(256):
        for _ in range(8):
            value = (value >> 1) ^ (0x82F63B78 if value & 1 else 0)  # noqa: PLW2901 - the textbook's loop
        table.append(value)
    return table


_TABLE: Final = _table()


def crc32c(data: bytes) -> int:
    """Return the CRC-32C (Castagnoli) of `data`.

    >>> hex(crc32c(b"123456789"))
    '0xe3069283'
    """
    crc = 0xFFFFFFFF
    for byte in data:
        crc = _TABLE[(crc ^ byte) & 0xFF] ^ (crc >> 8)
    return crc ^ 0xFFFFFFFF


def masked_crc(data: bytes) -> int:
    """Return the checksum as a frame stores it: rotated by 15 bits, plus a constant."""
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def header(length: int) -> bytes:
    """Return the 12 bytes that announce a record of this length.

    >>> header(3).hex()
    '0300000000000000b099490e'
    """
    field = struct.pack("<Q", length)
    return field + struct.pack("<I", masked_crc(field))


def frame(data: bytes) -> bytes:
    """Return a record as it stands in a file."""
    return header(len(data)) + data + struct.pack("<I", masked_crc(data))


def frames(records: Iterable[bytes]) -> bytes:
    """Return a whole plain file."""
    return b"".join(frame(record) for record in records)


@dataclass(frozen=True, slots=True)
class Lost:
    """A range of a file that belongs to no intact frame.

    Attributes:
        kind: "bad length CRC", "bad data CRC", "truncated", "garbage" or "too large".
        start: its first byte.
        end: after its last byte.
        record: how many intact records stand before it.
    """

    kind: str
    start: int
    end: int
    record: int


def read(
    data: bytes, *, crc: bool = True, max_record_bytes: int = _LIMIT, sized: bool = True
) -> tuple[list[bytes], list[Lost]]:
    """Return the intact records of a plain file, and the ranges between them.

    Who stops at the first damage has the records before it: `records[: lost[0].record]`.

    Args:
        data: the whole file.
        crc: check the data's CRC.
        max_record_bytes: a record that claims more is damage.
        sized: the reader knows the file's size (it is no stream), so that a record which claims too much and goes
            beyond the end counts as truncated.
    """
    records: list[bytes] = []
    lost: list[Lost] = []
    at = 0
    while at < len(data):
        kind = _problem(data, at, crc, max_record_bytes, sized)
        if not kind:
            records.append(_payload(data, at))
            at = _end(data, at)
            continue
        after = _next_frame(data, at, kind, max_record_bytes)
        if kind == "bad length CRC" and after == len(data):
            kind = "garbage"
        lost.append(Lost(kind, at, after, len(records)))
        at = after
    return records, lost


def _problem(data: bytes, at: int, crc: bool, limit: int, sized: bool) -> str:
    """Say what is wrong with the frame at `at`, or ""."""
    if len(data) - at < 12:
        return "truncated"
    if not _is_header(data, at):
        return "bad length CRC"
    length = _length(data, at)
    if length > limit and (length >= _ABSURD or not sized or _end(data, at) <= len(data)):
        return "too large"
    if _end(data, at) > len(data):
        return "truncated"
    payload = _payload(data, at)
    stored = struct.unpack_from("<I", data, at + 12 + len(payload))[0]
    return "bad data CRC" if crc and masked_crc(payload) != stored else ""


def _next_frame(data: bytes, at: int, kind: str, limit: int) -> int:
    """Return the offset after the damage at `at`: that of the next intact frame, or the end."""
    if kind == "bad data CRC":
        # The length is believed if another header, or the end, follows where it says. Bytes missing from this
        # record may still have brought the frames after it into its range: those that end exactly there.
        end = _end(data, at)
        if end == len(data) or _is_header(data, end):
            return next((p for p in range(at + 1, end) if _run_ends_at(data, p, end, limit)), end)
    intact = (p for p in range(at + 1, len(data)) if not _problem(data, p, True, limit, True))
    return next(intact, len(data))


def _run_ends_at(data: bytes, at: int, end: int, limit: int) -> bool:
    """Tell whether intact frames follow each other from `at` up to exactly `end`."""
    while at < end and not _problem(data, at, True, limit, True):
        at = _end(data, at)
    return at == end


def _is_header(data: bytes, at: int) -> bool:
    field, stored = data[at : at + 8], data[at + 8 : at + 12]
    return len(stored) == 4 and masked_crc(field) == int.from_bytes(stored, "little")


def _length(data: bytes, at: int) -> int:
    return int.from_bytes(data[at : at + 8], "little")


def _payload(data: bytes, at: int) -> bytes:
    return data[at + 12 : at + 12 + _length(data, at)]


def _end(data: bytes, at: int) -> int:
    return at + 12 + _length(data, at) + 4
