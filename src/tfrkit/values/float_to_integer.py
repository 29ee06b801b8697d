"""Floats as integers: fractions are dropped, and what does not fit becomes what TensorFlow's processor makes of it.

TensorFlow converts in groups as large as the processor takes at once, which give the ends of a small type's range, and
the rest of a tensor one by one, which lose their high bits. Both are done here as its x86-64 builds do them, on every
processor. Beyond about a million elements TensorFlow's threads end their shares one by one too; that is not followed.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["float_to_integer"]

_GROUPS: Final = {"float16": 16, "bfloat16": 8, "float32": 32, "float64": 16}  # elements that convert at once


def float_to_integer(floats: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    """Cut the fractions of floats.

    Args:
        floats: of any float type and shape.
        dtype: a type of integers.

    >>> float_to_integer(np.float32([1.9, -1.9, 300]), np.dtype("uint8")).tolist()
    [1, 255, 44]
    >>> set(float_to_integer(np.full(32, 300, np.float32), np.dtype("uint8")).tolist())
    {255}
    """
    name = floats.dtype.name
    if floats.dtype.itemsize < 4:
        floats = floats.astype(np.float32)  # so that it can be compared with the limits
    limits = np.iinfo(dtype)
    if bool(np.all((floats > float(limits.min) - 1) & (floats < float(limits.max) + 1))):
        return floats.astype(dtype)
    group = {1: _GROUPS.get(name, 1), 2: _GROUPS.get(name, 1), 4: 8, 8: 1}[dtype.itemsize]
    flat = floats.ravel()
    at_once = flat.size - flat.size % group
    made = np.empty(flat.size, dtype)
    made[:at_once] = _in_groups(flat[:at_once], name, dtype)
    made[at_once:] = _one_by_one(flat[at_once:], dtype)
    return made.reshape(floats.shape)


def _whole(floats: npt.NDArray[Any], bits: int) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
    """Which of them fit this many bits, and the integers; the smallest one for those that do not."""
    edge = 2.0 ** (bits - 1)
    fits = (floats >= -edge) & (floats < edge)
    return fits, np.where(fits, np.where(fits, floats, 0).astype(np.int64), -(2 ** (bits - 1)))


def _in_groups(floats: npt.NDArray[Any], name: str, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if dtype.itemsize == 8 or dtype == np.int32:
        return _one_by_one(floats, dtype)
    if dtype == np.uint32:
        fits, whole = _whole(floats, 33)
        return np.where(fits & (whole >= -(2**31)), whole, 2**31).astype(dtype)
    limits = np.iinfo(dtype)
    _, whole = _whole(floats, 32)
    if dtype == np.uint8 and name in {"float16", "float64"}:  # these pass through int16 on their way
        whole = np.where(whole > np.iinfo(np.int16).max, 0, whole)
    clipped: npt.NDArray[Any] = np.clip(whole, limits.min, limits.max)
    return clipped.astype(dtype)


def _one_by_one(floats: npt.NDArray[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    _, whole = _whole(floats, 32 if dtype.itemsize < 4 or dtype == np.int32 else 64)
    made = whole.astype(dtype)
    if dtype == np.uint64:
        above = (floats >= 2.0**63) & (floats < 2.0**64)
        made = np.where(above, np.where(above, floats, 0).astype(dtype), made)
    return made
