"""A feature tree, ready to make columns of records: parse once, decode each leaf, nest it as the tree is.

What a leaf stores of values is beside what it makes of them; `encode/encode_tree.py` walks through an example.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.data.elements.chunk import ColumnChunk
from tfrkit.data.elements.columns import Column
from tfrkit.data.features.example_columns import BadRow, ExampleColumns, RecordColumns
from tfrkit.errors import UnimplementedError
from tfrkit.folders.decode.decode_arrays import (
    cast_stored,
    decode_encoded,
    inflate_each,
    lowest_value,
    stored_type,
)
from tfrkit.folders.decode.decode_pictures import decode_pictures
from tfrkit.folders.decode.nest import nested, shaped_rows
from tfrkit.folders.decode.stored_keys import MOST_DEFAULTS, BadValue, Stored, StoredKey
from tfrkit.folders.encode.encode_arrays import encode_array
from tfrkit.folders.encode.encode_pictures import encode_pictures
from tfrkit.folders.feature_tree import (
    ArrayFeature,
    DictFeature,
    Dims,
    FeatureTree,
    ImageFeature,
    SequenceFeature,
    UnknownFeature,
    numpy_dtype,
)
from tfrkit.model.element_spec import RaggedTensorSpec, TensorSpec
from tfrkit.model.policy import TFRKIT
from tfrkit.model.ragged import Ragged
from tfrkit.parsing.failure import located
from tfrkit.parsing.serialized_input import SerializedInput, as_records

__all__ = [
    "ArrayLeaf",
    "ImageLeaf",
    "Leaf",
    "TreeColumns",
    "element_spec_of",
    "flat_leaves",
    "leaves_of",
    "map_leaves",
]

_NOTE: Final = (
    "Pass decode=False to get images as they are stored, or map() records with a function of your own."
)


class TreeColumns(RecordColumns):
    """The features of a data set."""

    def __init__(self, tree: FeatureTree) -> None:
        """Find the keys of all leaves.

        Raises:
            UnimplementedError: a leaf cannot be stored as the tree says, or optional values are too many.
        """
        self._tree = leaves_of(tree)
        spec = {key: value for leaf in flat_leaves(self._tree) for key, value in leaf.spec().items()}
        defaults = sum(
            np.size(each.default_value) for each in spec.values() if each.default_value is not None
        )
        if defaults > MOST_DEFAULTS:
            raise UnimplementedError(
                f"the optional features have {defaults:,} values in all, and may have {MOST_DEFAULTS:,} at most."
            )
        self._data_sets = list(_data_sets_of(tree, self._tree))
        self._parser = ExampleColumns(spec, TFRKIT) if spec else None

    def parse(self, records: SerializedInput, threads: int) -> Any:
        try:
            return self._decode(records, threads)
        except BadValue as bad:
            raise BadRow(bad.row) from None

    def error_of(self, record: SerializedInput) -> Exception:
        try:
            self._decode(record, 1)
        except BadRow:
            assert self._parser is not None
            return self._parser.error_of(record)
        except BadValue as bad:
            return located(bad.reason, record, 0, _NOTE)
        raise AssertionError("a record that failed among others is whole alone")

    def parse_batch(self, batch: Any) -> Any:
        one = isinstance(batch, bytes)
        records = as_records([batch] if one else batch)
        try:
            columns = self.parse(records, 1)
        except BadRow as bad:
            record = as_records([records[max(0, bad.row)]])
            raise self.error_of(record) from None
        chunk = ColumnChunk(columns, records.count)
        return chunk.objects()[0] if one else chunk.batch()

    def _decode(self, records: SerializedInput, threads: int) -> Any:
        parsed = {} if self._parser is None else self._parser.parse(records, threads)
        for depth, leaves in self._data_sets:
            _check_counts(leaves, depth, parsed, records.count)
        return map_leaves(self._tree, lambda leaf: leaf.column(parsed, records.count, threads))


def _data_sets_of(tree: FeatureTree, leaves: Any, depth: int = 0) -> Iterator[tuple[int, list[Leaf]]]:
    """Yield the leaves of each data set of any length inside examples, and how many sequences it makes them be in."""
    if isinstance(tree, DictFeature):
        for name, each in tree.features.items():
            yield from _data_sets_of(each, leaves[name], depth)
    elif isinstance(tree, SequenceFeature):
        if tree.steps and tree.length is None:
            yield depth + 1, [leaf for leaf in flat_leaves(leaves) if 0 not in leaf.keys()[0].shape]
        yield from _data_sets_of(tree.feature, leaves, depth + 1)


def _check_counts(leaves: list[Leaf], depth: int, parsed: dict[str, Any], count: int) -> None:
    """See that all features of a data set have as many elements in each example."""
    first: Any = None
    for leaf in leaves:
        stored = leaf.stored(parsed, count)
        found = np.diff(Stored(None, stored.nesting[:depth]).row_splits(count))
        first = found if first is None else first
        wrong = np.flatnonzero(found != first)
        if len(wrong):
            row = int(wrong[0])
            raise BadValue(
                row,
                f"expected as many elements of all features of a data set but {leaves[0].key!r} has {first[row]} and "
                f"{leaf.key!r} has {found[row]}",
            )


def element_spec_of(tree: FeatureTree) -> Any:
    """Return the element spec of the examples of a tree. Pure: no I/O."""
    return map_leaves(leaves_of(tree), lambda leaf: leaf.element_spec())


@dataclass(frozen=True, slots=True)
class Leaf(ABC):
    """A leaf of a tree.

    Attributes:
        key: its names, joined by "/".
        levels: the lengths of the sequences that it is in, outermost first.
        steps: one of them is a data set, whose elements may differ in shape.
    """

    key: str
    levels: tuple[int | None, ...]
    steps: bool

    @abstractmethod
    def keys(self) -> tuple[StoredKey, ...]:
        """Return where the leaf lies in an Example: its values, and their shapes where nothing else says them."""

    def spec(self) -> dict[str, Any]:
        """Return what is to be parsed."""
        return {name: spec for key in self.keys() for name, spec in key.spec().items()}

    def stored(self, parsed: dict[str, Any], count: int) -> Stored:
        """Return what the first key has, and how it is nested.

        Raises:
            BadValue: the lengths of sequences in an example do not fit its values.
        """
        try:
            return self.keys()[0].read(parsed, count)
        except BadValue as bad:
            raise BadValue(bad.row, f"feature {self.key!r}: {bad.reason}") from None

    @abstractmethod
    def decoded(self, parsed: dict[str, Any], count: int, threads: int) -> tuple[Column, Stored]:
        """Return the values of all examples, and how they are nested."""

    @abstractmethod
    def encoded(self, values: Any) -> tuple[Any, ...]:
        """Return what is stored of some values of one example, one after another, under each key.

        Raises:
            BadValue: one does not fit the feature.
        """

    @abstractmethod
    def value_spec(self) -> tuple[Dims | None, np.dtype[Any]]:
        """Return the shape and the type of one value."""

    @property
    def alike(self) -> bool:
        """All values of one example must have one shape."""
        return bool(self.levels) and not self.steps

    def column(self, parsed: dict[str, Any], count: int, threads: int) -> Column:
        """Return the column of the leaf."""
        try:
            values, stored = self.decoded(parsed, count, threads)
            shape, dtype = self.value_spec()
            return nested(values, stored, count, shape or (), dtype, steps=self.steps)
        except BadValue as bad:
            raise BadValue(bad.row, f"feature {self.key!r}: {bad.reason}") from None

    def element_spec(self) -> Any:
        """Return the spec of the leaf's values in one example."""
        shape, dtype = self.value_spec()
        if shape is None:
            return TensorSpec(None, dtype)
        whole = (*self.levels, *shape)
        ragged = len(self.levels) > 1 and None in self.levels[1:]
        if not ragged:
            return TensorSpec(whole, dtype)
        return RaggedTensorSpec(whole, dtype, len(self.levels) - 1, np.int64)


