"""Which rows an index means: numpy's rules, numpy's errors.

Pure: no I/O. Columns, blocks and files of records share it, so that they all index alike.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

__all__ = [
    "IntArray",
    "RowIndices",
    "is_one_row",
    "row_number",
    "row_numbers",
    "run_positions",
    "select_rows",
    "splits_of",
]

IntArray = npt.NDArray[np.int64]
RowIndices: TypeAlias = Sequence[int] | npt.NDArray[np.integer[Any]] | npt.NDArray[np.bool_]


class _WrongKindError(TypeError, IndexError):
    """Neither integers nor booleans: a TypeError, and as such an IndexError in numpy."""


def row_number(index: Any, size: int) -> int:
    """The row that an integer means, counted from the end if it is negative.

    Raises:
        IndexError: there is no such row; the text is numpy's.

    >>> row_number(-1, 3)
    2
    """
    number = index.__index__()
    if not -size <= number < size:
        raise IndexError(f"index {number} is out of bounds for axis 0 with size {size}")
    return int(number + size if number < 0 else number)


def is_one_row(index: Any) -> bool:
    """Whether an index that is no slice means one row; else it means several, as `row_numbers` understands them.

    Raises:
        TypeError: there are several indices, as in `rows[1, 2]`.

    >>> is_one_row(3), is_one_row([3])
    (True, False)
    """
    if isinstance(index, tuple):
        raise _WrongKindError(f"expected one index but got {len(index)}: a list stands for several rows")
    return hasattr(index, "__index__") and not isinstance(index, np.bool_) and not getattr(index, "ndim", 0)


def row_numbers(indices: Any, size: int, *, flat: bool = False) -> IntArray:
    """The numbers that a list or array of integers means, or those at which a mask is true; a new array.

    Negative numbers stay as they are; whether there are such rows is for the caller to see.

    Args:
        indices: one dimension of integers or booleans.
        size: how many rows there are.
        flat: integers of any shape are taken, in the order of their memory.

    Raises:
        TypeError: neither integers nor booleans.
        IndexError: a mask of another length than `size`, or another number of dimensions than one.

    >>> row_numbers([2, -3], 3).tolist(), row_numbers([True, False, True], 3).tolist()
    ([2, -3], [0, 2])
    """
    try:
        chosen = np.asarray(indices)
    except ValueError as error:  # lists of unequal lengths
        raise _WrongKindError(f"expected integers or a mask as indices but got {indices!r:.60}") from error
    if chosen.dtype == object or (not chosen.size and chosen.dtype.kind == "f"):
        chosen = _exact_numbers(chosen, size)
    if chosen.dtype.kind not in "biu":
        raise _WrongKindError(f"expected integers or a mask as indices but got {indices!r:.60}")
    if flat and chosen.dtype.kind != "b":
        chosen = chosen.reshape(-1)
    if chosen.ndim != 1:
        raise IndexError(f"expected indices of 1 dimension but got {chosen.ndim}")
    if chosen.dtype.kind == "b":
        if len(chosen) != size:
            raise IndexError(
                f"boolean index did not match indexed array along axis 0; size of axis is {size} but size of "
                f"corresponding boolean axis is {len(chosen)}"
            )
        return np.flatnonzero(chosen)
    if chosen.dtype == np.uint64:
        chosen = np.minimum(chosen, np.iinfo(np.int64).max)
    return np.array(chosen, np.int64)


def _exact_numbers(chosen: npt.NDArray[Any], size: int) -> npt.NDArray[Any]:
    """The integers of an empty array, or of objects, which may be beyond 64 bits; or a mask, as pandas makes them."""
    items = chosen.ravel().tolist()
    if items and all(isinstance(item, (bool, np.bool_)) for item in items):
        return chosen.astype(bool)
    for item in items:
        if not hasattr(item, "__index__"):
            raise _WrongKindError(f"expected integers or a mask as indices but got {item!r:.60} among them")
    numbers = [operator.index(item) for item in items]
    for number in numbers:
        row_number(number, size)
    return np.array(numbers, np.int64).reshape(chosen.shape)


def select_rows(indices: Any, size: int) -> IntArray:
    """The rows that a list or array of integers or booleans means, counted from the beginning.

    Raises:
        TypeError: as of `row_numbers`.
        IndexError: as of `row_numbers`, or out of bounds; the text is numpy's.

    >>> select_rows([2, -3], 3).tolist(), select_rows([True, False, True], 3).tolist()
    ([2, 0], [0, 2])
    """
    rows: IntArray = np.arange(size, dtype=np.int64)[row_numbers(indices, size)]
    return rows


def run_positions(starts: IntArray, lengths: IntArray) -> IntArray:
    """Positions of all entries of some runs, one run after another.

    >>> run_positions(np.array([5, 0]), np.array([2, 3])).tolist()
    [5, 6, 0, 1, 2]
    """
    ends = np.cumsum(lengths)
    total = int(ends[-1]) if len(ends) else 0
    return np.repeat(starts - (ends - lengths), lengths) + np.arange(total, dtype=np.int64)


def splits_of(lengths: npt.NDArray[Any], dtype: npt.DTypeLike = np.int64) -> npt.NDArray[Any]:
    """Where runs of these lengths begin and end if they follow each other: 0, then the sums.

    >>> splits_of(np.array([2, 0, 3])).tolist()
    [0, 2, 2, 5]
    """
    splits = np.zeros(len(lengths) + 1, dtype)
    np.cumsum(lengths, out=splits[1:])
    return splits
