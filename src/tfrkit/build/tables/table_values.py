"""One value of a table as a value of a feature, or the reason why it does not fit.

The exact and slow path, value by value, for what the fast paths refuse; both must agree. Pure: no I/O.
"""

from __future__ import annotations

import math
import re
from decimal import Decimal
from typing import Any, Final

import numpy as np

from tfrkit.build.tables.table_format import Seen, TableColumn

__all__ = ["MisfitError", "fit_cell", "seen_in"]

_INT: Final = re.compile(r"[+-]?[0-9]+")
_NAMES: Final = {"int64": "an int64", "float": "a float", "bytes": "bytes"}


class MisfitError(ValueError):
    """A value does not fit its column."""


def seen_in(value: Any) -> Seen:
    """Return what kind of value this is.

    >>> seen_in([1, 2.5]) == Seen.LIST | Seen.INT | Seen.FLOAT
    True
    """
    if value is None:
        return Seen.NULL
    if isinstance(value, int):  # bools too
        return Seen.INT if -(2**63) <= value < 2**63 else Seen.TEXT
    if isinstance(value, float):
        return Seen.FLOAT
    if isinstance(value, list):
        found = Seen.LIST
        for item in value:
            found |= seen_in(item)
        return found & ~Seen.NULL  # one inside a list is not a null of the column
    return Seen.TEXT


def fit_cell(value: Any, column: TableColumn) -> Any:
    """Make a value, or a list of values, of the column's kind; None: the feature is absent.

    Raises:
        MisfitError: it cannot be; the text says why.
    """
    if value is None:
        return column.null_value
    if column.separator is not None and isinstance(value, (str, bytes)):
        value = _cut(value, column.separator)
    if isinstance(value, (np.ndarray, np.float32)) and column.kind == "float":
        return value  # with all its bits
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_fit_item(item, column) for item in value]
    return _fit(value, column)


def _cut(text: str | bytes, separator: str) -> list[Any]:
    if isinstance(text, bytes):
        return text.split(separator.encode()) if text else []
    return list(text.split(separator)) if text else []


def _fit_item(item: Any, column: TableColumn) -> Any:
    if item is None:
        if column.null_value is None:
            raise MisfitError("a null inside a list; give a value for nulls (--null-value)")
        return column.null_value
    if isinstance(item, (list, tuple, dict)):
        raise MisfitError("a list of lists or objects, which no feature can hold")
    return _fit(item, column)


def _fit(value: Any, column: TableColumn) -> Any:
    try:
        if column.kind == "int64":
            return _integer(value)
        if column.kind == "float":
            return _number(value)
        return _text(value)
    except (ValueError, TypeError, OverflowError):
        raise MisfitError(f"{_shown(value)} is not {_NAMES[column.kind]}") from None


def _integer(value: Any) -> int:
    if isinstance(value, (str, bytes)):
        text = value.decode() if isinstance(value, bytes) else value
        if _INT.fullmatch(text) is None or len(text) > 30:
            raise ValueError
        number = int(text)
    elif isinstance(value, (int, float, Decimal)):
        number = int(value)
        if number != value:
            raise ValueError
    else:
        raise TypeError
    if not -(2**63) <= number < 2**63:
        raise OverflowError
    return number


def _number(value: Any) -> float:
    if isinstance(value, bytes):
        value = value.decode()
    if isinstance(value, str) and "_" in value:  # which Python allows
        raise ValueError
    return float(value)


def _text(value: Any) -> bytes:
    if isinstance(value, bytes):
        return value
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, bool):
        return b"true" if value else b"false"
    if isinstance(value, float) and not math.isfinite(value):
        return {"nan": b"NaN", "inf": b"Infinity", "-inf": b"-Infinity"}[str(value)]
    if isinstance(value, (int, float, Decimal)):
        return str(value).encode()
    raise TypeError


def _shown(value: Any) -> str:
    if isinstance(value, dict):
        return "an object"
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:50]}... ({len(text)} characters)"