@dataclass(frozen=True, slots=True)
class ArrayLeaf(Leaf):
    """Numbers or byte strings."""

    feature: ArrayFeature

    def value_spec(self) -> tuple[Dims | None, np.dtype[Any]]:
        return self.feature.shape, numpy_dtype(self.feature.dtype)

    def decoded(self, parsed: dict[str, Any], count: int, threads: int) -> tuple[Column, Stored]:
        feature, dtype = self.feature, numpy_dtype(self.feature.dtype)
        stored, *sizes = (key.read(parsed, count) for key in self.keys())
        if feature.encoding == "none":
            return self._plain(stored, dtype)
        at_row = _at_row(stored, count)
        column = stored.flat
        if feature.encoding == "zlib":
            column = at_row(inflate_each, column, dtype, feature.shape)
        shapes = None
        if sizes:
            shapes = sizes[0].flat
            if len(shapes) != len(column):
                raise BadValue(0, f"there are {len(column)} values and {len(shapes)} shapes of them")
        return at_row(decode_encoded, column, dtype, feature.shape, shapes), stored

    def _plain(self, stored: Stored, dtype: np.dtype[Any]) -> tuple[Column, Stored]:
        if isinstance(stored.flat, Ragged):
            values = cast_stored(stored.flat.values, dtype)
            shape = (*self.levels, *self.feature.shape)
            return shaped_rows(Ragged.unchecked(values, stored.flat.row_splits), shape), Stored(None, ())
        return cast_stored(stored.flat, dtype), stored

    def encoded(self, values: Any) -> tuple[Any, ...]:
        return encode_array(values, self.feature, alike=self.alike)

    def keys(self) -> tuple[StoredKey, ...]:
        feature, dtype = self.feature, numpy_dtype(self.feature.dtype)
        if feature.encoding == "none":
            default = None
            if feature.optional and not self.levels and None not in feature.shape:
                default = lowest_value(dtype)
            return (StoredKey(self.key, stored_type(dtype), feature.shape, self.levels, default),)
        if feature.shape.count(None) < 2:
            return (StoredKey(self.key, "bytes", (), self.levels),)
        return (
            StoredKey(f"{self.key}/value", "bytes", (), self.levels),
            StoredKey(f"{self.key}/shape", "int64", (len(feature.shape),), self.levels),
        )


