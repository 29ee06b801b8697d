"""Parts of Ragged values: gathered by number along any dimension, chosen by a mask, or split.

As in TensorFlow, a number inside a row is counted from where the row begins, and may lead into the next one: only
numbers beyond all values are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.tf.ops.arrays import gather as dense
from tfrkit.tf.ops.arrays import join
from tfrkit.tf.ops.checks.debugging import assert_equal, assert_non_negative
from tfrkit.tf.ops.ragged.ragged_index import take_rows
from tfrkit.tf.ops.ragged.ragged_join import as_ragged, stack
from tfrkit.tf.ops.ragged.ragged_make import as_values
from tfrkit.tf.ops.ragged.ragged_shape import check_axis, expand_dims
from tfrkit.tf.ops.strings.string_values import with_flat
from tfrkit.values.to_array import to_array

__all__ = ["boolean_mask", "gather", "gather_nd", "split"]


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Any:
    """Return the parts at these places, along a dimension; with batch dimensions, for each row its own places.

    Raises:
        InvalidArgumentError: there is no such place.
        ValueError: there is no such dimension, or the rows of places and values differ in number.

    >>> gather(Ragged.from_list([[1, 2], [3]]), [[1], [0]], batch_dims=1).tolist()
    [[2], [3]]
    """
    values = as_values(params)
    places = indices if isinstance(indices, Ragged) else to_array(indices)
    batch = int(batch_dims)
    if not -places.ndim <= batch < max(places.ndim, 1):
        raise ValueError(
            f"batch_dims={batch} out of bounds: expected {-places.ndim}<=batch_dims<{places.ndim}"
        )
    batch %= max(places.ndim, 1)
    place = check_axis(batch if axis is None else axis, values.ndim)
    if place < batch:
        raise ValueError(f"batch_dims must be less than or equal to axis, got {batch} and {place}")
    return _in_batches(values, places, place, batch) if batch else _along(values, places, place)


def boolean_mask(data: Any, mask: Any) -> Any:
    """Keep the entries for which a mask is true; a mask of several dimensions leaves all but the last as they are.

    Raises:
        ValueError: the shapes do not fit.

    >>> boolean_mask([[1, 2], [3, 4]], [[True, False], [True, True]]).to_list()
    [[1], [3, 4]]
    """
    values, chosen = as_values(data), mask if isinstance(mask, Ragged) else to_array(mask)
    if chosen.dtype != bool:
        raise TypeError(f"Cannot convert {mask!r} to EagerTensor of dtype bool")
    if chosen.ndim == 0:
        raise ValueError("mask cannot be scalar.")
    if chosen.ndim == 1:
        if len(chosen) != len(values):
            raise ValueError(f"Shapes ({len(values)},) and ({len(chosen)},) are incompatible")
        return take_rows(values, np.flatnonzero(chosen))
    rows, kept = as_ragged(values), as_ragged(chosen)
    assert_equal(rows.row_splits.astype(np.int64), kept.row_splits.astype(np.int64))
    flat = boolean_mask(rows.values, kept.values)
    if kept.values.ndim > 1:
        return Ragged.unchecked(flat, rows.row_splits)
    before = splits_of(kept.values)  # how many are kept before each of the values
    return Ragged.unchecked(flat, before[rows.row_splits].astype(rows.row_splits.dtype))


def gather_nd(params: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Return the entries or parts at places that have a number for each of the first dimensions.

    Raises:
        InvalidArgumentError: there is no such place.
        ValueError: the places are a single number, or batches are asked for.

    >>> gather_nd(Ragged.from_list([[1, 2], [3]]), [[0, 1], [1, 0]]).tolist()
    [2, 3]
    """
    if int(batch_dims):
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    values = as_values(params)
    if isinstance(indices, Ragged):
        return with_flat(indices, gather_nd(values, indices.flat_values))
    places = to_array(indices)
    if not places.ndim:
        raise ValueError("indices.rank must be at least 1.")
    if not isinstance(values, Ragged):
        return dense.gather_nd(values, places)
    deep = places.shape[-1]
    if not deep:
        return _take(expand_dims(values, 0), np.zeros(places.shape[:-1], np.int64))
    if places.shape == (1,):
        return _take(values, places)
    number = places[..., 0]
    for level in range(1, deep):
        number = dense.gather(values.row_splits, number) + places[..., level]
        values = values.values
        if not isinstance(values, Ragged):
            rest = np.concatenate([number[..., None], places[..., level + 1 :]], axis=-1)
            return dense.gather_nd(values, rest)
    return _take(values, number)


