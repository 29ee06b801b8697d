"""Strings made of several: join and reduce_join."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError, OutOfRangeError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.tf.ops.strings.string_values import (
    flat_strings,
    shape_text,
    strings_of,
    tensor_strings,
    with_flat,
)
from tfrkit.values.attributes import str_attribute
from tfrkit.values.to_array import to_array

__all__ = ["join", "reduce_join", "reduce_join_v1"]


def join(inputs: Sequence[Any], separator: str = "") -> Any:
    """Join strings of several tensors, entry by entry.

    Args:
        inputs: strings, or tensors of strings of one shape; a single string goes with every entry of the others.
        separator: the text between them.

    Raises:
        InvalidArgumentError: the shapes differ.

    >>> join(["a", ["b", "c"]], separator="-").to_list()
    [b'a-b', b'a-c']
    """
    if isinstance(inputs, (str, bytes)):
        raise TypeError(f"Expected list for 'inputs' argument to 'string_join' Op, not {inputs!r}.")
    between = _separator(separator)
    parts = [part.encode() if type(part) is str else part for part in inputs]
    if all(type(part) is bytes for part in parts):
        return between.join(parts)
    if any(isinstance(part, Ragged) for part in parts):
        return _join_ragged(parts, separator)
    columns = [strings_of(part) for part in parts]
    shapes = [column.shape for column in columns if column.shape]
    for shape in shapes[1:]:
        if shape != shapes[0]:
            raise InvalidArgumentError(
                f"Input shapes do not match: {shape_text(shapes[0])} vs. {shape_text(shape)}"
            )
    if not shapes:
        return between.join(flat_strings(column)[0] for column in columns)
    count = int(np.prod(shapes[0], dtype=np.int64))
    lists = [flat_strings(column) if column.shape else flat_strings(column) * count for column in columns]
    return BytesColumn.from_list([between.join(entry) for entry in zip(*lists, strict=True)]).reshape(
        shapes[0]
    )


def reduce_join(inputs: Any, axis: Any = None, keepdims: bool = False, separator: str = "") -> Any:
    """Join the strings of a tensor along dimensions, as reduce_sum adds numbers.

    Args:
        inputs: strings.
        axis: one dimension or several, of which the first one is joined first; all by default, the last one first.
        keepdims: keep them with size 1.
        separator: the text between strings.

    Raises:
        OutOfRangeError: there is no such dimension.
        InvalidArgumentError: one is named twice.

    >>> reduce_join([["a", "b"], ["c", "d"]], axis=0).to_list(), reduce_join([["a", "b"], ["c", "d"]])
    ([b'ac', b'bd'], b'abcd')
    """
    between = _separator(separator)
    if isinstance(inputs, Ragged):
        return _reduce_ragged(inputs, axis, separator)
    column = tensor_strings(inputs, "ReduceJoin")
    rank = len(column.shape)
    axes = (
        list(range(rank))[::-1]
        if axis is None
        else [int(one) for one in np.atleast_1d(to_array(axis)).tolist()]
    )
    places: list[int] = []
    for one in axes:
        if not -rank <= one < rank:
            raise OutOfRangeError(f"Invalid reduction dimension {one} for input with {rank} dimension(s)")
        if one % rank in places:
            raise InvalidArgumentError(f"Duplicate reduction dimension {one}")
        places.append(one % rank)
    kept = [place for place in range(rank) if place not in places]
    moved = column.to_numpy().transpose(*kept, *places[::-1])
    rows = moved.reshape(*[column.shape[place] for place in kept], -1) if column.size else moved
    shape = tuple(column.shape[place] for place in kept)
    count = int(np.prod(shape, dtype=np.int64))
    joined = [between.join(row) for row in rows.reshape(count, -1 if column.size else 0).tolist()]
    if keepdims:
        shape = tuple(1 if place in places else size for place, size in enumerate(column.shape))
    return joined[0] if shape == () else BytesColumn.from_list(joined).reshape(shape)


def reduce_join_v1(
    inputs: Any,
    axis: Any = None,
    keep_dims: bool | None = None,
    separator: str = "",
    reduction_indices: Any = None,
    keepdims: bool | None = None,
) -> Any:
    """`reduce_join` with the names of TensorFlow 1.

    >>> reduce_join_v1([["a", "b"]], reduction_indices=1).to_list()
    [b'ab']
    """
    where = reduction_indices if axis is None else axis
    return reduce_join(inputs, where, bool(keep_dims or keepdims), separator)


def _separator(value: Any) -> bytes:
    return str_attribute(value, "separator", "").encode("utf-8", "surrogateescape")


def _join_ragged(parts: list[Any], separator: str) -> Ragged:
    """Join where at least one part is Ragged: all of these have the same rows, the others are one string each."""
    splits = [[one.tolist() for one in part.nested_row_splits] for part in parts if isinstance(part, Ragged)]
    if any(one != splits[0] for one in splits):
        raise InvalidArgumentError("Inputs must have identical ragged splits")
    flat = [part.flat_values if isinstance(part, Ragged) else part for part in parts]
    return with_flat(next(part for part in parts if isinstance(part, Ragged)), join(flat, separator))


def _reduce_ragged(inputs: Ragged, axis: Any, separator: str) -> Any:
    """Join rows of a Ragged: the innermost dimension, the outermost, or all."""
    rank = inputs.ndim
    if axis is None:
        return _separator(separator).join(flat_strings(inputs.flat_values))
    axes = [int(one) for one in np.atleast_1d(to_array(axis)).tolist()]
    for one in axes:
        if not -rank <= one < rank:
            raise ValueError(f"axis={one} out of bounds: expected -{rank}<=axis<{rank}")
    made: Any = inputs
    for one in sorted((one % rank for one in axes), reverse=True):
        made = (
            _reduce_axis(made, one, separator)
            if isinstance(made, Ragged)
            else reduce_join(made, one, False, separator)
        )
    return made


def _reduce_axis(inputs: Ragged, axis: int, separator: str) -> Any:
    between = _separator(separator)
    values = inputs.values
    if axis > 1:
        inner = (
            _reduce_axis(values, axis - 1, separator)
            if isinstance(values, Ragged)
            else reduce_join(values, axis - 1, False, separator)
        )
        return Ragged.unchecked(inner, inputs.row_splits)
    rows = inputs.to_list()
    if axis == 1:
        if inputs.ndim == 2:
            return BytesColumn.from_list([between.join(row) for row in rows])
        return Ragged.from_list([_join_columns(row, between) for row in rows])
    made = _join_columns(rows, between)
    return Ragged.from_list(made) if made and isinstance(made[0], list) else BytesColumn.from_list(made)


def _join_columns(rows: list[Any], between: bytes) -> list[Any]:
    """Join the first entries of all rows that have one, then the second ones, and so on."""
    made: list[Any] = []
    for place in range(max(map(len, rows), default=0)):
        entries = [row[place] for row in rows if len(row) > place]
        made.append(
            between.join(entries) if isinstance(entries[0], bytes) else _join_columns(entries, between)
        )
    return made
