"""CRC-32 of bytes: the checksum of ZIP members and GZIP."""

from __future__ import annotations

import zlib
from typing import Any

__all__ = ["crc32"]

_fast: Any
try:
    from isal import isal_zlib as _fast
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _fast = zlib


def crc32(data: bytes | memoryview) -> int:
    """Give the CRC-32.

    >>> hex(crc32(b"123456789"))
    '0xcbf43926'
    """
    return int(_fast.crc32(data))
