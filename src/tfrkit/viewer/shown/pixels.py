"""Pixels: the numbers of a small part of a picture, as they were decoded."""

from __future__ import annotations

import threading
from typing import Any, Final

from tfrkit.errors import OutOfRangeError
from tfrkit.viewer.asked import Asked
from tfrkit.viewer.session import Session
from tfrkit.viewer.shown.payload import value_of
from tfrkit.viewer.shown.thumbs import decoded_picture

__all__ = ["pixels_json"]

_MOST: Final = 64  # rows and columns
_lock = threading.Lock()
_last: list[
    tuple[int, bytes, Any]
] = []  # the picture under the pointer, of which parts are asked for one by one
_KEPT_BYTES: Final = 32 << 20


def pixels_json(session: Session, asked: Asked) -> dict[str, Any]:
    """Return what /api/pixels answers: values[row][column][channel] of a part of an image.

    Raises:
        DataLossError: it is not an image.
        OutOfRangeError: the part lies outside it.
    """
    data = value_of(session, asked)
    x, y = asked.number("x", 0), asked.number("y", 0)
    wide, high = asked.number("w", 16, least=1, most=_MOST), asked.number("h", 16, least=1, most=_MOST)
    pixels = _decoded(data)
    height, width, channels = pixels.shape
    if x >= width or y >= height:
        raise OutOfRangeError(f"the image has {width} x {height} pixels: there is none at {x}, {y}")
    part = pixels[y : y + high, x : x + wide]
    return {"width": width, "height": height, "channels": channels, "values": part.tolist()}


def _decoded(data: bytes) -> Any:
    """Return the pixels of an image, from memory if it is the last one."""
    with _lock:
        for size, before, pixels in _last:
            if size == len(data) and before == data:
                return pixels
    pixels = decoded_picture(data)
    with _lock:
        _last[:] = [(len(data), data, pixels)] if pixels.nbytes <= _KEPT_BYTES else []
    return pixels
