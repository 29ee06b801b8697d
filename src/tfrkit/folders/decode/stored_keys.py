"""Where a leaf of a feature tree lies in an Example: the keys, what is expected under each, and how values are nested.

The rules are those of TensorFlow Datasets. Without sequences, or in one, all values are under the key of the leaf, in
one run if one size is unknown. In two and more sequences they are under `KEY/ragged_flat_values`, and the lengths of
the inner sequences under `KEY/ragged_row_lengths_0` and so on. Knows no files and decodes nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import prod
from typing import Any, Final, TypeAlias

import numpy as np

from tfrkit.data.elements.columns import Padded
from tfrkit.errors import UnimplementedError
from tfrkit.folders.feature_tree import Dims, show_shape
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import IntArray, splits_of
from tfrkit.model.specs import FixedLenFeature, FixedLenSequenceFeature, Spec

__all__ = ["MOST_DEFAULTS", "BadValue", "Level", "Stored", "StoredKey"]

Level: TypeAlias = (
    "IntArray | int"  # of a nesting: where each sequence begins among the inner values; or one length
)

MOST_DEFAULTS: Final = 1 << 22  # values of optional features of an example, all of which are in memory
_FLAT: Final = "ragged_flat_values"
_LENGTHS: Final = "ragged_row_lengths_"
_TYPES: Final = {"int64": np.int64, "float32": np.float32, "bytes": np.object_}


class BadValue(Exception):  # noqa: N818  # never leaves the pipeline
    """A value cannot be decoded.

    Attributes:
        row: which of those that were decoded together.
        reason: what is wrong, for people.
    """

    def __init__(self, row: int, reason: str) -> None:
        self.row = row
        self.reason = reason


@dataclass(frozen=True, slots=True)
class Stored:
    """The values of one key in many examples.

    Attributes:
        flat: an array or a BytesColumn of the values of all examples, one after another; or, without sequences and with
            an unknown size, a Ragged of a row for each example.
        nesting: how they are nested, outermost first; nothing without sequences.
    """

    flat: Any
    nesting: tuple[Level, ...]

    def row_splits(self, count: int) -> IntArray:
        """Where the values of each example begin among all, and the end of the last."""
        splits: IntArray = np.arange(count + 1)
        for level in self.nesting:
            splits = splits * level if isinstance(level, int) else level[splits]
        return splits


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A key, and what is under it.

    Attributes:
        key: of the leaf.
        dtype: "int64", "float32" or "bytes".
        shape: of one value.
        levels: the lengths of the sequences that it is in, outermost first; None where they differ.
        default: the number or byte string that each value of an example without it is; None if it may not be absent.
    """

    key: str
    dtype: str
    shape: Dims
    levels: tuple[int | None, ...] = ()
    default: Any = None

    def spec(self) -> Spec:
        """Return what is to be parsed.

        Raises:
            UnimplementedError: more sizes are unknown than a list of values can have, or a default is too large.
        """
        if len(self.levels) > 1:
            if None in self.shape:
                raise self._unstorable()
            spec: dict[str, Any] = {
                name: FixedLenSequenceFeature([], "int64", allow_missing=True) for name in self._length_keys
            }
            spec[f"{self.key}/{_FLAT}"] = self._run(self.shape)
            return spec
        shape = (*self.levels, *self.shape)
        if shape.count(None) > 1:
            raise self._unstorable()
        if None in shape:
            return {self.key: self._run(shape)}
        if self.default is None:
            return {self.key: FixedLenFeature(list(shape), self.dtype)}
        sizes = [size or 0 for size in shape]
        if prod(sizes) > MOST_DEFAULTS:
            raise UnimplementedError(
                f"feature {self.key!r} is optional and has the shape {show_shape(shape)}: such features have "
                f"{MOST_DEFAULTS:,} values at most."
            )
        default: Any = np.broadcast_to(np.array(self.default, _TYPES[self.dtype]), sizes)
        return {self.key: FixedLenFeature(sizes, self.dtype, default)}

    def write(self, flat: Any, lengths: Sequence[Sequence[int]]) -> dict[str, Any]:
        """Return what an Example has under the key, and under those of the lengths of inner sequences.

        Args:
            flat: the values, one after another.
            lengths: of the sequences of each level, outermost first.
        """
        if len(self.levels) < 2:
            return {self.key: flat}
        inner = (np.array(each, np.int64) for each in lengths[1:])
        return {f"{self.key}/{_FLAT}": flat, **dict(zip(self._length_keys, inner, strict=True))}

    def read(self, parsed: dict[str, Any], count: int) -> Stored:
        """Return the values out of parsed columns of `count` examples.

        Raises:
            BadValue: the lengths of sequences in an example do not fit its values.
        """
        if len(self.levels) > 1:
            return self._read_nested(parsed, count)
        column = parsed[self.key]
        if isinstance(column, Padded):
            rows = column.ragged
            if self.levels == (None,):
                return Stored(rows.values, (rows.row_splits,))
            return Stored(rows, ())
        if not self.levels:
            return Stored(column, ())
        (length,) = self.levels
        assert length is not None
        return Stored(column.reshape((count * length, *column.shape[2:])), (length,))

    @property
    def _length_keys(self) -> list[str]:
        return [f"{self.key}/{_LENGTHS}{depth}" for depth in range(len(self.levels) - 1)]

    def _run(self, shape: Dims) -> FixedLenSequenceFeature:
        return FixedLenSequenceFeature(
            [size for size in shape if size is not None], self.dtype, allow_missing=True
        )

    def _unstorable(self) -> UnimplementedError:
        shape = show_shape((*self.levels, *self.shape))
        return UnimplementedError(
            f"feature {self.key!r} has the shape {shape}: of sizes that differ from example to example a list of "
            'values has one at most. TensorFlow Datasets reads none either; its encoding="zlib" keeps the sizes.'
        )

    def _read_nested(self, parsed: dict[str, Any], count: int) -> Stored:
        runs = [_ragged(parsed[name]) for name in (*self._length_keys, f"{self.key}/{_FLAT}")]
        nesting: list[Level] = [self._level(runs[0].row_splits, self.levels[0], np.arange(count + 1))]
        for depth, (lengths, inner) in enumerate(pairwise(runs), 1):
            splits = splits_of(lengths.values)
            _check_lengths(lengths, inner, splits)
            nesting.append(self._level(splits, self.levels[depth], lengths.row_splits))
        return Stored(runs[-1].values, tuple(nesting))

    def _level(self, splits: IntArray, length: int | None, examples: IntArray) -> Level:
        """Return one level; of a fixed length all sequences must have it."""
        if length is None:
            return splits
        wrong = np.flatnonzero(np.diff(splits) != length)
        if len(wrong):
            row = int(np.searchsorted(examples, wrong[0], side="right")) - 1
            raise BadValue(row, f"expected sequences of length {length} but got {np.diff(splits)[wrong[0]]}")
        return length


def _ragged(column: Any) -> Ragged:
    rows: Ragged = column.ragged
    return rows


def _check_lengths(lengths: Ragged, inner: Ragged, splits: IntArray) -> None:
    """See that lengths are not negative, and that together they are the number of inner values of each example."""
    negative = np.flatnonzero(lengths.values < 0)
    if len(negative):
        row = int(np.searchsorted(lengths.row_splits, negative[0], side="right")) - 1
        raise BadValue(row, f"the length of a sequence is negative: {lengths.values[negative[0]]}")
    long = np.flatnonzero(lengths.values > len(inner.values))  # whose sums may wrap round
    if len(long):
        row = int(np.searchsorted(lengths.row_splits, long[0], side="right")) - 1
        raise BadValue(
            row,
            f"the length of a sequence is {lengths.values[long[0]]} but there are "
            f"{inner.row_splits[row + 1] - inner.row_splits[row]} values",
        )
    said, found = np.diff(splits[lengths.row_splits]), np.diff(inner.row_splits)
    wrong = np.flatnonzero(said != found)
    if len(wrong):
        row = int(wrong[0])
        raise BadValue(row, f"lengths of sequences say {said[row]} values but there are {found[row]}")
