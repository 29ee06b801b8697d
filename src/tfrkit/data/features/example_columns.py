"""Records as columns: one kernel call for many of them, whose rows are what each record alone would give.

`parse_example` reads a batch, and where a spec's features do not fit together in one record (the borders of a
RaggedFeature, the indices of a SparseFeature) its result may hang on the records around. Here every record counts
alone: such a feature is made row by row, and the first record that fails alone is the error.
"""

from __future__ import annotations

import threading
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from typing import Any, Final

import numpy as np

from tfrkit import _core
from tfrkit.data.elements.columns import Padded
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.policy import ReadPolicy
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.model.specs import FeatureSpec, FixedLenSequenceFeature, RaggedFeature, SparseFeature, Spec
from tfrkit.parsing.assemble import batch_maker, make_dense, make_ragged, narrow_splits
from tfrkit.parsing.expected_features import ExpectedFeature
from tfrkit.parsing.failure import single_failure, warn_of_others
from tfrkit.parsing.parse import parse_example, parse_one, parse_record, plan_of
from tfrkit.parsing.parse_plan import ExamplesPlan, rename
from tfrkit.parsing.parse_sequence import (
    SEQUENCE_DIALECTS,
    parse_sequence_example,
    parse_sequence_records,
    parse_single_sequence_example,
    sequence_plan_of,
)
from tfrkit.parsing.partition_check import partitions_fit
from tfrkit.parsing.partitions import partition_batch, partition_one
from tfrkit.parsing.sequence_failure import sequence_failure
from tfrkit.parsing.sequence_plan import SequencesPlan, make_steps, narrow_steps
from tfrkit.parsing.serialized_input import SerializedInput, as_records

__all__ = ["BadRow", "ExampleColumns", "RecordColumns", "SequenceColumns"]

_LOOKING: Final = threading.Lock()
_DIALECTS: Final = {"protobuf": _core.PROTOBUF, "tensorflow": _core.TENSORFLOW_SINGLE}
Make = Callable[[list[Any], int], Any]
Slots = dict[str, tuple[int, ExpectedFeature]]


class BadRow(Exception):  # noqa: N818  # never leaves the pipeline
    """A record of the batch fails alone; -1 if only all of them together do."""

    def __init__(self, row: int) -> None:
        self.row = row


class RecordColumns(ABC):
    """A spec, ready to make columns of records. Any number of threads may use it."""

    _looked = False

    @abstractmethod
    def parse(self, records: SerializedInput, threads: int) -> Any:
        """Make the columns.

        Raises:
            BadRow: that record fails, perhaps not as the first; -1 if they fail together.
        """

    @abstractmethod
    def error_of(self, record: SerializedInput) -> Exception:
        """Return the error of a single record that fails, with its place in its file."""

    @abstractmethod
    def parse_batch(self, batch: Any) -> Any:
        """Parse one element that is a batch of records."""

    def parse_one(self, record: bytes) -> Any:
        """Parse one record."""
        return self.parse_batch(record)

    def look_at_first(self, records: SerializedInput) -> None:
        """Warn if the records are evidently not Examples, by the first that is parsed."""
        with _LOOKING:
            is_first, self._looked = not self._looked, True
        if is_first:
            warn_of_others(records)


class ExampleColumns(RecordColumns):
    """The spec of Examples."""

    def __init__(self, features: Spec, policy: ReadPolicy) -> None:
        """Compile the spec.

        Raises:
            TypeError: what should name a type or a shape in the spec does not.
            ValueError: the spec is empty, not complete or contradicts itself.
        """
        self._plan: ExamplesPlan = plan_of(features)
        self._features = features
        self._policy = policy
        self._dialect = _DIALECTS[policy.wire]
        self._makers = _row_makers(self._plan.features, self._plan.slots)

    def parse(self, records: SerializedInput, threads: int) -> dict[str, Any]:
        if not self._looked:
            self.look_at_first(records)
        columns, _, failure = self._plan.native.parse(records.pieces, self._dialect, threads)
        if failure is not None:
            raise BadRow(failure.row)
        made = {
            key: columns[index] if make is None else make(columns, records.count)
            for key, index, make in self._makers
        }
        return made if self._plan.given is None else rename(made, self._plan.given)

    def error_of(self, record: SerializedInput) -> Exception:
        try:
            parse_record(self._plan, record, self._policy)
        except Exception as error:  # whatever the record's own parsing says
            return error
        failure = self._plan.native.parse(record.pieces, self._dialect, 1)[2]
        return single_failure(failure, self._plan.slots, record)

    def parse_batch(self, batch: Any) -> Any:
        if not self._looked:
            self.look_at_first(as_records(batch))
        return parse_example(batch, self._features, policy=self._policy)

    def parse_one(self, record: bytes) -> Any:
        return parse_one(self._plan, record, None, self._policy)


