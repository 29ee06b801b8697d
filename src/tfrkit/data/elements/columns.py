"""Columns: the values that one leaf of the elements has, for many elements at once.

A column is an array, a BytesColumn, a Ragged, a Padded or a Sparse, with one row an element. These functions cut,
choose and join rows whatever the kind, and say what a row and a batch of rows look like to the user. Whole chunks,
which have a structure of columns, are in `chunk.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.data.elements.owned import freeze, freeze_elements
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import IntArray, run_positions, splits_of
from tfrkit.model.sparse import Sparse

__all__ = [
    "Column",
    "Padded",
    "RowList",
    "alike",
    "concat",
    "cut",
    "finish",
    "frozen",
    "has_own_rows",
    "joinable",
    "nbytes",
    "rows",
    "strings_in",
    "take",
]


@dataclass(frozen=True, slots=True, eq=False)
class Padded:
    """Rows of different lengths that become an array, filled up, when they are batched."""

    ragged: Ragged
    default: Any = 0

    def __len__(self) -> int:
        return len(self.ragged)


@dataclass(frozen=True, slots=True, eq=False)
class RowList:
    """Rows one by one, as a user's function or decoding made them; they need not have one shape."""

    items: list[Any]

    def __len__(self) -> int:
        return len(self.items)


_LARGE: Final = 4096  # bytes of a row; to copy that many takes longer than to make an array

Column: TypeAlias = "npt.NDArray[Any] | BytesColumn | Ragged | Padded | Sparse | RowList"


def strings_in(value: Any) -> Any:
    """The value, an array of bytes objects as a BytesColumn."""
    if isinstance(value, np.ndarray) and value.dtype == object:
        return BytesColumn.from_list(value)
    return value


def rows(column: Column) -> list[Any]:
    """The rows as a user sees them: numpy scalars and bytes, arrays, BytesColumn, Ragged, Sparse."""
    if isinstance(column, RowList):
        return list(column.items)
    if isinstance(column, np.ndarray):
        if column.flags.writeable and column.nbytes > _LARGE * len(column):
            return list(column)
        found = _core.cut_rows(column)
        return list(column if column.flags.writeable else column.copy()) if found is None else found
    if isinstance(column, BytesColumn):
        return column.to_list() if column.ndim == 1 else list(column.to_numpy())
    if isinstance(column, Padded):
        column = column.ragged
        if isinstance(column.values, BytesColumn):
            return [row.to_numpy() for row in column]
    if isinstance(column, Ragged) and isinstance(column.values, np.ndarray):
        found, values = _core.cut_runs(column.values, column.row_splits), column.values
        if found is None:
            values = values if values.flags.writeable else values.copy()
            found = list(Ragged.unchecked(values, column.row_splits))
        return found
    if isinstance(column, Ragged) and isinstance(column.values, BytesColumn) and column.values.ndim == 1:
        return _rows_of_bytes(column.values, column.row_splits)
    return list(freeze(column))  # such rows have offsets and sizes in common


def has_own_rows(column: Column) -> bool:
    """Whether the arrays that `rows` returns share memory with no other: they have their own, or the column's parts."""
    if isinstance(column, (Ragged, Padded)):
        ragged = column.ragged if isinstance(column, Padded) else column
        return isinstance(ragged.values, np.ndarray)
    return isinstance(column, (np.ndarray, BytesColumn))


def _rows_of_bytes(values: BytesColumn, splits: npt.NDArray[Any]) -> list[BytesColumn]:
    """Rows on parts of the data that have nothing in common, with offsets of their own."""
    entries = np.diff(splits) + 1  # in the offsets of a row, which end with its end
    begins, data = values.offsets[splits], values.data
    ends = splits_of(entries)
    offsets = values.offsets[run_positions(splits[:-1].astype(np.int64), entries)]
    offsets -= np.repeat(begins[:-1], entries)
    bounds, places = begins.tolist(), ends.tolist()
    return [
        BytesColumn.unchecked(data[begin:end], offsets[first:last], (last - first - 1,))
        for (begin, end), (first, last) in zip(pairwise(bounds), pairwise(places), strict=True)
    ]


