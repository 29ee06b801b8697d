"""Applying numpy's functions elementwise, with TensorFlow's checks of types and shapes and without warnings."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.values.operands import (
    STRING,
    as_array,
    as_value,
    convert,
    dtype_of,
    is_tensor,
    kernel_name,
    of_array,
    shape_of,
)
from tfrkit.values.types import check_type

__all__ = ["apply_pair", "apply_single", "as_floats", "check_broadcast", "entrywise", "quietly", "truths"]

_Function = TypeVar("_Function", bound=Callable[..., Any])
_BOOL: Final = np.dtype(bool)
_WHOLE: Final = frozenset("?bhilqBHILQ")  # numpy's letters of integers and truth values
_SILENT: Final = frozenset(  # raise no warnings for integers; silencing the others takes a microsecond
    {
        np.add, np.subtract, np.multiply, np.maximum, np.minimum, np.equal, np.not_equal, np.less, np.less_equal,
        np.greater, np.greater_equal, np.logical_and, np.logical_or, np.bitwise_and, np.bitwise_or, np.bitwise_xor,
    }
)  # fmt: skip


def entrywise(function: _Function, sparse: bool = False) -> _Function:
    """Mark a function as elementwise, so that it is applied to the values of ragged arguments.

    Args:
        function: the function.
        sparse: whether it makes 0 of 0, and so works on the stored values of a sparse argument.
    """
    function.__dict__.update(entrywise=True, keeps_zero=sparse)
    return function


def quietly(function: _Function) -> _Function:
    """Silence numpy's warnings about numbers inside a function; TensorFlow has none."""

    @functools.wraps(function)
    def quiet(*args: Any, **options: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args, **options)

    return cast("_Function", quiet)


def apply_single(op: str, function: Callable[..., Any], x: Any) -> Any:
    """Apply a function of one argument to a value."""
    x = as_value(x)
    check_type(op, dtype_of(x))
    with np.errstate(all="ignore"):
        return function(x)


def apply_pair(function: Callable[..., Any], x: Any, y: Any) -> Any:
    """Apply a function of two arguments to values of one type, broadcasting.

    Raises:
        InvalidArgumentError: the shapes do not fit; the text is TensorFlow's.
    """
    try:
        if type(x) is not bytes and x.dtype.char in _WHOLE and function in _SILENT:
            return function(x, y)
        with np.errstate(all="ignore"):
            if dtype_of(x) is STRING:
                return of_array(_objects(function(as_array(x), as_array(y))))
            return function(x, y)
    except ValueError:
        check_broadcast(x, y)
        raise


def check_broadcast(x: Any, y: Any) -> None:
    """Check that two values have shapes that fit.

    Raises:
        InvalidArgumentError: they do not; the text is TensorFlow's.
    """
    try:
        np.broadcast_shapes(shape_of(x), shape_of(y))
    except ValueError:
        raise InvalidArgumentError(
            f"Incompatible shapes: {show_dims(shape_of(x))} vs. {show_dims(shape_of(y))}"
        ) from None


def truths(op: str, *values: Any) -> list[Any]:
    """Convert the arguments of an operation to bool.

    Raises:
        InvalidArgumentError: one is a tensor of another type; the text is TensorFlow's.
    """
    made = [value if is_tensor(value) else convert(value, _BOOL) for value in values]
    for number, value in enumerate(made):
        if dtype_of(value) != _BOOL:
            raise InvalidArgumentError(
                f"cannot compute {op} as input #{number}(zero-based) was expected to be a bool tensor but is a "
                f"{kernel_name(dtype_of(value))} tensor"
            )
    return made


def as_floats(x: Any) -> Any:
    """Convert integers to the type of their quotients: float32 up to 16 bits, else float64."""
    if x.dtype.kind in "iu":
        return x.astype(np.float32 if x.dtype.itemsize <= 2 else np.float64)
    return x


def _objects(made: Any) -> Any:
    """Return the result of a ufunc on bytes objects as an array; numpy returns bare bytes for a single pair."""
    return np.array(made, object) if isinstance(made, bytes) else made
