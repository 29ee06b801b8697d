"""The error that TensorFlow makes of an exception in a Python function that it calls. Pure: no I/O."""

from __future__ import annotations

from typing import Final

from tfrkit.errors import (
    InvalidArgumentError,
    OpError,
    OutOfRangeError,
    ResourceExhaustedError,
    UnimplementedError,
    UnknownError,
)

__all__ = ["error_of"]

_KINDS: Final[list[tuple[type[Exception], type[OpError]]]] = [
    (OpError, UnknownError),  # some of them derive from the built-in ones below
    (TypeError, InvalidArgumentError),
    (ValueError, InvalidArgumentError),
    (StopIteration, OutOfRangeError),
    (MemoryError, ResourceExhaustedError),
    (NotImplementedError, UnimplementedError),
]


def error_of(failure: Exception) -> OpError:
    """TensorFlow's error; the function's own is its cause.

    >>> error_of(ZeroDivisionError("by zero"))
    UnknownError('ZeroDivisionError: by zero')
    """
    kind: type[OpError] = UnknownError
    for built_in, ours in _KINDS:
        if isinstance(failure, built_in):
            kind = ours
            break
    error = kind(f"{type(failure).__name__}: {failure}")
    error.__cause__ = failure
    return error
