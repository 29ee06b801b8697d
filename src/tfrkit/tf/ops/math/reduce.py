"""Reducing dimensions to one number each: sums, means, extremes, their places; and running sums and products.

Integers wrap around. The order in which floats are summed is numpy's, not TensorFlow's: sums and means of float32 agree
to about 1e-6 of the sum of the absolute values, which the tests check.

>>> reduce_sum([[1, 2], [3, 4]], 0).tolist(), reduce_sum([1.5, 2]), reduce_mean([1, 2]), reduce_mean([1.0, 2.0])
([4, 6], np.float32(3.5), np.int32(1), np.float32(1.5))
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.math.apply import quietly, truths
from tfrkit.values.operands import (
    STRING,
    as_array,
    as_type,
    as_value,
    convert,
    dtype_of,
    integers,
    is_tensor,
    shape_of,
)
from tfrkit.values.types import check_type

__all__ = [
    "argmax", "argmin", "count_nonzero", "cumprod", "cumsum", "moments", "reduce_all", "reduce_any",
    "reduce_euclidean_norm", "reduce_logsumexp",
    "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std", "reduce_sum", "reduce_variance",
    "zero_fraction",
]  # fmt: skip

_HALVES: Final = frozenset({"float16", "bfloat16"})


def _axes(axis: Any, count: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(count))
    if not is_tensor(axis) and not isinstance(axis, str):
        axis = convert(axis, np.dtype("int32")) if not hasattr(axis, "as_list") else axis
    places = integers(axis, "Tidx").reshape(-1).tolist()
    for place in places:
        if not -count <= place < count:
            raise InvalidArgumentError(
                f"Invalid reduction dimension ({place} for input with {count} dimension(s)"
            )
    found = [place % count for place in places]
    for place in found:
        if found.count(place) > 1:
            raise InvalidArgumentError(
                f"Invalid reduction arguments: Axes contains duplicate dimension: {place}"
            )
    return tuple(found)


def _reduced(op: str, function: Callable[..., Any], given: Any, axis: Any, keepdims: Any) -> Any:
    value = as_value(given)
    check_type(op, dtype_of(value))
    axes = _axes(axis, len(shape_of(value)))
    if not axes:
        return value
    with np.errstate(all="ignore"):
        found = function(value, axis=axes, keepdims=bool(keepdims))
    return found if not isinstance(found, np.ndarray) or found.ndim else found[()]


def _sum(value: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    if value.dtype.itemsize == 2 and value.dtype.name in _HALVES:
        return np.sum(value, axis, np.float32, keepdims=keepdims).astype(value.dtype)
    total: Any = np.add.reduce
    return total(value, axis, value.dtype, None, keepdims)


def _mean(value: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    count = int(np.prod([value.shape[place] for place in axis]))
    if value.dtype.kind not in "iu":
        wide = np.float32 if value.dtype.name in _HALVES else value.dtype
        total = np.sum(value, axis, wide, keepdims=keepdims)
        return (total / total.dtype.type(count)).astype(value.dtype)
    if not count:
        return np.sum(value, axis, value.dtype, keepdims=keepdims)
    total = np.sum(value, axis, np.int64 if value.dtype.kind == "i" else np.uint64, keepdims=keepdims)
    whole = np.abs(total) // total.dtype.type(count)
    return np.where(total < 0, -whole.astype(total.dtype), whole).astype(value.dtype)


def _prod(value: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    return np.prod(value, axis, value.dtype, keepdims=keepdims)


def _max(value: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    least = -np.inf if value.dtype.kind not in "iu" else np.iinfo(value.dtype).min
    return np.max(value, axis, keepdims=keepdims, initial=value.dtype.type(least))


def _min(value: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    most = np.inf if value.dtype.kind not in "iu" else np.iinfo(value.dtype).max
    return np.min(value, axis, keepdims=keepdims, initial=value.dtype.type(most))


def _reduction(word: str, op: str, function: Callable[..., Any], words: str) -> Callable[..., Any]:
    logical = function in (np.any, np.all)

    def reduction(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
        given = truths(op, input_tensor)[0] if logical else input_tensor
        return _reduced(op, function, given, axis, keepdims)

    reduction.__name__ = reduction.__qualname__ = f"reduce_{word}"
    reduction.__doc__ = f"Reduce dimensions, all by default: {words}."
    return reduction


reduce_sum = _reduction("sum", "Sum", _sum, "the sum")
reduce_mean = _reduction("mean", "Mean", _mean, "the mean; of integers it is truncated to an integer")
reduce_max = _reduction("max", "Max", _max, "the largest; of nothing it is the smallest number of the type")
reduce_min = _reduction("min", "Min", _min, "the smallest; of nothing it is the largest number of the type")
reduce_prod = _reduction("prod", "Prod", _prod, "the product")
reduce_any = _reduction("any", "Any", np.any, "whether one is true")
reduce_all = _reduction("all", "All", np.all, "whether all are true")


def reduce_variance(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the mean of the squared differences from the mean.

    Raises:
        TypeError: they are integers.
    """
    value = as_value(input_tensor)
    if dtype_of(value).kind in "iu":
        name = dtype_name(dtype_of(value))
        raise TypeError(f"Input must be either real or complex. Received integer type <dtype: {name!r}>.")
    mean = reduce_mean(value, axis, keepdims=True)
    with np.errstate(all="ignore"):
        apart = value - mean
        square = (apart * np.conj(apart)).real if dtype_of(value).kind == "c" else np.square(apart)
    return reduce_mean(square, axis, keepdims)


