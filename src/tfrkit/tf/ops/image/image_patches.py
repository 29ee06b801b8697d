"""Patches of images: every window of a size, laid side by side."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError, OutOfRangeError, UnimplementedError
from tfrkit.images.image_value import Image, as_image
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name
from tfrkit.values.attributes import int_attribute

__all__ = ["extract_image_patches", "extract_patches"]

_TYPES: Final = (
    "bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, "
    "complex64, complex128, bool"
)


def extract_patches(images: Any, sizes: Any, strides: Any, rates: Any, padding: str) -> Image:
    """Cut images into windows, each of which becomes the channels of one pixel.

    Args:
        images: [batch, height, width, channels], of numbers or booleans.
        sizes: [1, height, width, 1] of a window.
        strides: [1, rows, columns, 1] from one window to the next.
        rates: [1, rows, columns, 1] from one pixel of a window to the next.
        padding: "VALID" for whole windows only, "SAME" for zeros around the image, so that there is one window for
            every stride.

    Returns:
        [batch, rows, columns, height * width * channels], of the images' type.

    Raises:
        InvalidArgumentError, OutOfRangeError, UnimplementedError: as in TensorFlow, with its texts.
        TypeError: sizes, strides or rates are not lists of integers.

    >>> extract_patches([[[[1], [2]], [[3], [4]]]], [1, 2, 2, 1], [1] * 4, [1] * 4, "SAME")[0].tolist()
    [[[1, 2, 3, 4], [2, 0, 4, 0]], [[3, 4, 0, 0], [4, 0, 0, 0]]]
    """
    window, steps, gaps = _four(sizes, "ksizes"), _four(strides, "strides"), _four(rates, "rates")
    array = as_image(images)
    if op_name(dtype_name(array.dtype)) not in _TYPES.split(", "):
        raise InvalidArgumentError(
            f"Value for attr 'T' of {op_name(dtype_name(array.dtype))} is not in the list of allowed values: {_TYPES}"
        )
    if padding not in {"SAME", "VALID"}:
        raise InvalidArgumentError(
            f'Value for attr \'padding\' of "{padding}" is not in the list of allowed values: "SAME", "VALID"'
        )
    for numbers, name in ((window, "ksizes"), (steps, "strides"), (gaps, "rates")):
        _check_four(numbers, name)
    if array.ndim != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional[{','.join(map(str, array.shape))}]")
    return _patches(array, window[1:3], steps[1:3], gaps[1:3], padding == "SAME")


def extract_image_patches(
    images: Any,
    ksizes: Any = None,
    strides: Any = None,
    rates: Any = None,
    padding: str | None = None,
    *,
    sizes: Any = None,
) -> Image:
    """Do the same as `extract_patches` with the arguments of TensorFlow 1.

    Args:
        images: as there.
        ksizes: another name of `sizes`.
        strides: as there.
        rates: as there.
        padding: as there.
        sizes: as there.

    Raises:
        ValueError: both names of one argument are used.
    """
    if ksizes is not None and sizes is not None:
        raise ValueError("Cannot specify both 'ksizes' and 'sizes'.")
    return extract_patches(images, sizes if ksizes is None else ksizes, strides, rates, str(padding))


def _four(value: Any, name: str) -> list[int]:
    if not isinstance(value, (list, tuple)):
        raise TypeError(
            f"Expected list for '{name}' argument to 'extract_image_patches' Op, not {value!r:.100}."
        )
    return [int_attribute(item, name, 0) for item in value]


def _check_four(numbers: list[int], name: str) -> None:
    if len(numbers) < 4:
        raise InvalidArgumentError(f"Length for attr '{name}' of {len(numbers)} must be at least minimum 4")
    if len(numbers) > 4:
        raise InvalidArgumentError(f"Sliding window {name} field must specify 4 dimensions, got {numbers}")
    if numbers[0] != 1 or numbers[3] != 1:
        raise UnimplementedError(
            f"Only support {name} across space. Got {numbers}: the first and the last must be 1."
        )
    if numbers[1] < 1 or numbers[2] < 1:
        raise OutOfRangeError(f"{name} is out of range. Got {numbers}: none may be below 1.")


def _patches(images: Image, window: list[int], steps: list[int], gaps: list[int], pad: bool) -> Image:
    reach = [(size - 1) * gap + 1 for size, gap in zip(window, gaps, strict=True)]
    around, counts = [], []
    for size, span, step in zip(images.shape[1:3], reach, steps, strict=True):
        count = -(-size // step) if pad else int((size - span + step) / step)
        if count < 0:
            raise InvalidArgumentError(
                f"Computed output size would be negative: {count} "
                f"[input_size: {size}, effective_filter_size: {span}, stride: {step}]"
            )
        lacking = max(0, (count - 1) * step + span - size) if pad else 0
        around.append((lacking // 2, lacking - lacking // 2))
        counts.append(count)
    shape = images.shape[0], *counts, window[0] * window[1] * images.shape[3]
    if 0 in shape:
        return np.zeros(shape, images.dtype)
    padded = np.pad(images, ((0, 0), *around, (0, 0))) if pad else images
    views = np.lib.stride_tricks.sliding_window_view(padded, reach, (1, 2))
    chosen = views[:, :: steps[0], :: steps[1], :, :: gaps[0], :: gaps[1]]
    return chosen.transpose(0, 1, 2, 4, 5, 3).reshape(shape)
