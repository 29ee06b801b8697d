"""Protobuf's wire format in Python: varints and fields of messages that are too small for a kernel. Pure: no I/O."""

from __future__ import annotations

from typing import Final

__all__ = ["read_varint", "wire_bytes", "wire_varint"]

_MAX_VARINT_BYTES: Final = 10


def wire_bytes(number: int, content: bytes) -> bytes:
    r"""Write a field of bytes, a string or a message; its number is below 16.

    >>> wire_bytes(1, b"ab")
    b'\n\x02ab'
    """
    return bytes([number << 3 | 2]) + wire_varint(len(content)) + content


def wire_varint(value: int) -> bytes:
    r"""Write a number of at least 0 in groups of 7 bits.

    >>> wire_varint(300)
    b'\xac\x02'
    """
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)


def read_varint(data: bytes, at: int, most: int = _MAX_VARINT_BYTES) -> tuple[int, int] | None:
    r"""Read a number in groups of 7 bits, of at most `most` bytes.

    Returns:
        The number and the position after it; None if the data end before it does, or it has more bytes.

    >>> read_varint(b"\xac\x02\x07", 0), read_varint(b"\x80", 0)
    ((300, 2), None)
    """
    value = 0
    for count, byte in enumerate(data[at : at + most]):
        value |= (byte & 0x7F) << 7 * count
        if byte < 0x80:
            return value, at + count + 1
    return None
