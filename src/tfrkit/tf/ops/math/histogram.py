"""Counting numbers: how often each occurs, and how many fall into each of equal bins."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.tf.ops.math.elementwise import quietly
from tfrkit.values.cast import cast_value
from tfrkit.values.operands import alike, as_type, as_value, dtype_of

__all__ = ["bincount", "histogram_fixed_width", "histogram_fixed_width_bins"]


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = "int32",
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """How often each number occurs, or the sum of the weights of each.

    Args:
        arr: integers that are not negative.
        weights: of the same shape; their type is that of the result.
        minlength: the least length of the result.
        maxlength: the largest length; larger numbers are left out.
        dtype: of the result, if there are no weights.
        axis: -1 to count each row of a matrix by itself; by default all are counted together.
        binary_output: say only whether a number occurs.

    >>> bincount([1, 1, 3]).tolist()
    [0, 2, 0, 1]
    """
    given = as_value(arr)
    values = cast_value(given, np.dtype(np.int32)) if dtype_of(given) != np.int64 else given
    if np.size(values) and int(np.min(values)) < 0:
        raise InvalidArgumentError("Input arr must be non-negative!")
    length = int(np.max(values, initial=-1)) + 1
    if minlength is not None:
        length = max(length, int(as_value(minlength)))
    if maxlength is not None:
        length = min(length, int(as_value(maxlength)))
    heavy = None if weights is None else as_value(weights)
    kind = as_type(dtype) if heavy is None else dtype_of(heavy)
    by_row = axis is not None and int(axis) != 0 and np.ndim(values) == 2
    rows = values if by_row else np.reshape(values, (1, -1))
    loads = np.ones(rows.shape, kind) if heavy is None else np.reshape(heavy, rows.shape)
    made = np.zeros((len(rows), length), kind)
    for row, load, sums in zip(rows, loads, made, strict=True):
        inside = row < length
        if binary_output:
            sums[row[inside]] = 1
        else:
            np.add.at(sums, row[inside], load[inside])
    return made if by_row else made[0]


def histogram_fixed_width(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = "int32") -> Any:
    """How many numbers fall into each of equal bins; those outside count in the first and last.

    >>> histogram_fixed_width([0.0, 1.5, 9.0], [0.0, 5.0], 5).tolist()
    [1, 1, 0, 0, 1]
    """
    places = histogram_fixed_width_bins(values, value_range, nbins)
    return np.bincount(np.reshape(places, -1), minlength=int(as_value(nbins))).astype(as_type(dtype))


@quietly
def histogram_fixed_width_bins(values: Any, value_range: Any, nbins: Any = 100, dtype: Any = "int32") -> Any:
    """For each number the bin that it falls into."""
    numbers, ends = alike("HistogramFixedWidth", values, value_range)
    bins = int(as_value(nbins))
    if bins <= 0:
        raise InvalidArgumentError(f"nbins should be a positive number, but got '{bins}'")
    low, high = ends.tolist()
    if low >= high:
        raise InvalidArgumentError(
            f"value_range should satisfy value_range[0] < value_range[1], but got '[{low:g}, {high:g}]'"
        )
    step = (float(high) - float(low)) / bins
    places = np.clip(np.floor((np.asarray(numbers, np.float64) - low) / step), 0, bins - 1)
    return places.astype(as_type(dtype))[()]
