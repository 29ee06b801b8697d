"""Batches of elements: stack each leaf of a list of elements, as TensorFlow's batch does.

What is usual, numpy's scalars and bytes in dicts and tuples, is read natively in one walk over the elements. Where they
are unlike each other, or unusual, each leaf is looked at by itself, which also finds TensorFlow's error. Pure: no I/O.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit import _core
from tfrkit.data.elements.element_values import to_value
from tfrkit.data.elements.structure import flatten, pack, require_same
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.shapes import show_dims
from tfrkit.model.sparse import Sparse

__all__ = ["collate"]

_COMPOSITE: Final = (Ragged, Sparse)


class _UnlikeError(Exception):
    """The values of a leaf are not of one kind."""


def collate(elements: list[Any]) -> Any:
    """Make one batch of elements of the same structure.

    Args:
        elements: at least one; leaves are numpy scalars, bytes, arrays, BytesColumn, Ragged, Sparse or None.

    Returns:
        The structure of the first element with a column in the place of every leaf.

    Raises:
        InvalidArgumentError: shapes or types differ; the text for shapes is TensorFlow's.
        TypeError, ValueError: structures differ.

    >>> collate([(np.int64(1), b"a"), (np.int64(2), b"")])
    (array([1, 2]), BytesColumn(shape=(2,), [b'a', b'']))
    >>> collate([np.zeros(1), np.zeros(2)])
    Traceback (most recent call last):
    tfrkit.errors.InvalidArgumentError: Cannot batch tensors with different shapes in component 0. First element ...
    """
    try:
        batch = _core.collate(elements, BytesColumn.unchecked, _stack_alike)
    except _UnlikeError:
        batch = None
    return _collate_leaves(elements) if batch is None else batch


def _stack_alike(values: list[Any]) -> Any:
    """Stack values of one type, or say that they are not alike otherwise."""
    first = values[0]
    if first is None:
        return None
    if not isinstance(first, (np.ndarray, BytesColumn, *_COMPOSITE)):
        raise _UnlikeError
    dtype = first.dtype
    if isinstance(first, _COMPOSITE):
        if any(value.dtype != dtype for value in values):
            raise _UnlikeError
        return _stack_ragged(values) if isinstance(first, Ragged) else _stack_sparse(values)
    shape = first.shape
    for value in values:
        if value.shape != shape or value.dtype != dtype:
            raise _UnlikeError
    shape = (len(values), *shape)
    if isinstance(first, BytesColumn):
        return BytesColumn.concat([value.reshape(value.size) for value in values]).reshape(*shape)
    # Joined along the first dimension they lie as they do stacked, and np.stack would make a view of each.
    stacked = np.concatenate(values).reshape(shape) if len(shape) > 1 else np.array(values)
    return BytesColumn.from_list(stacked) if stacked.dtype == object else stacked


def _stack_ragged(values: list[Ragged]) -> Ragged:
    ranks = [value.ragged_rank for value in values]
    shapes = [value.flat_values.shape[1:] for value in values]
    for number, (rank, shape) in enumerate(zip(ranks, shapes, strict=True)):
        if rank != ranks[0]:
            raise InvalidArgumentError(
                f"expected elements of ragged rank {ranks[0]}, as the first has, but element {number} has {rank}"
            )
        if shape != shapes[0]:
            raise InvalidArgumentError(
                f"All flat_values must have compatible shapes.  Shape at index 0: {show_dims(shapes[0])}.  "
                f"Shape at index {number}: {show_dims(shape)}.  If you are using tf.map_fn, then you may need to "
                "specify an explicit fn_output_signature with appropriate ragged_rank, and/or convert output tensors "
                "to RaggedTensors."
            )
    lengths = np.array([len(value) for value in values], values[0].row_splits.dtype)
    return Ragged.from_lengths(Ragged.concat(values), lengths)


def _stack_sparse(values: list[Sparse]) -> Sparse:
    ranks = [value.ndim for value in values]
    for number, rank in enumerate(ranks):
        if rank != ranks[0]:
            raise InvalidArgumentError(
                f"Inconsistent shape across SparseTensors: rank prior to SparseTensor[{number}] was: {ranks[0]} but "
                f"rank of SparseTensor[{number}] is: {rank}"
            )
    rows = np.repeat(np.arange(len(values)), [len(value.indices) for value in values])
    indices = np.column_stack([rows, np.concatenate([value.indices for value in values])])
    inner = [value.values for value in values]
    joined = BytesColumn.concat(inner) if isinstance(inner[0], BytesColumn) else np.concatenate(inner)
    sizes = np.max([value.dense_shape for value in values], axis=0)
    return Sparse.unchecked(indices, joined, np.array([len(values), *sizes], np.int64))


def _collate_leaves(elements: list[Any]) -> Any:
    """Stack leaf by leaf in TensorFlow's order: an error is that of the first leaf which has one."""
    for element in elements:
        require_same(elements[0], element)
    components = [[_value(leaf) for leaf in leaves] for leaves in zip(*map(flatten, elements), strict=True)]
    for number, values in enumerate(components):
        if values[0] is not None and not isinstance(values[0], _COMPOSITE):
            _check_shapes(values, number)
    for number, values in enumerate(components):
        types = [_type_name(value) for value in values]
        other = next((place for place, name in enumerate(types) if name != types[0]), 0)
        if other:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different types in component {number}. First element had type "
                f"{types[0]} and element {other} had type {types[other]}."
            )
    return pack(elements[0], [_stack_alike(values) for values in components])


def _value(leaf: Any) -> Any:
    """An array for a scalar of any sort; columns and None as they are."""
    if isinstance(leaf, _COMPOSITE) or leaf is None:
        return leaf
    value = to_value(leaf)
    if isinstance(value, bytes):
        return BytesColumn.from_list([value]).reshape(())
    return value if isinstance(value, BytesColumn) else np.asarray(value)


def _check_shapes(values: list[Any], component: int) -> None:
    for number, value in enumerate(values):
        if not (value is None or isinstance(value, _COMPOSITE)) and value.shape != values[0].shape:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different shapes in component {component}. First element had shape "
                f"{show_dims(values[0].shape)} and element {number} had shape {show_dims(value.shape)}."
            )


def _type_name(value: Any) -> str:
    if value is None:
        return "None"
    name = "bytes" if value.dtype == object else str(value.dtype)
    return f"{type(value).__name__} of {name}" if isinstance(value, _COMPOSITE) else name
