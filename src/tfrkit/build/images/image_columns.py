"""Further columns of a list of images: their kind is settled over all rows before anything is written. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.build.images.image_items import Extra
from tfrkit.errors import InvalidArgumentError

__all__ = ["make_extra"]

_LOWEST: Final = -(2**63)
_HIGHEST: Final = 2**63 - 1


def make_extra(values: list[Any], name: str, path: str, *, typed: bool) -> Extra:
    """Make a column.

    Args:
        values: one for each row, None where there is none; text, or with `typed` also numbers and lists.
        name: of the column, for errors.
        path: of the list, for errors.
        typed: values have their types. Else text that is a whole number in all rows becomes one, and so on.

    Raises:
        InvalidArgumentError: rows have values of different kinds, or of none that a feature can have.

    >>> make_extra(["1", None, "3"], "age", "a.csv", typed=False).values.tolist()
    [1, None, 3]
    """
    if not typed:
        values = _guess(values)
    kind = _kind(values, name, path)
    convert = _CONVERT[kind]
    if any(isinstance(value, list) for value in values):
        values = [None if value is None else [convert(part) for part in _as_list(value)] for value in values]
    else:
        values = [None if value is None else convert(value) for value in values]
    return Extra(kind, np.fromiter(values, object, len(values)))


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _encoded(value: str) -> bytes:
    return value.encode("utf-8", "surrogateescape")


_CONVERT: Final[dict[str, Callable[[Any], Any]]] = {"int64": int, "float32": float, "bytes": _encoded}


def _guess(values: list[str | None]) -> list[Any]:
    """Convert text to numbers if all values are: whole numbers in their usual form, or others."""
    for number in (_whole, float):
        try:
            return [None if value is None else number(value) for value in values]
        except ValueError:
            continue
    return values


def _whole(text: str) -> int:
    number = int(text)
    if str(number) != text or not _LOWEST <= number <= _HIGHEST:
        raise ValueError(text)
    return number


def _kind(values: list[Any], name: str, path: str) -> str:
    kinds = {_kind_of(part, name, path) for value in values if value is not None for part in _as_list(value)}
    if kinds == {"int64", "float32"}:
        return "float32"
    if len(kinds) > 1:
        raise InvalidArgumentError(
            f"{path}: column {name!r}: expected values of one kind but got numbers and text. Make them alike.",
            path=path,
        )
    return next(iter(kinds), "bytes")


def _kind_of(value: Any, name: str, path: str) -> str:
    if isinstance(value, (bool, int)) and _LOWEST <= value <= _HIGHEST:
        return "int64"
    if isinstance(value, float):
        return "float32"
    if isinstance(value, str):
        return "bytes"
    raise InvalidArgumentError(
        f"{path}: column {name!r}: expected numbers, text, or lists of them but got {str(value)[:60]!r}.",
        path=path,
    )
