"""Joining, stacking, repeating and reversing Ragged values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.tf.ops.checks.debugging import assert_equal
from tfrkit.tf.ops.ragged.ragged_index import slice_rows
from tfrkit.tf.ops.ragged.ragged_make import as_values
from tfrkit.tf.ops.ragged.ragged_shape import check_axis, expand_dims
from tfrkit.values.operands import kernel_name
from tfrkit.values.to_array import to_array

__all__ = ["as_ragged", "concat", "reverse", "stack", "tile"]


def concat(values: Sequence[Any], axis: Any) -> Any:
    """Join values along a dimension; see `tf.concat`.

    Raises:
        ValueError: the values differ in their number of dimensions, or have no such dimension.
        InvalidArgumentError: they differ in rows.

    >>> concat([Ragged.from_list([[1], [2]]), Ragged.from_list([[3, 4], []])], axis=1).to_list()
    [[1, 3, 4], [2]]
    """
    parts = [as_ragged(value) for value in values]
    first = parts[0]
    place = check_axis(axis, first.ndim)
    _check_splits(parts)
    for number, part in enumerate(parts):
        if part.ndim != first.ndim:
            raise ValueError(f"Shape {part.shape} must have rank {first.ndim}")
        if part.dtype != first.dtype:
            names = [kernel_name(one.dtype) for one in (first, part)]
            raise InvalidArgumentError(
                f"cannot compute ConcatV2 as input #{number}(zero-based) was expected to be a {names[0]} tensor but is "
                f"a {names[1]} tensor"
            )
    return first if len(parts) == 1 else _concat(parts, place)


def stack(values: Sequence[Any], axis: Any = 0) -> Any:
    """Join values along a new dimension; they may differ in all others.

    Raises:
        ValueError: there are no values.

    >>> stack([[1, 2], [3]]).to_list()
    [[1, 2], [3]]
    """
    parts = [as_values(value) for value in (values if isinstance(values, (list, tuple)) else [values])]
    if not parts:
        raise ValueError("rt_inputs may not be empty.")
    place = check_axis(axis, parts[0].ndim + 1)
    if place:
        return _concat([as_ragged(expand_dims(part, place)) for part in parts], place)
    if not parts[0].ndim:
        return np.stack(parts)
    wide = any(isinstance(part, Ragged) and part.row_splits.dtype != np.int32 for part in parts)
    splits = splits_of(np.fromiter(map(len, parts), np.int64, len(parts)))
    flat = parts[0] if len(parts) == 1 else _concat(parts, 0)
    return Ragged.unchecked(flat, splits if wide else splits.astype(np.int32))


def tile(input: Ragged, multiples: Any) -> Any:
    """Repeat a Ragged along its dimensions.

    >>> tile(Ragged.from_list([[1], [2, 3]]), [1, 2]).to_list()
    [[1, 1], [2, 3, 2, 3]]
    """
    made: Any = input
    for place, count in reversed(list(enumerate(to_array(multiples).tolist()))):
        if count != 1:
            made = _concat([made] * count, place) if count else _sliced(made, place, slice(0, 0))
    return made


def reverse(tensor: Ragged, axis: Any) -> Any:
    """Reverse the order of entries along dimensions.

    >>> reverse(Ragged.from_list([[1, 2], [3]]), [1]).to_list()
    [[2, 1], [3]]
    """
    made: Any = tensor
    for one in np.atleast_1d(to_array(axis)).tolist():
        made = _sliced(made, check_axis(one, tensor.ndim), slice(None, None, -1))
    return made


def as_ragged(value: Any) -> Ragged:
    """Return an array as rows of one length; a Ragged as it is."""
    made = as_values(value)
    if isinstance(made, Ragged):
        return made
    rows, length = made.shape[:2]
    flat = made.reshape((rows * length, *made.shape[2:]))
    return Ragged.unchecked(flat, np.arange(rows + 1, dtype=np.int64) * length)


def _deepened(value: Any, depth: int) -> Any:
    """A value with at least this number of ragged dimensions."""
    if not depth:
        return value
    ragged = as_ragged(value)
    return ragged if depth == 1 else Ragged.unchecked(_deepened(ragged.values, depth - 1), ragged.row_splits)


def _check_splits(parts: list[Any]) -> None:
    if len({part.row_splits.dtype for part in parts if isinstance(part, Ragged)}) > 1:
        raise ValueError(
            "Input RaggedTensors have mismatched row_splits dtypes; use RaggedTensor.with_row_splits_dtype() to "
            "convert them to compatible dtypes."
        )


def _concat(parts: list[Any], place: int) -> Any:
    _check_splits(parts)
    depth = max(part.ragged_rank if isinstance(part, Ragged) else 0 for part in parts)
    parts = [_deepened(part, depth) for part in parts]
    first = parts[0]
    if not depth:
        return as_values(np.concatenate([to_array(part) for part in parts], axis=place))
    if place == 0:
        return _joined(parts)
    for number, part in enumerate(parts[1:], 1):
        if len(part) != len(first):
            assert_equal(
                np.int64(len(first)),
                np.int64(len(part)),
                f"Input tensors at index 0 (=x) and {number} (=y) have incompatible shapes.",
            )
    if place > 1:
        for part in parts[1:]:
            assert_equal(first.row_splits.astype(np.int64), part.row_splits.astype(np.int64))
        return Ragged.unchecked(_concat([part.values for part in parts], place - 1), first.row_splits)
    count = len(first)
    order = (np.arange(count)[:, None] + count * np.arange(len(parts))).ravel()
    shuffled = _joined(parts).take(order)
    return Ragged.unchecked(shuffled.values, shuffled.row_splits[:: len(parts)])


def _joined(parts: list[Ragged]) -> Ragged:
    made = Ragged.concat(parts)
    wide = any(part.row_splits.dtype != np.int32 for part in parts)
    return Ragged.unchecked(made.values, made.row_splits.astype(np.int64 if wide else np.int32))


def _sliced(value: Any, place: int, part: slice) -> Any:
    """A slice along one dimension."""
    if not isinstance(value, Ragged):
        return as_values(to_array(value)[(slice(None),) * place + (part,)])
    if place < 2:
        return slice_rows(value, part) if place else value[part]
    return Ragged.unchecked(_sliced(value.values, place - 1, part), value.row_splits)
