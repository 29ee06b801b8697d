"""Cells of a table: the values of one column by row, and how they look in Arrow.

Knows no files: `read_table.py` and the exports say which columns there are and how deep their lists go.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.arrow.arrow_layout import Layout, array_layout, bytes_layout, list_layout
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged

__all__ = ["MAX_INT32", "Cells", "Form", "cells_layout"]

MAX_INT32: Final = 2**31 - 1


class Cells(NamedTuple):
    """One column of a chunk: values by row, and which rows have any."""

    rows: Ragged
    valid: npt.NDArray[np.bool_]


class Form(NamedTuple):
    """The Arrow type of a column, which all chunks share: how deep its lists are, and whether they are large."""

    kind: int
    depth: int
    large: bool


def cells_layout(cells: Cells | None, form: Form, length: int) -> Layout:
    """Return the Arrow layout of a column of `length` rows, without its name; None: of nulls. Pure: no I/O."""
    if cells is None:
        cells = _no_cells(form, length)
    rows: Any = cells.rows
    valid = cells.valid
    if form.depth == 0:
        return _scalars(rows, valid, form).masked(valid)
    if isinstance(rows.values, Ragged):
        inner: Ragged = rows.values
        child = _leaf(inner.values, form)
        if form.depth == 2:
            child = list_layout(inner.row_splits, child, "+L" if form.large else "+l")
    else:
        child = _leaf(rows.values, form)
    return list_layout(rows.row_splits, child, "+L" if form.large else "+l").masked(valid)


def _no_cells(form: Form, length: int) -> Cells:
    """A column of nulls, for a chunk that does not have the feature."""
    flat: Any = BytesColumn.from_list([])
    if form.kind != _core.BYTES:
        flat = np.zeros(0, np.int64 if form.kind == _core.INT64 else np.float32)
    values = Ragged(flat, [0]) if form.depth == 2 else flat
    return Cells(Ragged(values, np.zeros(length + 1, np.int64)), np.zeros(length, bool))


def _leaf(values: Any, form: Form) -> Layout:
    if isinstance(values, BytesColumn):
        return bytes_layout(values.data, values.offsets, "Z" if form.large else "z")
    return array_layout(values)


def _scalars(rows: Ragged, valid: npt.NDArray[np.bool_], form: Form) -> Layout:
    """One value in each valid row, none in the others, as one entry a row."""
    values = rows.values
    if isinstance(values, BytesColumn):
        return _leaf(BytesColumn.unchecked(values.data, values.offsets[rows.row_splits]), form)
    if len(values) == len(valid):
        return array_layout(values)
    spread = np.zeros(len(valid), values.dtype)
    spread[valid] = values
    return array_layout(spread)
