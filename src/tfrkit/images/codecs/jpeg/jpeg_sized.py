"""JPEGs of the usual kind, decoded into the caller's memory, at a smaller scale if wanted.

Only what decodes without a warning; everything else (CMYK, progressive or cut files, other formats) is left to
`decode_image`, which treats it as TensorFlow does. Results are those of `decode_jpeg`'s defaults, bit for bit,
unless a scale was asked for.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.images.codecs.image_format import JPEG_MAGIC
from tfrkit.images.codecs.jpeg.jpeg_header import Frame, read_frame
from tfrkit.optional import require

__all__ = ["decode_jpeg_sized"]

Image = npt.NDArray[np.uint8]

_COLORSPACES = {1: "GRAY", 3: "RGB"}
_SEQUENTIAL = (0xC0, 0xC1)
_MOST_PIXELS = 2**29 // 3  # TensorFlow refuses larger images
_MOST_PER_BYTE = 2048  # an image that claims more pixels is damaged
_FACTORS = (8, 4, 2)  # with fast code; scales between, such as 3/8, take longer than the next larger of these


def decode_jpeg_sized(
    data: Any,
    channels: int = 0,
    least: tuple[int, int] = (0, 0),
    memory: Callable[[int], Image] | None = None,
) -> Image | None:
    """Decode a JPEG.

    Args:
        data: its bytes.
        channels: 0 as stored, 1 or 3.
        least: height and width that the result must have at least; it is decoded at the smallest of the scales 1/8, 1/4
            and 1/2 that covers them, else in full. (0, 0) decodes in full.
        memory: returns at least as many bytes as requested, for the result; None allocates them.

    Returns:
        Height x width x channels; None if it is not a JPEG of the usual kind.

    Raises:
        MissingExtraError: simplejpeg is not installed.
    """
    if bytes(data[:3]) != JPEG_MAGIC:
        return None
    frame = read_frame(data)
    if frame is None or not _is_usual(frame):
        return None
    wanted = channels or frame.channels
    if wanted not in _COLORSPACES or (wanted == 1 and frame.stored_rgb):
        return None
    height, width = _scaled(frame.height, frame.width, least)
    buffer = None if memory is None else memory(height * width * wanted)
    codec = require("simplejpeg", "decode_image")
    try:
        image: Image = codec.decode_jpeg(data, _COLORSPACES[wanted], True, False, height, width, 1, buffer)
    except ValueError:
        return None
    return image


def _is_usual(frame: Frame) -> bool:
    """Say whether it is of the kind that almost all are: 8 bits, sequential, gray or colour, of a likely size."""
    kind = frame.marker in _SEQUENTIAL and frame.precision == 8 and frame.channels in _COLORSPACES
    pixels = frame.height * frame.width
    return kind and 0 < pixels < min(_MOST_PIXELS, _MOST_PER_BYTE * len(frame.data))


def _scaled(height: int, width: int, least: tuple[int, int]) -> tuple[int, int]:
    """The size that an image is decoded to.

    >>> _scaled(375, 500, (96, 96)), _scaled(375, 500, (47, 60)), _scaled(375, 500, (0, 0)), _scaled(375, 500, (200, 9))
    ((188, 250), (47, 63), (375, 500), (375, 500))
    """
    low, wide = least
    if low and wide:
        for factor in _FACTORS:
            size = -(-height // factor), -(-width // factor)
            if size[0] >= low and size[1] >= wide:
                return size
    return height, width
