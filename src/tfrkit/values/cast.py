"""Changing the type of values, as tf.cast does."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError, UnimplementedError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.ragged import Ragged
from tfrkit.model.shapes import show_dims
from tfrkit.model.sparse import Sparse
from tfrkit.model.tensor_types import tensor_type
from tfrkit.values.float_to_integer import float_to_integer
from tfrkit.values.operands import STRING, as_type, as_value, cast_array, dtype_of, kernel_name, shape_of
from tfrkit.values.types import check_type

__all__ = ["bitcast", "cast", "cast_value", "make_complex", "saturate_cast"]

_WHOLE: Final = frozenset("?bhilqBHILQ")  # numpy's letters of integers and truth values
_WIDE: Final = frozenset("?bhilqBHILQfd")  # and of the types to which they cast without a warning
_BOUNDS: Final = {  # of what can be cut off to each type of integers
    char: (float(np.iinfo(char).min) - (char not in "lqLQ"), float(np.iinfo(char).max) + (char not in "lqLQ"))
    for char in "bhilqBHILQ"
}
_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")


def cast(x: Any, dtype: Any) -> Any:
    """Cast numbers: floats lose their fraction, integers wrap round, everything but 0 is True.

    Args:
        x: numbers, or a Ragged or Sparse of them.
        dtype: the type wanted.

    Raises:
        UnimplementedError: of or to strings; the text is TensorFlow's.

    >>> cast(-2.7, "int8"), cast([0, 300], "uint8").tolist()
    (np.int8(-2), [0, 44])
    """
    wanted = as_type(dtype)
    if type(x) is np.ndarray and x.dtype is wanted and x.ndim:
        return x
    return cast_value(x if isinstance(x, (Ragged, Sparse)) else as_value(x), wanted)


def cast_value(value: Any, dtype: np.dtype[Any]) -> Any:
    """Cast one value: a scalar, an array, or the numbers in a Ragged or Sparse.

    Raises:
        UnimplementedError: of or to strings; the text is TensorFlow's.
        TypeError: it is no such value.
    """
    if type(value) is np.ndarray or isinstance(value, np.generic):
        return _cast_numbers(value, dtype)
    if isinstance(value, Ragged):
        return Ragged.unchecked(cast_value(value.values, dtype), value.row_splits)
    if isinstance(value, Sparse):
        return Sparse.unchecked(value.indices, cast_value(value.values, dtype), value.dense_shape)
    if isinstance(value, (bytes, BytesColumn)):
        if dtype == STRING:
            return value
        raise UnimplementedError(f"Cast string to {kernel_name(dtype)} is not supported")
    raise TypeError(
        f"expected a number, an array, a Ragged or a Sparse to cast but got {type(value).__name__}"
    )


def _cast_numbers(value: Any, dtype: np.dtype[Any]) -> Any:
    if value.dtype == dtype:
        return value
    if STRING in (value.dtype, dtype):
        raise UnimplementedError(f"Cast {kernel_name(value.dtype)} to {kernel_name(dtype)} is not supported")
    if value.dtype.char in _WHOLE and dtype.char in _WIDE:
        made = value.astype(dtype)  # no warning can come
    else:
        array = np.asarray(value)
        if array.dtype.char in "fd" and _fit(array, dtype):
            made = array.astype(dtype)
            return made if made.ndim else made[()]
        cut = array.dtype.name in _FLOATS and dtype.kind in "iu"
        made = float_to_integer(array, dtype) if cut else cast_array(array, dtype)
    if isinstance(value, np.ndarray):
        made.flags.writeable = False
        return made
    return made[()] if isinstance(made, np.ndarray) else made


def _fit(array: npt.NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Whether all numbers have a place in a type of integers; found out quickly."""
    bounds = _BOUNDS.get(dtype.char)
    if bounds is None or not array.size:
        return False
    smallest, largest = np.minimum.reduce(array, None), np.maximum.reduce(array, None)
    return bool(bounds[0] < smallest and largest < bounds[1])


