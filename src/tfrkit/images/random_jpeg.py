"""Images as they come back from JPEG files of random quality."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from tfrkit.images.codecs.jpeg.jpeg_encode import adjust_jpeg_quality
from tfrkit.images.image_value import Image
from tfrkit.values.random import stateless_uniform, uniform

__all__ = ["random_jpeg_quality", "stateless_random_jpeg_quality"]


def random_jpeg_quality(image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any = None) -> Image:
    """Encode an image as JPEG with a random quality, and decode it again; see `adjust_jpeg_quality`.

    Args:
        image: [height, width, channels] with 1 or 3 channels.
        min_jpeg_quality: the least quality, 0 to 100.
        max_jpeg_quality: what it stays below.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        ValueError: the qualities are out of range, or not in order.
    """
    return adjust_jpeg_quality(
        image, _quality(min_jpeg_quality, max_jpeg_quality, partial(uniform, seed=seed))
    )


def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any
) -> Image:
    """Encode an image as JPEG with a quality that the seeds decide, and decode it again.

    Args:
        image: [height, width, channels] with 1 or 3 channels.
        min_jpeg_quality: the least quality, 0 to 100.
        max_jpeg_quality: what it stays below.
        seed: two integers.

    Raises:
        ValueError: the qualities are out of range, or not in order.
        InvalidArgumentError: there are not two seeds.
    """
    draw = partial(stateless_uniform, seed=seed)
    return adjust_jpeg_quality(image, _quality(min_jpeg_quality, max_jpeg_quality, draw))


def _quality(least: Any, most: Any, draw: Callable[..., Any]) -> Any:
    if least < 0 or most < 0 or least > 100 or most > 100:
        raise ValueError(f"jpeg encoding range must be between 0 and 100. Got {least} to {most}.")
    if least >= most:
        raise ValueError(f"`min_jpeg_quality` must be less than `max_jpeg_quality`. Got {least} and {most}.")
    return draw([], minval=least, maxval=most, dtype="int32")
