"""Parts of Ragged values by number, along any dimension, and Ragged values cut into parts.

As in TensorFlow, a number inside a row is counted from where the row begins, and may lead into the next one: only
numbers beyond all values are refused.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.ragged import Ragged
from tfrkit.tf.ops.arrays import gather as dense
from tfrkit.tf.ops.arrays import join
from tfrkit.tf.ops.checks.debugging import assert_equal, assert_non_negative
from tfrkit.tf.ops.ragged import ragged_join
from tfrkit.tf.ops.ragged.ragged_make import as_values
from tfrkit.tf.ops.ragged.ragged_shape import check_axis, expand_dims
from tfrkit.tf.ops.strings.string_values import with_flat
from tfrkit.values.to_array import to_array

__all__ = ["gather", "gather_nd", "split"]


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,  # noqa: ARG001
    axis: Any = None,
    batch_dims: int = 0,
) -> Any:
    """Give the parts at these places, along a dimension; with batch dimensions, for each row its own places.

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
        raise ValueError("batch_dims must be less than or equal to axis")
    return _in_batches(values, places, place, batch) if batch else _along(values, places, place)


def gather_nd(params: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Give the entries or parts at places that have a number for each of the first dimensions.

    Raises:
        InvalidArgumentError: there is no such place.
        ValueError: the places are a single number, or batches are asked for.

    >>> gather_nd(Ragged.from_list([[1, 2], [3]]), [[0, 1], [1, 0]]).tolist()
    [2, 3]
    """
    if int(batch_dims):
        raise ValueError("batch_dims != 0 is not supported for ragged gather yet.")
    if isinstance(indices, Ragged):
        return with_flat(indices, _take_nd(as_values(params), indices.flat_values))
    places = to_array(indices)
    if not places.ndim:
        raise ValueError("indices.rank must be at least 1.")
    return _take_nd(as_values(params), places)


def split(value: Ragged, num_or_size_splits: Any, axis: Any = 0, num: int | None = None) -> list[Any]:
    """Cut a Ragged along a dimension whose size is known, into so many equal parts or into parts of these sizes.

    Raises:
        InvalidArgumentError: the sizes do not add up.
        ValueError: it is a ragged dimension.
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
    ends = np.cumsum(_sizes(len(value), num_or_size_splits)).tolist()
    return [value[begin:end] for begin, end in zip([0, *ends[:-1]], ends, strict=True)]


def _sizes(count: int, given: Any) -> Any:
    """Of so many rows, how many go into each part."""
    uneven = "Cannot exactly split the `axis` dimension of `value` with the given `num_or_size_split`."
    if isinstance(given, int):
        if count % given:
            raise InvalidArgumentError(
                f"{uneven}\nCondition x == y did not hold.\nFirst 1 elements of x:\n[{count}]\n"
                f"First 1 elements of y:\n[{count // given * given}]"
            )
        return np.full(given, count // given)
    sizes = to_array(given)
    assert_non_negative(sizes, message="`num_or_size_splits` must be non-negative.")
    assert_equal(np.int64(count), np.int64(sizes.sum()), uneven)
    return sizes


def _along(values: Any, places: Any, axis: int) -> Any:
    """The parts at some places of a dimension, the same ones everywhere."""
    if not axis:
        return _take(values, places)
    if not isinstance(values, Ragged):
        return dense.gather(values, places, axis=axis)
    if axis > 1:
        return Ragged.unchecked(_along(values.values, places, axis - 1), values.row_splits)
    starts = values.row_splits[:-1].astype(np.int64)
    if isinstance(places, Ragged):
        flat = places.flat_values
        shifted = ragged_join.stack([with_flat(places, flat + start) for start in starts])
        return _take(values.values, shifted)
    return _take(values.values, starts.reshape(-1, *[1] * places.ndim) + places)


def _in_batches(values: Any, places: Any, axis: int, batch: int) -> Any:
    """The parts at places that each row has for itself."""
    if len(values) != len(places):
        raise ValueError(
            f"batch shape from indices ({len(places)},) does not match params shape {_shape(values)}"
        )
    if axis != batch:
        raise ValueError(
            f"gather of ragged rows along axis {axis} in batches of {batch} dimensions is not known here"
        )
    values = ragged_join.as_ragged(values)
    if batch > 1:
        places = ragged_join.as_ragged(places)
        return Ragged.unchecked(
            _in_batches(values.values, places.values, axis - 1, batch - 1), places.row_splits
        )
    starts = values.row_splits[:-1].astype(np.int64)
    if not isinstance(places, Ragged):
        return _take(values.values, starts.reshape(-1, *[1] * (places.ndim - 1)) + places)
    entries = with_flat(places, np.arange(len(places.flat_values)))
    while isinstance(entries.values, Ragged):
        entries = Ragged.unchecked(entries.values.values, entries.values.row_splits[entries.row_splits])
    return _take(
        values.values, with_flat(places, places.flat_values + np.repeat(starts, entries.row_lengths()))
    )


def _take(values: Any, places: Any) -> Any:
    """Rows by number."""
    if isinstance(places, Ragged):
        return with_flat(places, _take(values, places.flat_values))
    return ragged_join.gather(values, places) if isinstance(values, Ragged) else dense.gather(values, places)


def _take_nd(values: Any, places: Any) -> Any:
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


def _shape(values: Any) -> str:
    return str(tuple(values.shape))
