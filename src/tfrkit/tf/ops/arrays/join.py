"""Joining and splitting values: stack, concat, split, tile, repeat."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.values.operands import (
    STRING,
    Pack,
    alike,
    as_value,
    convert,
    dtype_of,
    integers,
    is_tensor,
    shape_of,
    takes_alike,
)
from tfrkit.values.types import check_type

__all__ = ["concat", "joined", "repeat", "split", "stack", "tile", "unstack"]


@takes_alike("values", listed=True)
def stack(values: Any, axis: int = 0) -> Any:
    """Stack values of one shape along a new dimension.

    Raises:
        InvalidArgumentError: types or shapes differ; the text is TensorFlow's.
        ValueError: there is no such dimension.

    >>> stack([[1, 2], [3, 4]], axis=1).tolist()
    [[1, 3], [2, 4]]
    """
    if axis == 0 and not isinstance(values, Pack):
        try:
            return as_value(values)
        except (TypeError, ValueError):
            if not isinstance(values, (list, tuple)):
                raise
    if axis == 0 and isinstance(values, Pack) and _are_even(values):
        return np.array(values, values[0].dtype)
    parts = alike("Pack", *values)
    shapes = [shape_of(part) for part in parts]
    count = len(shapes[0]) + 1
    if not -count <= axis < count:
        raise ValueError(f"Argument `axis` = {axis} not in range [-{count}, {count})")
    for number, other in enumerate(shapes):
        if other != shapes[0]:
            raise InvalidArgumentError(
                f"Shapes of all inputs must match: values[0].shape = {show_dims(shapes[0])} != "
                f"values[{number}].shape = {show_dims(other)}"
            )
    return joined(parts, lambda arrays: np.stack(arrays, axis))


def _are_arrays(values: Any, axis: int) -> bool:
    """Return whether they are arrays of numbers of one type that have this dimension."""
    first = values[0]
    if type(first) is not np.ndarray or not -first.ndim <= axis < first.ndim or first.dtype == STRING:
        return False
    return all(type(value) is np.ndarray and value.dtype is first.dtype for value in values)


def _are_even(values: Any) -> bool:
    """Return whether they are numbers, or arrays of numbers, of one type and shape."""
    first = values[0]
    if not isinstance(first, (np.ndarray, np.generic)) or first.dtype == STRING:
        return False
    return all(
        type(value) is type(first) and value.dtype is first.dtype and value.shape == first.shape
        for value in values
    )


def unstack(value: Any, num: int | None = None, axis: int = 0) -> list[Any]:
    """Split a value along a dimension into values of one dimension less.

    >>> unstack([[1, 2], [3, 4]], axis=1)[0].tolist()
    [1, 3]
    """
    value = as_value(value)
    sizes = shape_of(value)
    count = len(sizes)
    if not -count <= axis < count:
        raise ValueError(f"Argument `axis` = {axis} not in range [{-count}, {count})")
    if num is not None and num != sizes[axis]:
        raise InvalidArgumentError(
            f"Input shape axis {axis % count} must equal {num}, got shape {show_dims(sizes)}"
        )
    return [rearranged(value, partial(np.take, indices=at, axis=axis)) for at in range(sizes[axis])]


@takes_alike("values", listed=True)
def concat(values: Any, axis: Any) -> Any:
    """Concatenate values along a dimension.

    Raises:
        InvalidArgumentError: types or shapes do not fit; the text is TensorFlow's.

    >>> concat([[1, 2], [3]], 0).tolist()
    [1, 2, 3]
    """
    place = convert(axis, None if is_tensor(axis) else np.dtype("int32"))
    if not isinstance(values, (list, tuple)):
        values = [values]
    if len(values) > 1 and isinstance(values, Pack) and type(axis) is int and _are_arrays(values, axis):
        with contextlib.suppress(ValueError):  # shapes that do not fit, which is reported below
            return np.concatenate(values, axis)
    if len(values) == 1:
        if np.ndim(place):
            raise ValueError(f"Shape {np.shape(place)} must have rank 0")
        return as_value(values[0])
    if not values:
        raise InvalidArgumentError(
            "OpKernel 'ConcatV2' has constraint on attr 'T' not in NodeDef '[N=0, Tidx=DT_INT32]': there are no tensors"
        )
    if not isinstance(values, Pack):  # all are literals, numpy's values too
        kind = dtype_of(as_value(values[0]))
        values = [convert(value, kind) for value in values]
    parts = alike("ConcatV2", *values)
    where = int(np.reshape(place, -1)[0])
    _check_concat([shape_of(part) for part in parts], where)
    return joined(parts, lambda arrays: np.concatenate(arrays, where))


def split(value: Any, num_or_size_splits: Any, axis: Any = 0, num: int | None = None) -> list[Any]:
    """Split a value along a dimension, into a number of equal parts or into parts of these sizes.

    >>> [part.tolist() for part in split([1, 2, 3], [1, -1])]
    [[1], [2, 3]]
    """
    value = as_value(value)
    sizes = shape_of(value)
    place, count = int(as_value(axis)), len(sizes)
    if type(num_or_size_splits) is not int and not np.ndim(num_or_size_splits):
        raise ValueError(
            "Rank-0 tensors are not supported as the num_or_size_splits argument to split. "
            f"Argument provided: {num_or_size_splits}"
        )
    if isinstance(num_or_size_splits, int):
        if num_or_size_splits < 1:
            raise InvalidArgumentError(
                f"Value for attr 'num_split' of {num_or_size_splits} must be at least minimum 1"
            )
        _check_split(place, count)
        if sizes[place] % num_or_size_splits:
            raise InvalidArgumentError(
                "Number of ways to split should evenly divide the split dimension, but got split_dim "
                f"{place % count} (size = {sizes[place]}) and num_split {num_or_size_splits}"
            )
        parts = [sizes[place] // num_or_size_splits] * num_or_size_splits
    else:
        parts = _part_sizes(num_or_size_splits, num, sizes, place)
    ends = np.cumsum(parts).tolist()
    ranges = [np.arange(end - part, end) for part, end in zip(parts, ends, strict=True)]
    return [rearranged(value, partial(np.take, indices=at, axis=place)) for at in ranges]


def tile(input: Any, multiples: Any) -> Any:
    """Repeat the whole value along each dimension.

    >>> tile([1, 2], [2]).tolist()
    [1, 2, 1, 2]
    """
    value = as_value(input)
    times = integers(multiples, "Tmultiples")
    count = len(shape_of(value))
    if times.ndim != 1:
        raise InvalidArgumentError(f"Expected multiples to be 1-D, but got shape {show_dims(times.shape)}")
    if len(times) != count:
        raise InvalidArgumentError(
            f"Expected multiples argument to be a vector of length {count} but got length {len(times)}"
        )
    for place, time in enumerate(times.tolist()):
        if time < 0:
            raise InvalidArgumentError(f"Expected multiples[{place}] >= 0, but got {time}")
    return rearranged(value, lambda array: np.tile(array, times.tolist()))


def repeat(input: Any, repeats: Any, axis: int | None = None) -> Any:
    """Repeat each element, or each row along a dimension.

    >>> repeat([1, 2], 2).tolist(), repeat(["a", "b"], [1, 2]).to_list()
    ([1, 1, 2, 2], [b'a', b'b', b'b'])
    """
    value, given = as_value(input), as_value(repeats)
    if dtype_of(given).kind not in "iu":
        raise TypeError(
            f"Argument `tensor` (name: repeats) must be of type integer. Received `tensor` = {given} of dtype: "
            f"<dtype: {dtype_name(dtype_of(given))!r}>"
        )
    count = len(shape_of(value))
    if axis is not None and not -count <= axis < count:
        raise ValueError(f"axis={axis} out of bounds: expected {-count}<=axis<{count}")
    rows = math.prod(shape_of(value)) if axis is None else shape_of(value)[axis]
    times = integers(given, "Tidx")
    if times.size and int(times.min()) < 0:
        raise InvalidArgumentError(f"Expected multiples[1] >= 0, but got {times.min()}")
    if times.size not in (1, rows):
        raise ValueError(f"Dimensions {rows} and {times.size} are not compatible")
    return rearranged(value, lambda array: np.repeat(array, times, axis))


def joined(parts: list[Any], join: Callable[[list[npt.NDArray[Any]]], npt.NDArray[Any]]) -> Any:
    """Apply a function of several arrays that only moves elements; strings work too."""
    if dtype_of(parts[0]) != STRING:
        return join([np.asarray(part) for part in parts])
    columns = [_flat(part) for part in parts]
    starts = np.cumsum([0, *(column.size for column in columns)]).tolist()
    places = join(
        [
            np.arange(start, start + column.size).reshape(shape_of(part))
            for start, column, part in zip(starts[:-1], columns, parts, strict=True)
        ]
    )
    chosen: BytesColumn = BytesColumn.concat(columns).take(places.ravel())
    return chosen.reshape(places.shape)


def _flat(value: Any) -> BytesColumn:
    if isinstance(value, bytes):
        return BytesColumn.from_list([value])
    flat: BytesColumn = value.reshape((math.prod(value.shape),))
    return flat


def _check_concat(shapes: list[tuple[int, ...]], axis: int) -> None:
    count = len(shapes[0])
    if not count:
        raise InvalidArgumentError("ConcatOp : Can't concatenate scalars (use tf.stack instead)")
    if not -count <= axis < count:
        raise InvalidArgumentError(
            f"ConcatOp : Expected concatenating dimensions in the range [-{count}, {count}), but got {axis}"
        )
    first = show_dims(shapes[0])
    for number, other in enumerate(shapes):
        if len(other) != count:
            raise InvalidArgumentError(
                f"ConcatOp : Ranks of all input tensors should match: shape[0] = {first} vs. "
                f"shape[{number}] = {show_dims(other)}"
            )
        for place in range(count):
            if place != axis % count and other[place] != shapes[0][place]:
                raise InvalidArgumentError(
                    f"ConcatOp : Dimension {place} in both shapes must be equal: shape[0] = {first} vs. "
                    f"shape[{number}] = {show_dims(other)}"
                )


def _check_split(place: int, count: int) -> None:
    if not -count <= place < count:
        raise InvalidArgumentError(
            f"-input rank(-{count}) <= split_dim < input rank ({count}), but got {place}"
        )


def _part_sizes(given: Any, num: int | None, sizes: tuple[int, ...], place: int) -> list[int]:
    wanted = as_value(given)
    check_type("", dtype_of(wanted), "Tlen", ["int8", "int32", "int64"])
    if wanted.ndim != 1 or (num is not None and num != len(wanted)):
        raise InvalidArgumentError(
            "size of the split_tensor must be 1-D and have the same elements as outputs got "
            f"{wanted.ndim} -D and {wanted.size} elements"
        )
    _check_split(place, len(sizes))
    parts: list[int] = wanted.tolist()
    if parts.count(-1) > 1:
        raise InvalidArgumentError("There can only be one -1 in the input.")
    known = sum(part for part in parts if part != -1)
    if known > sizes[place] or (-1 not in parts and known != sizes[place]):
        raise InvalidArgumentError(
            "Determined shape must either match input shape along split_dim exactly if fully specified, or be less "
            f"than the size of the input along split_dim if not fully specified.  Got: {known}"
        )
    return [sizes[place] - known if part == -1 else part for part in parts]
