"""Clipping values by bounds and norms, and the norms themselves."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.tf.ops.math import elementwise, reduce
from tfrkit.tf.ops.math.apply import entrywise, quietly
from tfrkit.values.operands import as_value, convert, dtype_of, shape_of, takes_alike
from tfrkit.values.types import check_type

__all__ = ["clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm", "l2_normalize", "norm"]


@quietly
def norm(tensor: Any, ord: Any = "euclidean", axis: Any = None, keepdims: Any = None) -> Any:
    """Return a norm of vectors, or the Euclidean norm of matrices.

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


@entrywise
@takes_alike("t", "clip_value_min", "clip_value_max")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Limit numbers to a range.

    Raises:
        ValueError: the bounds have more elements than the value.

    >>> clip_by_value([1, 5, 9], 2, 6).tolist()
    [2, 5, 6]
    """
    value = as_value(t)
    least = elementwise.minimum(value, clip_value_max)
    for made in (least, found := elementwise.maximum(least, clip_value_min)):
        if shape_of(made) != shape_of(value):
            raise ValueError(f"Shapes {shape_of(value)} and {shape_of(made)} are incompatible")
    return found


@quietly
def clip_by_norm(t: Any, clip_norm: Any, axes: Any = None) -> Any:
    """Scale a value down if its Euclidean norm exceeds `clip_norm`."""
    value = as_value(t)
    most = convert(clip_norm, dtype_of(value))
    squares = reduce.reduce_sum(np.square(value), axes, keepdims=True)
    length = np.where(squares > 0, np.sqrt(np.where(squares > 0, squares, 1)), squares)
    return value * most / np.maximum(length, most)


@quietly
def l2_normalize(x: Any, axis: Any = None, epsilon: float = 1e-12) -> Any:
    """Divide a value by its Euclidean norm."""
    value = as_value(x)
    squares = reduce.reduce_sum(np.square(value), axis, keepdims=True)
    return value * np.reciprocal(np.sqrt(np.maximum(squares, dtype_of(value).type(epsilon))))


@quietly
def global_norm(t_list: Any) -> Any:
    """Return the Euclidean norm of all elements of several values."""
    values = [as_value(value) for value in t_list]
    squares = [np.sum(np.square(value), dtype=dtype_of(value)) for value in values]
    return np.sqrt(sum(squares[1:], squares[0]))


@quietly
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None) -> tuple[list[Any], Any]:
    """Scale several values down if their common norm exceeds `clip_norm`; return them and the norm."""
    values = [as_value(value) for value in t_list]
    found = global_norm(values) if use_norm is None else as_value(use_norm)
    most, one = convert(clip_norm, dtype_of(values[0])), dtype_of(values[0]).type(1)
    scale = most * np.minimum(one / found, one / most)
    return [value * scale for value in values], found
