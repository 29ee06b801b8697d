"""Every exception and warning that tfrkit raises, and how an OSError becomes one.

The classes carry TensorFlow's names, so that code which catches `tf.errors.DataLossError` by name or matches its
text keeps working; each also derives from the built-in that a Python programmer would catch:

    Exception
    +-- OpError                          .message .node_def .op .error_code  .path .record .offset
        +-- CancelledError               1
        +-- UnknownError                 2   RuntimeError
        +-- InvalidArgumentError         3   ValueError
        +-- DeadlineExceededError        4   TimeoutError
        +-- NotFoundError                5   FileNotFoundError
        +-- AlreadyExistsError           6   FileExistsError
        +-- PermissionDeniedError        7   PermissionError
        +-- ResourceExhaustedError       8   OSError
        +-- FailedPreconditionError      9   RuntimeError
        +-- AbortedError                 10  RuntimeError
        +-- OutOfRangeError              11  IndexError
        +-- UnimplementedError           12  NotImplementedError
        +-- InternalError                13  RuntimeError
        +-- UnavailableError             14  ConnectionError
        +-- DataLossError                15  ValueError
        +-- UnauthenticatedError         16  PermissionError
    ImportError
    +-- MissingExtraError                an optional package is not installed
    UserWarning
    +-- DataLossWarning                  data was left out because the policy says so, or shards are missing
"""

from __future__ import annotations

import contextlib
import errno
import os
import traceback
from collections.abc import Iterator
from typing import Any, overload

from tfrkit.redact import redact

__all__ = [
    "AbortedError",
    "AlreadyExistsError",
    "CancelledError",
    "DataLossError",
    "DataLossWarning",
    "DeadlineExceededError",
    "FailedPreconditionError",
    "InternalError",
    "InvalidArgumentError",
    "MissingExtraError",
    "NotFoundError",
    "OpError",
    "OutOfRangeError",
    "PermissionDeniedError",
    "ResourceExhaustedError",
    "UnauthenticatedError",
    "UnavailableError",
    "UnimplementedError",
    "UnknownError",
    "from_os_error",
    "os_errors",
]


class OpError(Exception):
    """Base of all errors about data and files.

    Made with a text and, by keyword, the place; or as in TensorFlow, with `node_def`, `op` and `message`, after which
    OpError itself takes its number too.

    Attributes:
        message: the whole text; it begins with TensorFlow's text for the same case.
        path: file the error is about, or None.
        record: number of the record in that file, counted from 0, or None.
        offset: byte offset in the uncompressed stream of that file, or None.
        at: place in an expression that it is about, in characters counted from 0, or None.
        repairable: whether it is damage of a TFRecord file of which `tfrkit.repair` saves the rest.
        node_def: what was given as such, None in all errors that tfrkit raises.
        op: the same.
        error_code: TensorFlow's number of the class.
        experimental_payloads: details that were given after TensorFlow's arguments, else empty.

    >>> str(OutOfRangeError(None, None, "End of sequence"))
    'End of sequence'
    """

    error_code: int = 2
    at: int | None = None
    repairable = False

    @overload
    def __init__(
        self,
        message: str,
        /,
        *,
        path: str | None = None,
        record: int | None = None,
        offset: int | None = None,
    ) -> None: ...

    @overload
    def __init__(self, node_def: Any, op: Any, message: str, /, *details: Any) -> None: ...

    @overload
    def __init__(self, *, node_def: Any, op: Any, message: str, error_code: int = ...) -> None: ...

    def __init__(
        self,
        *given: Any,
        path: str | None = None,
        record: int | None = None,
        offset: int | None = None,
        **named: Any,
    ) -> None:
        numbered = _is_numbered(type(self))
        if len(given) == 1 and not named:
            given = (None, None, *given) if numbered else (None, None, *given, self.error_code)
        if numbered:
            self.node_def, self.op, self.message, details = _given(*given, **named)
        else:
            self.node_def, self.op, self.message, self.error_code, details = _given_all(*given, **named)
        self.message = redact(self.message)
        super().__init__(self.message)
        self.path = redact(path) if path is not None else None
        self.record = record
        self.offset = offset
        self.experimental_payloads = details[0] if details else {}

    def __str__(self) -> str:
        if self.op is None:
            return self.message
        lines = traceback.format_list(self.op.traceback or [])
        return f"{self.message}\n\nOriginal stack trace for {self.op.name!r}:\n" + "".join(lines)

    def __reduce__(self) -> tuple[object, ...]:
        # What a subclass takes is not known, so it is made without being called.
        names = ("errno", "strerror", "filename", "filename2") if isinstance(self, OSError) else ()
        return _rebuild, (type(self), self.args), vars(self) | {name: getattr(self, name) for name in names}


def _is_numbered(cls: type[OpError]) -> bool:
    """Whether the class has a number of its own, so that none is among the arguments."""
    return any("error_code" in vars(base) for base in cls.__mro__[: cls.__mro__.index(OpError)])


