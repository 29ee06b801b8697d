"""The argument `size` of resizing, as TensorFlow takes it, and sizes with the shape of an image.

Pure: numbers only, no images.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np

__all__ = ["fitting_size", "output_size"]

_NO_INTEGERS: Final = "'size' must be a 1-D int32 Tensor"
_NO_PAIR: Final = "'size' must be a 1-D Tensor of 2 elements: new_height, new_width"


def output_size(size: Any) -> tuple[int, int]:
    """Read a height and a width; they may be negative.

    Integers are taken modulo 2**32 and numbers in arrays are cut to integers, as in TensorFlow.

    Raises:
        ValueError: it is no pair of integers.

    >>> output_size([3, 4]), output_size(np.array([3.7, 4.2])), output_size((2**32 + 3, True))
    ((3, 4), (3, 4), (3, 1))
    """
    if type(size) in (tuple, list) and len(size) == 2:
        height, width = size
        if type(height) is int and type(width) is int:
            return _wrapped(height), _wrapped(width)
    numbers = _integers(size)
    if numbers.shape != (2,):
        raise ValueError(_NO_PAIR)
    return int(numbers[0]), int(numbers[1])


def fitting_size(shape: Sequence[int], height: int, width: int) -> tuple[int, int]:
    """Give the largest size within height and width that has this shape, rounded.

    >>> fitting_size((30, 40), 17, 100)
    (17, 23)
    """
    sides = np.asarray(shape, np.float32)
    with np.errstate(all="ignore"):
        factor = np.minimum(np.float32(height) / sides[0], np.float32(width) / sides[1])
        found = np.round(factor * sides).astype(np.float64)
    low, high = np.where(np.abs(found) < 2**31, found, -(2**31)).astype(np.int64).tolist()
    return low, high


def _wrapped(number: int) -> int:
    if -(2**31) <= number < 2**31:
        return number
    if not -(2**63) <= number < 2**63:
        raise ValueError(_NO_INTEGERS)
    return (number + 2**31) % 2**32 - 2**31


def _integers(size: Any) -> np.ndarray[Any, np.dtype[np.int32]]:
    """The numbers as int32, in the shape they have."""
    try:
        if isinstance(size, (np.ndarray, np.generic)):
            with np.errstate(all="ignore"):
                return np.asarray(size).astype(np.int32)
        return np.array(_leaves(size), np.int32)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(_NO_INTEGERS) from None


def _leaves(value: Any) -> Any:
    """Nested lists of integers."""
    if isinstance(value, np.ndarray) and not value.ndim:
        value = value[()]
    if isinstance(value, (int, np.integer)):
        return _wrapped(int(value))
    if isinstance(value, (str, bytes)) or not isinstance(value, (Sequence, np.ndarray)):
        raise TypeError(_NO_INTEGERS)
    return [_leaves(item) for item in value]
