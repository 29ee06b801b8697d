"""Sums, means, extremes and the like of a Ragged along any of its dimensions, with the arguments of `tf.reduce_sum`.

Along the outermost dimension, what stands at one place of all rows that are long enough is reduced. Integers' means are
float64; an empty row has the mean NaN, and the least or largest number of the type as its extremes.

>>> REDUCTIONS["sum"](Ragged.from_list([[1, 2], [], [3]]), axis=1).tolist()
[3, 0, 3]
>>> REDUCTIONS["mean"](Ragged.from_list([[1, 2], [3]]), axis=0).tolist()
[2.0, 2.0]
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.tf.ops.ragged.ragged_elementwise import map_flat
from tfrkit.tf.ops.ragged.ragged_index import take_rows
from tfrkit.tf.ops.ragged.ragged_shape import check_axis, expand_dims
from tfrkit.values.to_array import to_array

__all__ = ["REDUCTIONS"]


@dataclass(frozen=True, slots=True)
class _Reduction:
    """A function of two values, and what it starts with.

    A ufunc's `at` goes in the order of the values, as TensorFlow's kernels do; `reduceat` sums floats in another order.
    """

    function: np.ufunc
    first: Callable[[np.dtype[Any]], Any]
    dtype: Any = None  # of the values, if it is not their own

    def __call__(self, input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
        value = input_tensor
        if self.dtype is not None:
            value = map_flat(lambda flat: flat.astype(self.dtype), value)
        if axis is None:
            flat = value.flat_values.reshape(-1)
            made: Any = self.segments(flat, np.zeros(len(flat), np.int64), 1)[0]
            return np.full((1,) * value.ndim, made) if keepdims else made
        axes = {check_axis(one, value.ndim) for one in np.atleast_1d(to_array(axis)).tolist()}
        made = value
        for one in sorted(axes, reverse=True):
            made = self.along(made, one)
            made = expand_dims(made, one) if keepdims else made
        return made

    def segments(self, values: npt.NDArray[Any], numbers: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
        """Reduce the values of each of the segments, which are numbered."""
        made = np.full((count, *values.shape[1:]), self.first(values.dtype), values.dtype)
        with np.errstate(all="ignore"):
            self.function.at(made, numbers, values)
        return made

    def along(self, value: Any, axis: int) -> Any:
        if not isinstance(value, Ragged):
            moved = np.moveaxis(value, axis, 0)
            return self.segments(moved, np.zeros(len(moved), np.int64), 1)[0]
        if axis > 1:
            return Ragged.unchecked(self.along(value.values, axis - 1), value.row_splits)
        lengths = value.row_lengths()
        rows = np.repeat(np.arange(len(value)), lengths)
        if axis == 0:
            return self.along(_grouped(value, _within(value), int(lengths.max(initial=0))), 1)
        inner = value.values
        if not isinstance(inner, Ragged):
            return self.segments(inner, rows, len(value))
        sizes = np.zeros(len(value), np.int64)
        np.maximum.at(sizes, rows, inner.row_lengths())
        starts = splits_of(sizes)
        first = np.repeat(starts[rows], inner.row_lengths())
        made = self.along(_grouped(inner, first + _within(inner), int(starts[-1])), 1)
        return Ragged.unchecked(made, starts.astype(value.row_splits.dtype))


def _limit(name: str) -> Callable[[np.dtype[Any]], Any]:
    return lambda dtype: getattr(np.finfo(dtype) if dtype.kind == "f" else np.iinfo(dtype), name)


_SUM: Final = _Reduction(np.add, lambda dtype: dtype.type(0))


def _mean(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    dtype = np.dtype(np.float64) if input_tensor.dtype.kind in "iub" else input_tensor.dtype
    total = replace(_SUM, dtype=dtype)(input_tensor, axis, keepdims)
    count = _SUM(map_flat(lambda flat: np.ones(flat.shape, dtype), input_tensor), axis, keepdims)
    with np.errstate(all="ignore"):
        return map_flat(np.divide, total, count)


def _variance(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    """The mean of the squares less the square of the mean, never below 0."""
    squares = _mean(map_flat(np.square, input_tensor), axis, keepdims)
    means = _mean(input_tensor, axis, keepdims)
    with np.errstate(all="ignore"):
        return map_flat(lambda square, mean: np.maximum(square - mean * mean, 0), squares, means)


REDUCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "sum": _SUM,
    "prod": _Reduction(np.multiply, lambda dtype: dtype.type(1)),
    "max": _Reduction(np.maximum, _limit("min")),
    "min": _Reduction(np.minimum, _limit("max")),
    "any": _Reduction(np.logical_or, lambda _: False, np.bool_),
    "all": _Reduction(np.logical_and, lambda _: True, np.bool_),
    "mean": _mean,
    "variance": _variance,
    "std": lambda *args, **options: map_flat(np.sqrt, _variance(*args, **options)),
}


def _within(value: Ragged) -> npt.NDArray[Any]:
    """The place of each of the values in its row."""
    first = np.repeat(value.row_splits[:-1], value.row_lengths())
    return np.asarray(np.arange(value.row_splits[-1]) - first)


def _grouped(value: Ragged, numbers: npt.NDArray[Any], count: int) -> Ragged:
    """The values of all rows in other rows: those with one number, in their order."""
    order = np.argsort(numbers, kind="stable")
    splits = splits_of(np.bincount(numbers, minlength=count)).astype(value.row_splits.dtype)
    return Ragged.unchecked(take_rows(value.values, order), splits)
