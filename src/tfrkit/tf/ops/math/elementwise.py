"""Elementwise functions, with TensorFlow's checks of types and shapes and without numpy's warnings.

Most are made from the rows of `names.math`: `add`, `absolute` and a few more, which follow rules of their own, are
written out at the end. Arguments of one function have one type; a Python number takes that of the other. Shapes are
broadcast, and integers wrap around. Sums, products, roots and roundings are TensorFlow's to the bit; exponentials,
logarithms, powers and angles come from numpy, which differs in the last bits (less than 4e-7 of the value for float32).

>>> maximum(1, np.float32(2.5)), floordiv(-7, 2), equal(["a", "b"], "a").tolist()
(np.float32(2.5), np.int32(-4), [True, False])
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError, UnimplementedError
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.shapes import show_dims
from tfrkit.tf.names.math import PAIRS, SINGLES, last_part, rows
from tfrkit.tf.ops.math.apply import apply_pair, apply_single, as_floats, entrywise, truths
from tfrkit.values.operands import (
    STRING,
    alike,
    alike_to_first,
    as_value,
    cast_array,
    convert_hinted,
    dtype_of,
    is_tensor,
    kernel_name,
    shape_of,
    takes_alike,
)
from tfrkit.values.types import WORDS, check_type

if TYPE_CHECKING:

    def __getattr__(name: str) -> Any: ...  # the functions that are made from the tables


_QUICK: Final = frozenset(map(np.dtype, ("float32", "float64")))  # are divided as they are
_DIVISIBLE: Final = (
    "uint8 int8 uint16 int16 uint32 int32 uint64 int64 bfloat16 float16 float32 float64 complex64 complex128"
)


def _where(condition: Any, one: Any, two: Any) -> Any:
    """Call `numpy.where`, and return a scalar for scalars."""
    return np.asarray(np.where(condition, one, two))[()]


# --- what rows of SINGLES compute


def _sign(x: Any) -> Any:
    if x.dtype.kind != "c":
        return np.sign(x)
    size = np.abs(x)
    return _where(size == 0, x.dtype.type(0), x / np.where(size == 0, 1, size))


def _rsqrt(x: Any) -> Any:
    return np.reciprocal(np.sqrt(x))


def _sigmoid(x: Any) -> Any:
    return np.reciprocal(1 + np.exp(-x))


_erf_of_each = np.frompyfunc(math.erf, 1, 1)


def _erf(x: Any) -> Any:
    return np.asarray(_erf_of_each(x)).astype(x.dtype)[()]


def _softplus(x: Any) -> Any:
    return np.logaddexp(x, x.dtype.type(0))


def _elu(x: Any) -> Any:
    return _where(x < 0, np.expm1(x), x)


def _relu(x: Any) -> Any:
    return np.maximum(x, x.dtype.type(0))


def _relu6(x: Any) -> Any:
    return np.minimum(_relu(x), x.dtype.type(6))


# --- what rows of PAIRS compute


def _check_divisor(y: Any) -> None:
    if not np.all(y):
        raise InvalidArgumentError("Integer division by zero")


def _div(x: Any, y: Any) -> Any:
    """Divide as Python 2 did: integers round down."""
    return _floor_div(x, y) if x.dtype.kind in "iu" else np.true_divide(x, y)


def _floor_div(x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu":
        return np.floor(x / y)
    _check_divisor(y)
    return np.floor_divide(x, y)


def _floor_mod(x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu":
        _check_divisor(y)
        return np.mod(x, y)
    rest = np.fmod(x, y)
    return _where((rest != 0) & ((y < 0) != (rest < 0)), rest + y, rest)


def _power(x: Any, y: Any) -> Any:
    if x.dtype.kind in "iu" and bool(np.any(np.less(y, 0))):
        raise InvalidArgumentError(
            "Integers to negative integer powers are not allowed: cast to floats first"
        )
    return np.power(x, y)


def _squared_difference(x: Any, y: Any) -> Any:
    return (x - y) * np.conj(x - y) if x.dtype.kind == "c" else (x - y) ** 2


def _left_shift(x: Any, y: Any) -> Any:
    return np.left_shift(x, np.clip(y, 0, 8 * y.dtype.itemsize - 1))


def _right_shift(x: Any, y: Any) -> Any:
    return np.right_shift(x, np.clip(y, 0, 8 * y.dtype.itemsize - 1))


# --- the functions of the tables


def _single(kernel: str, compute: Callable[[Any], Any]) -> Callable[..., Any]:
    def function(x: Any) -> Any:
        return apply_single(kernel, compute, x)

    return function


def _pair(kernel: str, compute: Callable[[Any, Any], Any]) -> Callable[..., Any]:
    def function(x: Any, y: Any) -> Any:
        return apply_pair(compute, *alike(kernel, x, y))

    return function


def _logical(kernel: str, compute: Callable[..., Any]) -> Callable[..., Any]:
    if compute is np.logical_not:
        return lambda x: compute(*truths(kernel, x))

    def function(x: Any, y: Any) -> Any:
        return apply_pair(compute, *truths(kernel, x, y))

    return function


def _made(columns: list[str], make: Callable[..., Callable[..., Any]]) -> Callable[..., Any]:
    """Make the function of a row."""
    names, kernel, types, compute, more = columns
    compute = globals()[compute] if compute.startswith("_") else getattr(np, compute)
    function = _logical(kernel, compute) if types == "bool" else make(kernel, compute)
    code = function.__code__
    if (
        more and more != "sparse"
    ):  # keywords are TensorFlow's, without the cost of a wrapper that renames them
        function.__code__ = code = code.replace(co_varnames=tuple(more.split()))
    if make is _pair and types != "bool":
        function = takes_alike(*code.co_varnames)(function)
    function.__name__ = function.__qualname__ = last_part(names)
    shown = " ".join(WORDS.get(word, word) for word in types.split()) or "all"
    function.__doc__ = f"Compute `tf.{names.split()[0]}` entry by entry; types: {shown}."
    return entrywise(function, more == "sparse")


for _columns in rows(SINGLES):
    globals()[last_part(_columns[0])] = _made(_columns, _single)
for _columns in rows(PAIRS):
    globals()[last_part(_columns[0])] = _made(_columns, _pair)


# --- functions with rules of their own


def absolute(x: Any) -> Any:
    """Return the absolute value, also of complex numbers.

    >>> absolute([-1.5, 2.0]).tolist(), absolute(3 + 4j)
    ([1.5, 2.0], np.float64(5.0))
    """
    x = as_value(x)
    return np.abs(x) if dtype_of(x).kind == "c" else apply_single("Abs", np.abs, x)


def round_half_even(x: Any) -> Any:
    """Round to the nearest integer, ties to even; integers are returned as they are.

    >>> round_half_even([0.5, 1.5, -2.5]).tolist()
    [0.0, 2.0, -2.0]
    """
    x = as_value(x)
    return x if dtype_of(x).kind in "iu" else apply_single("Round", np.rint, x)


@takes_alike("x", "y", by_first=True)
def add(x: Any, y: Any) -> Any:
    """Add numbers, or concatenate strings.

    >>> add(np.float32(1), 2), add("a", "b")
    (np.float32(3.0), b'ab')
    """
    x = as_value(x)
    return apply_pair(np.add, *alike_to_first("Add" if dtype_of(x) is STRING else "AddV2", x, y))


@takes_alike("x", "y", by_first=True)
def multiply_truths(x: Any, y: Any) -> Any:
    """Multiply bools as the operator `*` does: true if both, cast to int32, are not 0."""
    x, y = as_value(x), as_value(y)
    if STRING in (dtype_of(x), dtype_of(y)):
        raise UnimplementedError("Cast string to int32 is not supported")
    parts = [cast_array(np.asarray(value), np.dtype(np.int32)) for value in (x, y)]
    return apply_pair(lambda x, y: np.not_equal(x * y, 0), *parts)


@takes_alike("x", "y", by_first=True)
def truediv(x: Any, y: Any) -> Any:
    """Divide; the quotient of integers is float32 up to 16 bits, else float64.

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


