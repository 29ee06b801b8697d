"""Images fitted into a size without distortion: by zeros around them, or by cutting off what is too much."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError, ResourceExhaustedError
from tfrkit.images.image_value import Image, as_image, check_at_least_3d, finish, is_batch
from tfrkit.images.resize.resize import ResizeMethod, resize
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.tensor_types import tensor_type_of

__all__ = ["fit_with_pad", "resize_with_crop_or_pad", "resize_with_pad"]

_PLENTY: Final = 2**30  # bytes that any machine has


def resize_with_crop_or_pad(image: Any, target_height: Any, target_width: Any) -> Any:
    """Cut off or add zeros evenly on both sides, so that images get a size. Pixels keep their size and type.

    Args:
        image: [height, width, channels], or a batch of them, of any type.
        target_height: rows of the result.
        target_width: its columns.

    Raises:
        ValueError: a size is not positive, or the image is empty or has fewer or more dimensions.
        TypeError: a size is not an integer.

    >>> resize_with_crop_or_pad([[[1], [2], [3]]], 2, 2).tolist()
    [[[1], [2]], [[0], [0]]]
    """
    array = _checked(image, target_height, target_width)
    height, width = array.shape[-3:-1]
    rows, columns = _whole_sizes(height, width, target_height, target_width)
    top, left = max((height - rows) // 2, 0), max((width - columns) // 2, 0)
    cut = array[..., top : top + min(rows, height), left : left + min(columns, width), :]
    if (rows, columns) == cut.shape[-3:-1]:
        padded = finish(cut)
    else:
        padded = _padded(cut, max((rows - height) // 2, 0), max((columns - width) // 2, 0), rows, columns)
    return BytesColumn.from_list(padded) if padded.dtype.hasobject else padded


def resize_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
) -> Image:
    """Resize images so that they just fit into a size, and put zeros around them.

    Args:
        image: [height, width, channels], or a batch of them, of a type that `resize` takes.
        target_height: rows of the result.
        target_width: its columns.
        method: as of `resize`.
        antialias: as of `resize`.

    Returns:
        float32; with "nearest" the type of the images.

    Raises:
        ValueError: a size is not positive, or the image is empty or has fewer or more dimensions.
        TypeError: a size is not an integer.
        InvalidArgumentError: nothing of the image would be left.

    >>> resize_with_pad(np.ones((2, 2, 1), np.uint8), 1, 3)[0, :, 0].tolist()
    [0.0, 1.0, 0.0]
    """
    return fit_with_pad(
        image,
        target_height,
        target_width,
        lambda array, size: resize(array, size, method, antialias=antialias),
    )


def fit_with_pad(
    image: Any, target_height: Any, target_width: Any, resizer: Callable[[Image, tuple[int, int]], Image]
) -> Image:
    """Resize images by any function so that they just fit into a size, and put zeros around them.

    Args:
        image: [height, width, channels], or a batch of them.
        target_height: rows of the result.
        target_width: its columns.
        resizer: resizes an array to a height and width.
    """
    array = _checked(image, target_height, target_width)
    height, width = (np.float32(side) for side in array.shape[-3:-1])
    rows, columns = np.float32(target_height), np.float32(target_width)
    ratio = np.maximum(width / columns, height / rows)
    fitting_height, fitting_width = height / ratio, width / ratio
    resized = resizer(array, (int(np.floor(fitting_height)), int(np.floor(fitting_width))))
    for size in (target_width, target_height):
        _check_whole(size)
    top = max(0, int(np.floor((rows - fitting_height) / np.float32(2))))
    left = max(0, int(np.floor((columns - fitting_width) / np.float32(2))))
    return _padded(resized, top, left, int(target_height), int(target_width))


def _checked(image: Any, target_height: Any, target_width: Any) -> Image:
    """The image, if it and the sizes are such as TensorFlow takes."""
    array = as_image(image)
    check_at_least_3d(array if is_batch(array) else array[np.newaxis])
    _check_positive(target_width, "target_width must be > 0.")
    _check_positive(target_height, "target_height must be > 0.")
    return array


def _check_positive(size: Any, message: str) -> None:
    if size > 0:
        return
    if isinstance(
        size, np.generic
    ):  # most likely of a Tensor, for which TensorFlow has an operation that asserts
        raise InvalidArgumentError(
            f"Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: b'{message}'"
        )
    raise ValueError(message)


def _check_whole(size: Any) -> None:
    if not isinstance(size, (int, np.integer)) and not (
        isinstance(size, np.ndarray) and not size.ndim and size.dtype.kind in "iu"
    ):
        raise TypeError(f"Cannot convert {size!r} to EagerTensor of dtype int32")


def _whole_sizes(height: int, width: int, target_height: Any, target_width: Any) -> tuple[int, int]:
    """The sizes as integers. Which error a fraction is depends on whether TensorFlow cuts with it or pads."""
    for size, side in ((target_height, height), (target_width, width)):
        if not isinstance(size, float) or size <= side:
            _check_whole(size)
    if isinstance(target_height, float) or isinstance(target_width, float):
        raise InvalidArgumentError(
            "Value for attr 'Tpaddings' of float is not in the list of allowed values: int32, int64"
        )
    return int(target_height), int(target_width)


def _padded(image: Image, top: int, left: int, rows: int, columns: int) -> Image:
    """The image in a larger one of zeros, or of empty strings."""
    height, width = image.shape[-3:-1]
    if width + left > columns:
        raise ValueError(f"width must be <= target - offset: {width} > {columns} - {left}")
    if height + top > rows:
        raise ValueError(f"height must be <= target - offset: {height} > {rows} - {top}")
    padded = _zeros((*image.shape[:-3], rows, columns, image.shape[-1]), image.dtype)
    padded[..., top : top + height, left : left + width, :] = image
    return padded


def _zeros(shape: tuple[int, ...], dtype: np.dtype[Any]) -> Image:
    size = dtype.itemsize
    for side in shape:
        size *= side
    if size > _PLENTY and size > os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGESIZE"):
        found = tensor_type_of(dtype)
        shown = ",".join(map(str, shape if len(shape) == 4 else (1, *shape)))
        raise ResourceExhaustedError(
            f"OOM when allocating tensor with shape[{shown}] and type {found.op_name if found else dtype}. "
            "Choose a smaller size."
        )
    return np.full(shape, b"", object) if dtype.hasobject else np.zeros(shape, dtype)
