"""Choosing elements by their places or by a condition."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.ops.convert import as_value, shape_of
from tfrkit.ops.strided_slice import rearranged

__all__ = ["boolean_mask"]


def boolean_mask(tensor: Any, mask: Any, axis: Any = None) -> Any:
    """The elements, or rows, where a mask is true.

    Raises:
        ValueError: the shapes do not fit; the text is TensorFlow's.

    >>> boolean_mask([1, 2, 3], [True, False, True]).tolist()
    [1, 3]
    """
    value, chosen = as_value(tensor), as_value(mask)
    first = 0 if axis is None else int(as_value(axis))
    wanted, given = shape_of(chosen), shape_of(value)
    if not wanted:
        raise ValueError("mask cannot be scalar.")
    part = given[first : first + len(wanted)]
    if part != wanted:
        raise ValueError(f"Shapes {part} and {wanted} are incompatible")
    truths = np.asarray(chosen).astype(bool)
    if first < 0:
        first += len(given)
    return rearranged(value, lambda array: array[(slice(None),) * first + (truths,)])
