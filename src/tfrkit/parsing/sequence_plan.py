"""Plans for SequenceExamples: two specs, compiled once, and how the kernel's columns become results.

The kernel always reads a batch; one example is a batch of one whose first dimension is taken off.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit import _core
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.specs import (
    FeatureSpec,
    FixedLenFeature,
    FixedLenSequenceFeature,
    RaggedFeature,
    VarLenFeature,
)
from tfrkit.parsing.assemble import make_dense, make_ragged, narrow_splits
from tfrkit.parsing.expected_features import Attributes, ExpectedFeature, ExpectedFeatures, find_expected
from tfrkit.parsing.parse_plan import ResultMaker, native_slot, rename
from tfrkit.parsing.partitions import cut_rows, partition_batch

__all__ = ["SequencesPlan", "compile_sequences", "make_steps", "narrow_steps"]

_CONTEXT: Final = (VarLenFeature, FixedLenFeature, RaggedFeature)
_LISTS: Final = (VarLenFeature, FixedLenSequenceFeature, RaggedFeature)
_CONTEXT_NAMES: Final = Attributes("Tcontext_dense", "context_sparse_types")
_LIST_NAMES: Final = Attributes("feature_list_dense_types", "feature_list_sparse_types")
_MakeList = Callable[[list[Any], bool], Any]  # the lists' columns, and whether it is one example


class SequencesPlan:
    """Two compiled specs.

    Attributes:
        features: the context's spec, keys as text.
        list_features: that of the feature lists.
        context: what the kernel reads of the context, sorted by key.
        lists: the same of the feature lists.
        native: reads a batch.
    """

    __slots__ = (
        "_given_lists", "_lengths", "_list_keys", "_make_lists", "_results", "context", "features", "list_features",
        "lists", "native",
    )  # fmt: skip

    def __init__(self, context: ExpectedFeatures, lists: ExpectedFeatures) -> None:
        self.features = context.features
        self.list_features = lists.features
        self.context: tuple[ExpectedFeature, ...] = context.slots
        self.lists: tuple[ExpectedFeature, ...] = lists.slots
        self.native: Any = _core.SequencePlan(
            [native_slot(slot) for slot in context.slots],
            [
                (slot.key, slot.kind, slot.size if slot.form == "sequence" else -1, not slot.required)
                for slot in lists.slots
            ],
        )
        self._results = ResultMaker(context)
        list_places = {slot.key: (index, slot) for index, slot in enumerate(lists.slots)}
        self._list_keys = tuple(lists.features)
        self._given_lists = None if lists.given == self._list_keys else lists.given
        self._make_lists: list[tuple[str, _MakeList]] = [
            (key, _list_maker(key, feature, list_places)) for key, feature in sorted(lists.features.items())
        ]
        self._lengths = [
            (given, list_places[key][0])
            for given, (key, feature) in zip(lists.given, lists.features.items(), strict=True)
            if isinstance(feature, FixedLenSequenceFeature)
        ]

    def rename(self, context: dict[str, Any], lists: dict[str, Any]) -> tuple[dict[Any, Any], dict[Any, Any]]:
        """Return results with the keys of the specs."""
        return rename(context, self._results.given), rename(lists, self._given_lists)

    def make_context(self, columns: list[Any], count: int, *, one: bool) -> dict[str, Any]:
        """Make the context's results, of a batch or of one example."""
        if not one:
            return self._results.make_batch(columns, count)
        return self._results.make_single(
            {slot.key: _first(slot, column) for slot, column in zip(self.context, columns, strict=True)}
        )

    def make_lists(self, columns: list[Any], *, one: bool) -> dict[str, Any]:
        """Make the feature lists' results, of a batch or of one example."""
        result = dict.fromkeys(self._list_keys)
        for key, make in self._make_lists:
            result[key] = make(columns, one)
        return rename(result, self._given_lists)

    def make_lengths(self, columns: list[Any], *, one: bool) -> dict[str, Any]:
        """Make the numbers of steps of the lists that are padded."""
        lengths: dict[Any, Any] = {key: np.diff(columns[index][-1]) for key, index in self._lengths}
        return {key: np.int64(steps[0]) for key, steps in lengths.items()} if one else lengths