def saturate_cast(value: Any, dtype: Any) -> Any:
    """Cast numbers, those that do not fit becoming the largest or smallest that does.

    >>> saturate_cast([300, -5], "uint8").tolist()
    [255, 0]
    """
    value, wanted = as_value(value), as_type(dtype)
    if dtype_of(value).kind == "c" and wanted.kind != "c":
        value = value.real
    given = dtype_of(value)
    if given == wanted or wanted.kind == "c":
        return cast_value(value, wanted)
    limits = [_limits(given), _limits(wanted)]
    low, high = max(limits[0][0], limits[1][0]), min(limits[0][1], limits[1][1])
    if given.kind == "f":  # the nearest numbers of this type that do fit
        low, high = _inside(given, low, high)
    if low > limits[0][0] or high < limits[0][1]:
        value = np.clip(value, given.type(low), given.type(high))
    return cast_value(value, wanted)


def bitcast(input: Any, type: Any) -> Any:
    """See the bytes of numbers as numbers of another type; a larger one takes the last dimension.

    Raises:
        InvalidArgumentError: the sizes do not fit.

    >>> bitcast(np.float32(1), "int32")
    np.int32(1065353216)
    """
    value, wanted = as_value(input), as_type(type)
    for kind, attribute in ((dtype_of(value), "T"), (wanted, "type")):
        check_type("Bitcast", kind, attribute)
    array = np.ascontiguousarray(value)
    shape = shape_of(value)
    given = array.dtype.itemsize
    if given == wanted.itemsize:
        made = array.view(wanted).reshape(shape)
    elif given > wanted.itemsize:
        made = array.reshape(-1).view(wanted).reshape(*shape, given // wanted.itemsize)
    else:
        if not shape or shape[-1] * given != wanted.itemsize:
            numbers = tensor_type(array.dtype).number, tensor_type(wanted).number
            raise InvalidArgumentError(
                f"Cannot bitcast from {numbers[0]} to {numbers[1]}: {given} bytes in the shape {show_dims(shape)}"
            )
        made = array.reshape(-1).view(wanted).reshape(shape[:-1])
    return made if made.ndim else made[()]


def make_complex(real: Any, imag: Any) -> Any:
    """Complex numbers of their parts.

    Raises:
        TypeError: the parts are not both float32 or float64.
    """
    real, imag = as_value(real), as_value(imag)
    types = {(np.dtype("f4"),) * 2: np.complex64, (np.dtype("f8"),) * 2: np.complex128}
    kind = types.get((dtype_of(real), dtype_of(imag)))
    if kind is None:
        names = f"{dtype_name(dtype_of(real))} {dtype_name(dtype_of(imag))}"
        raise TypeError(
            f"The `real` and `imag` components have incorrect types: {names}. "
            "They must be consistent, and one of [tf.float32, tf.float64]"
        )
    made: npt.NDArray[Any] = np.empty(np.broadcast_shapes(shape_of(real), shape_of(imag)), kind)
    made.real, made.imag = real, imag
    return made if made.ndim else made[()]


def _limits(dtype: np.dtype[Any]) -> tuple[Any, Any]:
    if dtype.kind in "iu":
        whole = np.iinfo(dtype)
        return int(whole.min), int(whole.max)
    if dtype.kind == "f":
        real = np.finfo(dtype)
        return float(real.min), float(real.max)
    name = dtype_name(dtype)
    raise TypeError(f"Cannot find minimum value of <dtype: {name!r}> with type <dtype: {name!r}>.")


def _inside(dtype: np.dtype[Any], low: Any, high: Any) -> tuple[Any, Any]:
    least, most = dtype.type(low), dtype.type(high)
    if float(least) < float(low):
        least = np.nextafter(least, dtype.type(0))
    if float(most) > float(high):
        most = np.nextafter(most, dtype.type(0))
    return least, most
