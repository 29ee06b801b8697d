"""Python values as an array, by TensorFlow's rules rather than numpy's.

An array keeps its type. Among Python values the first one decides: ints become int32, or int64 if one does not fit,
floats float32, and a float among ints makes all of them floats. Strings become bytes objects.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.model.bytes_column import BytesColumn

__all__ = ["Leaves", "all_are", "leaves_of", "limits_of", "of_leaves", "to_array"]

Leaves = list[Any] | npt.NDArray[Any]

_PLAIN: Final = {int, float, bool, complex, str, bytes}
_LISTS: Final = {list, tuple}
_NUMBERS: Final = "?bBhHiIlLqQefdFD"
_MIXED: Final = (
    "Can't convert Python sequence with mixed types to Tensor. Convert its values to one type first."
)
_UNEVEN: Final = (
    "Can't convert non-rectangular Python sequence to Tensor. Rows of several lengths need a Ragged."
)
_FLOAT_RANGE: Final = "Can't convert Python sequence with a value out of range for a double-precision float."
_INT_RANGE: Final = (
    "Can't convert Python sequence with out-of-range integer to Tensor. It does not fit int64."
)


def to_array(value: Any) -> npt.NDArray[Any]:
    """Make an array of a value; strings give an array of bytes objects.

    Args:
        value: an ndarray, numpy scalar, BytesColumn, tensor, or numbers, strings and nested sequences of them.

    Raises:
        ValueError: the values are of several kinds or of none that a tensor has, sequences have different lengths, or a
            number does not fit. The text is TensorFlow's.

    >>> to_array([1, 2]).dtype, to_array([1, 2.5]).dtype, to_array([1, 2**40]).dtype
    (dtype('int32'), dtype('float32'), dtype('int64'))
    >>> to_array(["a", b"b"])
    array([b'a', b'b'], dtype=object)
    """
    if isinstance(value, BytesColumn):
        return value.to_numpy()
    if hasattr(value, "__array__"):
        return _of_numpy(np.asarray(value))
    shape, leaves = leaves_of(value)
    return of_leaves(leaves).reshape(shape)


def _of_numpy(array: npt.NDArray[Any]) -> npt.NDArray[Any]:
    if array.dtype.kind not in "SUO":
        return array
    return _of_objects(array.ravel().tolist()).reshape(array.shape)


def _of_objects(items: list[Any]) -> npt.NDArray[Any]:
    for item in items:
        if not isinstance(item, (bytes, str)):
            kind = type(item).__name__
            raise ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported object type {kind}).")
    return _strings(items)


def _strings(items: list[Any]) -> npt.NDArray[Any]:
    entries = np.empty(len(items), object)
    try:
        entries[:] = [item.encode() if isinstance(item, str) else bytes(item) for item in items]
    except UnicodeEncodeError:
        raise ValueError(
            "Error converting unicode string while converting Python sequence to Tensor."
        ) from None
    return entries


def _is_sequence(value: Any) -> bool:
    if isinstance(value, (bytes, str, np.generic)):
        return False
    if hasattr(value, "__array__"):
        return bool(np.ndim(value))
    return isinstance(value, Sequence)


def leaves_of(value: Any) -> tuple[tuple[int, ...], Leaves]:
    """The shape of nested sequences, as the first items of each level have it, and all values.

    Returns:
        The shape; the values as a list, or as an array without dimensions of its own where all are numbers of arrays
        of one type: those are not taken apart.

    Raises:
        ValueError: sequences have different lengths, or stand beside values. The text is TensorFlow's.

    >>> leaves_of([[1, 2.5], [3, "x"]])
    ((2, 2), [1, 2.5, 3, 'x'])
    >>> leaves_of([np.array([1, 2]), np.array([3, 4])])
    ((2, 2), array([1, 2, 3, 4]))
    """
    shape: list[int] = []
    items, kinds = [value], {type(value)}
    while items:
        kinds = set(map(type, items))
        if kinds <= _PLAIN or not _is_sequence(items[0]):
            break
        if not kinds <= _LISTS:
            items = [_as_numpy(item) for item in items]
            if (stacked := _stacked(items)) is not None:
                return (*shape, *stacked.shape[1:]), stacked.ravel()
        sizes = {len(item) for item in items if _is_sequence(item)}
        if len(sizes) > 1 and len(items[0]):
            raise ValueError(_UNEVEN)
        if not kinds <= _LISTS and not all(map(_is_sequence, items)):
            raise ValueError(_UNEVEN)
        shape.append(len(items[0]))
        if not len(items[0]):
            return tuple(shape), []
        items = list(chain.from_iterable(items))
    if not kinds <= _PLAIN:
        if any(map(_is_sequence, items)):
            raise ValueError(_MIXED)
        items = [np.asarray(item)[()] if hasattr(item, "__array__") else item for item in items]
    return tuple(shape), items


def _as_numpy(item: Any) -> Any:
    known = isinstance(item, (np.ndarray, np.generic)) or not hasattr(item, "__array__")
    return item if known else np.asarray(item)


def _stacked(items: list[Any]) -> npt.NDArray[Any] | None:
    """Arrays of numbers of one type and shape as one array; None for anything else."""
    first = items[0]
    if type(first) is not np.ndarray or first.dtype.char not in _NUMBERS or not first.size:
        return None
    if any(
        type(item) is not np.ndarray or item.dtype != first.dtype or item.shape != first.shape
        for item in items
    ):
        return None
    return np.stack(items).astype(first.dtype.newbyteorder("="), copy=False)


def of_leaves(leaves: Leaves) -> npt.NDArray[Any]:
    """The array of values that `leaves_of` found, of the type that they have by themselves.

    Raises:
        ValueError: they are of several kinds or of none that a tensor has, or a number does not fit.
    """
    if isinstance(leaves, np.ndarray):
        return _of_stacked(leaves)
    if not leaves:
        return np.zeros(0, np.float32)
    first = leaves[0]
    if isinstance(first, (bytes, str)):
        if not all_are(leaves, bytes, str):
            raise ValueError(_MIXED)
        return _strings(leaves)
    if isinstance(first, (bool, np.bool_)):
        if not all_are(leaves, bool, np.bool_):
            raise ValueError(_MIXED)
        return np.array(leaves, np.bool_)
    if isinstance(first, (int, np.integer)):
        return _of_ints(leaves)
    if isinstance(first, (float, np.floating)):
        wide = type(first) if isinstance(first, (np.float16, np.float64)) else np.float32
        return _of_floats(leaves, np.dtype(wide))
    if isinstance(first, (complex, np.complexfloating)):
        if not all_are(leaves, int, float, complex, np.number):
            raise ValueError(_MIXED)
        return np.array(leaves, np.complex128)
    raise _unsupported(first)


def all_are(leaves: Leaves, *kinds: type) -> bool:
    """Whether all values are of these types, asked once of each type that there is.

    >>> all_are([1, 2, 2.5], int), all_are([1, np.int8(2)], int, np.integer)
    (False, True)
    """
    found = {leaves.dtype.type} if isinstance(leaves, np.ndarray) else set(map(type, leaves))
    return all(issubclass(kind, kinds) for kind in found)


def _of_stacked(leaves: npt.NDArray[Any]) -> npt.NDArray[Any]:
    kind = leaves.dtype.kind
    if kind in "iu":
        return leaves.astype(np.int32 if _fits_int32(leaves) else np.int64)
    return leaves.astype(np.complex128) if kind == "c" else leaves


def limits_of(leaves: Leaves) -> tuple[int, int]:
    """The least and the greatest of some integers."""
    if isinstance(leaves, np.ndarray):
        return int(leaves.min()), int(leaves.max())
    return int(min(leaves)), int(max(leaves))


def _fits_int32(leaves: Leaves) -> bool:
    smallest, largest = limits_of(leaves)
    if smallest < -(2**63) or largest >= 2**63:
        raise ValueError(_INT_RANGE)
    return smallest >= -(2**31) and largest < 2**31


def _of_ints(leaves: list[Any]) -> npt.NDArray[Any]:
    if not all_are(leaves, int, np.integer):
        return _of_floats(leaves, np.dtype(np.float32))
    return np.array(leaves, np.int32 if _fits_int32(leaves) else np.int64)


def _of_floats(leaves: list[Any], dtype: np.dtype[Any]) -> npt.NDArray[Any]:
    if not all_are(leaves, int, float, np.integer, np.floating):
        raise ValueError(_MIXED)
    try:
        wide = np.array(list(map(float, leaves)), np.float64)
    except OverflowError:
        raise ValueError(_FLOAT_RANGE) from None
    with np.errstate(over="ignore"):
        values = wide.astype(dtype)
    if bool((np.isinf(values) & np.isfinite(wide)).any()):
        raise ValueError(_FLOAT_RANGE)
    return values


def _unsupported(value: Any) -> ValueError:
    kind = type(value)
    return ValueError(
        f"Attempt to convert a value ({value!r:.100}) with an unsupported type ({kind}) to a Tensor."
    )
