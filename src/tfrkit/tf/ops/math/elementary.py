"""Functions of one number: signs, roundings, roots, exponentials, angles.

Sums, products, roots and roundings are TensorFlow's to the bit; exponentials, logarithms, powers and angles come from
numpy, which differs from TensorFlow in the last bits (less than 4e-7 of the value for float32).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfrkit.model.element_spec import dtype_name
from tfrkit.tf.ops.math.arithmetic import divide_no_nan
from tfrkit.tf.ops.math.elementwise import apply_single
from tfrkit.values.operands import as_value, convert, dtype_of, is_tensor
from tfrkit.values.types import check_type

__all__ = [
    "absolute",
    "acos",
    "acosh",
    "angle",
    "asin",
    "asinh",
    "atan",
    "atanh",
    "ceil",
    "conj",
    "cos",
    "cosh",
    "elu",
    "erf",
    "exp",
    "expm1",
    "floor",
    "imag",
    "invert",
    "log",
    "log1p",
    "log_sigmoid",
    "negative",
    "real",
    "reciprocal",
    "reciprocal_no_nan",
    "relu",
    "relu6",
    "rint",
    "round_half_even",
    "rsqrt",
    "sigmoid",
    "sign",
    "sin",
    "sinh",
    "softplus",
    "sqrt",
    "square",
    "tan",
    "tanh",
]

_erf = np.frompyfunc(math.erf, 1, 1)


def absolute(x: Any) -> Any:
    """The distance from 0; of complex numbers too.

    >>> absolute([-1.5, 2.0]).tolist(), absolute(3 + 4j)
    ([1.5, 2.0], np.float64(5.0))
    """
    x = as_value(x)
    if dtype_of(x).kind == "c":
        return np.abs(x)
    return apply_single("Abs", np.abs, x)


def negative(x: Any) -> Any:
    """The number with the other sign."""
    return apply_single("Neg", np.negative, x)


def sign(x: Any) -> Any:
    """-1, 0 or 1; of a complex number the one of absolute value 1 with its angle."""
    return apply_single("Sign", _sign, x)


def reciprocal(x: Any) -> Any:
    """1 divided by it."""
    return apply_single("Reciprocal", np.reciprocal, x)


def reciprocal_no_nan(x: Any) -> Any:
    """1 divided by it, 0 for 0."""
    value = as_value(x)
    one = convert(1, dtype_of(value))
    check_type("DivNoNan", dtype_of(value))
    return divide_no_nan(one, value)


def square(x: Any) -> Any:
    """It times itself."""
    return apply_single("Square", np.square, x)


def sqrt(x: Any) -> Any:
    """The square root."""
    return apply_single("Sqrt", np.sqrt, x)


def rsqrt(x: Any) -> Any:
    """1 divided by the square root."""
    return apply_single("Rsqrt", lambda x: np.reciprocal(np.sqrt(x)), x)


def exp(x: Any) -> Any:
    """E to its power."""
    return apply_single("Exp", np.exp, x)


def expm1(x: Any) -> Any:
    """E to its power, minus 1."""
    return apply_single("Expm1", np.expm1, x)


def log(x: Any) -> Any:
    """The natural logarithm."""
    return apply_single("Log", np.log, x)


def log1p(x: Any) -> Any:
    """The natural logarithm of it plus 1."""
    return apply_single("Log1p", np.log1p, x)


def sin(x: Any) -> Any:
    """The sine."""
    return apply_single("Sin", np.sin, x)


def cos(x: Any) -> Any:
    """The cosine."""
    return apply_single("Cos", np.cos, x)


def tan(x: Any) -> Any:
    """The tangent."""
    return apply_single("Tan", np.tan, x)


def asin(x: Any) -> Any:
    """The angle of a sine."""
    return apply_single("Asin", np.arcsin, x)


def acos(x: Any) -> Any:
    """The angle of a cosine."""
    return apply_single("Acos", np.arccos, x)


def atan(x: Any) -> Any:
    """The angle of a tangent."""
    return apply_single("Atan", np.arctan, x)


def sinh(x: Any) -> Any:
    """The hyperbolic sine."""
    return apply_single("Sinh", np.sinh, x)


def cosh(x: Any) -> Any:
    """The hyperbolic cosine."""
    return apply_single("Cosh", np.cosh, x)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    return apply_single("Tanh", np.tanh, x)


def asinh(x: Any) -> Any:
    """The inverse of `sinh`."""
    return apply_single("Asinh", np.arcsinh, x)


def acosh(x: Any) -> Any:
    """The inverse of `cosh`."""
    return apply_single("Acosh", np.arccosh, x)


def atanh(x: Any) -> Any:
    """The inverse of `tanh`."""
    return apply_single("Atanh", np.arctanh, x)


def erf(x: Any) -> Any:
    """The error function."""
    return apply_single("Erf", lambda x: np.asarray(_erf(x)).astype(x.dtype)[()], x)


def sigmoid(x: Any) -> Any:
    """1 / (1 + exp(-x))."""
    return apply_single("Sigmoid", lambda x: np.reciprocal(1 + np.exp(-x)), x)


def log_sigmoid(x: Any) -> Any:
    """The logarithm of `sigmoid`."""
    return negative(softplus(negative(x)))


def softplus(features: Any) -> Any:
    """log(1 + exp(x))."""
    return apply_single("Softplus", lambda x: np.logaddexp(x, x.dtype.type(0)), features)


def relu(features: Any) -> Any:
    """The number, or 0 if it is negative."""
    return apply_single("Relu", lambda x: np.maximum(x, x.dtype.type(0)), features)


def relu6(features: Any) -> Any:
    """The number, but from 0 to 6."""
    return apply_single(
        "Relu6", lambda x: np.minimum(np.maximum(x, x.dtype.type(0)), x.dtype.type(6)), features
    )


def elu(features: Any) -> Any:
    """The number, or exp(x) - 1 if it is negative."""
    return apply_single("Elu", lambda x: np.asarray(np.where(x < 0, np.expm1(x), x))[()], features)


def floor(x: Any) -> Any:
    """The next integer below."""
    return apply_single("Floor", np.floor, x)


def ceil(x: Any) -> Any:
    """The next integer above."""
    return apply_single("Ceil", np.ceil, x)


def rint(x: Any) -> Any:
    """The nearest integer; of two equally near ones the even one."""
    return apply_single("Rint", np.rint, x)


def round_half_even(x: Any) -> Any:
    """The nearest integer; of two equally near ones the even one. Integers stay.

    >>> round_half_even([0.5, 1.5, -2.5]).tolist()
    [0.0, 2.0, -2.0]
    """
    x = as_value(x)
    if dtype_of(x).kind in "iu":
        return x
    return apply_single("Round", np.rint, x)


def invert(x: Any) -> Any:
    """All bits turned round."""
    return apply_single("Invert", np.invert, x)


def real(input: Any) -> Any:  # noqa: A002
    """The real part; real numbers stay."""
    x = as_value(input)
    _check_numeric(x)
    return x.real if dtype_of(x).kind == "c" else x


def imag(input: Any) -> Any:  # noqa: A002
    """The imaginary part; 0 for real numbers."""
    x = as_value(input)
    _check_numeric(x)
    return x.imag if dtype_of(x).kind == "c" else np.zeros_like(x)[()]


def conj(x: Any) -> Any:
    """The complex conjugate; real numbers stay.

    Raises:
        TypeError: it is no number.
    """
    x = as_value(x)
    if dtype_of(x).kind not in "iufcV":
        raise TypeError(f"Expected numeric or variant tensor, got dtype tf.{dtype_name(dtype_of(x))}.")
    return np.conj(x) if dtype_of(x).kind == "c" else x


def angle(input: Any) -> Any:  # noqa: A002
    """The angle of a complex number; of a real one 0, or pi if it is negative."""
    x = input if is_tensor(input) else as_value(input)
    if dtype_of(x).kind == "c":
        return np.angle(x)
    check_type("Relu", dtype_of(x))
    return np.where(x < 0, x.dtype.type(np.pi), x.dtype.type(0))[()]


def _check_numeric(x: Any) -> None:
    if dtype_of(x).kind not in "iufcV":
        name = dtype_name(dtype_of(x))
        raise TypeError(f"input must be a numeric tensor, but got tensor with dtype <dtype: {name!r}>")


def _sign(x: Any) -> Any:
    if x.dtype.kind == "c":
        size = np.abs(x)
        return np.where(size == 0, x.dtype.type(0), x / np.where(size == 0, 1, size))[()]
    return np.sign(x)
