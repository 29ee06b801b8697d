"""Making values: constants, zeros, ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.shapes import as_dims, show_dims
from tfrkit.tf.ops.arrays.shapes import reshape
from tfrkit.values.operands import (
    STRING,
    Pack,
    as_array,
    as_type,
    as_value,
    convert,
    dtype_of,
    integers,
    is_tensor,
    of_array,
    shape_of,
)
from tfrkit.values.types import check_type

__all__ = ["constant", "fill", "ones", "ones_like", "zeros", "zeros_like"]


def constant(value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """Make a value from numbers or strings; arrays are copied.

    Args:
        value: numbers, strings, nested sequences of them, or an array.
        dtype: the type wanted; by default int32 (int64 if it must be), float32, bool or string, and an array's own.
        shape: the shape wanted; a single element is repeated to fill it.

    Raises:
        TypeError, ValueError: TensorFlow has no such tensor; the text is TensorFlow's.

    >>> constant([1, 2.5]), constant(7, "uint8", [2]).tolist()
    (array([1. , 2.5], dtype=float32), [7, 7])
    """
    made = convert(value, None if dtype is None else as_type(dtype))
    if made is value and isinstance(made, np.ndarray):
        made = made.copy()
    if shape is None:
        return made
    dims = as_dims(shape)
    if dims is None or shape_of(made) == dims:
        return made
    wanted, found = math.prod(size or 0 for size in dims), math.prod(shape_of(made))
    if wanted == found:
        return reshape(made, dims)
    if found != 1:
        raise TypeError(
            f"Eager execution of tf.constant with unsupported shape. Tensor {as_array(made)} (converted from {value}) "
            f"has {found} elements, but got `shape` {dims} with {wanted} elements)."
        )
    return _full([size or 0 for size in dims], of_array(as_array(made).reshape(())))


def fill(dims: Any, value: Any) -> Any:
    """Return a value of a shape, filled with one number or string.

    >>> fill([2], "x")
    BytesColumn(shape=(2,), [b'x', b'x'])
    """
    value = as_value(value)
    sizes = integers(dims, "index_type")
    if sizes.ndim > 1:
        raise InvalidArgumentError(f"dims must represent a vector, got shape {show_dims(sizes.shape)}")
    if shape_of(value) not in ((), (1,)):
        raise InvalidArgumentError(f"value must represent a scalar, got shape {show_dims(shape_of(value))}")
    return _full(np.atleast_1d(sizes).tolist(), of_array(as_array(value).reshape(())))


def zeros(shape: Any, dtype: Any = "float32", layout: Any = None) -> Any:
    """Return zeros, False or empty strings.

    >>> zeros([2], "int64")
    array([0, 0])
    """
    return _full(_sizes(shape), _nothing(as_type(dtype)))


def ones(shape: Any, dtype: Any = "float32", layout: Any = None) -> Any:
    """Return ones, or True."""
    return _full(_sizes(shape), _one(as_type(dtype)))


def zeros_like(input: Any, dtype: Any = None, layout: Any = None) -> Any:
    """Return zeros in the shape of another value, and of its type unless `dtype` says otherwise."""
    value = as_value(input)
    return _full(list(shape_of(value)), _nothing(dtype_of(value) if dtype is None else as_type(dtype)))


def ones_like(input: Any, dtype: Any = None, layout: Any = None) -> Any:
    """Return ones in the shape of another value, and of its type unless `dtype` says otherwise."""
    value = as_value(input)
    if dtype is None:
        check_type("OnesLike", dtype_of(value))
    return _full(list(shape_of(value)), _one(dtype_of(value) if dtype is None else as_type(dtype)))


def _sizes(shape: Any) -> list[int]:
    if isinstance(shape, (int, np.integer)):
        return [int(shape)]
    if not is_tensor(shape) and not isinstance(shape, Pack) and not hasattr(shape, "as_list"):
        shape = convert(shape, np.dtype("int32"))
    found = np.atleast_1d(integers(shape, "index_type"))
    if found.ndim > 1:
        raise InvalidArgumentError(f"dims must represent a vector, got shape {show_dims(found.shape)}")
    return found.tolist()  # type: ignore[no-any-return]


def _full(sizes: list[int], value: Any) -> Any:
    for size in sizes:
        if size < 0:
            raise InvalidArgumentError(f"Dimension {size} must be >= 0")
    if not sizes:
        return value
    if isinstance(value, bytes):
        entries = np.empty(sizes, object)
        entries[...] = value
        return BytesColumn.from_list(entries)
    return np.zeros(sizes, value.dtype) if not value else np.full(sizes, value)


def _nothing(dtype: np.dtype[Any]) -> Any:
    return b"" if dtype == STRING else dtype.type(0)


def _one(dtype: np.dtype[Any]) -> Any:
    if dtype == STRING:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string: choose a dtype of numbers")
    return dtype.type(1)
