"""Fields of a message as bytes, where a message is too small for a kernel. Pure: no I/O."""

from __future__ import annotations

__all__ = ["wire_bytes", "wire_varint"]


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
