"""CRC-32 of bytes: the checksum of ZIP members and GZIP."""

from __future__ import annotations

import zlib
from typing import Any, Final

__all__ = ["crc32", "crc32_combine"]

_ONE: Final = 1 << 31
_POLYNOMIAL: Final = 0xEDB88320
_fast: Any
try:
    from isal import isal_zlib as _fast
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _fast = zlib


def crc32(data: bytes | memoryview, before: int = 0) -> int:
    """Return the CRC-32 of some bytes, or of bytes whose CRC-32 is `before` and these.

    >>> hex(crc32(b"123456789"))
    '0xcbf43926'
    """
    return int(_fast.crc32(data, before))


def crc32_combine(first: int, second: int, size: int) -> int:
    """Return the CRC-32 of two runs of bytes from that of each and the size of the second. Pure: no I/O.

    >>> crc32_combine(crc32(b"1234"), crc32(b"56789"), 5) == crc32(b"123456789")
    True
    """
    shift, power = _ONE, _ONE >> 8  # 1 and x^8: a byte moves the first run on by x^8, modulo the polynomial
    while size:
        if size & 1:
            shift = _multiply(shift, power)
        power, size = _multiply(power, power), size >> 1
    return _multiply(shift, first) ^ second


def _multiply(left: int, right: int) -> int:
    """Multiply two polynomials modulo that of the CRC; the highest bit is the coefficient of 1."""
    product = 0
    while left:
        if left & _ONE:
            product ^= right
        left = left << 1 & 0xFFFFFFFF
        right = right >> 1 ^ (_POLYNOMIAL if right & 1 else 0)
    return product
