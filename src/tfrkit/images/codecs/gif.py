"""decode_gif, with TensorFlow's arguments and errors."""

from __future__ import annotations

from typing import Any

from tfrkit.images.codecs.foreign_image import Pixels
from tfrkit.images.codecs.image_decoder import decode_as

__all__ = ["decode_gif"]


def decode_gif(contents: Any) -> Pixels:
    """Decode all frames of a GIF image.

    Args:
        contents: the file, one string. JPEG, PNG and WebP are decoded too, as in TensorFlow: one frame, or all.

    Returns:
        uint8 of shape (frames, height, width, 3). A still image is TensorFlow's, bit for bit, and so is the first frame
        of an animation, if it covers the canvas. Frames are put together by Pillow: they have the size of the canvas,
        follow what the file says about disposal, and are black where they are transparent.

    Raises:
        InvalidArgumentError: the file is damaged or not an image.
        MissingExtraError: the extra `images` is not installed.
    """
    return decode_as("DecodeGif", contents, 3)
