"""Sums and maxima of segments, counts of numbers, and partitions."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.values.cast import cast_value
from tfrkit.values.operands import as_type, as_value, dtype_of, integers, shape_of
from tfrkit.values.types import check_type

__all__ = ["bincount", "dynamic_partition", "segment_max", "segment_sum"]


def segment_sum(data: Any, segment_ids: Any) -> Any:
    """Return the sum of the rows of each segment; `segment_ids` are sorted.

    >>> segment_sum([1, 2, 3], [0, 0, 2]).tolist()
    [3, 0, 3]
    """
    return _of_segments("Sum", np.add, data, segment_ids)


def segment_max(data: Any, segment_ids: Any) -> Any:
    """Return the largest of the rows of each segment, 0 for an empty one.

    >>> segment_max([1, 3, 2], [0, 0, 2]).tolist()
    [3, 0, 2]
    """
    return _of_segments("Max", np.maximum, data, segment_ids)


def bincount(
    arr: Any,
    weights: Any = None,
    minlength: Any = None,
    maxlength: Any = None,
    dtype: Any = "int32",
    axis: Any = None,
    binary_output: bool = False,
) -> Any:
    """Count how often each number occurs, or sum the weights of each.

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
        raise InvalidArgumentError(f"Input arr must be non-negative! Got {int(np.min(values))}.")
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


def dynamic_partition(data: Any, partitions: Any, num_partitions: int) -> list[Any]:
    """Split rows into several lists.

    >>> [part.tolist() for part in dynamic_partition([1, 2, 3], [0, 1, 0], 2)]
    [[1, 3], [2]]
    """
    value, places = as_value(data), np.asarray(as_value(partitions))
    if num_partitions < 1:
        raise InvalidArgumentError(
            f"Value for attr 'num_partitions' of {num_partitions} must be at least minimum 1"
        )
    given = shape_of(value)
    if given[: places.ndim] != places.shape:
        raise InvalidArgumentError(
            f"data.shape must start with partitions.shape, got data.shape = {show_dims(given)}, "
            f"partitions.shape = {show_dims(places.shape)}"
        )
    for number, place in enumerate(places.ravel().tolist()):
        if not 0 <= place < num_partitions:
            raise InvalidArgumentError(f"partitions[{number}] = {place} is not in [0, {num_partitions})")
    chosen = [places == number for number in range(num_partitions)]
    return [rearranged(value, lambda array, mask=mask: array[mask]) for mask in chosen]  # type: ignore[misc]


def _of_segments(op: str, function: np.ufunc, data: Any, segment_ids: Any) -> Any:
    values, ids = _sorted_segments(op, data, segment_ids)
    made = np.zeros((int(ids[-1]) + 1 if ids.size else 0, *values.shape[1:]), values.dtype)
    firsts = np.flatnonzero(np.diff(ids, prepend=-1))
    made[ids[firsts]] = values[firsts]
    rest = np.setdiff1d(np.arange(len(ids)), firsts)
    with np.errstate(all="ignore"):
        function.at(made, ids[rest], values[rest])  # in the order of the rows, as TensorFlow's kernels add
    return made


def _sorted_segments(op: str, data: Any, segment_ids: Any) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]:
    values = as_value(data)
    check_type(op, dtype_of(values))
    ids = integers(segment_ids, "Tindices")
    if not shape_of(values):
        raise InvalidArgumentError("input must be at least rank 1")
    if ids.shape != (len(values),):
        shapes = f"Got {show_dims(ids.shape)} for {len(values)} rows."
        raise InvalidArgumentError(f"segment_ids should be the same size as dimension 0 of input. {shapes}")
    if ids.size and int(ids[0]) < 0:
        raise InvalidArgumentError(
            f"Segment id {ids[0]} out of range [0, {int(ids[-1]) + 1}), "
            "possibly because 'segment_ids' input is not sorted."
        )
    if bool((ids[1:] < ids[:-1]).any()):
        raise InvalidArgumentError(
            "segment ids are not increasing: sort them, or use the function's unsorted_ variant"
        )
    return values, ids
