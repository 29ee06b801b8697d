"""Decoded values put together again: into the sequences that each example has.

Values of one shape stay one array with the places where sequences begin. Values whose shapes differ are put together
example by example, since no column holds them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.data.elements.columns import Column, Padded, RowList, rows
from tfrkit.folders.decode.stored_keys import BadValue, Level, Stored
from tfrkit.folders.feature_tree import Dims, show_shape
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import IntArray

__all__ = ["nested", "shaped_rows"]


def shaped_rows(values: Ragged, shape: Dims) -> Column:
    """Return rows of values that have one unknown size, in their shape.

    Args:
        values: the values of each row, whose inner dimensions are those of the shape without the unknown one.
        shape: of a row.
    """
    if shape[0] is None:
        return Padded(values)
    sizes = [-1 if size is None else size for size in shape]
    empty = [size or 0 for size in shape]
    return RowList([np.array(row).reshape(sizes if len(row) else empty) for row in values])


def nested(
    column: Column, stored: Stored, count: int, shape: Dims, dtype: np.dtype[Any], *, steps: bool
) -> Column:
    """Return a column with a row for each example.

    Args:
        column: the decoded values, as many as `stored.flat` has.
        stored: how they are nested.
        count: how many examples there are.
        shape: of one value.
        dtype: of the values.
        steps: values of one example may differ in shape.

    Raises:
        BadValue: the values of one example must have one shape, and do not.
    """
    if not stored.nesting:
        return column
    if isinstance(column, (RowList, Padded)):
        return _nested_rows(rows(column), stored, count, shape, dtype, steps)
    made: Any = column
    for level in reversed(stored.nesting):
        made = _wrapped(made, level)
    return Padded(made) if isinstance(made, Ragged) and len(stored.nesting) == 1 else made


def _wrapped(values: Any, level: Level) -> Any:
    """Put values into sequences."""
    if not isinstance(level, int):
        return Ragged.unchecked(values, level)
    if not isinstance(values, Ragged):
        outer = len(values) // level if level else 0
        return values.reshape((outer, level, *values.shape[1:]))
    return Ragged.unchecked(values, np.arange(0, len(values) + 1, level))


def _nested_rows(
    items: list[Any], stored: Stored, count: int, shape: Dims, dtype: np.dtype[Any], steps: bool
) -> RowList:
    """Put values together example by example."""
    made = []
    bounds = stored.row_splits(count).tolist()
    for row, (begin, end) in enumerate(pairwise(bounds)):
        stacked = _stacked(items[begin:end], row, shape, dtype, steps=steps)
        made.append(stacked if len(stored.nesting) == 1 else _wrapped_row(stacked, stored.nesting, row))
    return RowList(made)


def _wrapped_row(values: Any, nesting: tuple[Level, ...], row: int) -> Any:
    """Put the values of one example into its sequences, the outermost of which is the example's own."""
    first, last = row, row + 1
    levels: list[Level] = []
    for level in nesting:
        if isinstance(level, int):
            levels.append(level)
            first, last = first * level, last * level
        else:
            splits: IntArray = level[first : last + 1] - level[first]
            levels.append(splits)
            first, last = int(level[first]), int(level[last])
    for level in reversed(levels[1:]):
        values = _wrapped(values, level)
    return values


def _stacked(
    items: list[npt.NDArray[Any]], row: int, shape: Dims, dtype: np.dtype[Any], *, steps: bool
) -> npt.NDArray[Any]:
    if not items:
        return np.zeros((0, *(size or 0 for size in shape)), dtype)
    other = next((number for number, item in enumerate(items) if item.shape != items[0].shape), 0)
    if not other:
        return np.stack(items)
    if not steps:
        raise BadValue(
            row,
            f"expected one shape for all elements of a sequence but element 0 has {show_shape(items[0].shape)} "
            f"and element {other} has {show_shape(items[other].shape)}",
        )
    made = np.empty(len(items), object)
    made[:] = items
    return made