def compile_sequences(context: Any, sequences: Any) -> SequencesPlan:
    """Compile the specs of a SequenceExample's context and feature lists; either may be None.

    Raises:
        InvalidArgumentError: a type or a default is not possible.
        TypeError: the type or shape of a feature is not one.
        ValueError: a feature is incomplete or not supported, or two are in conflict.
    """
    return SequencesPlan(
        find_expected(context or {}, _CONTEXT, _CONTEXT_NAMES),
        find_expected(sequences or {}, _LISTS, _LIST_NAMES, lists=True),
    )


def _first(slot: ExpectedFeature, column: Any) -> Any:
    """The first row of a context column, in the form in which the Example kernel returns one example."""
    if slot.form != "dense":
        return column[:-1] if slot.type == "string" else column[0]
    if slot.type == "string":
        values = BytesColumn.unchecked(*column).to_list()
        return values[0] if slot.size == 1 else values
    if slot.size != 1:
        return column
    # An array may be of C's long long, whose scalars are not np.int64 though the types are equal.
    return np.int64(column[0]) if slot.type == "int64" else column[0]


def _list_maker(key: str, feature: FeatureSpec, places: dict[str, tuple[int, ExpectedFeature]]) -> _MakeList:
    if isinstance(feature, RaggedFeature):
        return _ragged_list_maker(key, feature, {name: index for name, (index, _) in places.items()})
    index, slot = places[key]
    if isinstance(feature, FixedLenSequenceFeature):
        return lambda columns, one: _dense_list(columns[index], slot, one)
    return lambda columns, one: make_steps(columns[index]).values if one else make_steps(columns[index])


def _dense_list(column: tuple[Any, ...], slot: ExpectedFeature, one: bool) -> Any:
    """Steps of one shape: an array, padded to the longest list of a batch."""
    splits = column[-1]
    steps = int(splits[-1])
    values = make_dense(column[:2] if slot.type == "string" else column[0], (steps, *slot.shape))
    if one:
        return values.to_numpy() if isinstance(values, BytesColumn) else values
    longest = int(np.diff(splits).max(initial=0))
    if steps == longest * (len(splits) - 1):
        return values.reshape((len(splits) - 1, longest, *slot.shape))
    return Ragged.unchecked(values, splits).to_padded(b"" if slot.type == "string" else 0)


def make_steps(column: tuple[Any, ...]) -> Ragged:
    """Steps of any length, in the lists of the examples."""
    return Ragged.unchecked(make_ragged(column[:-1]), column[-1])


def narrow_steps(rows: Ragged, dtype: str) -> Ragged:
    """Return the rows with splits of the type that the feature asks for, at both depths."""
    outer = narrow_splits(rows, dtype)
    return Ragged.unchecked(narrow_splits(outer.values, dtype), outer.row_splits)


def _ragged_list_maker(key: str, feature: RaggedFeature, places: dict[str, int]) -> _MakeList:
    dtype = feature.row_splits_dtype
    value_place = places[feature.value_key or key]
    parts = {part.key: places[part.key] for part in feature.partitions if hasattr(part, "key")}

    def steps_of(columns: list[Any], place: int) -> Ragged:
        return narrow_steps(make_steps(columns[place]), dtype)

    def make(columns: list[Any], one: bool) -> Ragged:
        rows = steps_of(columns, value_place)
        borders = {name: steps_of(columns, place) for name, place in parts.items()}
        if one:
            inner = {name: steps.values for name, steps in borders.items()}
            return partition_batch(rows.values, feature, inner)
        cut = partition_batch(rows.values, feature, borders, rows.row_splits, key)
        return cut_rows(cut, rows.row_splits, feature.validate)

    return make
