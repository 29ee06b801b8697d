"""Functions of neural networks that input programs use: softmax, gelu, biases, the L2 loss."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.math import elementwise
from tfrkit.tf.ops.math.apply import apply_pair, entrywise, quietly
from tfrkit.values.operands import alike, as_value, dtype_of, shape_of
from tfrkit.values.types import check_type

__all__ = ["bias_add", "gelu", "l2_loss", "log_softmax", "softmax"]


@entrywise
@quietly
def gelu(features: Any, approximate: bool = False) -> Any:
    """Multiply each number by the normal distribution's probability of a smaller one."""
    value = as_value(features)
    check_type("Erf", dtype_of(value))
    kind = dtype_of(value).type
    if approximate:
        inner = kind(0.7978845608028654) * (value + kind(0.044715) * np.power(value, kind(3)))
        return kind(0.5) * value * (kind(1) + elementwise.tanh(inner))
    return kind(0.5) * value * (kind(1) + elementwise.erf(value / kind(1.4142135623730951)))


@quietly
def l2_loss(t: Any) -> Any:
    """Return half the sum of the squares."""
    value = as_value(t)
    check_type("L2Loss", dtype_of(value))
    return np.sum(np.square(value), dtype=dtype_of(value)) / dtype_of(value).type(2)


def bias_add(value: Any, bias: Any, data_format: str | None = None) -> Any:
    """Add a vector along the last dimension."""
    value, bias = alike("BiasAdd", value, bias)
    if shape_of(bias) != shape_of(value)[-1:]:
        raise InvalidArgumentError(
            "Must provide as many biases as the last dimension of the input tensor: "
            f"{show_dims(shape_of(bias))} vs. {show_dims(shape_of(value))}"
        )
    return apply_pair(np.add, value, bias)


@quietly
def softmax(logits: Any, axis: int | None = None) -> Any:
    """Return the softmax along a dimension, the last by default.

    >>> softmax([0.0, 0.0]).tolist()
    [0.5, 0.5]
    """
    value, place = _logits("Softmax", logits, axis)
    raised = np.exp(value - np.max(value, place, keepdims=True, initial=-np.inf))
    return raised / np.sum(raised, place, keepdims=True, dtype=raised.dtype)


@quietly
def log_softmax(logits: Any, axis: int | None = None) -> Any:
    """Return the logarithm of `softmax`."""
    value, place = _logits("LogSoftmax", logits, axis)
    shifted = value - np.max(value, place, keepdims=True, initial=-np.inf)
    return shifted - np.log(np.sum(np.exp(shifted), place, keepdims=True, dtype=shifted.dtype))


def _logits(op: str, logits: Any, axis: int | None) -> tuple[Any, int]:
    value = as_value(logits)
    check_type(op, dtype_of(value))
    return value, -1 if axis is None else axis
