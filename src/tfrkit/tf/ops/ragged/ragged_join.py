"""Ragged values of several, or parts of one: joined, stacked, repeated, turned, gathered, masked."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import as_dtype
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.tf.ops.checks.debugging import assert_equal
from tfrkit.tf.ops.ragged.ragged_index import slice_rows, take_rows
from tfrkit.tf.ops.ragged.ragged_make import as_values
from tfrkit.tf.ops.ragged.ragged_shape import check_axis, expand_dims, merge_dims
from tfrkit.values.operands import kernel_name
from tfrkit.values.to_array import to_array

__all__ = [
    "as_ragged", "boolean_mask", "concat", "gather", "reverse", "row_splits_to_segment_ids",
    "segment_ids_to_row_splits", "stack", "stack_dynamic_partitions", "tile", "where",
]  # fmt: skip


def concat(values: Sequence[Any], axis: Any) -> Any:
    """Join values along a dimension; see `tf.concat`.

    Raises:
        ValueError: the values differ in their number of dimensions, or there is no such one.
        InvalidArgumentError: they differ in rows.

    >>> concat([Ragged.from_list([[1], [2]]), Ragged.from_list([[3, 4], []])], axis=1).to_list()
    [[1, 3, 4], [2]]
    """
    parts = [as_ragged(value) for value in values]
    place = check_axis(axis, parts[0].ndim)
    _check_splits(parts)
    first = parts[0]
    for number, part in enumerate(parts):
        if part.ndim != first.ndim:
            raise ValueError(f"Shape {part.shape} must have rank {first.ndim}")
        if part.dtype != first.dtype:
            names = [kernel_name(one.dtype) for one in (first, part)]
            raise InvalidArgumentError(
                f"cannot compute ConcatV2 as input #{number}(zero-based) was expected to be a {names[0]} tensor but is "
                f"a {names[1]} tensor"
            )
    return parts[0] if len(parts) == 1 else _concat(parts, place)


def stack(values: Sequence[Any], axis: Any = 0) -> Any:
    """Join values along a new dimension; they may differ in all others.

    Raises:
        ValueError: there is none.

    >>> stack([[1, 2], [3]]).to_list()
    [[1, 2], [3]]
    """
    if not isinstance(values, (list, tuple)):
        values = [values]
    if not values:
        raise ValueError("rt_inputs may not be empty.")
    parts = [as_values(value) for value in values]
    inner = parts[0].ndim
    place = check_axis(axis, inner + 1)
    if place == 0:
        lengths = np.fromiter(map(len, parts), np.int64, len(parts)) if inner else None
        if lengths is None:
            return np.stack(parts)
        flat = parts[0] if len(parts) == 1 else _concat(_alike(parts), 0)
        wide = any(isinstance(part, Ragged) and part.row_splits.dtype != np.int32 for part in parts)
        return Ragged.unchecked(flat, splits_of(lengths).astype(np.int64 if wide else np.int32))
    return _concat([as_ragged(expand_dims(part, place)) for part in parts], place)


def tile(input: Ragged, multiples: Any) -> Ragged:  # noqa: A002
    """Repeat a Ragged along its dimensions.

    >>> tile(Ragged.from_list([[1], [2, 3]]), [1, 2]).to_list()
    [[1, 1], [2, 3, 2, 3]]
    """
    times = to_array(multiples).tolist()
    made: Any = input
    for place, count in reversed(list(enumerate(times))):
        made = _concat([made] * count, place) if count > 1 else made if count else _emptied(made, place)
    return made  # type: ignore[no-any-return]


def reverse(tensor: Ragged, axis: Any) -> Any:
    """Turn the order of entries along dimensions.

    >>> reverse(Ragged.from_list([[1, 2], [3]]), [1]).to_list()
    [[2, 1], [3]]
    """
    made: Any = tensor
    for place in [check_axis(one, tensor.ndim) for one in np.atleast_1d(to_array(axis)).tolist()]:
        made = _reversed(made, place)
    return made


def gather(params: Any, indices: Any) -> Any:
    """Give rows by their numbers; the result has the shape of the numbers before that of a row.

    Raises:
        InvalidArgumentError: there is no such row.

    >>> gather(Ragged.from_list([[1, 2], [], [3]]), [2, 0]).to_list()
    [[3], [1, 2]]
    """
    rows = as_values(params)
    numbers = to_array(indices)
    flat = numbers.ravel()
    wrong = np.flatnonzero((flat < 0) | (flat >= len(rows)))
    if len(wrong):
        place_ = ",".join(str(int(one)) for one in np.unravel_index(wrong[0], numbers.shape))
        shown = f"[{place_}]" if numbers.ndim else ""
        raise InvalidArgumentError(f"indices{shown} = {flat[wrong[0]]} is not in [0, {len(rows)})")
    if not numbers.ndim:
        return rows[int(numbers)]
    made = take_rows(rows, flat)
    dtype = rows.row_splits.dtype if isinstance(rows, Ragged) else np.dtype(np.int64)
    for size_ in numbers.shape[:0:-1]:
        splits = np.arange(len(made) // size_ + 1 if size_ else 1) * size_
        made = Ragged.unchecked(made, splits.astype(dtype))
    return made


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
    rows, kept = values, as_ragged(chosen)
    if not isinstance(rows, Ragged):
        rows = as_ragged(rows)
    assert_equal(rows.row_splits.astype(np.int64), kept.row_splits.astype(np.int64))
    if isinstance(kept.values, Ragged) or kept.values.ndim > 1:
        return Ragged.unchecked(boolean_mask(rows.values, kept.values), rows.row_splits)
    counts = np.zeros(len(rows), np.int64)
    np.add.at(counts, np.repeat(np.arange(len(rows)), rows.row_lengths()), kept.values)
    flat = take_rows(rows.values, np.flatnonzero(kept.values))
    return Ragged.unchecked(flat, splits_of(counts).astype(rows.row_splits.dtype))


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Coordinates of what is true; `where` with values is one of the functions entry by entry.

    >>> where(Ragged.from_list([[True, False], [True]])).tolist()
    [[0, 0], [1, 0]]
    """
    if x is not None or y is not None:
        raise ValueError("x and y must both be non-None or both be None.")
    sparse = condition.to_sparse()
    return sparse.indices[sparse.values.astype(bool)]


