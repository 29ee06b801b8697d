"""Integers that a user has given as arguments."""

from __future__ import annotations

import operator
from typing import Any

__all__ = ["as_integer"]


def as_integer(name: str, value: Any) -> int:
    """Return an argument that must be an integer; numpy's are as good as Python's.

    Raises:
        TypeError: it is not one; the text names the argument.

    >>> as_integer("threads", "2")
    Traceback (most recent call last):
    TypeError: expected threads to be an integer but got '2' (str)
    """
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(
            f"expected {name} to be an integer but got {value!r} ({type(value).__name__})"
        ) from None
