"""The argument `size` of resizing, as TensorFlow takes it, and sizes with the shape of an image.

Pure: numbers only, no images.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.values.to_array import to_array

__all__ = ["NO_INTEGERS", "fitting_size", "int32_array", "output_size"]

NO_INTEGERS: Final = "'size' must be a 1-D int32 Tensor"
_NO_PAIR: Final = "'size' must be a 1-D Tensor of 2 elements: new_height, new_width"


def output_size(size: Any) -> tuple[int, int]:
    """Read a height and a width; they may be negative.

    Integers are taken modulo 2**32 and numbers in arrays are cut to integers, as in TensorFlow.

    Raises:
        ValueError: it is not a pair of integers.

    >>> output_size([3, 4]), output_size(np.array([3.7, 4.2])), output_size((2**32 + 3, True))
    ((3, 4), (3, 4), (3, 1))
    """
    if type(size) in (tuple, list) and len(size) == 2:
        height, width = size
        if type(height) is type(width) is int and abs(height) < 2**31 and abs(width) < 2**31:
            return height, width  # nearly always
    try:
        numbers = int32_array(size)
    except (TypeError, ValueError):
        raise ValueError(f"{NO_INTEGERS}: got {size!r:.60}") from None
    if numbers.shape != (2,):
        raise ValueError(f"{_NO_PAIR}; got {size!r:.60}")
    return int(numbers[0]), int(numbers[1])


def fitting_size(shape: Sequence[int], height: int, width: int) -> tuple[int, int]:
    """Return the largest size within height and width that has this shape, rounded.

    >>> fitting_size((30, 40), 17, 100)
    (17, 23)
    """
    sides = np.asarray(shape, np.float32)
    with np.errstate(all="ignore"):
        factor = np.minimum(np.float32(height) / sides[0], np.float32(width) / sides[1])
        found = np.round(factor * sides).astype(np.float64)
    low, high = np.where(np.abs(found) < 2**31, found, -(2**31)).astype(np.int64).tolist()
    return low, high


def int32_array(value: Any) -> npt.NDArray[np.int32]:
    """Make a tensor of int32 of an argument, as TensorFlow does where it wants one.

    Raises:
        ValueError: it is not a rectangle of values of one kind, or is too large for int64.
        TypeError: there are other things than integers in it.

    >>> int32_array([[1, True]]), int32_array(np.array([2.7]))
    (array([[1, 1]], dtype=int32), array([2], dtype=int32))
    """
    if isinstance(value, (np.ndarray, np.generic)):
        with np.errstate(all="ignore"):
            return np.asarray(value).astype(np.int32)
    array = to_array(_without_bools(value))
    if array.dtype.kind != "i" and array.size:
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype int32")
    return array.astype(np.int32)


def _without_bools(value: Any) -> Any:
    """Python's bools are integers here."""
    if isinstance(value, (list, tuple)):
        return [_without_bools(item) for item in value]
    return int(value) if isinstance(value, bool) else value
