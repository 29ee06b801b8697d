"""Rows by group: sums and the like of segments, and partitions of a value."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.tf.ops.math.elementwise import quietly
from tfrkit.values.cast import cast
from tfrkit.values.operands import alike, as_array, as_value, dtype_of, integers, of_array, shape_of
from tfrkit.values.types import check_type

__all__ = [
    "confusion_matrix",
    "confusion_matrix_old",
    "dynamic_partition",
    "dynamic_stitch",
    "segment_max",
    "segment_mean",
    "segment_min",
    "segment_prod",
    "segment_sum",
    "unsorted_segment_max",
    "unsorted_segment_mean",
    "unsorted_segment_min",
    "unsorted_segment_prod",
    "unsorted_segment_sqrt_n",
    "unsorted_segment_sum",
]

Array = npt.NDArray[Any]


def segment_sum(data: Any, segment_ids: Any) -> Any:
    """The sum of the rows of each segment; numbers of segments ascend.

    >>> segment_sum([1, 2, 3], [0, 0, 2]).tolist()
    [3, 0, 3]
    """
    values, ids = _sorted_segments("Sum", data, segment_ids)
    return _gathered(values, ids, _last(ids), np.add, values.dtype.type(0))


def segment_prod(data: Any, segment_ids: Any) -> Any:
    """The product of the rows of each segment."""
    values, ids = _sorted_segments("Prod", data, segment_ids)
    return _gathered(values, ids, _last(ids), np.multiply, values.dtype.type(1))


def segment_mean(data: Any, segment_ids: Any) -> Any:
    """The mean of the rows of each segment; of integers it is cut off, and 0 where there are none."""
    values, ids = _sorted_segments("Mean", data, segment_ids)
    total = _gathered(values, ids, _last(ids), np.add, values.dtype.type(0))
    return _divided(total, np.maximum(np.bincount(ids, minlength=len(total)), 1))


def segment_max(data: Any, segment_ids: Any) -> Any:
    """The largest of the rows of each segment, 0 where there are none."""
    values, ids = _sorted_segments("Max", data, segment_ids)
    return _filled(_gathered(values, ids, _last(ids), np.maximum, _least(values.dtype)), ids)


def segment_min(data: Any, segment_ids: Any) -> Any:
    """The smallest of the rows of each segment, 0 where there are none."""
    values, ids = _sorted_segments("Min", data, segment_ids)
    return _filled(_gathered(values, ids, _last(ids), np.minimum, _most(values.dtype)), ids)


def unsorted_segment_sum(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The sum of the rows of each segment, in any order; negative numbers are left out.

    >>> unsorted_segment_sum([1, 2, 3], [1, 0, 1], 3).tolist()
    [2, 4, 0]
    """
    values, ids, count = _segments("Sum", data, segment_ids, num_segments)
    return _gathered(values, ids, count, np.add, values.dtype.type(0))


