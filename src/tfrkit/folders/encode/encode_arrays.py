"""Numbers and byte strings of a feature to what is stored of them. The way back is `decode/decode_arrays.py`.

Nothing is made to fit: a number that the type cannot hold, another shape or kind is an error. Only the precision of
float64 goes, where values are stored as the float32 that an Example has.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.folders.decode.decode_arrays import stored_type
from tfrkit.folders.decode.stored_keys import BadValue
from tfrkit.folders.feature_tree import ArrayFeature, Dims, numpy_dtype, show_shape
from tfrkit.model.features import shown
from tfrkit.model.near_names import near_names

__all__ = ["check_alike", "check_shape", "encode_array"]

Array = npt.NDArray[Any]


def encode_array(values: Any, feature: ArrayFeature, *, alike: bool) -> tuple[Any, ...]:
    """Return what is stored of some values, one after another, and the shapes of byte strings that do not say theirs.

    Args:
        values: a list or an array, an entry for each value.
        feature: what each is.
        alike: all must have one shape, as they become one array.

    Raises:
        BadValue: one does not fit.
    """
    dtype = numpy_dtype(feature.dtype)
    if feature.kind == "ClassLabel":
        return (_labels(values, feature),)
    if dtype.kind == "O":
        return (_fitted(values, dtype, feature.shape).ravel().tolist(),)
    if feature.encoding == "none":
        stored = np.dtype(stored_type(dtype))
        array = _fitted(values, dtype, feature.shape)
        narrow = array.view(np.int64) if dtype == np.uint64 else _fitted(array, stored, feature.shape)
        return (narrow.ravel(),)
    arrays = [_fitted(values[row : row + 1], dtype, feature.shape, row)[0] for row in range(len(values))]
    if alike:
        check_alike([array.shape for array in arrays])
    contents = [_little_endian(array) for array in arrays]
    if feature.encoding == "zlib":
        contents = [zlib.compress(content) for content in contents]
    if feature.shape.count(None) < 2:
        return (contents,)
    return contents, np.array([array.shape for array in arrays], np.int64).ravel()


def check_shape(found: tuple[int, ...], shape: Dims) -> None:
    """Raise if an array does not have the shape of its feature.

    Raises:
        ValueError: it does not.
    """
    fits = len(found) == len(shape) and all(
        wanted in (None, size) for size, wanted in zip(found, shape, strict=True)
    )
    if not fits:
        raise ValueError(f"expected the shape {show_shape(shape)} but got {show_shape(found)}")


def check_alike(shapes: Sequence[tuple[int, ...]]) -> None:
    """Raise if the elements of a sequence, which become one array, differ in their shape.

    Raises:
        BadValue: one does.
    """
    for row, shape in enumerate(shapes):
        if shape != shapes[0]:
            raise BadValue(
                row,
                f"expected the shape {show_shape(shapes[0])} of element 0 but got {show_shape(shape)}: the elements of "
                "a Sequence have one shape, those of a Dataset need not",
            )


def _fitted(values: Any, dtype: np.dtype[Any], shape: Dims, first: int = 0) -> Array:
    """Return values as one array of a type, a row for each.

    Args:
        values: an entry for each.
        dtype: of the array; object for byte strings.
        shape: of each row.
        first: the number of the first, for messages.

    Raises:
        BadValue: one does not fit.
    """
    if not len(values):
        return np.zeros((0, *(size or 0 for size in shape)), dtype)
    try:
        return _as_array(values, dtype, shape)
    except (TypeError, ValueError) as error:
        for row, value in enumerate(values):  # whose fault is it?
            try:
                _as_array([value], dtype, shape)
            except (TypeError, ValueError) as own:
                raise BadValue(first + row, str(own)) from None
        raise BadValue(first, str(error)) from None  # each is right, but not beside the others


def _as_array(values: Any, dtype: np.dtype[Any], shape: Dims) -> Array:
    one = len(values) == 1  # which is not copied
    source = values[0] if one else values
    found = np.asarray(source, object if dtype.kind == "O" else None)
    if dtype.kind in "iu" and found.dtype.kind in "fO":  # such as whole numbers beyond int64
        found = np.asarray(source, object)
    array = found[np.newaxis] if one else found
    check_shape(array.shape[1:], shape)
    return _bytes_of(array) if dtype.kind == "O" else _cast(array, dtype)


def _bytes_of(array: Array) -> Array:
    flat = np.empty(array.size, object)
    flat[:] = [_byte_string(value) for value in array.ravel().tolist()]
    return flat.reshape(array.shape)


def _byte_string(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, (bytes, bytearray, memoryview)):
        return bytes(value)
    raise ValueError(f"expected bytes or str but got {shown(value)}")


def _cast(array: Array, dtype: np.dtype[Any]) -> Array:
    """Return numbers with another type.

    Raises:
        ValueError: it cannot hold one of them.
    """
    if array.dtype == dtype:
        return array
    if dtype.kind in "iub":
        return _cast_integers(array, dtype)
    if array.dtype.kind not in "biuf" and not (array.dtype.kind == "V" and array.dtype.fields is None):
        raise _misfit(array, dtype)
    with np.errstate(over="ignore"):
        made = array.astype(dtype)
    beyond = np.flatnonzero(np.isinf(made) & ~np.isinf(array.astype(np.float64, copy=False)))
    if len(beyond):
        hint = ', which encoding="bytes" keeps' if dtype == np.float32 and array.dtype == np.float64 else ""
        raise ValueError(f"{array.ravel()[beyond[0]]} is beyond {dtype}{hint}")
    return made


def _cast_integers(array: Array, dtype: np.dtype[Any]) -> Array:
    if not array.size:
        return array.astype(dtype)
    if array.dtype.kind == "O":
        flat: list[Any] = array.ravel().tolist()
        wrong: list[Any] = [
            each for each in flat if not hasattr(each, "__index__") or isinstance(each, np.ndarray)
        ]
        if wrong:
            raise ValueError(f"expected {dtype} but got {shown(wrong[0])}")
    elif array.dtype.kind not in "biu":
        raise _misfit(array, dtype)
    low, high = (0, 1) if dtype.kind == "b" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    if not np.can_cast(array.dtype, dtype):
        for found in (int(array.min()), int(array.max())):
            if not low <= found <= high:
                raise ValueError(f"{found} is beyond {dtype}")
    return array.astype(dtype)


def _misfit(array: Array, dtype: np.dtype[Any]) -> ValueError:
    value = array.ravel()[:1].tolist()
    return ValueError(f"expected {dtype} but got {shown(value[0]) if value else array.dtype}")


def _labels(values: Any, feature: ArrayFeature) -> Array:
    """Return the numbers of classes, which may be given by name.

    Raises:
        BadValue: there is no such class.
    """
    names = feature.class_names
    numbers = [_class_number(value, names, row) for row, value in enumerate(values)]
    found = _fitted(numbers, np.dtype(np.int64), ())
    count = feature.classes or len(names)
    wrong: Any = np.flatnonzero((found < -1) | (found >= count)) if count else []
    if len(wrong):
        row = int(wrong[0])
        raise BadValue(row, f"expected a class from 0 to {count - 1}, or -1 for none, but got {found[row]}")
    return found


def _class_number(value: Any, names: Sequence[str], row: int) -> Any:
    name = value.decode(errors="replace") if isinstance(value, bytes) else value
    if not isinstance(name, str):
        return value
    if name not in names:
        raise BadValue(row, f"there is no class {name!r}. {near_names(name, names)}")
    return names.index(name)


def _little_endian(array: Array) -> bytes:
    if array.dtype.kind not in "iufc":  # booleans and bfloat16, which know no order of bytes
        array = np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")
    return array.astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
