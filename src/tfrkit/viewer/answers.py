"""Answers: what a handler returns, JSON that every browser reads, and errors as the page is told of them."""

from __future__ import annotations

import json
import logging
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tfrkit.errors import (
    DataLossError,
    DeadlineExceededError,
    FailedPreconditionError,
    InvalidArgumentError,
    MissingExtraError,
    NotFoundError,
    OpError,
    OutOfRangeError,
    PermissionDeniedError,
    ResourceExhaustedError,
    UnavailableError,
)
from tfrkit.redact import redact

__all__ = ["MOST_BYTES", "Answer", "as_json", "failure", "part_of", "plain_number"]

_log = logging.getLogger(__name__)
MOST_BYTES: Final = 4 << 20  # of an answer in JSON
_EXACT: Final = 2**53  # JavaScript knows whole numbers up to here
_STATUS: Final[tuple[tuple[type[Exception], int], ...]] = (
    (NotFoundError, 404),
    (OutOfRangeError, 404),
    (InvalidArgumentError, 400),
    (PermissionDeniedError, 403),
    (FailedPreconditionError, 409),
    (ResourceExhaustedError, 429),
    (DataLossError, 422),
    (UnavailableError, 503),
    (DeadlineExceededError, 503),
    (MissingExtraError, 501),
    (OSError, 500),
)


@dataclass(frozen=True, slots=True)
class Answer:
    """What is sent back.

    Attributes:
        body: the bytes.
        kind: their media type.
        status: of HTTP.
        headers: beyond those that every answer has.
    """

    body: bytes
    kind: str = "application/json"
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


def as_json(value: Any, status: int = 200) -> Answer:
    """Return a value as JSON; numbers that JSON does not have must have been replaced."""
    try:
        body = json.dumps(value, allow_nan=False, ensure_ascii=False, separators=(",", ":")).encode()
    except UnicodeEncodeError:  # names that are no UTF-8
        body = json.dumps(value, allow_nan=False, separators=(",", ":")).encode()
    if len(body) > MOST_BYTES:
        text = f"the answer has {len(body):,} bytes, more than the limit of {MOST_BYTES:,}. Ask for less at once."
        return as_json({"error": text, "hint": None, "at": None}, 413)
    return Answer(body, status=status)


def part_of(answer: Answer, wanted: str | None) -> Answer:
    """Return what a Range header asks for: the whole answer if that takes no ranges, or the header is not one.

    >>> part_of(Answer(b"abcdef", headers={"Accept-Ranges": "bytes"}), "bytes=2-3").body
    b'cd'
    """
    found = re.fullmatch(r"bytes=(\d{0,18})-(\d{0,18})", wanted or "")
    first, last = found.groups() if found else ("", "")
    if (
        "Accept-Ranges" not in answer.headers
        or not (first or last)
        or (first and last and int(first) > int(last))
    ):
        return answer
    size = len(answer.body)
    start = int(first) if first else max(0, size - int(last))
    end = min(size, int(last) + 1) if first and last else size
    if start >= size:
        return Answer(b"", answer.kind, 416, {**answer.headers, "Content-Range": f"bytes */{size}"})
    headers = {**answer.headers, "Content-Range": f"bytes {start}-{end - 1}/{size}"}
    return replace(answer, body=answer.body[start:end], status=206, headers=headers)


def failure(error: Exception) -> Answer:
    """Return what is said about an error."""
    status = next((code for kind, code in _STATUS if isinstance(error, kind)), 0)
    if not status:
        _log.error("the viewer failed", exc_info=error)
        text = f"internal error: {type(error).__name__}"
        return as_json({"error": text, "hint": "the terminal of `tfr view` has the details", "at": None}, 500)
    text = error.message if isinstance(error, OpError) else str(error)
    at = getattr(error, "at", None)
    return as_json({"error": redact(text), "hint": None, "at": at}, status)


def plain_number(value: Any) -> float | int | str:
    """Return a number that every reader of JSON reads as it is: as text what it would round, or does not have.

    >>> plain_number(2**60), plain_number(float("nan")), plain_number(0.5)
    ('1152921504606846976', 'NaN', 0.5)
    """
    if isinstance(value, int):
        return value if abs(value) <= _EXACT else str(value)
    if math.isfinite(value):
        return float(value)
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
