"""Batches of elements: stack each leaf of a list of elements, as TensorFlow's batch does."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.data.structure import flatten, pack
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.shapes import show_dims
from tfrkit.model.sparse import Sparse

__all__ = ["collate"]


def collate(elements: list[Any]) -> Any:
    """Make one batch of elements of the same structure.

    Args:
        elements: at least one; leaves are numpy scalars, bytes, arrays, BytesColumn, Ragged or Sparse.

    Returns:
        The structure of the first element with a column in the place of every leaf.

    Raises:
        InvalidArgumentError: shapes or types differ; the text for shapes is TensorFlow's.

    >>> collate([(np.int64(1), b"a"), (np.int64(2), b"")])
    (array([1, 2]), BytesColumn(shape=(2,), [b'a', b'']))
    """
    leaves = zip(*map(flatten, elements), strict=True)
    return pack(elements[0], [_stack(list(values), number) for number, values in enumerate(leaves)])


def _stack(values: list[Any], component: int) -> Any:
    first = values[0]
    if isinstance(first, bytes):
        _check(values, component)
        return BytesColumn.from_list(values)
    if isinstance(first, Ragged):
        lengths = np.array([len(value) for value in values], first.row_splits.dtype)
        return Ragged.from_lengths(Ragged.concat(values), lengths)
    if isinstance(first, Sparse):
        return _stack_sparse(values)
    _check(values, component)
    if isinstance(first, BytesColumn):
        flat = BytesColumn.concat([value.reshape(-1) for value in values])
        return flat.reshape(len(values), *first.shape)
    stacked = np.stack(values) if np.ndim(first) else np.array(values, np.asarray(first).dtype)
    stacked.flags.writeable = False
    return stacked


def _stack_sparse(values: list[Sparse]) -> Sparse:
    rows = [
        Sparse.unchecked(
            np.insert(value.indices, 0, 0, axis=1), value.values, np.array([1, *value.shape], np.int64)
        )
        for value in values
    ]
    return Sparse.concat(rows)


def _kind(value: Any) -> Any:
    return np.dtype(object) if isinstance(value, bytes) else np.asarray(value).dtype


def _check(values: list[Any], component: int) -> None:
    shapes = [() if isinstance(value, bytes) else value.shape for value in values]
    for number, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {component}. First element had shape "
                f"{show_dims(shapes[0])} and element {number} had shape {show_dims(shape)}."
            )
    kinds = [_kind(value) if not isinstance(value, BytesColumn) else value.dtype for value in values]
    for number, kind in enumerate(kinds):
        if kind != kinds[0]:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different types in component {component}. First element had type "
                f"{kinds[0]} and element {number} had type {kind}."
            )
