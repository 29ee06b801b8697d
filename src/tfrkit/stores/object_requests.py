"""Requests to an object store: what is tried again, and what its errors are in tfrkit's words.

obstore itself repeats requests that fail before their answer begins: server errors, 429, time-outs, refused
connections. A body that ends too early is continued here, at the right byte.
"""

from __future__ import annotations

import random
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Final, Self

from tfrkit.errors import (
    AlreadyExistsError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingExtraError,
    NotFoundError,
    OpError,
    PermissionDeniedError,
    UnauthenticatedError,
    UnavailableError,
    UnimplementedError,
)
from tfrkit.optional import require
from tfrkit.redact import redact

__all__ = ["Attempts", "head", "is_error", "store_errors", "upload_errors"]

# 416 is not one: a body that was cut is continued where an object that was replaced meanwhile may have ended.
_PERMANENT: Final = ("400 ", "401 ", "403 ", "404 ", "405 ", "411 ", "413 ", "501 ")
_OTHER_REGION: Final = ("incorrectly configured region", "AuthorizationHeaderMalformed", "PermanentRedirect")
_NO_ANSWER: Final = "error sending request"
_NO_LENGTH: Final = "Content-Length Header missing"
_LASTING: Final = (
    "(code: AccessDenied)",  # of a deletion
    "error following redirect",
    _NO_LENGTH,
    *_OTHER_REGION,
    *(f"status code: {code}" for code in _PERMANENT),
)
_ATTEMPTS: Final = 10  # without a single byte in between
_SECONDS: Final = 180.0  # for one range in all
_FIRST_PAUSE: Final = 0.05
_LONGEST_PAUSE: Final = 5.0
_CODE: Final = re.compile(r"<Code>([^<]{1,80})</Code>")
_DUMP: Final = "\n\nDebug source:"
_NO_BUCKET: Final = ("NoSuchBucket", "ContainerNotFound", "The specified bucket does not exist")
_EXPIRED: Final = ("ExpiredToken", "TokenRefreshRequired", "InvalidToken", "AuthenticationFailed")
_STATUS: Final = re.compile(r"status code: (\d{3} [A-Za-z -]+)")


def is_error(error: BaseException) -> bool:
    """Tell whether an exception is one of obstore's."""
    if isinstance(error, (OpError, MissingExtraError)):
        return False
    return isinstance(
        error, (_exceptions().BaseError, FileNotFoundError)
    )  # a missing object is Python's own error


def _exceptions() -> Any:
    return require("obstore.exceptions", "Access to object stores and web servers")


@contextmanager
def store_errors(name: str) -> Iterator[None]:
    """Raise an error of obstore inside the block as tfrkit's error about `name`."""
    try:
        yield
    except Exception as error:
        if not is_error(error):
            raise
        raise translate(error, name) from None  # the original has the request with its signature


@contextmanager
def upload_errors(name: str, *, raw: bool = False) -> Iterator[None]:
    """Raise an error of obstore's writer, which is a plain OSError, as tfrkit's error about `name`.

    Args:
        name: of the object.
        raw: raise it as obstore's own, for `Attempts` to judge.
    """
    try:
        yield
    except OpError:
        raise
    except OSError as error:
        kept = error if isinstance(error, FileNotFoundError) else _exceptions().GenericError(str(error))
        raise (kept if raw else translate(kept, name)) from None


