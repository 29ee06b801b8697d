"""Colour spaces of images: gray, HSV, YIQ and YUV. Changes of colours are in `adjust`."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from tfrkit.errors import FailedPreconditionError, InvalidArgumentError
from tfrkit.images.dtype import convert_image_dtype
from tfrkit.images.image_value import Image, as_image, of_planes, planes_of
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name

__all__ = [
    "grayscale_to_rgb",
    "hsv_to_rgb",
    "rgb_to_grayscale",
    "rgb_to_hsv",
    "rgb_to_yiq",
    "rgb_to_yuv",
    "yiq_to_rgb",
    "yuv_to_rgb",
]

_GRAY: Final = np.array([0.2989, 0.587, 0.114], np.float32)
_TO_YIQ: Final = [
    [0.299, 0.59590059, 0.2115],
    [0.587, -0.27455667, -0.52273617],
    [0.114, -0.32134392, 0.31119955],
]
_FROM_YIQ: Final[list[list[float]]] = [
    [1, 1, 1],
    [0.95598634, -0.27201283, -1.10674021],
    [0.6208248, -0.64720424, 1.70423049],
]
_TO_YUV: Final = [
    [0.299, -0.14714119, 0.61497538],
    [0.587, -0.28886916, -0.51496512],
    [0.114, 0.43601035, -0.10001026],
]
_FROM_YUV: Final[list[list[float]]] = [[1, 1, 1], [0, -0.394642334, 2.03206185], [1.13988303, -0.58062185, 0]]
_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")


def rgb_to_grayscale(images: Any) -> Image:
    """Make gray of colours: 0.2989 red + 0.587 green + 0.114 blue, in float32, back in the type of the image.

    Args:
        images: [..., 3], of floats or integers.

    Returns:
        [..., 1], of the same type.

    Raises:
        InvalidArgumentError: the last dimension is not 3.
        AttributeError: the type is neither.

    >>> rgb_to_grayscale(np.uint8([[[133, 246, 5]]])).tolist()
    [[[185]]]
    """
    images = as_image(images)
    floats = convert_image_dtype(images, np.float32)
    _check_three(floats, 1)
    red, green, blue = _channels(floats)
    gray = red * _GRAY[0] + green * _GRAY[1] + blue * _GRAY[2]
    return convert_image_dtype(gray[..., np.newaxis], images.dtype)


def grayscale_to_rgb(images: Any) -> Image:
    """Make three equal channels of one.

    Args:
        images: [..., 1], of any type.

    Raises:
        ValueError: the last dimension is not 1.

    >>> grayscale_to_rgb([[[5]]]).tolist()
    [[[5, 5, 5]]]
    """
    images = as_image(images)
    if images.ndim < 2:
        raise ValueError(f"A grayscale image (shape {images.shape}) must be at least two-dimensional.")
    if images.shape[-1] != 1:
        raise ValueError(f"Last dimension of a grayscale image should be size 1. Got shape {images.shape}.")
    return np.repeat(images, 3, axis=-1)


def rgb_to_hsv(images: Any) -> Image:
    """Make hue, saturation and value, each in [0, 1], of red, green and blue in [0, 1].

    Args:
        images: [..., 3], of floats.

    Raises:
        InvalidArgumentError: they are not floats, or have no dimension.
        FailedPreconditionError: the last dimension is not 3.

    >>> rgb_to_hsv(np.float32([[0, 0.5, 0]])).tolist()
    [[0.3333333432674408, 1.0, 0.5]]
    """
    images = _floats(images)
    one = images.dtype.type(1)
    red, green, blue = _channels(images)
    value = np.maximum(np.maximum(red, green), blue)
    spread = value - np.minimum(np.minimum(red, green), blue)
    with np.errstate(all="ignore"):
        saturation = np.where(value > 0, spread / value, one - one)
        sixth = (one / spread) * (one / images.dtype.type(6))
        hue = np.where(
            red == value,
            sixth * (green - blue),
            np.where(
                green == value,
                sixth * (blue - red) + images.dtype.type(2) / images.dtype.type(6),
                sixth * (red - green) + images.dtype.type(4) / images.dtype.type(6),
            ),
        )
    hue = np.where(spread > 0, hue, one - one)
    return np.stack([np.where(hue < 0, hue + one, hue), saturation, value], axis=-1)


def hsv_to_rgb(images: Any) -> Image:
    """Make red, green and blue of hue, saturation and value, all in [0, 1].

    Args:
        images: [..., 3], of floats.

    Raises:
        InvalidArgumentError: they are not floats, or have no dimension.
        FailedPreconditionError: the last dimension is not 3.

    >>> hsv_to_rgb(np.float32([[0.5, 1, 1]])).tolist()
    [[0.0, 1.0, 1.0]]
    """
    images = _floats(images)
    number = images.dtype.type
    hue, saturation, value = _channels(images)
    sixths = hue * number(6)
    shares = (
        np.abs(sixths - number(3)) - number(1),
        number(2) - np.abs(sixths - number(2)),
        number(2) - np.abs(sixths - number(4)),
    )
    rest = number(1) - saturation
    clipped = (np.minimum(np.maximum(share, number(0)), number(1)) for share in shares)
    return np.stack([(rest + saturation * share) * value for share in clipped], axis=-1)


def _floats(images: Any) -> Image:
    array = as_image(images)
    if dtype_name(array.dtype) not in _FLOATS:
        shown = op_name(dtype_name(array.dtype))
        raise InvalidArgumentError(
            f"Value for attr 'T' of {shown} is not in the list of allowed values: half, bfloat16, float, double"
        )
    if not array.ndim:
        raise InvalidArgumentError("input must be at least 1D[]")
    if array.shape[-1] != 3:
        raise FailedPreconditionError(
            f"input must have 3 channels but input only has {array.shape[-1]} channels."
        )
    return array


def _check_three(images: Image, columns: int) -> None:
    """See that colours can be multiplied with a matrix of three rows."""
    *outer, size = images.shape or (0,)
    if size != 3:
        raise InvalidArgumentError(
            f"Matrix size-incompatible: In[0]: [{math.prod(outer)},{size}], In[1]: [3,{columns}]"
        )


def _channels(images: Image) -> tuple[Image, Image, Image]:
    return images[..., 0], images[..., 1], images[..., 2]


def rgb_to_yiq(images: Any) -> Image:
    """Make Y, I and Q of red, green and blue in [0, 1].

    Args:
        images: [..., 3], of floats.

    Raises:
        TypeError: they are not floats.
        InvalidArgumentError: the last dimension is not 3.

    >>> rgb_to_yiq(np.float32([[1, 0, 0]])).round(3).tolist()
    [[0.29899999499320984, 0.5960000157356262, 0.21199999749660492]]
    """
    return _times(images, _TO_YIQ)


def yiq_to_rgb(images: Any) -> Image:
    """Make red, green and blue of Y, I and Q.

    Args:
        images: [..., 3], of floats.

    Raises:
        TypeError: they are not floats.
        InvalidArgumentError: the last dimension is not 3.

    >>> yiq_to_rgb(np.float32([[0.5, 0, 0]])).tolist()
    [[0.5, 0.5, 0.5]]
    """
    return _times(images, _FROM_YIQ)


def rgb_to_yuv(images: Any) -> Image:
    """Make Y, U and V of red, green and blue in [0, 1].

    Args:
        images: [..., 3], of floats.

    Raises:
        TypeError: they are not floats.
        InvalidArgumentError: the last dimension is not 3.

    >>> rgb_to_yuv(np.float32([[1, 1, 1]])).round(3).tolist()
    [[1.0, 0.0, 0.0]]
    """
    return _times(images, _TO_YUV)


def yuv_to_rgb(images: Any) -> Image:
    """Make red, green and blue of Y, U and V.

    Args:
        images: [..., 3], of floats.

    Raises:
        TypeError: they are not floats.
        InvalidArgumentError: the last dimension is not 3.

    >>> yuv_to_rgb(np.float32([[0.5, 0, 0]])).tolist()
    [[0.5, 0.5, 0.5]]
    """
    return _times(images, _FROM_YUV)


def _times(images: Any, rows: list[list[float]]) -> Image:
    """Multiply colours with a matrix, each sum rounded once as fused multiply-adds do it."""
    images = as_image(images)
    name = dtype_name(images.dtype)
    if name not in _FLOATS and images.dtype.kind != "c":
        raise TypeError(f"Cannot convert {rows} to EagerTensor of dtype {name}")
    matrix = np.array(rows).astype(images.dtype)
    _check_three(images, 3)
    if name != "float32":
        return _times_wide(images, matrix)
    planes = [plane.astype(np.float64) for plane in planes_of(images)]
    return of_planes((_fused(planes, column) for column in matrix.T.astype(np.float64)), images.shape)


def _fused(planes: list[Image], weights: Image) -> Image:
    """Add up three products; doubles hold a product of floats, so that each sum is rounded once."""
    total = (planes[0] * weights[0]).astype(np.float32)
    total = (planes[1] * weights[1] + total).astype(np.float32)
    made: Image = (planes[2] * weights[2] + total).astype(np.float32)
    return made


def _times_wide(images: Image, matrix: Image) -> Image:
    """The same for other types; those smaller than float32 are added up in it."""
    kind = images.dtype
    wide = kind if kind.kind == "c" or kind.itemsize > 4 else np.dtype(np.float32)
    made: Image = (images.astype(wide) @ matrix.astype(wide)).astype(kind)
    return made