@dataclass(frozen=True, slots=True)
class ImageLeaf(Leaf):
    """Files of images."""

    feature: ImageFeature

    def value_spec(self) -> tuple[Dims | None, np.dtype[Any]]:
        return tuple(size or None for size in self.feature.shape), np.dtype(self.feature.dtype)

    def decoded(self, parsed: dict[str, Any], count: int, threads: int) -> tuple[Column, Stored]:
        stored = self.keys()[0].read(parsed, count)
        return _at_row(stored, count)(decode_pictures, stored.flat, self.feature, threads), stored

    def encoded(self, values: Any) -> tuple[Any, ...]:
        return (encode_pictures(values, self.feature, alike=self.alike),)

    def keys(self) -> tuple[StoredKey, ...]:
        return (StoredKey(self.key, "bytes", (), self.levels),)


def _at_row(stored: Stored, count: int) -> Callable[..., Any]:
    """Return what calls a function on values, and names the example of one that fails."""

    def call(function: Callable[..., Any], *arguments: Any) -> Any:
        try:
            return function(*arguments)
        except BadValue as bad:
            if not stored.nesting:
                raise
            splits = stored.row_splits(count)
            row = int(np.searchsorted(splits, bad.row, side="right")) - 1
            element = bad.row - int(splits[row])
            raise BadValue(row, f"element {element} of its sequence: {bad.reason}") from None

    return call


def leaves_of(
    tree: FeatureTree, key: str = "", levels: tuple[int | None, ...] = (), steps: bool = False
) -> Any:
    """Return the leaves of a tree, in dicts as they are. Pure: no I/O.

    Args:
        tree: the features.
        key: of the tree itself; those of its leaves begin with it.
        levels: the lengths of the sequences that it is in, outermost first.
        steps: one of those is a data set.
    """
    if isinstance(tree, DictFeature):
        return {
            name: leaves_of(each, f"{key}/{name}" if key else name, levels, steps)
            for name, each in tree.features.items()
        }
    if isinstance(tree, SequenceFeature):
        return leaves_of(tree.feature, key, (*levels, tree.length), steps or tree.steps)
    if isinstance(tree, ImageFeature):
        return ImageLeaf(key, levels, steps, tree)
    assert not isinstance(tree, UnknownFeature), "unknown features are resolved before"
    return ArrayLeaf(key, levels, steps, tree)


def flat_leaves(leaves: Any) -> list[Leaf]:
    """Return the leaves of `leaves_of` as a list."""
    return (
        [leaf for each in leaves.values() for leaf in flat_leaves(each)]
        if isinstance(leaves, dict)
        else [leaves]
    )


def map_leaves(leaves: Any, function: Callable[[Leaf], Any]) -> Any:
    """Call a function with each of the leaves of `leaves_of`; return the results in the same dicts."""
    if isinstance(leaves, dict):
        return {name: map_leaves(each, function) for name, each in leaves.items()}
    return function(leaves)
