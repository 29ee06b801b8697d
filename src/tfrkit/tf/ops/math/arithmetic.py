"""Arithmetic of two values: sums, products, quotients, remainders, powers, and the bits of integers.

Both have one type; a Python number takes that of the other. Shapes are broadcast. Integers wrap round.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError, NotFoundError, UnimplementedError
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.math.elementwise import apply_pair, as_floats
from tfrkit.values.operands import (
    STRING,
    alike,
    alike_to_first,
    as_value,
    cast_array,
    convert,
    convert_hinted,
    dtype_of,
    is_tensor,
    kernel_name,
    shape_of,
    takes_alike,
)
from tfrkit.values.types import check_type

__all__ = [
    "accumulate_n",
    "add",
    "add_n",
    "atan2",
    "bitwise_and",
    "bitwise_or",
    "bitwise_xor",
    "div",
    "divide",
    "divide_no_nan",
    "floordiv",
    "floormod",
    "left_shift",
    "maximum",
    "minimum",
    "multiply",
    "multiply_no_nan",
    "multiply_truths",
    "power",
    "realdiv",
    "right_shift",
    "scalar_mul",
    "squared_difference",
    "subtract",
    "truediv",
    "truncatediv",
    "truncatemod",
    "xdivy",
    "xlogy",
]

_QUICK: Final = frozenset(map(np.dtype, ("float32", "float64")))  # are divided as they are
_DIVISIBLE: Final = (
    "uint8 int8 uint16 int16 uint32 int32 uint64 int64 bfloat16 float16 float32 float64 complex64 complex128"
)


@takes_alike("x", "y", by_first=True)
def add(x: Any, y: Any) -> Any:
    """Add; strings are joined.

    >>> add(np.float32(1), 2), add("a", "b")
    (np.float32(3.0), b'ab')
    """
    x = as_value(x)
    return apply_pair(np.add, *alike_to_first("Add" if dtype_of(x) is STRING else "AddV2", x, y))


@takes_alike("x", "y")
def subtract(x: Any, y: Any) -> Any:
    """Subtract."""
    return apply_pair(np.subtract, *alike("Sub", x, y))


@takes_alike("x", "y")
def multiply(x: Any, y: Any) -> Any:
    """Multiply."""
    return apply_pair(np.multiply, *alike("Mul", x, y))


@takes_alike("x", "y", by_first=True)
def multiply_truths(x: Any, y: Any) -> Any:
    """What `*` gives for truth values: whether both are, cast to int32, not 0."""
    x, y = as_value(x), as_value(y)
    if STRING in (dtype_of(x), dtype_of(y)):
        raise UnimplementedError("Cast string to int32 is not supported")
    parts = [cast_array(np.asarray(value), np.dtype(np.int32)) for value in (x, y)]
    return apply_pair(lambda x, y: np.not_equal(x * y, 0), *parts)


@takes_alike("x", "y", by_first=True)
def truediv(x: Any, y: Any) -> Any:
    """Divide; integers give float32 or, if they have more than 16 bits, float64.

    Raises:
        TypeError: the types differ, or cannot be divided.

    >>> truediv(np.uint8(1), 2), truediv(1, 2)
    (np.float32(0.5), np.float64(0.5))
    """
    x = as_value(x)
    y = y if is_tensor(y) else convert_hinted(y, dtype_of(x))
    if dtype_of(x) is dtype_of(y) and dtype_of(x) in _QUICK:
        return apply_pair(np.true_divide, x, y)
    _check_divisible(x, y, "__truediv__")
    return apply_pair(np.true_divide, as_floats(x), as_floats(y))


divide = truediv


@takes_alike("x", "y")
def realdiv(x: Any, y: Any) -> Any:
    """Divide floats; integers are refused, as TensorFlow has no such kernel.

    Raises:
        NotFoundError: they are integers.
    """
    x, y = alike("RealDiv", x, y)
    if x.dtype.kind in "iu":
        raise NotFoundError(
            "Could not find device for node: {{node RealDiv}} = RealDiv[T=DT_" + f"{x.dtype.name.upper()}]"
        )
    return apply_pair(np.true_divide, x, y)


@takes_alike("x", "y")
def div(x: Any, y: Any) -> Any:
    """Divide as Python 2 did: integers round down."""
    x, y = alike("Div", x, y)
    return floordiv(x, y) if x.dtype.kind in "iu" else apply_pair(np.true_divide, x, y)


@takes_alike("x", "y")
def floordiv(x: Any, y: Any) -> Any:
    """Divide and round down.

    Raises:
        InvalidArgumentError: an integer is divided by 0.

    >>> floordiv(-7, 2), floordiv(np.float32(-7), 2)
    (np.int32(-4), np.float32(-4.0))
    """
    x, y = alike("FloorDiv", x, y)
    if x.dtype.kind in "iu":
        _check_divisor(y)
        return apply_pair(np.floor_divide, x, y)
    return apply_pair(lambda x, y: np.floor(x / y), x, y)


@takes_alike("x", "y")
def floormod(x: Any, y: Any) -> Any:
    """What is left by `floordiv`; it has the sign of the divisor."""
    x, y = alike("FloorMod", x, y)
    if x.dtype.kind in "iu":
        _check_divisor(y)
        return apply_pair(np.mod, x, y)
    return apply_pair(_floor_mod, x, y)


@takes_alike("x", "y")
def truncatediv(x: Any, y: Any) -> Any:
    """Divide and round toward 0."""
    x, y = alike("TruncateDiv", x, y)
    if x.dtype.kind in "iu":
        _check_divisor(y)
        return apply_pair(_truncate_div, x, y)
    return apply_pair(lambda x, y: np.trunc(x / y), x, y)


@takes_alike("x", "y")
def truncatemod(x: Any, y: Any) -> Any:
    """What is left by `truncatediv`; it has the sign of the dividend."""
    x, y = alike("TruncateMod", x, y)
    if x.dtype.kind in "iu":
        _check_divisor(y)
    return apply_pair(np.fmod, x, y)


@takes_alike("x", "y")
def power(x: Any, y: Any) -> Any:
    """Raise to a power.

    Raises:
        InvalidArgumentError: an integer is raised to a negative power.
    """
    x, y = alike("Pow", x, y)
    if x.dtype.kind in "iu" and bool(np.any(np.less(y, 0))):
        raise InvalidArgumentError("Integers to negative integer powers are not allowed")
    return apply_pair(np.power, x, y)


@takes_alike("x", "y")
def maximum(x: Any, y: Any) -> Any:
    """The larger of two numbers; NaN if one is."""
    return apply_pair(np.maximum, *alike("Maximum", x, y))


@takes_alike("x", "y")
def minimum(x: Any, y: Any) -> Any:
    """The smaller of two numbers; NaN if one is."""
    return apply_pair(np.minimum, *alike("Minimum", x, y))


@takes_alike("x", "y")
def squared_difference(x: Any, y: Any) -> Any:
    """The difference, times its conjugate."""
    x, y = alike("SquaredDifference", x, y)
    return apply_pair(lambda x, y: (x - y) * np.conj(x - y) if x.dtype.kind == "c" else (x - y) ** 2, x, y)


@takes_alike("x", "y", by_first=True)
def divide_no_nan(x: Any, y: Any) -> Any:
    """Divide; what is divided by 0 is 0."""
    x = as_value(x)
    y = y if is_tensor(y) else convert_hinted(y, dtype_of(x))
    _check_divisible(x, y, "tf.math.divide_no_nan")
    return apply_pair(lambda x, y: np.where(y == 0, x.dtype.type(0), x / y)[()], as_floats(x), as_floats(y))


@takes_alike("x", "y")
def multiply_no_nan(x: Any, y: Any) -> Any:
    """Multiply; what is multiplied by `y` = 0 is 0, NaN and infinity too."""
    x, y = alike("MulNoNan", x, y)
    return apply_pair(lambda x, y: np.where(y == 0, x.dtype.type(0), x * y)[()], x, y)


@takes_alike("x", "y")
def xlogy(x: Any, y: Any) -> Any:
    """X times log(y); 0 where x is 0."""
    x, y = alike("Xlogy", x, y)
    return apply_pair(lambda x, y: np.where(x == 0, x.dtype.type(0), x * np.log(y))[()], x, y)


@takes_alike("x", "y")
def xdivy(x: Any, y: Any) -> Any:
    """X divided by y; 0 where x is 0."""
    x, y = alike("Xdivy", x, y)
    return apply_pair(lambda x, y: np.where(x == 0, x.dtype.type(0), x / y)[()], x, y)


@takes_alike("y", "x")
def atan2(y: Any, x: Any) -> Any:
    """The angle of the point (x, y)."""
    return apply_pair(np.arctan2, *alike("Atan2", y, x))


@takes_alike("x", "y")
def bitwise_and(x: Any, y: Any) -> Any:
    """Bits that both have."""
    return apply_pair(np.bitwise_and, *alike("BitwiseAnd", x, y))


@takes_alike("x", "y")
def bitwise_or(x: Any, y: Any) -> Any:
    """Bits that one has."""
    return apply_pair(np.bitwise_or, *alike("BitwiseOr", x, y))


@takes_alike("x", "y")
def bitwise_xor(x: Any, y: Any) -> Any:
    """Bits that only one has."""
    return apply_pair(np.bitwise_xor, *alike("BitwiseXor", x, y))


@takes_alike("x", "y")
def left_shift(x: Any, y: Any) -> Any:
    """Move bits up; as many as the type has are taken for one less."""
    x, y = alike("LeftShift", x, y)
    return apply_pair(lambda x, y: np.left_shift(x, np.clip(y, 0, 8 * y.dtype.itemsize - 1)), x, y)


@takes_alike("x", "y")
def right_shift(x: Any, y: Any) -> Any:
    """Move bits down, the sign staying."""
    x, y = alike("RightShift", x, y)
    return apply_pair(lambda x, y: np.right_shift(x, np.clip(y, 0, 8 * y.dtype.itemsize - 1)), x, y)


def scalar_mul(scalar: Any, x: Any) -> Any:
    """Multiply by a number.

    Raises:
        ValueError: it is more than one number.
    """
    value = as_value(x)
    factor = scalar if is_tensor(scalar) else convert(scalar, dtype_of(value))
    if shape_of(factor):
        raise ValueError(f"The input scalar must be a 0-D value. Received shape {shape_of(factor)}.")
    return multiply(factor, value)


def add_n(inputs: Any) -> Any:
    """The sum of values of one type and shape.

    Raises:
        ValueError: there are none.
        InvalidArgumentError: types or shapes differ.

    >>> add_n([1, 2, 3])
    np.int32(6)
    """
    values = [as_value(value) for value in inputs]
    if not values:
        raise ValueError(
            "Inputs must be an iterable of at least one Tensor/IndexedSlices with the same dtype and shape."
        )
    total, dtype = values[0], dtype_of(values[0])
    check_type("AddN", dtype)
    for number, value in enumerate(values):
        if dtype_of(value) != dtype:
            names = kernel_name(dtype), kernel_name(dtype_of(value))
            raise InvalidArgumentError(
                f"cannot compute AddN as input #{number}(zero-based) was expected to be a {names[0]} tensor but is a "
                f"{names[1]} tensor"
            )
        if shape_of(value) != shape_of(values[0]):
            shapes = show_dims(shape_of(values[0])), show_dims(shape_of(value))
            raise InvalidArgumentError(
                "Inputs to operation AddN of type AddN must have the same size and shape.  "
                f"Input 0: {shapes[0]} != input {number}: {shapes[1]}"
            )
    for value in values[1:]:
        total = apply_pair(np.add, total, value)
    return total


def accumulate_n(inputs: Any, shape: Any = None, tensor_dtype: Any = None) -> Any:  # noqa: ARG001
    """The sum of values of one type and shape."""
    return add_n(inputs)


def _check_divisible(x: Any, y: Any, where: str) -> None:
    names = [dtype_name(dtype_of(value)) for value in (x, y)]
    if names[0] != names[1]:
        raise TypeError(f"`x` and `y` must have the same dtype, got tf.{names[0]} != tf.{names[1]}.")
    if names[0] not in _DIVISIBLE.split():
        allowed = ", ".join(f"tf.{name}" for name in _DIVISIBLE.split())
        raise TypeError(f"Invalid dtype tf.{names[0]} in {where}. Expected one of {{{allowed}}}.")


def _check_divisor(y: Any) -> None:
    if not np.all(y):
        raise InvalidArgumentError("Integer division by zero")


def _floor_mod(x: Any, y: Any) -> Any:
    rest = np.fmod(x, y)
    return np.where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)[()]


def _truncate_div(x: Any, y: Any) -> Any:
    down = np.floor_divide(x, y)
    return down + ((np.fmod(x, y) != 0) & ((x < 0) != (y < 0))).astype(down.dtype)
