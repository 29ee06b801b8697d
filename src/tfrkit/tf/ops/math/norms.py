"""Norms of values, and values made smaller or scaled by them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.tf.ops.math import reduce
from tfrkit.tf.ops.math.apply import quietly
from tfrkit.values.operands import as_value, convert, dtype_of
from tfrkit.values.types import check_type

__all__ = ["clip_by_global_norm", "clip_by_norm", "global_norm", "l2_normalize", "norm"]


@quietly
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None) -> Any:  # noqa: A002
    """The norm of vectors, or the Euclidean one of matrices.

    Raises:
        ValueError: there is no such norm.
    """
    value = as_value(tensor)
    check_type("Sqrt", dtype_of(value))
    keep = bool(keepdims)
    if isinstance(ord, str) and ord not in ("euclidean", "fro"):
        raise ValueError(f"'ord' must be a supported vector norm, got {ord}")
    sizes = np.abs(value)
    if ord in ("euclidean", "fro", 2, 2.0):
        return np.sqrt(reduce.reduce_sum(np.square(sizes), axis, keep))
    if ord == 1:
        return reduce.reduce_sum(sizes, axis, keep)
    if ord == np.inf:
        return reduce.reduce_max(sizes, axis, keep)
    power = dtype_of(sizes).type(ord)
    return np.power(reduce.reduce_sum(np.power(sizes, power), axis, keep), dtype_of(sizes).type(1.0 / ord))


@quietly
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Any:
    """A value, made smaller if its Euclidean norm is larger than another."""
    value = as_value(t)
    most = convert(clip_norm, dtype_of(value))
    squares = reduce.reduce_sum(np.square(value), axes, keepdims=True)
    length = np.where(squares > 0, np.sqrt(np.where(squares > 0, squares, 1)), squares)
    return value * most / np.maximum(length, most)


@quietly
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12) -> Any:
    """A value divided by its Euclidean norm."""
    value = as_value(x)
    squares = reduce.reduce_sum(np.square(value), axis, keepdims=True)
    return value * np.reciprocal(np.sqrt(np.maximum(squares, dtype_of(value).type(epsilon))))


@quietly
def global_norm(t_list: Any) -> Any:
    """The Euclidean norm of all elements of several values."""
    values = [as_value(value) for value in t_list]
    squares = [np.sum(np.square(value), dtype=dtype_of(value)) for value in values]
    return np.sqrt(sum(squares[1:], squares[0]))


@quietly
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None) -> tuple[list[Any], Any]:
    """Several values, made smaller if the norm of all is larger than another; and the norm."""
    values = [as_value(value) for value in t_list]
    found = global_norm(values) if use_norm is None else as_value(use_norm)
    most, one = convert(clip_norm, dtype_of(values[0])), dtype_of(values[0]).type(1)
    scale = most * np.minimum(one / found, one / most)
    return [value * scale for value in values], found
