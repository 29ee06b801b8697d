"""Changing the colours of images: brightness, contrast, saturation, hue, gamma; and how much an image varies.

Images of other types than float32 are converted to it and back, so that what is added or multiplied means the same
for all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name
from tfrkit.ops.image_dtype import convert_image_dtype
from tfrkit.ops.image_value import Image, as_float, as_image, scalar_float

__all__ = [
    "adjust_brightness",
    "adjust_contrast",
    "adjust_gamma",
    "adjust_hue",
    "adjust_saturation",
    "total_variation",
]

_SIGNED: Final = "bfloat16, half, float, double, int8, int16, int32, int64"
_NUMBERS: Final = (
    "bfloat16, half, float, double, uint8, int8, uint16, int16, int32, int64, complex64, "
    "complex128, uint32, uint64"
)
_SIX: Final = np.float32(6)
# Where the largest, middle and smallest channel stand, for each sixth of the colour circle.
_LARGEST: Final = np.array([0, 1, 1, 2, 2, 0])
_MIDDLE: Final = np.array([1, 0, 2, 1, 0, 2])
_SMALLEST: Final = np.array([2, 2, 0, 0, 1, 1])


def adjust_brightness(image: Any, delta: Any) -> Image:
    """Add to all values; integers as fractions of their range, with its ends for what leaves it.

    Args:
        image: of any shape, of floats or integers.
        delta: what to add, usually in (-1, 1).

    Raises:
        AttributeError: the type is neither.

    >>> adjust_brightness(np.uint8([[[10, 250]]]), 0.1).tolist()
    [[[35, 255]]]
    """
    image = as_image(image)
    floats = _as_floats(image)
    with np.errstate(all="ignore"):
        return convert_image_dtype(floats + as_image(delta).astype(floats.dtype), image.dtype, saturate=True)


def adjust_contrast(images: Any, contrast_factor: Any) -> Image:
    """Multiply the distance of all values from the mean of their channel.

    Args:
        images: [..., height, width, channels], of floats or integers.
        contrast_factor: a number.

    Raises:
        InvalidArgumentError: there are fewer dimensions, or the factor is no scalar.
        AttributeError: the type is neither.

    >>> adjust_contrast(np.float32([[[1], [3]]]), 2).tolist()
    [[[0.0], [4.0]]]
    """
    images = as_image(images)
    floats = as_float(_as_floats(images))
    factor = scalar_float(contrast_factor, "contrast_factor")
    _check_rank(floats)
    mean = _mean_of_channels(floats)
    with np.errstate(all="ignore"):
        return convert_image_dtype((floats - mean) * factor + mean, images.dtype, saturate=True)


def _mean_of_channels(images: Image) -> Image:
    """The mean over rows and columns; pixels are added by halves, so that the order of additions is TensorFlow's."""
    height, width, channels = images.shape[-3:]
    if not images.size:
        return np.zeros((*images.shape[:-3], 1, 1, channels), np.float32)
    pixels = images.reshape(*images.shape[:-3], height * width, channels)
    while (count := pixels.shape[-2]) > 1:
        half = count // 2
        sums = pixels[..., :half, :] + pixels[..., count - half :, :]
        pixels = np.concatenate([sums, pixels[..., half : count - half, :]], axis=-2) if count % 2 else sums
    mean: Image = pixels * np.float32(np.float32(1) / np.float32(height * width))
    return mean[..., np.newaxis, :]


def adjust_gamma(image: Any, gamma: Any = 1, gain: Any = 1) -> Image:
    """Give gain * image ** gamma.

    Args:
        image: of any shape, of floats or integers.
        gamma: not negative.
        gain: a number.

    Raises:
        ValueError: gamma is negative.
        AttributeError: the type is neither.

    >>> adjust_gamma(np.uint8([[[0, 128, 255]]]), 2).tolist()
    [[[0, 64, 255]]]
    """
    image = as_image(image)
    floats = _as_floats(image)
    if np.any(np.asarray(gamma) < 0):
        raise ValueError("Gamma should be a non-negative real number.")
    kind = floats.dtype.type
    with np.errstate(all="ignore"):
        raised = np.power(floats.astype(np.float64), np.float64(kind(gamma))).astype(floats.dtype)
        return convert_image_dtype(kind(gain) * raised, image.dtype, saturate=True)


def adjust_saturation(image: Any, saturation_factor: Any) -> Image:
    """Multiply the saturation of all colours.

    Args:
        image: [..., height, width, 3], of floats or integers.
        saturation_factor: a number.

    Raises:
        InvalidArgumentError: there are fewer dimensions or not three channels, or the factor is no scalar.
        AttributeError: the type is neither.

    >>> adjust_saturation(np.float32([[[1, 0.5, 0]]]), 0).tolist()
    [[[1.0, 1.0, 1.0]]]
    """
    factor = saturation_factor
    return _on_colours(image, lambda floats: _saturate(floats, scalar_float(factor, "scale")))


def adjust_hue(image: Any, delta: Any) -> Image:
    """Turn all colours on the circle of hues.

    Args:
        image: [..., height, width, 3], of floats or integers.
        delta: parts of the circle, in [-1, 1].

    Raises:
        ValueError: delta is out of its range.
        InvalidArgumentError: there are fewer dimensions or not three channels.
        AttributeError: the type is neither.

    >>> adjust_hue(np.float32([[[1, 0, 0]]]), 0.5).tolist()
    [[[0.0, 1.0, 1.0]]]
    """
    if np.any(np.asarray(delta) < -1) or np.any(np.asarray(delta) > 1):
        raise ValueError("delta must be in the interval [-1, 1]")
    return _on_colours(image, lambda floats: _turn(floats, scalar_float(delta, "delta")))


