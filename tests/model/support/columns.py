"""Hypothesis strategies for columns, each with the nested list that it stands for."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from tfrkit import BytesColumn, Ragged

__all__ = ["byte_lists", "bytes_columns", "indices_of", "ragged_columns", "slices"]

byte_lists = st.lists(st.binary(max_size=6), max_size=8)
slices = st.builds(
    slice, *[st.one_of(st.none(), st.integers(-10, 10))] * 2, st.sampled_from([None, 1, 2, -1, -3])
)


@st.composite
def bytes_columns(draw: st.DrawFn) -> tuple[BytesColumn, list[bytes]]:
    """A column that may be a part of a larger one, so that its offsets do not begin at 0."""
    values = draw(byte_lists)
    before, behind = draw(byte_lists), draw(byte_lists)
    whole = BytesColumn.from_list([*before, *values, *behind])
    return whole[len(before) : len(before) + len(values)], values


@st.composite
def ragged_columns(draw: st.DrawFn) -> tuple[Ragged, list[Any]]:
    """Rows of numbers, of pairs of numbers, of bytes or of rows."""
    leaf = draw(st.sampled_from(["int64", "float32", "bytes", "pairs"]))
    item = {
        "int64": st.integers(-(2**63), 2**63 - 1),
        "float32": st.floats(width=32, allow_nan=False),
        "bytes": st.binary(max_size=3),
        "pairs": st.tuples(st.integers(0, 9), st.integers(0, 9)).map(list),
    }[leaf]
    deep = draw(st.booleans())
    row = st.lists(item, max_size=4)
    rows = draw(st.lists(st.lists(row, max_size=3) if deep else row, max_size=5))
    lists = [step for outer in rows for step in outer] if deep else rows
    flat = [value for row in lists for value in row]
    values: Any
    if leaf == "bytes":
        values = BytesColumn.from_list(flat)
    elif leaf == "pairs":
        values = np.array(flat, np.int64).reshape(-1, 2)
    else:
        values = np.array(flat, leaf)
    column = Ragged.from_lengths(values, np.array([len(row) for row in lists], np.int64))
    if deep:
        column = Ragged.from_lengths(column, np.array([len(outer) for outer in rows], np.int32))
    return column, rows


def indices_of(size: int) -> st.SearchStrategy[Any]:
    """Integers, as a list or an array, or a mask; empty if there are no rows."""
    numbers = st.lists(st.integers(-size, size - 1), max_size=8) if size else st.just([])
    masks = st.lists(st.booleans(), min_size=size, max_size=size)
    return st.one_of(
        numbers,
        numbers.map(lambda chosen: np.array(chosen, np.int64)),
        masks.map(lambda mask: np.array(mask, bool)),
    )
