"""Random JPEG quality: an image as it comes back from a file of random quality."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.ops.jpeg_encode import adjust_jpeg_quality
from tfrkit.ops.random import stateless_uniform, uniform

__all__ = ["random_jpeg_quality", "stateless_random_jpeg_quality"]


def random_jpeg_quality(
    image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any = None
) -> npt.NDArray[Any]:
    """Encode an image as JPEG with a random quality and decode it again.

    Args:
        image: of 1 or 3 channels, see `adjust_jpeg_quality`.
        min_jpeg_quality: the smallest quality, at least 0.
        max_jpeg_quality: what it stays below, at most 100.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        ValueError: the range is empty, or not within 0 to 100.
    """
    _check_range(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(image, uniform([], min_jpeg_quality, max_jpeg_quality, np.int32, seed))


def stateless_random_jpeg_quality(
    image: Any, min_jpeg_quality: Any, max_jpeg_quality: Any, seed: Any
) -> npt.NDArray[Any]:
    """Do the same with a quality that the seeds decide.

    Args:
        image: of 1 or 3 channels, see `adjust_jpeg_quality`.
        min_jpeg_quality: the smallest quality, at least 0.
        max_jpeg_quality: what it stays below, at most 100.
        seed: two integers.

    Raises:
        ValueError: the range is empty, or not within 0 to 100.
    """
    _check_range(min_jpeg_quality, max_jpeg_quality)
    return adjust_jpeg_quality(
        image, stateless_uniform([], seed, min_jpeg_quality, max_jpeg_quality, np.int32)
    )


def _check_range(least: Any, most: Any) -> None:
    if least < 0 or most < 0 or least > 100 or most > 100:
        raise ValueError(
            f"jpeg encoding range must be between 0 and 100. Expected such qualities, but got {least} to {most}."
        )
    if least >= most:
        raise ValueError(f"`min_jpeg_quality` must be less than `max_jpeg_quality`. Got {least} and {most}.")