def _given(node_def: Any, op: Any, message: str, *details: Any) -> tuple[Any, Any, str, tuple[Any, ...]]:
    return node_def, op, message, details


def _given_all(
    node_def: Any, op: Any, message: str, error_code: int, *details: Any
) -> tuple[Any, Any, str, int, tuple[Any, ...]]:
    return node_def, op, message, error_code, details


def _rebuild(cls: type[OpError], args: tuple[object, ...]) -> OpError:
    made = cls.__new__(cls)
    made.args = args
    return made


class CancelledError(OpError):
    """The work was cancelled."""

    error_code = 1


class UnknownError(OpError, RuntimeError):
    """Something failed for a reason that is not known here, such as a user's generator."""

    error_code = 2


class InvalidArgumentError(OpError, ValueError):
    """An argument, or a value in the data, is not acceptable."""

    error_code = 3


class DeadlineExceededError(OpError, TimeoutError):
    """The work did not end in time."""

    error_code = 4


class NotFoundError(OpError, FileNotFoundError):
    """A file or folder does not exist."""

    error_code = 5


class AlreadyExistsError(OpError, FileExistsError):
    """Something that was to be made exists already."""

    error_code = 6


class PermissionDeniedError(OpError, PermissionError):
    """The file's permissions do not allow it."""

    error_code = 7


class ResourceExhaustedError(OpError, OSError):
    """The disk is full, or another resource is used up."""

    error_code = 8


class FailedPreconditionError(OpError, RuntimeError):
    """The object is not in a state that allows the call, such as a closed writer."""

    error_code = 9


class AbortedError(OpError, RuntimeError):
    """The work was given up, usually because of a concurrent change."""

    error_code = 10


class OutOfRangeError(OpError, IndexError):
    """Reading went past the end."""

    error_code = 11


class UnimplementedError(OpError, NotImplementedError):
    """The operation does not exist for this kind of object."""

    error_code = 12


class InternalError(OpError, RuntimeError):
    """A promise that tfrkit makes to itself was broken; please report it."""

    error_code = 13


class UnavailableError(OpError, ConnectionError):
    """A service cannot be reached now."""

    error_code = 14


class DataLossError(OpError, ValueError):
    """Data is damaged or incomplete."""

    error_code = 15


class UnauthenticatedError(OpError, PermissionError):
    """The credentials were refused."""

    error_code = 16


class MissingExtraError(ImportError):
    """An optional package is needed and not installed."""


class DataLossWarning(UserWarning):
    """Data was left out, as the policy in force says; the text tells where and how much."""


_BY_ERRNO: dict[int, type[OpError]] = {
    errno.ENOENT: NotFoundError,
    errno.ENOTDIR: FailedPreconditionError,
    errno.EEXIST: AlreadyExistsError,
    errno.EACCES: PermissionDeniedError,
    errno.EPERM: PermissionDeniedError,
    errno.EROFS: PermissionDeniedError,
    errno.EISDIR: FailedPreconditionError,
    errno.ENOTEMPTY: FailedPreconditionError,
    errno.EBADF: FailedPreconditionError,
    errno.EPIPE: FailedPreconditionError,
    errno.EINVAL: InvalidArgumentError,
    errno.ENAMETOOLONG: InvalidArgumentError,
    errno.ENOSPC: ResourceExhaustedError,
    errno.EDQUOT: ResourceExhaustedError,
    errno.EMFILE: ResourceExhaustedError,
    errno.ENFILE: ResourceExhaustedError,
    errno.EFBIG: OutOfRangeError,
    errno.ETIMEDOUT: DeadlineExceededError,
    errno.EAGAIN: UnavailableError,
}


def from_os_error(error: OSError, path: str, advice: str = "") -> OpError:
    """Return the tfrkit error for an OSError about `path`, with TensorFlow's text `<path>; <reason>`.

    Args:
        error: what the operating system said.
        path: the file as the user named it.
        advice: a sentence on what to do, put after the reason.

    Returns:
        The error, to be raised `from error`; `errno` and `filename` are kept where the class has them.

    >>> from_os_error(FileNotFoundError(2, "No such file or directory"), "a.tfrecord").message
    'a.tfrecord; No such file or directory'
    """
    number = error.errno if error.errno is not None else 0
    reason = os.strerror(number) if number else str(error)
    cls = _BY_ERRNO.get(number, UnknownError)
    result = cls(f"{path}; {reason}" + (f". {advice}" if advice else ""), path=path)
    if isinstance(result, OSError):
        result.errno = number
        result.strerror = reason
        result.filename = path
    return result


@contextlib.contextmanager
def os_errors(path: str, advice: str = "") -> Iterator[None]:
    """Raise an OSError of the block as the tfrkit error about `path`; see `from_os_error`.

    >>> with os_errors("a.tfrecord"):
    ...     open("a.tfrecord")
    Traceback (most recent call last):
    tfrkit.errors.NotFoundError: a.tfrecord; No such file or directory
    """
    try:
        yield
    except OpError:  # it says all that is to be said
        raise
    except OSError as error:
        raise from_os_error(error, path, advice) from error
