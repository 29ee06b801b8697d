"""SequenceExamples as columns: one kernel call for many records, whose rows are what each record alone would give."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.data.elements.columns import Padded
from tfrkit.data.features.example_columns import BadRow, Make, joined_rows, row_maker
from tfrkit.model.policy import ReadPolicy
from tfrkit.model.ragged import Ragged
from tfrkit.model.specs import FeatureSpec, FixedLenSequenceFeature, RaggedFeature, Spec
from tfrkit.parsing.assemble import make_dense
from tfrkit.parsing.expected_features import ExpectedFeature
from tfrkit.parsing.parse_sequence import SEQUENCE_DIALECTS, parse_sequence_records, sequence_plan_of
from tfrkit.parsing.partition_check import partitions_fit
from tfrkit.parsing.partitions import partition_batch
from tfrkit.parsing.sequence_failure import sequence_failure
from tfrkit.parsing.sequence_plan import SequencesPlan, make_steps, narrow_steps
from tfrkit.parsing.serialized_input import SerializedInput

__all__ = ["SequenceColumns"]


class SequenceColumns:
    """Two specs, ready to make columns of records. Any number of threads may use it."""

    __slots__ = ("_context", "_dialect", "_lists", "_plan", "_policy")

    def __init__(self, context: Spec | None, sequence: Spec | None, policy: ReadPolicy) -> None:
        """Compile the specs.

        Raises:
            TypeError: what should name a type or a shape in a spec does not.
            ValueError: the specs are empty, not complete or contradict themselves.
        """
        plan: SequencesPlan = sequence_plan_of(context, sequence)
        self._plan = plan
        self._policy = policy
        self._dialect = SEQUENCE_DIALECTS[policy.wire]
        places = {slot.key: (index, slot) for index, slot in enumerate(plan.context)}
        self._context: list[tuple[str, int, Make | None]] = [
            (key, places[key][0] if key in places else -1, row_maker(key, feature, places))
            for key, feature in plan.features.items()
        ]
        list_places = {slot.key: (index, slot) for index, slot in enumerate(plan.lists)}
        self._lists = [
            (key, _list_maker(key, feature, list_places)) for key, feature in plan.list_features.items()
        ]

    def parse(self, records: SerializedInput, threads: int) -> tuple[dict[str, Any], dict[str, Any]]:
        """Make the columns of context and feature lists.

        Raises:
            BadRow: that record fails, perhaps not as the first; -1 if they fail together.
        """
        columns, lists, failure = self._plan.native.parse(records.pieces, self._dialect, threads)
        if failure is not None:
            raise BadRow(failure.row)
        context = {
            key: columns[index] if make is None else make(columns, records.count)
            for key, index, make in self._context
        }
        return self._plan.rename(context, {key: make(lists, records.count) for key, make in self._lists})

    def error_of(self, record: SerializedInput) -> Exception:
        """Return the error of a single record that fails, with its place in its file."""
        try:
            parse_sequence_records(self._plan, record, None, self._policy, 1)
        except Exception as error:  # whatever the record's own parsing says
            return error
        _, _, failure = self._plan.native.parse(record.pieces, self._dialect, 1)
        return sequence_failure(failure, self._plan.context, self._plan.lists, record, None)


def _list_maker(key: str, feature: FeatureSpec, places: dict[str, tuple[int, ExpectedFeature]]) -> Make:
    if isinstance(feature, RaggedFeature):
        return _ragged_maker(key, feature, {name: index for name, (index, _) in places.items()})
    index, slot = places[key]
    if isinstance(feature, FixedLenSequenceFeature):
        return lambda lists, _: _padded(lists[index], slot)
    return lambda lists, _: make_steps(lists[index])


def _padded(column: tuple[Any, ...], slot: ExpectedFeature) -> Padded:
    splits = column[-1]
    shape = (int(splits[-1]), *slot.shape)
    values = make_dense(column[:2] if slot.type == "string" else column[0], shape)
    return Padded(Ragged.unchecked(values, splits), b"" if slot.type == "string" else 0)


def _ragged_maker(key: str, feature: RaggedFeature, places: dict[str, int]) -> Make:
    index = places[feature.value_key or key]
    parts = {part.key: places[part.key] for part in feature.partitions if hasattr(part, "key")}

    def make(lists: list[Any], _: int) -> Ragged:
        rows = narrow_steps(make_steps(lists[index]), feature.row_splits_dtype)
        borders = {
            name: narrow_steps(make_steps(lists[place]), feature.row_splits_dtype)
            for name, place in parts.items()
        }
        return _cut_lists(rows, feature, borders) if feature.partitions else rows

    return make


def _cut_lists(rows: Ragged, feature: RaggedFeature, borders: dict[str, Ragged]) -> Ragged:
    """Cut the steps of each record as they would be cut alone."""
    inner = {name: steps.values for name, steps in borders.items()}
    aligned = all(np.array_equal(steps.row_splits, rows.row_splits) for steps in borders.values())
    if aligned and partitions_fit(rows.values, feature, inner):
        return Ragged.unchecked(partition_batch(rows.values, feature, inner), rows.row_splits)
    made = []
    for row in range(len(rows)):
        try:
            made.append(
                partition_batch(rows[row], feature, {name: part[row] for name, part in borders.items()})
            )
        except Exception:
            raise BadRow(row) from None
    return joined_rows(made, rows.row_splits.dtype)
