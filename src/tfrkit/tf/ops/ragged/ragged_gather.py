"""Gathering parts of Ragged values by number, along any dimension, and choosing entries by a mask.

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
from tfrkit.tf.ops.checks.debugging import assert_equal
from tfrkit.tf.ops.ragged.ragged_index import take_rows
from tfrkit.tf.ops.ragged.ragged_join import as_ragged, stack
from tfrkit.tf.ops.ragged.ragged_make import as_values
from tfrkit.tf.ops.ragged.ragged_shape import check_axis
from tfrkit.tf.ops.strings.string_values import with_flat
from tfrkit.values.to_array import to_array

__all__ = ["boolean_mask", "gather"]


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,  # noqa: ARG001
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
        raise ValueError("batch_dims must be less than or equal to axis")
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
            f"gather of ragged rows along axis {axis} in batches of {batch} dimensions is not known here"
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
