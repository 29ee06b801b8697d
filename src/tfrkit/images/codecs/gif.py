"""decode_gif, with TensorFlow's arguments and errors."""

from __future__ import annotations

from typing import Any

from tfrkit.images.codecs.foreign_image import Pixels
from tfrkit.images.codecs.image_decoder import decode_as

__all__ = ["decode_gif"]


def decode_gif(contents: Any) -> Pixels:
    """Decode all frames of a GIF image to the same array as TensorFlow.

    Args:
        contents: the file, one string. JPEG, PNG and WebP give one frame, or all that they have.

    Returns:
        uint8 of shape (frames, height, width, 3). As in TensorFlow, the size is that of the largest frame rather than
        the one in the header, a frame that does not cover it or is transparent shows the one before it, or black, and
        what the file says about disposal is not looked at.

    Raises:
        InvalidArgumentError: the file is damaged or no image.
    """
    return decode_as("DecodeGif", contents, 3)
