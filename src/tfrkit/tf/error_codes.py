"""The numbers of TensorFlow's errors."""

from __future__ import annotations

from typing import Final

from tfrkit import errors

__all__ = [
    "ABORTED",
    "ALREADY_EXISTS",
    "CANCELLED",
    "DATA_LOSS",
    "DEADLINE_EXCEEDED",
    "FAILED_PRECONDITION",
    "INTERNAL",
    "INVALID_ARGUMENT",
    "NOT_FOUND",
    "OK",
    "OUT_OF_RANGE",
    "PERMISSION_DENIED",
    "RESOURCE_EXHAUSTED",
    "UNAUTHENTICATED",
    "UNAVAILABLE",
    "UNIMPLEMENTED",
    "UNKNOWN",
    "error_code_from_exception_type",
    "exception_type_from_error_code",
]

OK: Final = 0
CANCELLED: Final = 1
UNKNOWN: Final = 2
INVALID_ARGUMENT: Final = 3
DEADLINE_EXCEEDED: Final = 4
NOT_FOUND: Final = 5
ALREADY_EXISTS: Final = 6
PERMISSION_DENIED: Final = 7
RESOURCE_EXHAUSTED: Final = 8
FAILED_PRECONDITION: Final = 9
ABORTED: Final = 10
OUT_OF_RANGE: Final = 11
UNIMPLEMENTED: Final = 12
INTERNAL: Final = 13
UNAVAILABLE: Final = 14
DATA_LOSS: Final = 15
UNAUTHENTICATED: Final = 16


def exception_type_from_error_code(error_code: int) -> type[errors.OpError]:
    """The class of an error by its number.

    Raises:
        KeyError: there is none.

    >>> exception_type_from_error_code(DATA_LOSS)
    <class 'tfrkit.errors.DataLossError'>
    """
    return {cls.error_code: cls for cls in errors.OpError.__subclasses__()}[error_code]


def error_code_from_exception_type(cls: type[errors.OpError]) -> int:
    """The number of a class of errors; that of UnknownError for any other class."""
    return getattr(cls, "error_code", UNKNOWN)
