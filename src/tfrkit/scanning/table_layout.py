"""Cells of a table: the values of one column by row, and how they look in Arrow.

Knows no files: `settle.py` and the exports say which columns there are and how deep their lists go.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.arrow.arrow_layout import Layout, array_layout, bytes_layout, fixed_layout, list_layout
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.records.read.feature_columns import Cells

__all__ = ["MAX_INT32", "Form", "cells_layout"]

MAX_INT32: Final = 2**31 - 1


class Form(NamedTuple):
    """The Arrow type of a column, which all chunks share: how deep its lists are, and whether they are large."""

    kind: int
    depth: int
    large: bool


def cells_layout(
    cells: Cells | None,
    form: Form,
    length: int,
    *,
    shape: tuple[int, ...] | None = None,
    text: bool = False,
) -> Layout:
    """Return the Arrow layout of a column, without its name. Pure: no I/O.

    Args:
        cells: its values; None: of nulls.
        form: its type.
        length: how many rows.
        shape: of the values of each row, if all have the same: lists of fixed size.
        text: bytes are UTF-8 text.

    Raises:
        InvalidArgumentError: they are not.
    """
    if shape is None and form.depth == 0 and cells is not None and cells.single:
        return _leaf(cells.rows.values, form, text)
    leaf = partial(_leaf, form=form, text=text)
    if shape is not None:
        size = math.prod(shape)
        flat: Any = BytesColumn.from_list([b""] * (length * size)) if form.kind == _core.BYTES else None
        if cells is not None:
            flat = cells.rows.values
        elif flat is None:
            flat = np.zeros(length * size, np.int64 if form.kind == _core.INT64 else np.float32)
        valid = np.zeros(length, np.bool_) if cells is None else cells.valid
        return fixed_layout(leaf(flat), (length, *shape)).masked(valid)
    if cells is None:
        cells = _no_cells(form, length)
    rows: Any = cells.rows
    valid = cells.valid
    if form.depth == 0:
        return _scalars(rows, valid, leaf).masked(valid)
    if isinstance(rows.values, Ragged):
        inner: Ragged = rows.values
        child = leaf(inner.values)
        if form.depth == 2:
            child = list_layout(inner.row_splits, child, "+L" if form.large else "+l")
    else:
        child = leaf(rows.values)
    return list_layout(rows.row_splits, child, "+L" if form.large else "+l").masked(valid)


def _no_cells(form: Form, length: int) -> Cells:
    """A column of nulls, for a chunk that does not have the feature."""
    flat: Any = BytesColumn.from_list([])
    if form.kind != _core.BYTES:
        flat = np.zeros(0, np.int64 if form.kind == _core.INT64 else np.float32)
    values = Ragged(flat, [0]) if form.depth == 2 else flat
    return Cells(Ragged(values, np.zeros(length + 1, np.int64)), np.zeros(length, bool))


def _leaf(values: Any, form: Form, text: bool) -> Layout:
    if not isinstance(values, BytesColumn):
        return array_layout(values)
    code = ("U" if form.large else "u") if text else ("Z" if form.large else "z")
    layout = bytes_layout(values.data, values.offsets, code)
    if layout.format != code:
        if layout.format.lower() == code.lower():
            raise InvalidArgumentError(
                "some records together have over 2 GiB of text or bytes of one feature"
            )
        raise InvalidArgumentError("the values are not all UTF-8 text")
    return layout


def _scalars(rows: Ragged, valid: npt.NDArray[np.bool_], leaf: Callable[[Any], Layout]) -> Layout:
    """One value in each valid row, none in the others, as one entry a row."""
    values = rows.values
    if isinstance(values, BytesColumn):
        return leaf(BytesColumn.unchecked(values.data, values.offsets[rows.row_splits]))
    if len(values) == len(valid):
        return leaf(values)
    spread = np.zeros(len(valid), values.dtype)
    spread[valid] = values
    return leaf(spread)