def row_splits_to_segment_ids(splits: Any, out_type: Any = None) -> npt.NDArray[Any]:
    """The number of its row for each value.

    >>> row_splits_to_segment_ids([0, 2, 2, 3]).tolist()
    [0, 0, 2]
    """
    places = to_array(splits)
    dtype = _index_type(splits, places, out_type)
    return np.repeat(np.arange(len(places) - 1), np.diff(places)).astype(dtype)


def segment_ids_to_row_splits(
    segment_ids: Any, num_segments: Any = None, out_type: Any = None
) -> npt.NDArray[Any]:
    """Where rows begin and end, of the number of its row for each value.

    >>> segment_ids_to_row_splits([0, 0, 2]).tolist()
    [0, 2, 2, 3]
    """
    numbers = to_array(segment_ids)
    dtype = _index_type(segment_ids, numbers, out_type)
    count = 0 if num_segments is None else int(num_segments)
    lengths = (
        np.bincount(numbers.astype(np.int64), minlength=count) if numbers.size else np.zeros(count, np.int64)
    )
    return splits_of(lengths).astype(dtype)


def stack_dynamic_partitions(data: Any, partitions: Any, num_partitions: Any) -> Ragged:
    """Put values into rows by numbers in any order.

    Raises:
        InvalidArgumentError: a number is not among those of the rows.

    >>> stack_dynamic_partitions(["a", "b", "c"], [0, 1, 0], 2).to_list()
    [[b'a', b'c'], [b'b']]
    """
    values, numbers = as_values(data), to_array(partitions)
    count = int(num_partitions)
    if bool((numbers < 0).any() or (numbers >= count).any()):
        raise InvalidArgumentError(f"partitions must be in [0, {count})")
    if numbers.ndim > 1:
        values = merge_dims(values, 0, numbers.ndim - 1)
    flat = numbers.ravel()
    return Ragged.unchecked(
        take_rows(values, np.argsort(flat, kind="stable")),
        splits_of(np.bincount(flat, minlength=count)).astype(flat.dtype),
    )


