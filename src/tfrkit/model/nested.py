"""Nested Python lists as flat values: one step of flattening, and the leaves as an array or a BytesColumn.

Pure: no I/O.
"""

from __future__ import annotations

import reprlib
from itertools import chain
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.model.bytes_column import BytesColumn

__all__ = ["fill_value", "flatten_rows", "leaf_values"]

_BYTES = (bytes, str, bytearray, memoryview)


def flatten_rows(rows: list[Any]) -> tuple[npt.NDArray[np.int64], Any, bool]:
    """Take one level of nesting away.

    Returns:
        Lengths of the rows, all their items, and whether the items are rows again.

    Raises:
        ValueError: a row is no list, or items and lists are mixed.

    >>> flatten_rows([[1, 2], [3]])[1:]
    ([1, 2, 3], False)
    """
    for number, row in enumerate(rows):
        if isinstance(row, _BYTES) or not hasattr(row, "__len__"):
            raise ValueError(f"expected lists at one depth but got {type(row).__name__} for row {number}")
    lengths = np.fromiter(map(len, rows), np.int64, len(rows))
    if rows and all(isinstance(row, np.ndarray) and row.dtype != object for row in rows):
        return lengths, np.concatenate(rows), False
    if rows and all(isinstance(row, BytesColumn) for row in rows):
        return lengths, BytesColumn.concat(rows), False
    items = list(chain.from_iterable(rows))
    deeper = [hasattr(item, "__len__") and not isinstance(item, _BYTES) for item in items]
    if any(deeper) and not all(deeper):
        odd = items[deeper.index(False)]
        raise ValueError(f"expected values at one depth but got {odd!r:.40} beside lists")
    return lengths, items, any(deeper)


def leaf_values(items: Any, dtype: npt.DTypeLike | None) -> npt.NDArray[Any] | BytesColumn:
    """Make an array of numbers, or a BytesColumn of bytes and str.

    Raises:
        TypeError: numbers and strings are mixed.
        ValueError: there is no dimension, or the items are neither.

    >>> leaf_values([b"a", "b"], None)
    BytesColumn(shape=(2,), [b'a', b'b'])
    """
    if isinstance(items, BytesColumn):
        return items
    if isinstance(items, list) and items and isinstance(items[0], _BYTES):
        return BytesColumn.from_list(items)
    wants_bytes = dtype is not None and np.dtype(dtype).kind in "SUO"
    values = np.asarray(items, None if wants_bytes else dtype)
    if isinstance(items, list) and values.dtype.kind in "SU":
        raise TypeError(f"expected numbers, or bytes and str, but got both: {reprlib.repr(items)}")
    if wants_bytes or values.dtype.kind in "SUO":
        return BytesColumn.from_list(values)
    if values.ndim == 0:
        raise ValueError(f"expected a list or array of values but got {items!s:.40}, a single one")
    return values


def fill_value(default: Any, dtype: np.dtype[Any]) -> Any:
    """The value to fill gaps with, if it can be one of `dtype` without losing its meaning.

    Raises:
        TypeError: it is of another kind, such as 1.5 among integers.
    """
    kinds = {"b": "b", "i": "biu", "u": "biu"}.get(dtype.kind, "biuf")
    if np.asarray(default).dtype.kind not in kinds and not (isinstance(default, int) and default == 0):
        raise TypeError(
            f"expected a default that {dtype} can hold but got {default!r:.40} ({type(default).__name__})"
        )
    return default
