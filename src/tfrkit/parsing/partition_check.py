"""Whether the partitions of a RaggedFeature fit the values of every example.

Where they do, cutting a whole batch at once equals cutting each example alone. Pure: no I/O.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.model.ragged import Ragged
from tfrkit.model.specs import RaggedFeature

__all__ = ["partitions_fit"]

Counts = npt.NDArray[np.int64]


def partitions_fit(values: Ragged, feature: RaggedFeature, borders: dict[str, Ragged]) -> bool:
    """Return whether every example's borders ascend from its first value to its last.

    Args:
        values: each example's values.
        feature: how they are cut.
        borders: the partition features, by key.

    >>> feature = RaggedFeature("int64", partitions=[RaggedFeature.RowLengths("n")])
    >>> values = Ragged.from_list([[1, 2, 3], [4]])
    >>> [partitions_fit(values, feature, {"n": Ragged.from_list(n)}) for n in ([[1, 2], [1]], [[3], [0]])]
    [True, False]
    """
    counts: Counts = np.diff(values.row_splits).astype(np.int64)
    for partition in reversed(feature.partitions):
        if isinstance(partition, RaggedFeature.UniformRowLength):
            length = partition.length
            if not isinstance(length, (int, np.integer)) or length < 1 or bool((counts % length).any()):
                return False
            counts = counts // length
            continue
        found = _rows_of(partition, borders[partition.key], counts)
        if found is None:
            return False
        counts = found
    return True


def _rows_of(partition: Any, borders: Ragged, counts: Counts) -> Counts | None:
    """How many rows each example is cut into, or None if a border does not fit."""
    flat, splits = borders.values, borders.row_splits
    numbers = np.diff(splits)
    if isinstance(partition, RaggedFeature.RowLengths):
        return numbers if _lengths_fit(flat, splits, counts) else None
    some = numbers > 0
    first, last = flat[splits[:-1][some]], flat[splits[1:][some] - 1]
    if not _ascend(flat, splits):
        return None
    if isinstance(partition, RaggedFeature.ValueRowIds):
        fits = np.array_equal(numbers, counts) and not bool((first < 0).any())
        rows = np.zeros(len(numbers), np.int64)
        rows[some] = last + 1
        return rows if fits and not bool((rows > 2 * counts + 64).any()) else None
    fits = not bool(counts[~some].any()) and not bool((last > counts[some]).any())
    if isinstance(partition, RaggedFeature.RowStarts):
        return numbers if fits and not bool(first.any()) else None
    fits = fits and np.array_equal(last, counts[some]) and not bool((first < 0).any())
    if isinstance(partition, RaggedFeature.RowSplits):
        return numbers - 1 if fits and bool(some.all()) and not bool(first.any()) else None
    return numbers if fits else None


def _lengths_fit(lengths: Counts, splits: Counts, counts: Counts) -> bool:
    if bool((lengths < 0).any()) or bool((lengths > counts.max(initial=0)).any()):
        return False
    sums = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])[splits]
    return np.array_equal(np.diff(sums), counts)


def _ascend(flat: Counts, splits: Counts) -> bool:
    """Whether the values of each row ascend."""
    falls = np.flatnonzero(flat[1:] < flat[:-1]) + 1
    return bool(np.isin(falls, splits).all())
