"""BMP files to arrays, as TensorFlow reads them: 8 bits as gray, 24 and 32 bits as colours.

The header is taken by its numbers alone: palettes and compression are not looked at, and the file must have exactly the
size that the header says.
"""

from __future__ import annotations

import struct
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError

__all__ = ["decode_bmp_file"]

_LEAST_BYTES: Final = 32
_MAX_PIXELS: Final = (2**31 - 1) // 8

Buffer = bytes | memoryview


def decode_bmp_file(data: Buffer, channels: int) -> npt.NDArray[np.uint8]:
    """Decode a file that begins with BM.

    Args:
        data: the file.
        channels: 0 (as stored), 3 or 4.

    Returns:
        An array of shape (height, width, channels); alpha that is not in the file is 255.

    Raises:
        InvalidArgumentError: the header makes no sense or the size does not fit, with TensorFlow's text.
    """
    if len(data) < _LEAST_BYTES:
        raise InvalidArgumentError(
            "Incomplete bmp content, requires at least 32 bytes to find the header size, width, height, and bpp, "
            f"got {len(data)} bytes"
        )
    (header,) = struct.unpack_from("<i", data, 10)
    width, height = struct.unpack_from("<ii", data, 18)
    (bits,) = struct.unpack_from("<h", data, 28)
    stored = int(bits / 8)
    _check(header, width, height, stored)
    rows = abs(height)
    row_bytes = (stored * width + 3) // 4 * 4
    excess = len(data) - header - row_bytes * rows
    if excess:
        raise InvalidArgumentError(
            f"Input size should match (header_size + row_size * abs_height) but they differ by {excess}"
        )
    pixels = np.frombuffer(data, np.uint8, row_bytes * rows, header).reshape(rows, row_bytes)
    image = pixels[:, : width * stored].reshape(rows, width, stored)
    return _arrange(image if height < 0 else image[::-1], channels or stored)


def _check(header: int, width: int, height: int, stored: int) -> None:
    if stored not in (1, 3, 4):
        raise InvalidArgumentError(
            f"Number of channels inherent in the image must be 1, 3 or 4, was {stored}"
        )
    if width <= 0:
        raise InvalidArgumentError(f"Width must be positive, got {width}")
    if height == 0:
        raise InvalidArgumentError("Height must be nonzero")
    if header < 0:
        raise InvalidArgumentError(f"header size must be nonnegative, got {header}")
    if width * abs(height) >= _MAX_PIXELS:
        raise InvalidArgumentError(
            f"Total possible pixel bytes must be less than 2^30, got {width} x {abs(height)} pixels"
        )


def _arrange(image: npt.NDArray[np.uint8], channels: int) -> npt.NDArray[np.uint8]:
    """Blue, green, red as red, green, blue; gray repeated; alpha added or left out."""
    rows, width, stored = image.shape
    if stored == channels == 1:
        return np.ascontiguousarray(image)
    made: npt.NDArray[Any] = np.empty((rows, width, channels), np.uint8)
    made[:, :, :3] = image if stored == 1 else image[:, :, 2::-1]
    if channels == 4:
        made[:, :, 3] = image[:, :, 3] if stored == 4 else 255
    return made
