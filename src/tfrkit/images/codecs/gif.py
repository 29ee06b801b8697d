"""GIF files to arrays, by Pillow, which puts the frames of animations together as browsers do.

A file with one frame that covers its canvas gives TensorFlow's pixels, and so does the first frame of an animation.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.pillow import opened_by_pillow

__all__ = ["count_gif_frames", "decode_gif_file"]

Pixels = npt.NDArray[np.uint8]
Buffer = bytes | memoryview


def count_gif_frames(data: Buffer) -> int:
    """Count the frames of a file that begins with GIF8, and decode none.

    Raises:
        InvalidArgumentError: the file is damaged, with the beginning of TensorFlow's text.
    """
    try:
        with opened_by_pillow(data, "GIF") as image:
            return int(image.n_frames)
    except ValueError as error:
        raise _invalid(data, error) from None


def decode_gif_file(data: Buffer, all_frames: bool) -> Pixels:
    """Decode a file that begins with GIF8.

    Args:
        data: the file.
        all_frames: decode all frames, else the first alone.

    Returns:
        An array of shape (frames, height, width, 3); what is transparent is black.

    Raises:
        InvalidArgumentError: the file is damaged, with the beginning of TensorFlow's text.
        MissingExtraError: Pillow is not installed.
    """
    try:
        with opened_by_pillow(data, "GIF") as image:
            found = [_decode_frame(image, number) for number in range(image.n_frames if all_frames else 1)]
    except ValueError as error:
        raise _invalid(data, error) from None
    height, width = (max(frame.shape[axis] for frame in found) for axis in (0, 1))
    made = np.zeros((len(found), height, width, 3), np.uint8)  # the canvas may grow from frame to frame
    for canvas, frame in zip(made, found, strict=True):
        canvas[: frame.shape[0], : frame.shape[1]] = frame
    return made


def _decode_frame(image: Any, number: int) -> Pixels:
    image.seek(number)
    pixels: Pixels = np.array(image.convert("RGBA"))
    pixels[..., :3][pixels[..., 3] == 0] = 0
    return pixels[..., :3]


def _invalid(data: Buffer, error: Exception) -> InvalidArgumentError:
    return InvalidArgumentError(f"Invalid GIF data (size {len(data)}), {error}")