@quietly
def reduce_std(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the square root of the variance."""
    return np.sqrt(reduce_variance(input_tensor, axis, keepdims))


def reduce_logsumexp(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return log(sum(exp(x))), without overflow."""
    value = as_value(input_tensor)
    check_type("IsFinite", dtype_of(value))
    largest = reduce_max(value, axis, keepdims=True)
    with np.errstate(all="ignore"):
        largest = np.where(np.isfinite(largest), largest, largest.dtype.type(0))[()]
        total = reduce_sum(np.exp(value - largest), axis, keepdims)
        return np.log(total) + (largest if keepdims else np.reshape(largest, np.shape(total))[()])


def reduce_euclidean_norm(input_tensor: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """Return the square root of the sum of the squares."""
    value = as_value(input_tensor)
    check_type("EuclideanNorm", dtype_of(value))
    with np.errstate(all="ignore"):
        square = (value * np.conj(value)).real if dtype_of(value).kind == "c" else np.square(value)
        found = np.sqrt(reduce_sum(square, axis, keepdims))
    return found.astype(dtype_of(value)) if dtype_of(value).kind != "f" else found


def count_nonzero(
    input: Any,
    axis: Any = None,
    keepdims: Any = None,
    dtype: Any = "int64",
) -> Any:
    """Count the elements that are not 0, not False, or not empty."""
    value = as_value(input)
    filled = as_array(value) != b"" if dtype_of(value) == STRING else np.not_equal(value, 0)
    return reduce_sum(filled.astype(as_type(dtype)), axis, bool(keepdims))


@quietly
def zero_fraction(value: Any) -> Any:
    """Return the fraction of zeros, as a float32."""
    value = as_value(value)
    total = np.size(value)
    with np.errstate(all="ignore"):
        return np.float32(total - np.count_nonzero(value)) / np.float32(total)


@quietly
def moments(x: Any, axes: Any, shift: Any = None, keepdims: bool = False) -> tuple[Any, Any]:
    """Return the mean and the variance."""
    value = as_value(x)
    mean = reduce_mean(value, axes, keepdims=True)
    variance = reduce_mean(np.square(value - mean), axes, keepdims)
    return (mean if keepdims else np.reshape(mean, np.shape(variance))[()]), variance


def argmax(input: Any, axis: Any = None, output_type: Any = "int64") -> Any:
    """Return the index of the largest, the first of several; NaN is skipped.

    >>> argmax([[1, 5], [7, 2]], axis=1).tolist()
    [1, 0]
    """
    return _place("ArgMax", np.argmax, -np.inf, input, axis, output_type)


def argmin(input: Any, axis: Any = None, output_type: Any = "int64") -> Any:
    """Return the index of the smallest, the first of several; NaN is skipped."""
    return _place("ArgMin", np.argmin, np.inf, input, axis, output_type)


def _place(
    op: str, function: Callable[..., Any], worst: float, given: Any, axis: Any, output_type: Any
) -> Any:
    value = as_value(given)
    wanted = as_type(output_type)
    allowed = ["int16", "uint16", "int32", "int64"] if op == "ArgMax" else ["int32", "int64"]
    if isinstance(axis, (list, tuple)):
        raise TypeError("axis must be int or Tensor with integer datatype")
    check_type(op, dtype_of(value))
    check_type("", wanted, "output_type", allowed)
    place, sizes = int(as_value(0 if axis is None else axis)), shape_of(value)
    if not -len(sizes) <= place < len(sizes):
        low = f"-{len(sizes)}" if sizes else "0"
        raise InvalidArgumentError(f"Expected dimension in the range [{low}, {len(sizes)}), but got {place}")
    if not sizes[place]:
        raise InvalidArgumentError(
            f"Reduction axis {place % len(sizes)} is empty in shape {show_dims(sizes)}"
        )
    if value.dtype.kind == "f":
        value = np.where(np.isnan(value), value.dtype.type(worst), value)
    return function(value, place).astype(wanted)


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """Return running sums along a dimension.

    >>> cumsum([1, 2, 3]).tolist(), cumsum([1, 2, 3], exclusive=True, reverse=True).tolist()
    ([1, 3, 6], [5, 3, 0])
    """
    return _scanned("Cumsum", np.cumsum, 0, x, axis, exclusive, reverse)


def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """Return running products along a dimension."""
    return _scanned("Cumprod", np.cumprod, 1, x, axis, exclusive, reverse)


def _scanned(op: str, function: Any, start: int, x: Any, axis: Any, exclusive: bool, reverse: bool) -> Any:
    value = as_value(x)
    check_type(op, dtype_of(value))
    given = convert(axis, None if is_tensor(axis) else np.dtype("int32"))
    if np.ndim(given):
        raise InvalidArgumentError(f"ScanOp: axis must be a scalar, not {show_dims(np.shape(given))}")
    place, count = int(given), value.ndim
    if not -count <= place < count:
        low = f"-{count}" if count else "0"
        raise InvalidArgumentError(
            f"ScanOp: Expected scan axis in the range [{low}, {count}), but got {place}"
        )
    turned = np.flip(value, place) if reverse else value
    with np.errstate(all="ignore"):
        made = function(turned, place, dtype=value.dtype)
    if exclusive:
        made = np.roll(made, 1, place)
        key = [slice(None)] * count
        key[place] = slice(0, 1)
        made[tuple(key)] = start
    return np.flip(made, place) if reverse else made
