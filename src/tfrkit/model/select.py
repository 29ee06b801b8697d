"""Which rows an index means: numpy's rules, numpy's errors.

Pure: no I/O. The columns of this layer share it, so that they all index alike.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["IntArray", "row_number", "run_positions", "select_rows", "splits_of"]

IntArray = npt.NDArray[np.int64]


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


def select_rows(indices: Any, size: int) -> IntArray:
    """The rows that a list or array of integers or booleans means.

    Raises:
        IndexError: as numpy does: out of bounds, of another type, or a mask of another length.

    >>> select_rows([2, -3], 3).tolist(), select_rows([True, False, True], 3).tolist()
    ([2, 0], [0, 2])
    """
    chosen = np.asarray(indices)
    if not chosen.size and not isinstance(indices, np.ndarray):
        return np.zeros(0, np.int64)
    rows: IntArray = np.arange(size, dtype=np.int64)[chosen]
    if rows.ndim != 1:
        raise IndexError(f"expected indices of 1 dimension but got {rows.ndim}")
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
