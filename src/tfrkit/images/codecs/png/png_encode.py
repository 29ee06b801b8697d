"""Arrays to PNG files: a filter for each row, deflate, three chunks."""

from __future__ import annotations

import struct
import zlib
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit._core import encode_png_rows
from tfrkit.images.codecs.image_format import PNG_MAGIC

_fast: Any
try:
    from zlib_ng import zlib_ng as _fast
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _fast = zlib

__all__ = ["encode_png_file"]

_COLORS: Final = {1: 0, 2: 4, 3: 2, 4: 6}
_DEFAULT_LEVEL: Final = 7  # of zlib-ng: files are as large as libpng's by default, in a third of the time
_MOST_MEMORY: Final = 9
_MAX_CHUNK: Final = 2**30


def encode_png_file(image: npt.NDArray[Any], compression: int) -> bytes:
    """Return the file of one image. Pure: no I/O.

    Args:
        image: uint8 or uint16 of shape (height, width, channels), not empty, with 1 to 4 channels.
        compression: 0 to 9, or -1 for the usual.
    """
    height, width, channels = image.shape
    samples = np.ascontiguousarray(image, ">u2" if image.dtype.itemsize == 2 else np.uint8)
    step = channels * samples.itemsize
    rows = encode_png_rows(samples.data.cast("B"), width * step, step)
    level = _DEFAULT_LEVEL if compression < 0 else compression
    engine = _fast.compressobj(level, zlib.DEFLATED, zlib.MAX_WBITS, _MOST_MEMORY, zlib.Z_FILTERED)
    packed: bytes = engine.compress(rows) + engine.flush()
    header = struct.pack(">IIBBBBB", width, height, 8 * samples.itemsize, _COLORS[channels], 0, 0, 0)
    pixels = [_chunk(b"IDAT", packed[at : at + _MAX_CHUNK]) for at in range(0, len(packed), _MAX_CHUNK)]
    return b"".join((PNG_MAGIC, _chunk(b"IHDR", header), *pixels, _chunk(b"IEND", b"")))


def _chunk(name: bytes, body: bytes) -> bytes:
    return (
        struct.pack(">I4s", len(body), name) + body + struct.pack(">I", _fast.crc32(body, _fast.crc32(name)))
    )
