"""decode_webp, with TensorFlow's arguments and errors."""

from __future__ import annotations

from typing import Any

from tfrkit.images.codecs.foreign_image import Pixels
from tfrkit.images.codecs.image_decoder import decode_as

__all__ = ["decode_webp"]


def decode_webp(contents: Any, channels: int = 0, dtype: Any = "uint8") -> Pixels:
    """Decode all frames of a WebP image.

    Args:
        contents: the file, one string. JPEG and PNG are decoded too, as in TensorFlow.
        channels: 0 as stored; 3 and 4 only if that is the number stored.
        dtype: uint8.

    Returns:
        uint8 of shape (frames, height, width, channels), also for one frame.

    Raises:
        InvalidArgumentError: the file is damaged or not an image, or has another number of channels.
        MissingExtraError: the extra `images` is not installed.
    """
    return decode_as("DecodeWebP", contents, channels, dtype)
