"""Padding: values of different shapes as one array.

Rows of one dimension, the common case, go through a native kernel, as a Ragged; a memcpy for each.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfrkit.data.batch.collate import collate
from tfrkit.data.elements.columns import Column, Padded, rows, strings_in
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.model.shapes import Dims

__all__ = ["pad_column", "pad_values"]


def pad_column(column: Column, shape: Dims, fill: Any, component: int) -> Any:
    """Pad the rows of a column.

    Args:
        column: rows of which are arrays.
        shape: sizes of a row after padding, None for the largest.
        fill: what to pad with.
        component: number of the column, for messages.

    Raises:
        DataLossError: a row is larger than the shape.
        InvalidArgumentError: a row has another number of dimensions.

    >>> pad_column(Ragged.from_list([[1, 2], [3]]), (None,), 0, 0).tolist()
    [[1, 2], [3, 0]]
    """
    if isinstance(column, Padded):
        column = column.ragged
    if isinstance(column, (np.ndarray, BytesColumn)):
        inner = column.shape[1:]
        _check_rank(len(inner), shape, component)
        if all(size is None or size == own for size, own in zip(shape, inner, strict=True)):
            return column
    elif isinstance(column, Ragged) and column.ragged_rank == 1:
        return _pad_ragged(column, shape, fill, component)
    return pad_values(rows(column), shape, fill, component)


def pad_values(values: Sequence[Any], shape: Dims, fill: Any, component: int) -> Any:
    """Pad values to one shape and stack them.

    Args:
        values: numpy scalars, bytes, arrays or BytesColumns, all of one type.
        shape: sizes of a value after padding, None for the largest.
        fill: what to pad with.
        component: number of the leaf, for messages.

    Raises:
        DataLossError: a value is larger than the shape.
        InvalidArgumentError: a value has another number of dimensions or another type.

    >>> pad_values([np.ones((1, 2)), np.ones((2, 1))], (None, None), -1.0, 0).tolist()
    [[[1.0, 1.0], [-1.0, -1.0]], [[1.0, -1.0], [1.0, -1.0]]]
    """
    values = [strings_in(value) for value in values]
    shapes = [() if isinstance(value, bytes) else value.shape for value in values]
    for each in shapes:
        _check_rank(len(each), shape, component)
    if not shape:
        return collate([(value,) for value in values])[0]
    _check_types(values, component)
    if len(shape) == 1:
        lengths = np.array([len(value) for value in values], np.int64)
        joined = BytesColumn.concat(values) if isinstance(values[0], BytesColumn) else np.concatenate(values)
        return _pad_ragged(Ragged.unchecked(joined, splits_of(lengths)), shape, fill, component)
    return _pad_any(values, shapes, shape, fill)


def _pad_ragged(ragged: Ragged, shape: Dims, fill: Any, component: int) -> Any:
    """One native call, unless the inner dimensions are to be padded too."""
    inner = ragged.values.shape[1:]
    _check_rank(1 + len(inner), shape, component)
    length = shape[0]
    if length is not None and length < ragged.row_lengths().max(initial=0):
        raise _too_small()
    if any(size is not None and size != own for size, own in zip(shape[1:], inner, strict=True)):
        found = list(ragged)
        return _pad_any(found, [row.shape for row in found], shape, fill)
    return ragged.to_padded(fill, length)


def _pad_any(values: Sequence[Any], shapes: list[tuple[int, ...]], shape: Dims, fill: Any) -> Any:
    largest = np.max(np.array(shapes, np.int64), axis=0).tolist()
    target = [own if size is None else size for size, own in zip(shape, largest, strict=True)]
    if any(size < own for size, own in zip(target, largest, strict=True)):
        raise _too_small()
    strings = isinstance(values[0], BytesColumn)
    padded = np.empty((len(values), *target), object if strings else values[0].dtype)
    padded[...] = fill
    for number, value in enumerate(values):
        place = tuple(slice(size) for size in value.shape)
        padded[number][place] = value.to_numpy() if strings else value
    return BytesColumn.from_list(padded) if strings else padded


def _check_rank(rank: int, shape: Dims, component: int) -> None:
    if rank != len(shape):
        raise InvalidArgumentError(
            f"All elements in a batch must have the same rank as the padded shape for component{component}: "
            f"expected rank {len(shape)} but got element with rank {rank}"
        )


def _check_types(values: Sequence[Any], component: int) -> None:
    first = values[0].dtype
    for number, value in enumerate(values):
        if value.dtype != first:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different types in component {component}. First element had type {first} "
                f"and element {number} had type {value.dtype}."
            )


def _too_small() -> DataLossError:
    return DataLossError("Attempted to pad to a smaller size than the input element.")