class SequenceColumns(RecordColumns):
    """The two specs of SequenceExamples: columns of the context, and of the feature lists."""

    def __init__(self, context: Spec | None, sequence: Spec | None, policy: ReadPolicy) -> None:
        """Compile the specs.

        Raises:
            TypeError: what should name a type or a shape in a spec does not.
            ValueError: the specs are empty, not complete or contradict themselves.
        """
        plan: SequencesPlan = sequence_plan_of(context, sequence)
        self._plan = plan
        self._specs = context, sequence
        self._policy = policy
        self._dialect = SEQUENCE_DIALECTS[policy.wire]
        self._context = _row_makers(plan.features, plan.context)
        slots = {slot.key: (index, slot) for index, slot in enumerate(plan.lists)}
        self._lists = [(key, _list_maker(key, feature, slots)) for key, feature in plan.list_features.items()]

    def parse(self, records: SerializedInput, threads: int) -> tuple[dict[str, Any], dict[str, Any]]:
        if not self._looked:
            self.look_at_first(records)
        columns, lists, failure = self._plan.native.parse(records.pieces, self._dialect, threads)
        if failure is not None:
            raise BadRow(failure.row)
        context = {
            key: columns[index] if make is None else make(columns, records.count)
            for key, index, make in self._context
        }
        return self._plan.rename(context, {key: make(lists, records.count) for key, make in self._lists})

    def error_of(self, record: SerializedInput) -> Exception:
        try:
            parse_sequence_records(self._plan, record, None, self._policy, 1)
        except Exception as error:  # whatever the record's own parsing says
            return error
        _, _, failure = self._plan.native.parse(record.pieces, self._dialect, 1)
        return sequence_failure(failure, self._plan.context, self._plan.lists, record, None)

    def parse_batch(self, batch: Any) -> Any:
        if not self._looked:
            self.look_at_first(as_records(batch))
        parse = parse_single_sequence_example if isinstance(batch, bytes) else parse_sequence_example
        return parse(batch, *self._specs, policy=self._policy)


def _row_makers(features: Spec, slots: Iterable[ExpectedFeature]) -> list[tuple[str, int, Make | None]]:
    """For each feature: the number of its own column, if it has one, and what makes its rows of all columns."""
    places = {slot.key: (index, slot) for index, slot in enumerate(slots)}
    return [
        (key, places[key][0] if key in places else -1, _row_maker(key, feature, places))
        for key, feature in features.items()
    ]


def _row_maker(key: str, feature: FeatureSpec, slots: Slots) -> Make | None:
    """Return the function that makes a feature's column, or None if the kernel's column is it."""
    if isinstance(feature, SparseFeature):
        names = [feature.index_key] if isinstance(feature.index_key, str) else list(feature.index_key)
        return _sparse_rows(
            batch_maker(key, feature, slots), [slots[name][0] for name in (*names, feature.value_key)]
        )
    if isinstance(feature, RaggedFeature) and feature.partitions:
        return _partition_maker(key, feature, {name: index for name, (index, _) in slots.items()})
    if key in slots and slots[key][1].form == "sequence":
        index, slot = slots[key]
        return lambda columns, _: _padded_steps(make_ragged(columns[index]), slot)
    return batch_maker(key, feature, slots)