@takes_alike("x", "y", by_first=True)
def divide_no_nan(x: Any, y: Any) -> Any:
    """Divide; a quotient by 0 is 0."""
    x = as_value(x)
    y = y if is_tensor(y) else convert_hinted(y, dtype_of(x))
    _check_divisible(x, y, "tf.math.divide_no_nan")
    return apply_pair(lambda x, y: _where(y == 0, x.dtype.type(0), x / y), as_floats(x), as_floats(y))


def add_n(inputs: Any) -> Any:
    """Return the sum of values of one type and shape.

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
    dtype, shape = dtype_of(values[0]), shape_of(values[0])
    check_type("AddN", dtype)
    for number, value in enumerate(values):
        if dtype_of(value) != dtype:
            raise InvalidArgumentError(
                f"cannot compute AddN as input #{number}(zero-based) was expected to be a {kernel_name(dtype)} tensor "
                f"but is a {kernel_name(dtype_of(value))} tensor"
            )
        if shape_of(value) != shape:
            raise InvalidArgumentError(
                "Inputs to operation AddN of type AddN must have the same size and shape.  "
                f"Input 0: {show_dims(shape)} != input {number}: {show_dims(shape_of(value))}"
            )
    return functools.reduce(functools.partial(apply_pair, np.add), values)


def _check_divisible(x: Any, y: Any, where: str) -> None:
    names = [dtype_name(dtype_of(value)) for value in (x, y)]
    if names[0] != names[1]:
        raise TypeError(f"`x` and `y` must have the same dtype, got tf.{names[0]} != tf.{names[1]}.")
    if names[0] not in _DIVISIBLE.split():
        allowed = ", ".join(f"tf.{name}" for name in _DIVISIBLE.split())
        raise TypeError(f"Invalid dtype tf.{names[0]} in {where}. Expected one of {{{allowed}}}.")


for _function in (absolute, round_half_even, add, truediv, divide_no_nan):
    entrywise(_function, sparse=_function is absolute)