def _on_colours(image: Any, change: Callable[[Image], Image]) -> Image:
    """Change colours in float32."""
    image = as_image(image)
    floats = as_float(_as_floats(image))
    _check_rank(floats)
    with np.errstate(all="ignore"):
        changed = change(floats) if floats.shape[-1] == 3 else None
        if changed is None:
            raise InvalidArgumentError(
                f"input must have 3 channels but instead has {floats.shape[-1]} channels."
            )
        return convert_image_dtype(changed, image.dtype)


def _saturate(image: Image, factor: np.float32) -> Image:
    one, two = np.float32(1), np.float32(2)
    red, green, blue = (image[..., channel] for channel in range(3))
    value = np.maximum(red, np.maximum(green, blue))
    spread = value - np.minimum(red, np.minimum(green, blue))
    saturation = np.where(value > 0, spread / value, np.float32(0))
    saturation = np.minimum(one, np.maximum(np.float32(0), saturation * factor))
    sixth = one / (_SIX * spread)
    later = np.where(  # the thirds are doubles, which are rounded after the sum
        green == value,
        (sixth * (blue - red) + np.float64(2 / 6)).astype(np.float32),
        (sixth * (red - green) + np.float64(4 / 6)).astype(np.float32),
    )
    hue = np.where(red == value, sixth * (green - blue), later)
    hue = np.where(spread <= 0, np.float32(0), hue)
    hue = np.where(hue < 0, hue + one, hue) * _SIX
    chroma = saturation * value
    middle = chroma * (one - np.abs(np.mod(hue, two) - one))
    parts = np.stack([chroma, middle, np.zeros_like(chroma)], axis=-1)
    made = _place(np.where(hue < _SIX, hue, 0).astype(np.int64), parts)
    made = np.where((hue < _SIX)[..., np.newaxis], made, np.float32(0))
    made += (value - chroma)[..., np.newaxis]
    return made


def _turn(image: Image, delta: np.float32) -> Image:
    one = np.float32(1)
    ordered = np.sort(image, axis=-1)
    low, mid, high = (ordered[..., place] for place in range(3))
    red, green, blue = (image[..., channel] for channel in range(3))
    sixth = np.where(
        red < green,
        np.where(blue < red, 1, np.where(blue > green, 3, 2)),
        np.where(blue < green, 0, np.where(blue > red, 4, 5)),
    )
    ratio = (mid - low) / (high - low)
    hue = sixth.astype(np.float32) + np.where(sixth % 2 == 0, ratio, one - ratio)
    hue = np.where(high == low, np.float32(0), hue) + delta * _SIX
    while np.any(below := hue < 0):
        hue = np.where(below, hue + _SIX, hue)
    while np.any(above := hue >= _SIX):
        hue = np.where(above, hue - _SIX, hue)
    sixth = hue.astype(np.int64)
    ratio = hue - sixth.astype(np.float32)
    ratio = np.where(sixth % 2 == 0, ratio, one - ratio)
    return _place(sixth, np.stack([high, low + ratio * (high - low), low], axis=-1))


def _place(sixth: Image, parts: Image) -> Image:
    """Put the largest, middle and smallest value of each pixel where its sixth of the circle has them."""
    made = np.empty_like(parts)
    for part, places in enumerate((_LARGEST, _MIDDLE, _SMALLEST)):
        np.put_along_axis(made, places[sixth % 6][..., np.newaxis], parts[..., part : part + 1], axis=-1)
    return made


def _as_floats(image: Image) -> Image:
    """Float16 and float32 stay; everything else becomes float32 with its range."""
    return image if image.dtype.name in {"float16", "float32"} else convert_image_dtype(image, np.float32)


def _check_rank(image: Image) -> None:
    if image.ndim < 3:
        shape = ",".join(map(str, image.shape))
        raise InvalidArgumentError(f"input must be at least 3-D, got shape[{shape}]")


def total_variation(images: Any) -> Any:
    """Add up the absolute differences of neighbouring pixels.

    Args:
        images: [height, width, channels], or a batch of them.

    Returns:
        A number, or one for each image of a batch.

    Raises:
        ValueError: there are fewer or more dimensions.
        InvalidArgumentError: the type is unsigned or bool.

    >>> total_variation([[[1], [4]], [[1], [2]]])
    np.int32(6)
    """
    images = as_image(images)
    if images.ndim not in {3, 4}:
        raise ValueError("'images' must be either 3 or 4-dimensional.")
    if images.dtype.kind in "ubO":
        allowed = (
            _SIGNED if images.dtype.kind == "u" else _NUMBERS
        )  # absolute values, and differences before them
        raise InvalidArgumentError(
            f"Value for attr 'T' of {op_name(dtype_name(images.dtype))} is not in the list of allowed values: {allowed}"
        )
    rows = np.abs(images[..., 1:, :, :] - images[..., :-1, :, :])
    columns = np.abs(images[..., :, 1:, :] - images[..., :, :-1, :])
    kind = rows.dtype
    wide = np.float64 if kind.kind not in "i" else kind
    first, second = (each.sum((-3, -2, -1), dtype=wide).astype(kind) for each in (rows, columns))
    return first + second