def unsorted_segment_prod(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The product of the rows of each segment."""
    values, ids, count = _segments("Prod", data, segment_ids, num_segments)
    return _gathered(values, ids, count, np.multiply, values.dtype.type(1))


def unsorted_segment_max(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The largest of the rows of each segment; the smallest number of the type where there are none."""
    values, ids, count = _segments("Max", data, segment_ids, num_segments)
    return _gathered(values, ids, count, np.maximum, _least(values.dtype))


def unsorted_segment_min(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The smallest of the rows of each segment; the largest number of the type where there are none."""
    values, ids, count = _segments("Min", data, segment_ids, num_segments)
    return _gathered(values, ids, count, np.minimum, _most(values.dtype))


def unsorted_segment_mean(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The mean of the rows of each segment, 0 where there are none."""
    total, counts = _with_counts(data, segment_ids, num_segments)
    return _divided(total, np.maximum(counts, 1))


def unsorted_segment_sqrt_n(data: Any, segment_ids: Any, num_segments: Any) -> Any:
    """The sum of the rows of each segment, divided by the square root of their number."""
    total, counts = _with_counts(data, segment_ids, num_segments)
    return _divided(total, np.sqrt(np.maximum(counts, 1)))


def dynamic_partition(data: Any, partitions: Any, num_partitions: int) -> list[Any]:
    """Put each row into one of several lists.

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


def dynamic_stitch(indices: Any, data: Any) -> Any:
    """Put the rows of several values at their places; of two for one place the later stays.

    >>> dynamic_stitch([[0, 2], [1]], [[1, 3], [2]]).tolist()
    [1, 2, 3]
    """
    places = [np.asarray(as_value(one)) for one in indices]
    parts = [as_array(part) for part in alike("DynamicStitch", *data)]
    for number, (place, part) in enumerate(zip(places, parts, strict=True)):
        if part.shape[: place.ndim] != place.shape:
            raise InvalidArgumentError(
                f"data[{number}].shape = {show_dims(part.shape)} does not start with indices[{number}].shape = "
                f"{show_dims(place.shape)}"
            )
        if place.size and int(place.min()) < 0:
            raise InvalidArgumentError(f"indices[{number}] is out of range")
    size = max((int(place.max()) for place in places if place.size), default=-1) + 1
    inner = parts[0].shape[places[0].ndim :]
    made = np.zeros((size, *inner), parts[0].dtype)
    if made.dtype == object:
        made[...] = b""
    for place, part in zip(places, parts, strict=True):
        for at in np.ndindex(*place.shape):
            made[place[at]] = part[at]
    return of_array(made)


def confusion_matrix(
    labels: Any, predictions: Any, num_classes: Any = None, weights: Any = None, dtype: Any = "int32"
) -> Any:
    """How often each prediction was made for each label.

    Raises:
        InvalidArgumentError: a class is negative or not among them.
    """
    wanted, guessed = (np.ravel(cast(given, "int64")) for given in (labels, predictions))
    for name, classes in (("labels", wanted), ("predictions", guessed)):
        if classes.size and int(classes.min()) < 0:
            raise InvalidArgumentError(f"`{name}` contains negative values")
        if num_classes is not None and classes.size and int(classes.max()) >= int(num_classes):
            shown = f"First {classes.size} elements of x:\n{classes}\nFirst 1 elements of y:\n[{num_classes}]"
            raise InvalidArgumentError(f"`{name}` out of bound\nCondition x < y did not hold.\n{shown}")
    size = (
        int(max(wanted.max(initial=-1), guessed.max(initial=-1))) + 1
        if num_classes is None
        else int(num_classes)
    )
    made = np.zeros((size, size), getattr(dtype, "name", dtype))
    loads = 1 if weights is None else np.asarray(as_value(weights)).astype(made.dtype)
    np.add.at(made, (wanted, guessed), loads)
    return made


def confusion_matrix_old(
    labels: Any, predictions: Any, num_classes: Any = None, dtype: Any = "int32", weights: Any = None
) -> Any:
    """The same with TensorFlow 1's order of arguments."""
    return confusion_matrix(labels, predictions, num_classes, weights, dtype)


def _sorted_segments(op: str, data: Any, segment_ids: Any) -> tuple[Array, npt.NDArray[np.int64]]:
    values = as_value(data)
    check_type(op, dtype_of(values))
    ids = integers(segment_ids, "Tindices")
    if not shape_of(values):
        raise InvalidArgumentError("input must be at least rank 1")
    if ids.shape != (len(values),):
        raise InvalidArgumentError("segment_ids should be the same size as dimension 0 of input.")
    if ids.size and int(ids[0]) < 0:
        raise InvalidArgumentError(
            f"Segment id {ids[0]} out of range [0, {int(ids[-1]) + 1}), "
            "possibly because 'segment_ids' input is not sorted."
        )
    if bool((ids[1:] < ids[:-1]).any()):
        raise InvalidArgumentError("segment ids are not increasing")
    return values, ids


def _segments(
    op: str, data: Any, segment_ids: Any, num_segments: Any
) -> tuple[Array, npt.NDArray[np.int64], int]:
    values = np.asarray(as_value(data))
    check_type(op, values.dtype)
    ids = integers(segment_ids, "Tindices")
    count = int(as_value(num_segments))
    if count < 0:
        raise InvalidArgumentError(f"Input num_segments == {count} must not be negative.")
    if values.shape[: ids.ndim] != ids.shape:
        raise InvalidArgumentError(
            f"data.shape = {show_dims(values.shape)} does not start with segment_ids.shape = {show_dims(ids.shape)}"
        )
    wrong = np.argwhere(ids >= count)
    if len(wrong):
        at = wrong[0].tolist()
        raise InvalidArgumentError(
            f"segment_ids[{','.join(map(str, at))}] = {ids[tuple(at)]} is out of range [0, {count})"
        )
    flat = values.reshape(-1, *values.shape[ids.ndim :]) if ids.ndim else values[None]
    inside = ids.ravel() >= 0
    return flat[inside], ids.ravel()[inside], count


def _with_counts(data: Any, segment_ids: Any, num_segments: Any) -> tuple[Array, Array]:
    values, ids, count = _segments("Sum", data, segment_ids, num_segments)
    total = _gathered(values, ids, count, np.add, values.dtype.type(0))
    return total, np.bincount(ids, minlength=count)


def _gathered(values: Array, ids: Array, count: int, function: Any, start: Any) -> Array:
    made = np.full((count, *values.shape[1:]), start, values.dtype)
    with np.errstate(all="ignore"):
        function.at(made, ids, values)
    return made


@quietly
def _divided(total: Array, counts: Array) -> Array:
    by = counts.reshape(-1, *[1] * (total.ndim - 1))
    if total.dtype.kind in "iu":
        return np.trunc(total / by).astype(total.dtype)
    made: Array = total / by.astype(total.dtype)
    return made


def _filled(made: Array, ids: Array) -> Array:
    made[np.bincount(ids, minlength=len(made)) == 0] = 0
    return made


def _last(ids: Array) -> int:
    return int(ids[-1]) + 1 if ids.size else 0


def _least(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).min if dtype.kind in "iu" else np.finfo(dtype).min


def _most(dtype: np.dtype[Any]) -> Any:
    return np.iinfo(dtype).max if dtype.kind in "iu" else np.finfo(dtype).max