def frozen(column: Column) -> Column:
    """The column on the same memory, which cannot be written to through it."""
    if isinstance(column, RowList):
        return RowList(freeze_elements(column.items))
    if isinstance(column, Padded):
        return Padded(freeze(column.ragged), column.default)
    part: Column = freeze(column)
    return part


def cut(column: Column, start: int, stop: int) -> Column:
    """The rows [start, stop); a view."""
    if isinstance(column, RowList):
        return RowList(column.items[start:stop])
    if isinstance(column, Padded):
        return Padded(column.ragged[start:stop], column.default)
    # What has offsets has some of them in common with what follows.
    part: Column = column[start:stop] if isinstance(column, np.ndarray) else freeze(column)[start:stop]
    return part


def take(column: Column, chosen: IntArray) -> Column:
    """The rows at these positions, in this order; a copy."""
    if isinstance(column, RowList):
        return RowList([column.items[row] for row in chosen.tolist()])
    if isinstance(column, Padded):
        return Padded(column.ragged.take(chosen), column.default)
    if isinstance(column, np.ndarray):
        return column[chosen]
    return column.take(chosen)


def alike(first: Column, second: Column) -> bool:
    """Whether two columns are of one kind, one type and one shape of rows."""
    if isinstance(first, Padded) and isinstance(second, Padded):
        one, other = first.default, second.default  # one that is not a number is like itself
        same = np.array_equal(one, other) or np.asarray(one).tobytes() == np.asarray(other).tobytes()
        return type(one) is type(other) and same and alike(first.ragged, second.ragged)
    if isinstance(first, Ragged) and isinstance(second, Ragged):
        return first.row_splits.dtype == second.row_splits.dtype and alike(first.values, second.values)
    if isinstance(first, Sparse) and isinstance(second, Sparse):
        return first.shape[1:] == second.shape[1:] and alike(first.values, second.values)
    if isinstance(first, BytesColumn) and isinstance(second, BytesColumn):
        return first.shape[1:] == second.shape[1:]
    if isinstance(first, np.ndarray) and isinstance(second, np.ndarray):
        return first.dtype == second.dtype and first.shape[1:] == second.shape[1:]
    return False


def joinable(first: Column, second: Column) -> bool:
    """Whether two columns can be joined: they are alike, or what they hold can be kept as `RowList`."""
    kinds = (RowList, np.ndarray, BytesColumn)
    return alike(first, second) or (isinstance(first, kinds) and isinstance(second, kinds))


def concat(columns: Sequence[Any]) -> Column:
    """The rows of columns that are joinable, one after another; a copy if there are several."""
    first = columns[0]
    if len(columns) == 1:
        only: Column = first
        return only
    if not all(alike(first, column) for column in columns):
        return RowList([row for column in columns for row in rows(column)])
    if isinstance(first, Padded):
        return Padded(Ragged.concat([column.ragged for column in columns]), first.default)
    if isinstance(first, np.ndarray):
        return np.concatenate(columns)
    joined: Column = (BytesColumn if isinstance(first, BytesColumn) else type(first)).concat(columns)
    return joined


def finish(column: Column) -> Any:
    """The whole column as the value of one batch; not for `RowList`, which are collated."""
    if isinstance(column, Padded):
        return column.ragged.to_padded(column.default)
    assert not isinstance(column, RowList)
    return column


def nbytes(column: Any) -> int:
    """Bytes of memory that the rows of a column need, or one value, roughly."""
    if isinstance(column, (bytes, str)):
        return len(column)
    if isinstance(column, RowList):
        return sum(map(nbytes, column.items))
    if isinstance(column, Padded):
        column = column.ragged
    if isinstance(column, Ragged):
        return nbytes(column.values) + int(column.row_splits.nbytes)
    if isinstance(column, Sparse):
        return nbytes(column.values) + int(column.indices.nbytes)
    if isinstance(column, BytesColumn):
        return column.nbytes + 8 * column.size
    return int(getattr(column, "nbytes", 0))