def _index_type(given: Any, array: npt.NDArray[Any], out_type: Any) -> np.dtype[Any]:
    if out_type is not None:
        return as_dtype(out_type)
    keep = isinstance(given, np.ndarray) and array.dtype == np.int32
    return np.dtype(np.int32 if keep else np.int64)


def as_ragged(value: Any) -> Ragged:
    """An array as rows of one length."""
    made = as_values(value)
    if isinstance(made, Ragged):
        return made
    flat = (
        made.reshape((-1, *made.shape[2:]))
        if made.size
        else made.reshape((made.shape[0] * made.shape[1], *made.shape[2:]))
    )
    return Ragged.unchecked(flat, np.arange(made.shape[0] + 1, dtype=np.int64) * made.shape[1])


def _alike(parts: list[Any]) -> list[Any]:
    """Values of one depth: if one is ragged, all are."""
    depth = max((part.ragged_rank for part in parts if isinstance(part, Ragged)), default=0)
    return [_deepened(part, depth) for part in parts]


def _deepened(value: Any, depth: int) -> Any:
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
    parts = _alike(parts)
    if not isinstance(parts[0], Ragged):
        if isinstance(parts[0], BytesColumn):
            joined = np.concatenate([part.to_numpy() for part in parts], axis=place)
            return BytesColumn.from_list(joined)
        return np.concatenate(parts, axis=place)
    if place == 0:
        return _joined(parts)
    for number, part in enumerate(parts[1:], 1):
        if len(part) != len(parts[0]):
            assert_equal(
                np.int64(len(parts[0])),
                np.int64(len(part)),
                f"Input tensors at index 0 (=x) and {number} (=y) have incompatible shapes.",
            )
    if place > 1:
        for part in parts[1:]:
            assert_equal(parts[0].row_splits.astype(np.int64), part.row_splits.astype(np.int64))
        return Ragged.unchecked(_concat([part.values for part in parts], place - 1), parts[0].row_splits)
    count = len(parts[0])
    order = (np.arange(count)[:, None] + count * np.arange(len(parts))).ravel()
    shuffled = _joined(parts).take(order)
    return Ragged.unchecked(shuffled.values, shuffled.row_splits[:: len(parts)])


def _emptied(value: Any, place: int) -> Any:
    """Nothing along a dimension."""
    if not isinstance(value, Ragged):
        return value[(slice(None),) * place + (slice(0, 0),)]
    if place == 0:
        return value[:0]
    if place == 1:
        return slice_rows(value, slice(0, 0))
    return Ragged.unchecked(_emptied(value.values, place - 1), value.row_splits)


def _joined(parts: list[Ragged]) -> Ragged:
    made = Ragged.concat(parts)
    wide = any(part.row_splits.dtype != np.int32 for part in parts)
    return Ragged.unchecked(made.values, made.row_splits.astype(np.int64 if wide else np.int32))


def _reversed(value: Any, place: int) -> Any:
    if not isinstance(value, Ragged):
        flipped = np.flip(value.to_numpy() if isinstance(value, BytesColumn) else value, place)
        return as_values(flipped)
    if place == 0:
        return value[::-1]
    if place == 1:
        return slice_rows(value, slice(None, None, -1))
    return Ragged.unchecked(_reversed(value.values, place - 1), value.row_splits)
