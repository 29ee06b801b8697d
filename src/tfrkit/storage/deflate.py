"""Uncompressed bytes -> one compressed stream: TensorFlow's GZIP and ZLIB with all its options, XZ and ZSTD.

Knows containers, not records. GZIP in members, on all cores, is `member.py`.
"""

from __future__ import annotations

import lzma
import zlib
from typing import Any, Protocol

from tfrkit.optional import require

__all__ = ["Encoder", "xz_encoder", "zlib_encoder", "zstd_encoder"]


class Encoder(Protocol):
    """Any compressor object: compress(data) and flush() give bytes."""

    def compress(self, data: Any, /) -> bytes: ...
    def flush(self) -> bytes: ...


def zlib_encoder(level: int, method: int, window_bits: int, mem_level: int, strategy: int) -> Encoder:
    """Make an encoder that gives zlib's own bytes, which are TensorFlow's."""
    return zlib.compressobj(level, method, window_bits, mem_level, strategy)


def xz_encoder(level: int | None) -> Encoder:
    """Make an encoder for an .xz stream (preset 0 to 9, 6 by default)."""
    return lzma.LZMACompressor(lzma.FORMAT_XZ, preset=6 if level is None else level)


def zstd_encoder(level: int | None) -> Encoder:
    """Make an encoder for a .zst frame (level -7 to 22, 3 by default)."""
    zstd = require("zstandard", "Writing ZSTD")
    encoder: Encoder = zstd.ZstdCompressor(level=3 if level is None else level).compressobj()
    return encoder
