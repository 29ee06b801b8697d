"""Reshaping Ragged values: more or fewer dimensions, padding to an array; and their sizes."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import as_dtype, dtype_name
from tfrkit.model.ragged import Ragged
from tfrkit.tf.ops.ragged.ragged_make import as_values
from tfrkit.tf.ops.strings.string_values import shape_text
from tfrkit.values.to_array import to_array

__all__ = ["bounding_shape", "check_axis", "expand_dims", "merge_dims", "row_lengths", "squeeze", "to_tensor"]


def expand_dims(input: Any, axis: Any) -> Any:
    """Insert a dimension of size 1.

    >>> expand_dims(Ragged.from_list([[1, 2], []]), 0).to_list()
    [[[1, 2], []]]
    """
    place = check_axis(axis, input.ndim + 1)
    if not isinstance(input, Ragged):
        return input.reshape((*input.shape[:place], 1, *input.shape[place:]))
    if place > 1:
        return Ragged.unchecked(expand_dims(input.values, place - 1), input.row_splits)
    splits = np.arange(len(input) + 1) if place else np.array([0, len(input)])
    return Ragged.unchecked(input, splits.astype(input.row_splits.dtype))


def squeeze(input: Ragged, axis: Any = None) -> Any:
    """Remove dimensions of size 1.

    Raises:
        ValueError: no dimension is named.
        InvalidArgumentError: one has another size.

    >>> squeeze(expand_dims(Ragged.from_list([[1, 2], []]), 0), 0).to_list()
    [[1, 2], []]
    """
    if axis is None:
        raise ValueError("Ragged.squeeze must have an axis argument.")
    made: Any = input
    places = [check_axis(one, input.ndim) for one in np.atleast_1d(to_array(axis)).tolist()]
    for place in sorted(places, reverse=True):
        made = _squeezed(made, place)
    return made


def merge_dims(value: Any, outer_axis: int, inner_axis: int) -> Any:
    """Merge dimensions that follow each other.

    Raises:
        ValueError: they are in the wrong order, or do not exist.

    >>> merge_dims(Ragged.from_list([[[1], [2, 3]], []]), 1, 2).to_list()
    [[1, 2, 3], []]
    """
    rank = value.ndim
    first, last = check_axis(outer_axis, rank, "outer_axis"), check_axis(inner_axis, rank, "inner_axis")
    if first > last:
        raise ValueError(
            f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis ({inner_axis})."
        )
    if first == last:
        return value
    if not isinstance(value, Ragged):
        return value.reshape((*value.shape[:first], -1, *value.shape[last + 1 :]))
    if first == 0:
        return merge_dims(value.values, 0, last - 1)
    if first > 1:
        return Ragged.unchecked(merge_dims(value.values, first - 1, last - 1), value.row_splits)
    inner = value.values
    if isinstance(inner, Ragged):
        joined = Ragged.unchecked(inner.values, inner.row_splits[value.row_splits])
    else:
        each = int(np.prod(inner.shape[1:2]))
        joined = Ragged.unchecked(inner.reshape((-1, *inner.shape[2:])), value.row_splits * each)
    return merge_dims(joined, 1, last - 1)


def row_lengths(value: Ragged, axis: int = 1) -> Any:
    """Return the number of entries of the rows of a dimension.

    >>> row_lengths(Ragged.from_list([[[1], [2, 3]], []]), axis=2).to_list()
    [[1, 2], []]
    """
    place = check_axis(axis, value.ndim)
    dtype = value.row_splits.dtype
    if place == 0:
        return dtype.type(len(value))
    if place == 1:
        return value.row_lengths()
    inner = value.values
    if isinstance(inner, Ragged):
        return Ragged.unchecked(row_lengths(inner, place - 1), value.row_splits)
    shape = inner.shape[: place - 1]
    return Ragged.unchecked(np.full(shape, inner.shape[place - 1], dtype), value.row_splits)


def bounding_shape(value: Ragged, axis: Any = None, out_type: Any = None) -> Any:
    """Return the sizes of the array that `to_tensor` makes.

    >>> bounding_shape(Ragged.from_list([[1, 2], [], [3]])).tolist()
    [3, 2]
    """
    dtype = value.row_splits.dtype if out_type is None else as_dtype(out_type)
    sizes = [len(value), *(int(np.diff(splits).max(initial=0)) for splits in value.nested_row_splits)]
    whole = np.array([*sizes, *value.flat_values.shape[1:]], dtype)
    if axis is None:
        return whole
    chosen = to_array(axis)
    return whole[int(chosen)] if not chosen.ndim else whole[chosen]


def to_tensor(value: Ragged, default_value: Any = None, shape: Any = None) -> Any:
    """Pad rows to an array.

    Args:
        value: rows.
        default_value: what to pad with: one value, or one that fits the values' inner dimensions; 0 or "" if None.
        shape: truncate and pad to these sizes; None where the longest row decides.

    Raises:
        TypeError: the default is of another type.
        InvalidArgumentError: the shape has another number of dimensions, or the default does not fit.

    >>> to_tensor(Ragged.from_list([[1, 2], []]), -1, shape=[None, 3]).tolist()
    [[1, 2, -1], [-1, -1, -1]]
    """
    sizes = _sizes(shape, value)
    default = _default(default_value, value)
    lengths = [sizes[level + 1] for level in range(value.ragged_rank)]
    made = value.to_padded(default, lengths if value.ragged_rank > 1 else lengths[0])
    return _fitted(made, sizes, default)


def check_axis(axis: Any, rank: int, name: str = "axis") -> int:
    """Return the number of a dimension, counted from the end if negative.

    Raises:
        ValueError: it does not exist; the text is TensorFlow's.
    """
    place = int(axis)
    if not -rank <= place < rank:
        raise ValueError(f"{name}={place} out of bounds: expected -{rank}<={name}<{rank}")
    return place % rank


def _squeezed(value: Any, place: int) -> Any:
    ragged = isinstance(value, Ragged)
    if ragged and place > 1:
        return Ragged.unchecked(_squeezed(value.values, place - 1), value.row_splits)
    if ragged and place:
        size = next((one for one in value.row_lengths().tolist() if one != 1), 1)
    else:
        size = value.shape[place]
    if size != 1:
        raise InvalidArgumentError(f"Can not squeeze dim[{place}], expected a dimension of 1, got {size}")
    return value.values if ragged else value.reshape((*value.shape[:place], *value.shape[place + 1 :]))


def _sizes(shape: Any, value: Ragged) -> list[int | None]:
    if shape is None:
        return [None] * value.ndim
    listed = hasattr(shape, "__iter__") and not isinstance(shape, np.ndarray)  # with None, perhaps
    given = list(shape) if listed else to_array(shape).tolist()
    sizes = [None if size is None or int(size) < 0 else int(size) for size in given]
    if len(sizes) != value.ndim:
        raise InvalidArgumentError(
            f"rt_input.shape and shape={shape_text(sizes)} are incompatible: rt_input.rank = {value.ndim} but "
            f"shape.rank = {len(sizes)}"
        )
    first = value.ragged_rank + 1
    for place, found in enumerate(value.flat_values.shape[1:], first):
        if sizes[place] not in (None, found):
            raise InvalidArgumentError(
                f"rt_input.shape and shape={shape_text(sizes)} are incompatible: rt_input.shape[{place}] = {found} but "
                f"shape[{place}] = {sizes[place]}"
            )
    return sizes


def _default(default: Any, value: Ragged) -> Any:
    strings = value.dtype == object
    if default is None:
        return b"" if strings else value.dtype.type(0)
    array = to_array(default)
    number = array.dtype.kind in "biu" and value.dtype.kind in "iufc" and array.dtype.kind != "b"
    if (array.dtype == object) != strings or not (strings or number or array.dtype.kind == value.dtype.kind):
        raise TypeError(f"Cannot convert {default!r} to EagerTensor of dtype {dtype_name(value.dtype)}")
    inner = value.flat_values.shape[1:]
    if array.ndim and array.shape[-1:] != inner[-1:]:
        raise InvalidArgumentError(
            f"default_value.shape={shape_text(array.shape)} and rt_input.flat_values.shape="
            f"{shape_text(value.flat_values.shape)} are incompatible: default_value.shape[-1] = {array.shape[-1]} but "
            f"rt_input.flat_values.shape[-1] = {inner[-1] if inner else 1}"
        )
    return array.item() if strings else array.astype(value.dtype)


def _fitted(made: Any, sizes: list[int | None], default: Any) -> Any:
    """Truncate and pad the dimensions that `to_padded` did not: the first, and those within values."""
    wanted = tuple(found if size is None else size for size, found in zip(sizes, made.shape, strict=True))
    if wanted == made.shape:
        return made
    array = made.to_numpy() if isinstance(made, BytesColumn) else made
    whole = np.empty(wanted, array.dtype)
    whole[...] = default
    common = tuple(slice(0, min(pair)) for pair in zip(wanted, array.shape, strict=True))
    whole[common] = array[common]
    return as_values(whole)
