"""Sums, means, extremes and the like of a Ragged along any of its dimensions.

The outermost dimension is one of rows of columns: what stands at one place of all rows that reach so far.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.tf.ops.ragged.ragged_index import take_rows
from tfrkit.tf.ops.ragged.ragged_shape import expand_dims
from tfrkit.values.to_array import to_array

__all__ = [
    "reduce_all", "reduce_any", "reduce_max", "reduce_mean", "reduce_min", "reduce_prod", "reduce_std",
    "reduce_sum", "reduce_variance",
]  # fmt: skip

_Segments = Callable[
    [npt.NDArray[Any], npt.NDArray[Any], int], npt.NDArray[Any]
]  # values, their segments, how many


def _accumulated(function: np.ufunc, first: Callable[[np.dtype[Any]], Any]) -> _Segments:
    def reduce(values: npt.NDArray[Any], segments: npt.NDArray[Any], count: int) -> npt.NDArray[Any]:
        made = np.full((count, *values.shape[1:]), first(values.dtype), values.dtype)
        with np.errstate(all="ignore"):
            function.at(made, segments, values)  # in the order of the values, as TensorFlow's kernels add
        return made

    return reduce


def _lowest(dtype: np.dtype[Any]) -> Any:
    return np.finfo(dtype).min if dtype.kind == "f" else np.iinfo(dtype).min


def _highest(dtype: np.dtype[Any]) -> Any:
    return np.finfo(dtype).max if dtype.kind == "f" else np.iinfo(dtype).max


_SUM: Final = _accumulated(np.add, lambda dtype: dtype.type(0))
_PROD: Final = _accumulated(np.multiply, lambda dtype: dtype.type(1))
_MAX: Final = _accumulated(np.maximum, _lowest)
_MIN: Final = _accumulated(np.minimum, _highest)
_ANY: Final = _accumulated(np.logical_or, lambda _: False)
_ALL: Final = _accumulated(np.logical_and, lambda _: True)


def _truths(ragged: Ragged) -> Ragged:
    return _with_flat(ragged, ragged.flat_values.astype(bool))


def _mean_type(dtype: np.dtype[Any]) -> np.dtype[Any]:
    return np.dtype(np.float64) if dtype.kind in "iub" else dtype


def reduce_sum(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    """Add the entries of rows; see `tf.reduce_sum`.

    >>> reduce_sum(Ragged.from_list([[1, 2], [], [3]]), axis=1).tolist()
    [3, 0, 3]
    """
    return _reduced(_SUM, input_tensor, axis, keepdims)


def reduce_prod(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    """Multiply the entries of rows.

    >>> reduce_prod(Ragged.from_list([[1, 2], [], [3]]), axis=1).tolist()
    [2, 1, 3]
    """
    return _reduced(_PROD, input_tensor, axis, keepdims)


def reduce_max(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    """Find the largest entry of rows; that of an empty row is the least number of the type.

    >>> reduce_max(Ragged.from_list([[1, 2], [3]]), axis=1).tolist()
    [2, 3]
    """
    return _reduced(_MAX, input_tensor, axis, keepdims)


def reduce_min(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    """Find the smallest entry of rows; that of an empty row is the largest number of the type.

    >>> reduce_min(Ragged.from_list([[1, 2], [3]]), axis=1).tolist()
    [1, 3]
    """
    return _reduced(_MIN, input_tensor, axis, keepdims)


def reduce_any(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    """Tell whether an entry of a row is true.

    >>> reduce_any(Ragged.from_list([[True, False], []]), axis=1).tolist()
    [True, False]
    """
    return _reduced(_ANY, _truths(input_tensor), axis, keepdims)


def reduce_all(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    """Tell whether all entries of a row are true.

    >>> reduce_all(Ragged.from_list([[True, False], []]), axis=1).tolist()
    [False, True]
    """
    return _reduced(_ALL, _truths(input_tensor), axis, keepdims)


def reduce_mean(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    """Average the entries of rows; integers become float64, an empty row gives NaN.

    >>> reduce_mean(Ragged.from_list([[1, 2], [3]]), axis=1).tolist()
    [1.5, 3.0]
    """
    dtype = _mean_type(input_tensor.dtype)
    flat = input_tensor.flat_values.astype(dtype)
    ones = np.ones(flat.shape, dtype)
    total = _reduced(_SUM, _with_flat(input_tensor, flat), axis, keepdims)
    count = _reduced(_SUM, _with_flat(input_tensor, ones), axis, keepdims)
    with np.errstate(all="ignore"):
        if isinstance(total, Ragged):
            return _with_flat(total, total.flat_values / count.flat_values)
        return total / count


def reduce_variance(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    """The variance of the entries of rows: the mean of the squares less the square of the mean, never below 0.

    >>> reduce_variance(Ragged.from_list([[1.0, 2.0], [3.0]]), axis=1).tolist()
    [0.25, 0.0]
    """
    flat = input_tensor.flat_values
    squares = reduce_mean(_with_flat(input_tensor, flat * flat), axis, keepdims)
    means = reduce_mean(input_tensor, axis, keepdims)
    with np.errstate(all="ignore"):
        if isinstance(means, Ragged):
            mean = means.flat_values
            return _with_flat(means, np.maximum(squares.flat_values - mean * mean, mean.dtype.type(0)))
        return np.maximum(squares - means * means, means.dtype.type(0))


def reduce_std(input_tensor: Ragged, axis: Any = None, keepdims: bool = False) -> Any:
    """The standard deviation of the entries of rows; see `reduce_variance`.

    >>> reduce_std(Ragged.from_list([[1.0, 2.0], [3.0]]), axis=1).tolist()
    [0.5, 0.0]
    """
    found = reduce_variance(input_tensor, axis, keepdims)
    return _with_flat(found, np.sqrt(found.flat_values)) if isinstance(found, Ragged) else np.sqrt(found)


def _with_flat(ragged: Ragged, flat: Any) -> Ragged:
    inner = ragged.values
    return Ragged.unchecked(_with_flat(inner, flat) if isinstance(inner, Ragged) else flat, ragged.row_splits)


def _reduced(segments: _Segments, value: Ragged, axis: Any, keepdims: bool) -> Any:
    rank = value.ndim
    if axis is None:
        flat = value.flat_values.reshape(-1)
        made: Any = segments(flat, np.zeros(len(flat), np.int64), 1)[0]
        return np.full((1,) * rank, made) if keepdims else made
    axes = []
    for one in np.atleast_1d(to_array(axis)).tolist():
        if not -rank <= one < rank:
            raise ValueError(f"axis={one} out of bounds: expected -{rank}<=axis<{rank}")
        axes.append(one % rank)
    made = value
    for one in sorted(set(axes), reverse=True):
        made = _along(segments, made, one)
        if keepdims:
            made = expand_dims(made, one)
    return made


def _along(segments: _Segments, value: Any, axis: int) -> Any:
    if not isinstance(value, Ragged):
        return _dense(segments, value, axis)
    if axis > 1:
        return Ragged.unchecked(_along(segments, value.values, axis - 1), value.row_splits)
    if axis == 1 and not isinstance(value.values, Ragged):
        numbers = np.repeat(np.arange(len(value)), value.row_lengths())
        return segments(value.values, numbers, len(value))
    if axis == 1:
        inner = value.values
        sizes = np.zeros(len(value), np.int64)
        np.maximum.at(sizes, np.repeat(np.arange(len(value)), value.row_lengths()), inner.row_lengths())
        starts = splits_of(sizes)
        first = np.repeat(np.repeat(starts[:-1], value.row_lengths()), inner.row_lengths())
        made = _along(segments, _grouped(inner, first + _within(inner), int(starts[-1])), 1)
        return Ragged.unchecked(made, starts.astype(value.row_splits.dtype))
    longest = int(value.row_lengths().max(initial=0))
    return _along(segments, _grouped(value, _within(value), longest), 1)


def _within(value: Ragged) -> npt.NDArray[Any]:
    """Where in its row each of the values stands."""
    first = np.repeat(value.row_splits[:-1], value.row_lengths())
    return np.asarray(np.arange(value.row_splits[-1]) - first)


def _grouped(value: Ragged, numbers: npt.NDArray[Any], count: int) -> Ragged:
    """The values of all rows in other rows: those with one number, in their order."""
    order = np.argsort(numbers, kind="stable")
    splits = splits_of(np.bincount(numbers, minlength=count)).astype(value.row_splits.dtype)
    return Ragged.unchecked(take_rows(value.values, order), splits)


def _dense(segments: _Segments, value: npt.NDArray[Any], axis: int) -> Any:
    moved = np.moveaxis(value, axis, 0)
    made = segments(moved, np.zeros(len(moved), np.int64), 1)[0]
    return made if made.ndim else made[()]
