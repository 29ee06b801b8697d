"""Turning images round: flips, turns by 90 degrees, transposing. Of any type, one image or a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.images.image_value import Image, as_image, check_at_least_3d, finish, is_batch

__all__ = ["flip_left_right", "flip_up_down", "rot90", "transpose"]


def flip_left_right(image: Any) -> Image:
    """Turn an image round its middle column.

    Args:
        image: [height, width, channels], or a batch of them.

    Raises:
        ValueError: it has fewer or more dimensions.

    >>> flip_left_right([[[1], [2]]]).tolist()
    [[[2], [1]]]
    """
    return _flip(as_image(image), -2)


def flip_up_down(image: Any) -> Image:
    """Turn an image round its middle row.

    Args:
        image: [height, width, channels], or a batch of them.

    Raises:
        ValueError: it has fewer or more dimensions.

    >>> flip_up_down([[[1]], [[2]]]).tolist()
    [[[2]], [[1]]]
    """
    return _flip(as_image(image), -3)


def _flip(image: Image, axis: int) -> Image:
    check_at_least_3d(image)
    is_batch(image, "")
    return finish(np.flip(image, axis))


def rot90(image: Any, k: Any = 1) -> Image:
    """Turn an image counter-clockwise by 90 degrees, `k` times.

    Args:
        image: [height, width, channels], or a batch of them.
        k: how often; negative for clockwise.

    Raises:
        ValueError: the image has fewer or more dimensions.

    >>> rot90([[[1], [2]]]).tolist()
    [[[2]], [[1]]]
    """
    image = as_image(image)
    check_at_least_3d(image)
    times = _whole(k)
    is_batch(image)
    return finish(np.rot90(image, times % 4, axes=(-3, -2)))


def _whole(k: Any) -> int:
    array = as_image(k)
    if array.dtype.kind not in "iub":
        raise TypeError(f"Cannot convert {k!r} to EagerTensor of dtype int32")
    if array.ndim:
        raise ValueError(f"Shape {array.shape} must have rank 0: k is one number, of quarter turns")
    return int(array)


def transpose(image: Any) -> Image:
    """Exchange rows and columns.

    Args:
        image: [height, width, channels], or a batch of them.

    Raises:
        ValueError: it has fewer or more dimensions.

    >>> transpose([[[1], [2]]]).tolist()
    [[[1]], [[2]]]
    """
    image = as_image(image)
    check_at_least_3d(image)
    is_batch(image)
    return finish(np.swapaxes(image, -3, -2))
