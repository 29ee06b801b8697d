"""Functions that networks apply to numbers, and other compositions of elementary ones."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.math.arithmetic import maximum
from tfrkit.tf.ops.math.elementary import erf, relu, sigmoid, tanh
from tfrkit.tf.ops.math.elementwise import apply_pair, apply_single, quietly
from tfrkit.values.operands import alike, as_value, convert, dtype_of, shape_of, takes_alike
from tfrkit.values.types import check_type

__all__ = [
    "bias_add",
    "crelu",
    "erfc",
    "gelu",
    "is_non_decreasing",
    "is_strictly_increasing",
    "l2_loss",
    "leaky_relu",
    "lgamma",
    "nextafter",
    "polyval",
    "selu",
    "silu",
    "softsign",
    "xlog1py",
]


def _log_gamma(x: float) -> float:
    if not math.isfinite(x):
        return abs(x)
    return math.inf if x <= 0 and x == math.floor(x) else math.lgamma(x)


_erfc = np.frompyfunc(math.erfc, 1, 1)
_lgamma = np.frompyfunc(_log_gamma, 1, 1)
_SCALE = 1.0507009873554804934193349852946
_SCALED_ALPHA = 1.7580993408473768599402175208123


@quietly
def leaky_relu(features: Any, alpha: Any = 0.2) -> Any:
    """The number, or a part of it if it is negative; integers become float32.

    >>> leaky_relu([-1.0, 2.0], 0.5).tolist()
    [-0.5, 2.0]
    """
    value = as_value(features)
    if dtype_of(value).kind in "iu":
        value = value.astype(np.float32)
    check_type("Softplus", dtype_of(value))
    return maximum(value, value * dtype_of(value).type(float(alpha)))


@quietly
def silu(features: Any, beta: Any = 1.0) -> Any:
    """The number times its sigmoid."""
    value = as_value(features)
    return value * sigmoid(convert(beta, dtype_of(value)) * value)


@quietly
def gelu(features: Any, approximate: bool = False) -> Any:
    """The number times the part of a normal distribution that lies below it."""
    value = as_value(features)
    check_type("Erf", dtype_of(value))
    kind = dtype_of(value).type
    if approximate:
        inner = kind(0.7978845608028654) * (value + kind(0.044715) * np.power(value, kind(3)))
        return kind(0.5) * value * (kind(1) + tanh(inner))
    return kind(0.5) * value * (kind(1) + erf(value / kind(1.4142135623730951)))


def selu(features: Any) -> Any:
    """The number times a constant, or that of exp(x) - 1 if it is negative."""
    return apply_single(
        "Elu",
        lambda x: np.asarray(
            np.where(x < 0, x.dtype.type(_SCALED_ALPHA) * np.expm1(x), x.dtype.type(_SCALE) * x)
        )[()],
        features,
    )


def softsign(features: Any) -> Any:
    """X / (1 + |x|)."""
    return apply_single("Softplus", lambda x: x / (x.dtype.type(1) + np.abs(x)), features)


@quietly
def crelu(features: Any, axis: int = -1) -> Any:
    """`relu` of the value and of its negative, side by side."""
    value = as_value(features)
    return np.concatenate([relu(value), relu(-value)], axis)


@quietly
def l2_loss(t: Any) -> Any:
    """Half the sum of the squares."""
    value = as_value(t)
    check_type("L2Loss", dtype_of(value))
    return np.sum(np.square(value), dtype=dtype_of(value)) / dtype_of(value).type(2)


def bias_add(value: Any, bias: Any, data_format: str | None = None) -> Any:  # noqa: ARG001
    """Add a number for each place of the last dimension."""
    value, bias = alike("BiasAdd", value, bias)
    if shape_of(bias) != shape_of(value)[-1:]:
        raise InvalidArgumentError(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{show_dims(shape_of(bias))} vs. {show_dims(shape_of(value))}"
        )
    return apply_pair(np.add, value, bias)


def erfc(x: Any) -> Any:
    """1 minus the error function."""
    return apply_single("Erf", lambda x: np.asarray(_erfc(x)).astype(x.dtype)[()], x)


def lgamma(x: Any) -> Any:
    """The logarithm of the absolute value of the gamma function."""
    return apply_single("Lgamma", lambda x: np.asarray(_lgamma(x)).astype(x.dtype)[()], x)


@takes_alike("x1", "x2")
def nextafter(x1: Any, x2: Any) -> Any:
    """The next number that a float can be, in the direction of another."""
    return apply_pair(np.nextafter, *alike("NextAfter", x1, x2))


@takes_alike("x", "y")
def xlog1py(x: Any, y: Any) -> Any:
    """X times log(1 + y); 0 where x is 0."""
    x, y = alike("Xlogy", x, y)
    return apply_pair(lambda x, y: np.asarray(np.where(x == 0, x.dtype.type(0), x * np.log1p(y)))[()], x, y)


@quietly
def polyval(coeffs: Any, x: Any) -> Any:
    """The value of a polynomial, whose coefficients begin with that of the highest power.

    Raises:
        ValueError: the coefficients are no list.
    """
    if not isinstance(coeffs, list):
        raise ValueError(f"Argument coeffs must be list type. Received type {type(coeffs)}.")
    value = as_value(x)
    total = np.zeros_like(value)[()]
    for coefficient in coeffs:
        total = apply_pair(np.add, as_value(coefficient), apply_pair(np.multiply, total, value))
    return total


def is_non_decreasing(x: Any) -> Any:
    """Whether no element is smaller than the one before it."""
    flat = np.reshape(as_value(x), -1)
    return np.bool_((flat[1:] >= flat[:-1]).all())


def is_strictly_increasing(x: Any) -> Any:
    """Whether every element is larger than the one before it."""
    flat = np.reshape(as_value(x), -1)
    return np.bool_((flat[1:] > flat[:-1]).all())
