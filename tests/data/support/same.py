"""Equality of elements: type, structure, dtype, shape and every value, NaN being equal to NaN."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit import BytesColumn, Ragged, Sparse

__all__ = ["same"]


def same(first: Any, second: Any) -> bool:
    """Whether two elements, or lists of elements, are alike in everything that a user can see."""
    if isinstance(first, BytesColumn) and isinstance(second, BytesColumn):
        return first == second
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        return list(first) == list(second) and all(same(first[key], second[key]) for key in first)
    if isinstance(first, (tuple, list)):
        return len(first) == len(second) and all(map(same, first, second))
    if isinstance(first, Ragged):
        return same(first.row_splits, second.row_splits) and same(first.values, second.values)
    if isinstance(first, Sparse):
        parts = ("indices", "values", "dense_shape")
        return all(same(getattr(first, part), getattr(second, part)) for part in parts)
    if isinstance(first, (np.ndarray, np.generic)):
        if first.dtype != second.dtype or first.shape != second.shape:
            return False
        return np.array_equal(first, second, equal_nan=first.dtype.kind in "fc")
    return bool(first == second)