def split(value: Ragged, num_or_size_splits: Any, axis: Any = 0, num: int | None = None) -> list[Any]:
    """Split along a dimension whose size is known, into a number of equal parts or into parts of these sizes.

    Raises:
        InvalidArgumentError: the sizes do not add up.
        ValueError: the dimension is ragged.
        TypeError: it is neither a number of parts nor sizes.

    >>> [part.to_list() for part in split(Ragged.from_list([[1, 2], [], [3]]), [1, 2])]
    [[[1, 2]], [[], [3]]]
    """
    place = check_axis(axis, value.ndim)
    whole = isinstance(num_or_size_splits, int)
    if not whole and np.ndim(num_or_size_splits) != 1:
        raise TypeError(
            f"`num_or_size_splits` must be an `int` or 1-D list or `Tensor`. Received {num_or_size_splits}."
        )
    if whole and num_or_size_splits < 1:
        raise ValueError(f"`num_or_size_splits` must be >=1 if it is an `int`.Received {num_or_size_splits}.")
    if whole and num_or_size_splits == 1:
        return [value]
    if place > value.ragged_rank:
        parts = join.split(value.flat_values, num_or_size_splits, place - value.ragged_rank, num)
        return [with_flat(value, part) for part in parts]
    if place:
        raise ValueError(
            f"Cannot split a ragged dimension. Got `value` with shape {value.shape} and `axis` {place}."
        )
    count = len(value)
    equal = np.full(num_or_size_splits, count // num_or_size_splits) if whole else None
    sizes = to_array(num_or_size_splits) if equal is None else equal
    assert_non_negative(sizes, message="`num_or_size_splits` must be non-negative.")
    uneven = "Cannot exactly split the `axis` dimension of `value` with the given `num_or_size_split`."
    assert_equal(np.int64(count), np.int64(sizes.sum()), uneven)
    ends = np.cumsum(sizes).tolist()
    return [value[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def _along(values: Any, places: Any, axis: int) -> Any:
    """The parts at some places of a dimension, the same ones everywhere."""
    if not axis:
        return _take(values, places)
    if not isinstance(values, Ragged):
        return dense.gather(values, places, axis=axis)
    if axis > 1:
        return Ragged.unchecked(_along(values.values, places, axis - 1), values.row_splits)
    count = len(values)
    many = isinstance(places, Ragged)
    return _in_rows(
        values, stack([places] * count) if many else np.broadcast_to(places, (count, *places.shape))
    )


def _in_batches(values: Any, places: Any, axis: int, batch: int) -> Any:
    """The parts at places that each row has for itself."""
    if len(values) != len(places):
        raise ValueError(
            f"batch shape from indices ({len(places)},) does not match params shape {tuple(values.shape)}"
        )
    if axis != batch:
        raise ValueError(
            f"gather of ragged rows needs axis={batch}, the same as batch_dims, but got axis={axis}. "
            "Use tf.map_fn to gather in each row by itself."
        )
    values = as_ragged(values)
    if batch == 1:
        return _in_rows(values, places)
    places = as_ragged(places)
    made = _in_batches(values.values, places.values, axis - 1, batch - 1)
    return Ragged.unchecked(made, places.row_splits)


def _in_rows(values: Ragged, places: Any) -> Any:
    """The parts of every row at places of its own."""
    starts = values.row_splits[:-1].astype(np.int64)
    if not isinstance(places, Ragged):
        return _take(values.values, starts.reshape(-1, *[1] * (places.ndim - 1)) + places)
    ends, *inner = places.nested_row_splits
    for splits in inner:
        ends = splits[ends]
    return _take(values.values, with_flat(places, places.flat_values + np.repeat(starts, np.diff(ends))))


def _take(values: Any, places: Any) -> Any:
    """Rows by number; the result has the shape of the numbers before that of a row."""
    if isinstance(places, Ragged):
        return with_flat(places, _take(values, places.flat_values))
    if not isinstance(values, Ragged):
        return dense.gather(values, places)
    flat = places.ravel()
    wrong = np.flatnonzero((flat < 0) | (flat >= len(values)))
    if len(wrong):
        where = ",".join(str(int(one)) for one in np.unravel_index(wrong[0], places.shape))
        shown = f"[{where}]" if places.ndim else ""
        raise InvalidArgumentError(f"indices{shown} = {flat[wrong[0]]} is not in [0, {len(values)})")
    if not places.ndim:
        return values[int(places)]
    made = values.take(flat)
    for size in places.shape[:0:-1]:
        splits = np.arange(len(made) // size + 1 if size else 1) * size
        made = Ragged.unchecked(made, splits.astype(values.row_splits.dtype))
    return made