def _padded_steps(rows: Ragged, slot: ExpectedFeature) -> Padded:
    """Runs of values as steps of the slot's shape, which are padded when they are batched.

    Raises:
        BadRow: there are values of a shape that has none.
    """
    values, splits = rows.values, rows.row_splits
    if not slot.size:
        if splits[-1]:
            raise BadRow(int(np.argmax(np.diff(splits) > 0)))
        values = values.reshape((0, *slot.shape))
    elif slot.shape:
        values = values.reshape((len(values) // slot.size, *slot.shape))
        splits = splits // slot.size if slot.size > 1 else splits
    default = b"" if slot.type == "string" else 0
    return Padded(Ragged.unchecked(values, splits), default if slot.default is None else slot.default[0])


def _sparse_rows(make: Make | None, places: list[int]) -> Make:
    """Let a batch be made only if indices and values are equally many in every record."""
    assert make is not None

    def checked(columns: list[Any], count: int) -> Any:
        last = columns[places[-1]][-1]
        for place in places[:-1]:
            if not np.array_equal(columns[place][-1], last):
                raise BadRow(int(np.argmax(np.diff(columns[place][-1]) != np.diff(last))))
        return make(columns, count)

    return checked


def _partition_maker(key: str, feature: RaggedFeature, places: dict[str, int]) -> Make:
    index = places[feature.value_key or key]
    parts = {part.key: places[part.key] for part in feature.partitions if hasattr(part, "key")}

    def make(columns: list[Any], _: int) -> Ragged:
        values = make_ragged(columns[index])
        borders = {name: make_ragged(columns[place]) for name, place in parts.items()}
        return _partitioned_rows(values, feature, borders)

    return make


def _partitioned_rows(values: Ragged, feature: RaggedFeature, borders: dict[str, Ragged]) -> Ragged:
    """Cut each record's values as it would be cut alone.

    Raises:
        BadRow: a record's borders are refused.
    """
    rows = narrow_splits(values, feature.row_splits_dtype)
    if partitions_fit(values, feature, borders):
        return partition_batch(rows, feature, borders)
    return _cut_alone(partition_one, values, feature, borders, rows.row_splits.dtype)


def _cut_alone(
    cut: Callable[..., Any], values: Ragged, feature: RaggedFeature, borders: dict[str, Ragged], dtype: Any
) -> Ragged:
    """Cut the values of each record (at least one) for itself, and put them into a column.

    Raises:
        BadRow: a record's borders are refused.
    """
    rows: list[Any] = []
    for row in range(len(values)):
        try:
            rows.append(cut(values[row], feature, {key: part[row] for key, part in borders.items()}))
        except Exception:
            raise BadRow(row) from None
    if isinstance(rows[0], np.ndarray):
        joined: Any = np.concatenate(rows)
    else:
        joined = BytesColumn.concat(rows) if isinstance(rows[0], BytesColumn) else Ragged.concat(rows)
    return Ragged.unchecked(joined, splits_of(np.array([*map(len, rows)]), dtype))


def _list_maker(key: str, feature: FeatureSpec, slots: Slots) -> Make:
    if isinstance(feature, RaggedFeature):
        return _ragged_maker(key, feature, {name: index for name, (index, _) in slots.items()})
    index, slot = slots[key]
    if isinstance(feature, FixedLenSequenceFeature):
        return lambda lists, _: _padded_lists(lists[index], slot)
    return lambda lists, _: make_steps(lists[index])


def _padded_lists(column: tuple[Any, ...], slot: ExpectedFeature) -> Padded:
    splits = column[-1]
    shape = (int(splits[-1]), *slot.shape)
    values = make_dense(column[:2] if slot.type == "string" else column[0], shape)
    return Padded(Ragged.unchecked(values, splits), b"" if slot.type == "string" else 0)


def _ragged_maker(key: str, feature: RaggedFeature, places: dict[str, int]) -> Make:
    index = places[feature.value_key or key]
    parts = {part.key: places[part.key] for part in feature.partitions if hasattr(part, "key")}

    def steps(column: Any) -> Ragged:
        return narrow_steps(make_steps(column), feature.row_splits_dtype)

    def make(lists: list[Any], _: int) -> Ragged:
        rows = steps(lists[index])
        borders = {name: steps(lists[place]) for name, place in parts.items()}
        return _cut_lists(rows, feature, borders) if feature.partitions else rows

    return make


def _cut_lists(rows: Ragged, feature: RaggedFeature, borders: dict[str, Ragged]) -> Ragged:
    """Cut the steps of each record as they would be cut alone."""
    inner = {name: steps.values for name, steps in borders.items()}
    aligned = all(np.array_equal(steps.row_splits, rows.row_splits) for steps in borders.values())
    if aligned and partitions_fit(rows.values, feature, inner):
        return Ragged.unchecked(partition_batch(rows.values, feature, inner), rows.row_splits)
    return _cut_alone(partition_batch, rows, feature, borders, rows.row_splits.dtype)
