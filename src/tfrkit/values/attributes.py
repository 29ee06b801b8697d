"""The attributes of TensorFlow's operations: what it takes for an int, a float, a bool or a string, and its refusals.

An attribute is an argument that is no tensor. None stands for the default.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError

__all__ = ["bool_attribute", "float_attribute", "int_attribute", "str_attribute"]

_INT32: Final = range(-(2**31), 2**31)


def int_attribute(value: Any, name: str, default: int) -> int:
    """Return an int; fractions are cut off, as in TensorFlow.

    Raises:
        TypeError: it is not one.
        OverflowError: it is infinite.
        InvalidArgumentError: it does not fit an int32.

    >>> int_attribute(2.7, "ratio", 1), int_attribute(None, "ratio", 1)
    (2, 1)
    """
    if type(value) is int and value in _INT32:
        return value
    if value is None:
        return default
    refusal = TypeError(f"Expected int for argument '{name}' not {value!r:.100}.")
    if isinstance(value, str) or np.ndim(value):
        raise refusal
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise refusal from None
    if number not in _INT32:
        raise InvalidArgumentError(f"Attr {name} has value {number} out of range for an int32")
    return number


def float_attribute(value: Any, name: str, default: float) -> float:
    """Return a float; text is not one.

    Raises:
        TypeError: it is not one.
    """
    if value is None:
        return default
    if isinstance(value, (str, bytes, bytearray, np.ndarray)):
        raise TypeError(f"Expected float for argument '{name}' not {value!r:.100}.")
    try:
        return float(value)
    except (TypeError, ValueError):
        raise TypeError(f"Expected float for argument '{name}' not {value!r:.100}.") from None


def bool_attribute(value: Any, name: str, default: bool) -> bool:
    """Return a bool; numbers are not.

    Raises:
        TypeError: it is not one.
    """
    if value is None:
        return default
    if not isinstance(value, bool):
        raise TypeError(f"Expected bool for argument '{name}' not {value!r:.100}.")
    return value


def str_attribute(value: Any, name: str, default: str) -> str:
    """Return a string; bytes are taken for UTF-8.

    Raises:
        TypeError: it is not one.
    """
    if value is None:
        return default
    if isinstance(value, bytes):
        return value.decode("utf-8", "surrogateescape")
    if not isinstance(value, str):
        raise TypeError(f"Expected string for argument '{name}' not {value!r:.100}.")
    return value
