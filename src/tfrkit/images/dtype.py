"""Types of images: conversion between them with their ranges, and standardising.

Floats are in [0, 1], integers in the range of their type; see `convert_image_dtype`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.images.image_value import Image, as_image, check_at_least_3d
from tfrkit.model.element_spec import as_dtype
from tfrkit.values.float_to_integer import float_to_integer

__all__ = ["convert_image_dtype", "per_image_standardization"]


def convert_image_dtype(image: Any, dtype: Any, saturate: bool = False) -> Image:
    """Convert an image to another type, with its range: 255 of uint8 is 1.0 of a float.

    As in TensorFlow, a float becomes an integer by multiplying with the largest one plus a half and cutting the
    fraction, and the products with 1/255 are those of float32 rather than the nearest to x/255.

    Args:
        image: of any shape; floats or integers.
        dtype: a type of floats or integers.
        saturate: whether numbers out of the new range become its ends; else they wrap round.

    Raises:
        AttributeError: a type is neither.

    >>> convert_image_dtype(np.uint8([0, 128, 255]), "float32").tolist()
    [0.0, 0.501960813999176, 1.0]
    >>> convert_image_dtype(np.float32([0, 0.5, 2]), np.uint8, saturate=True).tolist()
    [0, 127, 255]
    """
    array = as_image(image)
    to = as_dtype(dtype)
    if _kind(to) == "other":
        raise AttributeError(f"dtype must be either floating point or integer, got {to}")
    if _kind(array.dtype) == "other":
        raise AttributeError(f"image dtype must be either floating point or integer, got {array.dtype}")
    if to == array.dtype:
        return array
    with np.errstate(all="ignore"):
        made: Image = _convert(array, to, saturate)
    return made


def _kind(dtype: np.dtype[Any]) -> str:
    """Whether it is "integer", "float" or "other"; numpy does not know what the types of ml_dtypes are."""
    if dtype.kind in "iu":
        return "integer"
    if dtype.kind == "f" or "float" in dtype.name:
        return "float"
    return "other"


def _convert(image: Image, to: np.dtype[Any], saturate: bool) -> Any:
    kinds = _kind(image.dtype), _kind(to)
    if kinds == ("float", "float"):
        return image.astype(to)
    if kinds == ("integer", "float"):
        return image.astype(to) * to.type(1 / int(np.iinfo(image.dtype).max))
    if kinds == ("float", "integer"):
        scaled: Image = image * image.dtype.type(int(np.iinfo(to).max) + 0.5)
        return float_to_integer(_saturated(scaled, to) if saturate else scaled, to)
    return _between_integers(image, to, saturate)


def _between_integers(image: Image, to: np.dtype[Any], saturate: bool) -> Any:
    scale_in, scale_out = int(np.iinfo(image.dtype).max), int(np.iinfo(to).max)
    if scale_in > scale_out:
        scaled = image // image.dtype.type((scale_in + 1) // (scale_out + 1))
        return (_saturated(scaled, to) if saturate else scaled).astype(to)
    cast = (_saturated(image, to) if saturate else image).astype(to)
    return cast * to.type((scale_out + 1) // (scale_in + 1))


def _saturated(image: Image, to: np.dtype[Any]) -> Any:
    """Clip numbers to what of the range of an integer type their own type can say."""
    limits = np.iinfo(to)
    if image.dtype.kind in "iu":
        own = np.iinfo(image.dtype)
        return np.clip(image, max(own.min, limits.min), min(own.max, limits.max))
    low, high = (_nearest_within(image.dtype, int(limit)) for limit in (limits.min, limits.max))
    return np.minimum(np.maximum(image, low), high)


def _nearest_within(dtype: np.dtype[Any], limit: int) -> Any:
    """The number of a float type that is nearest to a limit from within, as far as doubles can tell."""
    number = dtype.type(min(float(limit), _largest(dtype)))
    return np.nextafter(number, dtype.type(0)) if abs(float(number)) > abs(float(limit)) else number


def _largest(dtype: np.dtype[Any]) -> float:
    """The largest finite number; numpy has no such knowledge of bfloat16."""
    return float(np.finfo(dtype).max) if dtype.kind == "f" else float(np.array(0x7F7F, np.uint16).view(dtype))


def per_image_standardization(image: Any) -> Image:
    """Shift and scale an image to mean 0 and variance 1, in float32.

    The deviation is at least 1/sqrt(number of values), so that an even image becomes zeros.

    Args:
        image: [..., height, width, channels]; every image by itself.

    Raises:
        ValueError: it has fewer dimensions.

    >>> per_image_standardization([[[0.0], [2.0]]]).tolist()
    [[[-1.0], [1.0]]]
    """
    image = as_image(image)
    check_at_least_3d(image)
    if image.dtype.kind == "c":
        image = image.real
    image = image.astype(np.float32)
    axes = (-3, -2, -1)
    mean = image.mean(axes, np.float64, keepdims=True).astype(np.float32)
    centred = image - mean
    variance = np.square(centred).mean(axes, np.float64, keepdims=True).astype(np.float32)
    least = np.float32(1 / np.sqrt(np.float64(np.prod(image.shape[-3:]))))
    made: Image = centred / np.maximum(np.sqrt(variance), least)
    return made
