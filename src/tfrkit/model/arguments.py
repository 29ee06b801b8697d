"""Integers and booleans that a user has given as arguments: those of another type are refused by name."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

__all__ = ["as_integer", "check_bools"]


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
            f"expected {name} to be an integer but got {value!r:.100} ({type(value).__name__})"
        ) from None


def check_bools(**given: Any) -> None:
    """Refuse arguments that are neither booleans nor None, as every text counts as true; 0 and 1 are as good.

    Raises:
        TypeError: one is something else; the text names it.

    >>> check_bools(crc=True, cache="no")
    Traceback (most recent call last):
    TypeError: expected cache to be True or False but got 'no' (str)
    """
    for name, value in given.items():
        if not (value is None or isinstance(value, np.bool_) or (isinstance(value, int) and value in (0, 1))):
            kind = type(value).__name__
            raise TypeError(f"expected {name} to be True or False but got {value!r:.100} ({kind})")
