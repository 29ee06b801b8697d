"""decode_bmp, with TensorFlow's arguments and errors."""

from __future__ import annotations

from typing import Any

from tfrkit.images.codecs.foreign_image import Pixels
from tfrkit.images.codecs.image_decoder import decode_as

__all__ = ["decode_bmp"]


def decode_bmp(contents: Any, channels: int = 0) -> Pixels:
    """Decode a BMP image to the same array as TensorFlow.

    Args:
        contents: the file, one string. Of other formats WebP is decoded too, as in TensorFlow.
        channels: 0 as stored, 3 RGB, 4 RGBA.

    Returns:
        uint8 of shape (height, width, channels). Images of 8 bits have one channel, with the numbers as they are
        stored: palettes are ignored.

    Raises:
        InvalidArgumentError: the file is damaged or not BMP, or has neither 8, 24 nor 32 bits.
    """
    return decode_as("DecodeBmp", contents, channels)