def translate(error: BaseException, name: str, tried: str = "") -> OpError:
    """Return tfrkit's error for one of obstore's. Pure: no I/O.

    Args:
        error: what was raised.
        name: of the object, for the message.
        tried: what was done about it.
    """
    tail = f" {tried}" if tried else ""
    kinds = _exceptions()
    text = str(error)
    reason, status = _reason(text), _STATUS.search(text.partition(_DUMP)[0])
    code = int(status[1][:3]) if status else 0
    if any(word in text for word in _NO_BUCKET):
        return NotFoundError(
            f"{name}; there is no such bucket ({reason}). Check its name, region and endpoint.", path=name
        )
    if any(word in text for word in _OTHER_REGION):
        return InvalidArgumentError(
            f"{name}; the bucket is in another region. Name it: AWS_REGION, or configure_store(..., region=...).",
            path=name,
        )
    if isinstance(error, FileNotFoundError) or code == 404:
        return NotFoundError(f"{name}; No such file or directory", path=name)
    if isinstance(error, kinds.UnauthenticatedError) or code == 401 or any(word in text for word in _EXPIRED):
        return UnauthenticatedError(
            f"{name}; the credentials were refused ({reason}). Renew keys and tokens, which may have expired; for "
            "public data pass tfrkit.configure_store(..., anonymous=True).",
            path=name,
        )
    if isinstance(error, kinds.PermissionDeniedError) or code == 403 or "AccessDenied" in text:
        return PermissionDeniedError(
            f"{name}; access denied ({reason}). Check the key, what it may do in this bucket, and that a token has not "
            "expired.",
            path=name,
        )
    if isinstance(error, kinds.AlreadyExistsError):
        return AlreadyExistsError(f"{name}; it exists already.", path=name)
    if isinstance(error, kinds.PreconditionError):
        return FailedPreconditionError(f"{name}; another process has changed it.", path=name)
    if _NO_LENGTH in text:
        return UnimplementedError(
            f"{name}; the server does not say how long the file is (no Content-Length), so that an answer that is cut "
            "could not be told from a whole one. Download the file first.",
            path=name,
        )
    if isinstance(error, kinds.NotSupportedError):
        return UnimplementedError(f"{name}; the store cannot do this: {reason}.", path=name)
    if isinstance(error, (kinds.InvalidPathError, kinds.UnknownConfigurationKeyError)) or 400 <= code < 500:
        return InvalidArgumentError(f"{name}; the store refuses this: {reason}. Check the name.", path=name)
    advice = " Check its address and the network." if _NO_ANSWER in text else ""
    return UnavailableError(
        f"{name}; the store does not answer as it should: {reason}.{tail}{advice}", path=name
    )


def _reason(text: str) -> str:
    """Return the heart of an error text of obstore, without its dump and without secrets. Pure: no I/O."""
    head = text.partition(_DUMP)[0]
    status, code = _STATUS.search(head), _CODE.search(head)
    if status:
        return status[1].strip() + (f", {code[1]}" if code else "")
    line = head.replace("\n", " ").strip().rstrip(".")
    return redact(line if len(line) <= 300 else line[:300] + "...")


def is_permanent(error: BaseException) -> bool:
    """Tell whether another attempt would end in the same way. Pure: no I/O."""
    kinds = _exceptions()
    lasting = (
        kinds.PermissionDeniedError,
        kinds.UnauthenticatedError,
        kinds.NotSupportedError,
        kinds.InvalidPathError,
        kinds.PreconditionError,
        FileNotFoundError,
    )
    return isinstance(error, lasting) or any(text in str(error) for text in _LASTING)


def head(client: Any, key: str) -> Any:
    """Return what obstore knows of an object; an error has the reason in it, which an answer to HEAD has not."""
    try:
        return client.head(key)
    except Exception as error:
        if is_error(error) and any(f"status code: {code}" in str(error) for code in ("400 ", "401 ", "403 ")):
            client.get(key, options={"range": (0, 1)})
        raise


class Attempts:
    """Attempts at one piece of work: each is a `with` block, which ends quietly if another one may succeed.

    Args:
        what: the work, for the error in the end, such as "GET of bytes 0-99".
        name: of the object.
    """

    def __init__(self, what: str, name: str) -> None:
        self._what, self._name = what, name
        self._started = time.monotonic()
        self._failures = self._in_row = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> bool:
        if error is None or not is_error(error):
            return False
        if is_permanent(error):
            raise translate(error, self._name) from None  # the original has the request with its signature
        self.failed(error)
        return True

    def progress(self) -> None:
        """Note that bytes have come."""
        self._in_row = 0

    def failed(self, error: BaseException | str) -> None:
        """Note a failure, and wait before the next attempt.

        Raises:
            UnavailableError: there were enough; the message says what was tried.
        """
        self._failures += 1
        self._in_row += 1
        seconds = time.monotonic() - self._started
        if self._in_row >= _ATTEMPTS or seconds > _SECONDS:
            tried = f"{self._what} was tried {self._failures} times in {seconds:.0f} s. Try again later."
            if isinstance(error, str):
                raise UnavailableError(f"{self._name}; {error}. {tried}", path=self._name)
            raise translate(error, self._name, tried) from None
        pause = min(_LONGEST_PAUSE, _FIRST_PAUSE * 2 ** (self._in_row - 1))
        time.sleep(pause * (0.5 + random.random() / 2))  # noqa: S311  # so that clients do not come back together
