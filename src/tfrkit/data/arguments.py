"""Arguments of verbs: integers and functions, refused when the pipeline is built and in TensorFlow's words."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from tfrkit.errors import InvalidArgumentError

__all__ = ["batch_size_of", "function", "integer"]


def integer(value: Any, name: str) -> int:
    """An integer of any library, never a float or a string.

    Raises:
        TypeError: it is not an integer.
        ValueError: it is None.

    >>> integer(3, "count")
    3
    >>> integer(2.5, "count")
    Traceback (most recent call last):
    TypeError: Cannot convert 2.5 to EagerTensor of dtype int64: expected an integer for `count`
    """
    if value is None:
        raise ValueError(
            f"Attempt to convert a value (None) with an unsupported type ({type(None)}) to a Tensor. "
            f"Expected an integer for `{name}`."
        )
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"Cannot convert {value!r} to EagerTensor of dtype int64: expected an integer for `{name}`"
        ) from None


def batch_size_of(value: Any) -> int:
    """The size of a batch.

    Raises:
        InvalidArgumentError: it is not positive.
    """
    size = integer(value, "batch_size")
    if size <= 0:
        raise InvalidArgumentError("Batch size must be greater than zero.")
    return size


def function(value: Any) -> Callable[..., Any]:
    """Something that can be called.

    Raises:
        ValueError: it cannot.

    >>> function(None)
    Traceback (most recent call last):
    ValueError: Argument `func` must be a callable. Received func=None (of type <class 'NoneType'>)
    """
    if not callable(value):
        raise ValueError(
            f"Argument `func` must be a callable. Received func={value!r} (of type {type(value)})"
        )
    checked: Callable[..., Any] = value
    return checked
