"""The shape of values: reading it, and changing it without changing the elements."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.tf.tensors.unsized import NOTED, note_shape
from tfrkit.values.operands import as_type, as_value, convert, dtype_of, integers, is_tensor, shape_of
from tfrkit.values.types import check_type

__all__ = [
    "broadcast_to", "ensure_shape", "expand_dims", "identity", "identity_n", "rank",
    "reshape", "reverse", "roll", "shape", "size", "squeeze", "transpose",
]  # fmt: skip

_SEQUENCES = (list, tuple)


def identity(input: Any) -> Any:
    """Return the value itself."""
    return as_value(input)


def identity_n(input: Any) -> list[Any]:
    """Return the values themselves."""
    return [as_value(value) for value in input]


def shape(input: Any, out_type: Any = "int32") -> Any:
    """Return the shape as numbers."""
    return np.array(shape_of(as_value(input)), _size_type(out_type))


def size(input: Any, out_type: Any = "int32") -> Any:
    """Return the number of elements."""
    return _size_type(out_type).type(math.prod(shape_of(as_value(input))))


def rank(input: Any) -> Any:
    """Return the number of dimensions."""
    if isinstance(input, Ragged):
        return np.int32(len(input.shape))
    return np.int32(len(shape_of(as_value(input))))


def reshape(tensor: Any, shape: Any) -> Any:
    """Return the same elements in another shape, of which one size may be -1.

    Raises:
        InvalidArgumentError: there are not as many elements; the text is TensorFlow's.

    >>> reshape([1, 2, 3, 4], [2, -1]).tolist()
    [[1, 2], [3, 4]]
    """
    value = as_value(tensor)
    if type(value) is np.ndarray and type(shape) in _SEQUENCES and shape and _are_sizes(shape):
        with contextlib.suppress(ValueError):  # which is reported below
            return value.reshape(shape)
    sizes = integers(shape, "Tshape")
    if sizes.ndim > 1:
        raise InvalidArgumentError(f"sizes input must be 1-D, not {show_dims(sizes.shape)}")
    wanted = _filled(np.atleast_1d(sizes).tolist(), shape_of(value))
    if isinstance(value, BytesColumn):
        return value.reshape(wanted) if wanted else value.reshape((1,))[0]
    if isinstance(value, bytes):
        return BytesColumn.from_list([value]).reshape(wanted) if wanted else value
    made = np.reshape(value, wanted)
    return made if wanted else made[()]


def expand_dims(input: Any, axis: Any) -> Any:
    """Insert a dimension of size 1.

    >>> expand_dims([1, 2], -1).tolist()
    [[1], [2]]
    """
    value = as_value(input)
    if type(axis) is int and type(value) is np.ndarray and -value.ndim <= axis <= value.ndim:
        at = axis + value.ndim + 1 if axis < 0 else axis
        return value.reshape(*value.shape[:at], 1, *value.shape[at:])
    place = convert(axis, None if is_tensor(axis) else np.dtype("int32"))
    if np.size(place) != 1:
        raise InvalidArgumentError(f"'dim' must be a tensor with a single value, got {np.size(place)} values")
    count, wanted = len(shape_of(value)), int(np.reshape(place, -1)[0])
    if not -count - 1 <= wanted <= count:
        raise InvalidArgumentError(f"Tried to expand dim index {wanted} for tensor with {count} dimensions.")
    return rearranged(value, lambda array: np.expand_dims(array, wanted))


def squeeze(input: Any, axis: Any = None) -> Any:
    """Remove dimensions of size 1: all of them, or those in `axis`.

    >>> squeeze([[[1], [2]]]).tolist(), squeeze([[[1], [2]]], 0).tolist()
    ([1, 2], [[1], [2]])
    """
    value = as_value(input)
    sizes = shape_of(value)
    places = _places(axis)
    for place in places:
        if not -len(sizes) <= place < len(sizes):
            raise InvalidArgumentError(
                f"Tried to squeeze dim index {place} for tensor with {len(sizes)} dimensions."
            )
    chosen = {place % len(sizes) for place in places}
    for place in sorted(chosen):
        if sizes[place] != 1:
            raise InvalidArgumentError(
                f"Can not squeeze dim[{place}], expected a dimension of 1, got {sizes[place]}"
            )
    kept = [one for place, one in enumerate(sizes) if (place not in chosen if chosen else one != 1)]
    return reshape(value, kept)


def transpose(a: Any, perm: Any = None, conjugate: bool = False) -> Any:
    """Reorder the dimensions; reversed by default.

    >>> transpose([[1, 2], [3, 4]]).tolist()
    [[1, 3], [2, 4]]
    """
    value = as_value(a)
    count = len(shape_of(value))
    if conjugate and dtype_of(value).kind == "c":
        value = np.conj(value)
    if perm is None:
        return rearranged(value, np.transpose)
    order = integers(perm, "Tperm")
    if order.ndim != 1:
        raise InvalidArgumentError(f"perm must be rank 1, got shape {show_dims(order.shape)}")
    if len(order) != count:
        raise InvalidArgumentError(
            f"transpose expects a vector of size {count}. But input(1) is a vector of size {len(order)}"
        )
    places = [place + count if place < 0 else place for place in order.tolist()]
    for place in places:
        if not 0 <= place < count:
            raise InvalidArgumentError(f"{place} is out of range [0 .. {count})")
    for place in range(count):
        if place not in places:
            shown = ",".join(map(str, places))
            raise InvalidArgumentError(f"{place} is missing from {{{shown}}}.")
    return rearranged(value, lambda array: np.transpose(array, places))


def reverse(tensor: Any, axis: Any) -> Any:
    """Reverse the order of elements along some dimensions."""
    value = as_value(tensor)
    check_type("ReverseV2", dtype_of(value))
    places = integers(axis, "Tidx")
    count = len(shape_of(value))
    if places.ndim != 1:
        raise InvalidArgumentError(f"'dims' must be 1-dimension, not {places.ndim}")
    seen: set[int] = set()
    for number, place in enumerate(places.tolist()):
        if not -count <= place < count:
            raise InvalidArgumentError(f"'axis'[{number}] = {place} is out of valid range [0, {count - 1}")
        if place % count in seen:
            raise InvalidArgumentError(f"axis {place % count} specified more than once.")
        seen.add(place % count)
    return rearranged(value, lambda array: np.flip(array, tuple(seen)))


def roll(input: Any, shift: Any, axis: Any) -> Any:
    """Roll elements along dimensions: what leaves at one end enters at the other."""
    value = as_value(input)
    count = len(shape_of(value))
    steps, places = integers(shift, "Tshift"), integers(axis, "Taxis")
    if not count:
        raise InvalidArgumentError("input must be 1-D or higher, got a scalar")
    if steps.shape != places.shape:
        raise InvalidArgumentError(
            f"shift and axis must have the same size, got {steps.size} and {places.size}"
        )
    for place in np.atleast_1d(places).tolist():
        if not -count <= place < count:
            shown = place + count if place < 0 else place
            raise InvalidArgumentError(f"axis {shown} is out of range: the input has {count} dimensions")
    moves = list(zip(np.atleast_1d(steps).tolist(), np.atleast_1d(places).tolist(), strict=True))

    def move(array: Any) -> Any:
        for step, place in moves:
            array = np.roll(array, step, place)
        return array

    return rearranged(value, move)


def broadcast_to(input: Any, shape: Any) -> Any:
    """Repeat a value along dimensions of size 1, and along new ones in front.

    Raises:
        InvalidArgumentError: the shapes do not fit.
    """
    value = as_value(input)
    wanted = integers(shape, "Tidx").tolist()
    given = shape_of(value)
    for size in wanted:
        if size < 0:
            raise InvalidArgumentError(f"Dimension {size} must be >= 0")
    if len(given) > len(wanted):
        raise InvalidArgumentError(
            f"Rank of input ({len(given)}) must be no greater than rank of output shape ({len(wanted)})."
        )
    try:
        return rearranged(value, lambda array: np.broadcast_to(array, wanted))
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {show_dims(given)} vs. {show_dims(wanted)}"
        ) from None


def ensure_shape(x: Any, shape: Any) -> Any:
    """Return the value itself, if it has the shape.

    Raises:
        InvalidArgumentError: it has another.
    """
    value = as_value(x)
    given = shape_of(value)
    if shape is None or getattr(shape, "rank", 0) is None:
        return value
    wanted = shape.as_list() if hasattr(shape, "as_list") else list(shape)
    if len(given) != len(wanted) or any(
        two not in (None, one) for one, two in zip(given, wanted, strict=True)
    ):
        raise InvalidArgumentError(
            f"Shape of tensor input {show_dims(given)} is not compatible with expected shape {show_dims(wanted)}."
        )
    if NOTED:
        note_shape(value, wanted)
    return value


def _are_sizes(shape: Any) -> bool:
    """Return whether they are ints that mean the same to numpy."""
    return all(type(size) is int for size in shape) and min(shape) >= -1


def _size_type(out_type: Any) -> np.dtype[Any]:
    dtype = as_type(out_type)
    if dtype.char not in "il":
        check_type("", dtype, "out_type", ["int32", "int64"])
    return dtype


def _places(axis: Any) -> list[int]:
    if axis is None:
        return []
    if isinstance(axis, str):
        raise TypeError(f"Expected int for argument 'axis' not {axis!r}.")
    return [int(place) for place in np.atleast_1d(np.asarray(axis)).tolist()]


def _filled(sizes: list[int], given: tuple[int, ...]) -> list[int]:
    """Return the shape with the missing size filled in; for an empty value from the sizes that are not 0."""
    for place, one in enumerate(sizes):
        if one < -1:
            raise InvalidArgumentError(f"Size {place} must be non-negative, not {one}")
    unknown = [place for place, one in enumerate(sizes) if one == -1]
    if len(unknown) > 1:
        raise InvalidArgumentError(f"Only one input size may be -1, not both {unknown[0]} and {unknown[1]}")
    count = math.prod(given)
    if unknown:
        empty = 0 in sizes
        product = math.prod(one for one in sizes if one > 0)
        elements = math.prod(one for one in given if one) if empty else count
        if elements % product and not (empty and not count):
            raise InvalidArgumentError(
                f"Input to reshape is a tensor with {count} values, "
                f"but the requested shape requires a multiple of {product}"
            )
        sizes = [elements // product if one == -1 else one for one in sizes]
    if math.prod(sizes) != count:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {count} values, but the requested shape has {math.prod(sizes)}"
        )
    return sizes
