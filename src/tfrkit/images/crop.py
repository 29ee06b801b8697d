"""Cutting images out, and putting them into larger ones. Of any type, one image or a batch."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.images.image_value import Image, as_image, check_at_least_3d, finish, is_batch

__all__ = ["central_crop", "crop_to_bounding_box", "pad_to_bounding_box"]


def central_crop(image: Any, central_fraction: Any) -> Image:
    """Cut out the middle: that fraction of the height and of the width.

    Args:
        image: [height, width, channels], or a batch of them.
        central_fraction: in (0, 1]; 1 returns the image itself.

    Raises:
        ValueError: the fraction is not in that range, or the image has fewer or more dimensions.

    >>> central_crop(np.zeros((67, 93, 3)), 0.5).shape
    (35, 47, 3)
    """
    array = as_image(image)
    fraction = _fraction(central_fraction)
    if fraction <= 0 or fraction > 1:
        raise ValueError(f"central_fraction must be within (0, 1], got {fraction}")
    if fraction == 1:
        return array
    check_at_least_3d(array)
    if array.ndim > 4:
        raise ValueError(
            f"`image` should either be a Tensor with rank = 3 or rank = 4. Had rank = {array.ndim}."
        )
    height, width = array.shape[-3:-1]
    top, left = (int((size - size * fraction) / 2) for size in (float(height), float(width)))
    return finish(array[..., top : height - top, left : width - left, :])


def _fraction(value: Any) -> Any:
    """A number; numpy's numbers keep their type, in which the sizes are then computed."""
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "iufb":
        raise TypeError(
            f"'<=' not supported between instances of '{type(value).__name__}' and 'float': central_fraction must be a "
            f"number, got {value!r:.60}"
        )
    return value if isinstance(value, (int, float)) else array[()]


def crop_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Image:
    """Cut out a box.

    Args:
        image: [height, width, channels], or a batch of them.
        offset_height: the row where the box begins.
        offset_width: its column.
        target_height: rows of the box.
        target_width: its columns.

    Raises:
        ValueError: the box is not within the image, or the image has fewer or more dimensions.

    >>> crop_to_bounding_box([[[1], [2]], [[3], [4]]], 1, 0, 1, 2).tolist()
    [[[3], [4]]]
    """
    image = as_image(image)
    is_batch(image)
    _check_sizes(image)
    top, left, rows, columns = map(_whole, (offset_height, offset_width, target_height, target_width))
    height, width = image.shape[-3:-1]
    _require(left >= 0, "offset_width must be >= 0.")
    _require(top >= 0, "offset_height must be >= 0.")
    _require(columns > 0, "target_width must be > 0.")
    _require(rows > 0, "target_height must be > 0.")
    _require(width >= columns + left, "width must be >= target + offset.")
    _require(height >= rows + top, "height must be >= target + offset.")
    return finish(image[..., top : top + rows, left : left + columns, :])


def pad_to_bounding_box(
    image: Any, offset_height: Any, offset_width: Any, target_height: Any, target_width: Any
) -> Image:
    """Put an image into a larger one of zeros.

    Args:
        image: [height, width, channels], or a batch of them.
        offset_height: rows of zeros above it.
        offset_width: columns of zeros left of it.
        target_height: rows of the result.
        target_width: its columns.

    Raises:
        ValueError: the image does not fit, or has fewer or more dimensions.

    >>> pad_to_bounding_box([[[7]]], 0, 1, 1, 3).tolist()
    [[[0], [7], [0]]]
    """
    image = as_image(image)
    is_batch(image)
    top, left, rows, columns = map(_whole, (offset_height, offset_width, target_height, target_width))
    height, width = image.shape[-3:-1]
    _check_sizes(image)
    _require(top >= 0, "offset_height must be >= 0")
    _require(left >= 0, "offset_width must be >= 0")
    _require(columns - left - width >= 0, f"width must be <= target - offset: {width} > {columns} - {left}")
    _require(rows - top - height >= 0, f"height must be <= target - offset: {height} > {rows} - {top}")
    padded = np.zeros((*image.shape[:-3], rows, columns, image.shape[-1]), image.dtype)
    padded[..., top : top + height, left : left + width, :] = image
    return padded


def _check_sizes(image: Image) -> None:
    """See that there is something in the image, which TensorFlow takes for a batch here."""
    check_at_least_3d(image if image.ndim == 4 else image[np.newaxis])


def _whole(value: Any) -> int:
    """A size: TensorFlow takes no number with a fraction for one."""
    array = np.asarray(value)
    if array.ndim or array.dtype.kind not in "iu":
        raise TypeError(f"expected an integer for a size or offset but got {value!r}")
    return int(array)


def _require(holds: bool, message: str) -> None:
    if not holds:
        raise ValueError(message)
