"""Comparing values, and the logic of what comes out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.tf.ops.math.elementwise import apply_pair, apply_single
from tfrkit.values.operands import (
    STRING,
    alike,
    as_array,
    convert,
    dtype_of,
    is_tensor,
    kernel_name,
    takes_alike,
)

__all__ = [
    "equal",
    "greater",
    "greater_equal",
    "is_finite",
    "is_inf",
    "is_nan",
    "less",
    "less_equal",
    "logical_and",
    "logical_not",
    "logical_or",
    "logical_xor",
    "not_equal",
]

_BOOL = np.dtype(bool)


@takes_alike("x", "y")
def equal(x: Any, y: Any) -> Any:
    """Whether elements are equal; strings too.

    >>> equal(["a", "b"], "a").tolist()
    [True, False]
    """
    x, y = alike("Equal", x, y)
    return _strings(np.equal, x, y) if dtype_of(x) == STRING else apply_pair(np.equal, x, y)


@takes_alike("x", "y")
def not_equal(x: Any, y: Any) -> Any:
    """Whether elements differ; strings too."""
    x, y = alike("NotEqual", x, y)
    return _strings(np.not_equal, x, y) if dtype_of(x) == STRING else apply_pair(np.not_equal, x, y)


@takes_alike("x", "y")
def less(x: Any, y: Any) -> Any:
    """Whether the first is smaller."""
    return apply_pair(np.less, *alike("Less", x, y))


@takes_alike("x", "y")
def less_equal(x: Any, y: Any) -> Any:
    """Whether the first is not larger."""
    return apply_pair(np.less_equal, *alike("LessEqual", x, y))


@takes_alike("x", "y")
def greater(x: Any, y: Any) -> Any:
    """Whether the first is larger."""
    return apply_pair(np.greater, *alike("Greater", x, y))


@takes_alike("x", "y")
def greater_equal(x: Any, y: Any) -> Any:
    """Whether the first is not smaller."""
    return apply_pair(np.greater_equal, *alike("GreaterEqual", x, y))


def logical_and(x: Any, y: Any) -> Any:
    """Whether both are true."""
    return apply_pair(np.logical_and, *_truths("LogicalAnd", x, y))


def logical_or(x: Any, y: Any) -> Any:
    """Whether one is true."""
    return apply_pair(np.logical_or, *_truths("LogicalOr", x, y))


def logical_not(x: Any) -> Any:
    """Whether it is false."""
    return np.logical_not(_truths("LogicalNot", x)[0])


def logical_xor(x: Any, y: Any) -> Any:
    """Whether only one is true."""
    return logical_and(logical_or(x, y), logical_not(logical_and(x, y)))


def is_nan(x: Any) -> Any:
    """Whether elements are no numbers."""
    return apply_single("IsNan", np.isnan, x)


def is_inf(x: Any) -> Any:
    """Whether elements are infinite."""
    return apply_single("IsInf", np.isinf, x)


def is_finite(x: Any) -> Any:
    """Whether elements are numbers and finite."""
    return apply_single("IsFinite", np.isfinite, x)


def _strings(function: Callable[..., Any], x: Any, y: Any) -> Any:
    return apply_pair(lambda x, y: np.asarray(function(x, y)).astype(bool)[()], as_array(x), as_array(y))


def _truths(op: str, *values: Any) -> list[Any]:
    made = [value if is_tensor(value) else convert(value, _BOOL) for value in values]
    for number, value in enumerate(made):
        if dtype_of(value) != _BOOL:
            raise InvalidArgumentError(
                f"cannot compute {op} as input #{number}(zero-based) was expected to be a bool tensor but is a "
                f"{kernel_name(dtype_of(value))} tensor"
            )
    return made
