"""How the pixels of a JPEG file are to be turned, as its EXIF data say; nothing is decoded."""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.images.codecs.jpeg.jpeg_header import header_segments

__all__ = ["jpeg_orientation", "upright"]

_EXIF_SEGMENT: Final = 0xE1
_ORIENTATION_TAG: Final = 0x0112
_MAX_EXIF_TAGS: Final = 512


def jpeg_orientation(data: bytes) -> int:
    """Return the EXIF orientation (1-8) of a JPEG file; 1 (upright) if it has none."""
    for marker, at, length in header_segments(data[: 1 << 18]):
        if marker == _EXIF_SEGMENT and data[at + 4 : at + 10] == b"Exif\0\0":
            try:
                return _orientation(data[at + 10 : at + 2 + length])
            except struct.error:
                return 1
    return 1


def _orientation(tiff: bytes) -> int:
    order = {b"II": "<", b"MM": ">"}.get(tiff[:2])
    if order is None:
        return 1
    (first,) = struct.unpack_from(order + "I", tiff, 4)
    (count,) = struct.unpack_from(order + "H", tiff, first)
    for number in range(min(count, _MAX_EXIF_TAGS)):
        tag, kind, _, value = struct.unpack_from(order + "HHIH", tiff, first + 2 + 12 * number)
        if tag == _ORIENTATION_TAG and kind == 3:
            return value if 1 <= value <= 8 else 1
    return 1


def upright(pixels: npt.NDArray[Any], orientation: int) -> npt.NDArray[Any]:
    """Turn and mirror an image so that it stands as the orientation says.

    >>> upright(np.array([[[1], [2]]]), 6).ravel().tolist(), upright(np.array([[[1], [2]]]), 3).ravel().tolist()
    ([1, 2], [2, 1])
    """
    if orientation in (5, 6, 7, 8):
        pixels = pixels.transpose(1, 0, 2)
    across = orientation in (2, 3, 6, 7)
    down = orientation in (3, 4, 7, 8)
    return np.ascontiguousarray(pixels[:: -1 if down else 1, :: -1 if across else 1])
