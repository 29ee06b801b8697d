"""Examples as columns: one kernel call for many records, whose rows are what each record alone would give.

`parse_example` reads a batch, and where a spec's features do not fit together in one record (the borders of a
RaggedFeature, the indices of a SparseFeature) its result may hang on the records around. Here every record counts
alone: such a feature is made row by row, and the first record that fails alone is the error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit import _core
from tfrkit.data.elements.columns import Padded
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.policy import ReadPolicy
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.model.specs import FeatureSpec, RaggedFeature, SparseFeature, Spec
from tfrkit.parsing.assemble import batch_maker, make_ragged, narrow_splits
from tfrkit.parsing.expected_features import ExpectedFeature
from tfrkit.parsing.failure import single_failure
from tfrkit.parsing.parse import parse_record, plan_of
from tfrkit.parsing.parse_plan import ExamplesPlan, rename
from tfrkit.parsing.partition_check import partitions_fit
from tfrkit.parsing.partitions import partition_batch, partition_one
from tfrkit.parsing.serialized_input import SerializedInput

__all__ = ["BadRow", "ExampleColumns", "Make", "joined_rows", "row_maker"]

_DIALECTS: Final = {"protobuf": _core.PROTOBUF, "tensorflow": _core.TENSORFLOW_SINGLE}
Make = Callable[[list[Any], int], Any]


class BadRow(Exception):  # noqa: N818  # never leaves the pipeline
    """A record of the batch fails alone; -1 if only all of them together do."""

    def __init__(self, row: int) -> None:
        self.row = row


class ExampleColumns:
    """A spec, ready to make columns of records. Any number of threads may use it."""

    __slots__ = ("_dialect", "_makers", "_plan", "_policy")

    def __init__(self, features: Spec, policy: ReadPolicy) -> None:
        """Compile the spec.

        Raises:
            TypeError: what should name a type or a shape in the spec does not.
            ValueError: the spec is empty, not complete or contradicts itself.
        """
        self._plan: ExamplesPlan = plan_of(features)
        self._policy = policy
        self._dialect = _DIALECTS[policy.wire]
        places = {slot.key: (index, slot) for index, slot in enumerate(self._plan.slots)}
        self._makers: list[tuple[str, int, Make | None]] = [
            (key, places[key][0] if key in places else -1, row_maker(key, feature, places))
            for key, feature in self._plan.features.items()
        ]

    def parse(self, records: SerializedInput, threads: int) -> dict[str, Any]:
        """Make the columns.

        Raises:
            BadRow: that record fails, perhaps not as the first.
        """
        columns, _, failure = self._plan.native.parse(records.pieces, self._dialect, threads)
        if failure is not None:
            raise BadRow(failure.row)
        made = {
            key: columns[index] if make is None else make(columns, records.count)
            for key, index, make in self._makers
        }
        return rename(made, self._plan.given)

    def error_of(self, record: SerializedInput) -> Exception:
        """Return the error of a single record that fails, with its place in its file."""
        try:
            parse_record(self._plan, record, self._policy)
        except Exception as error:  # whatever the record's own parsing says
            return error
        failure = self._plan.native.parse(record.pieces, self._dialect, 1)[2]
        return single_failure(failure, self._plan.slots, record)


def row_maker(key: str, feature: FeatureSpec, slots: dict[str, tuple[int, ExpectedFeature]]) -> Make | None:
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
    made = []
    for row in range(len(values)):
        try:
            made.append(
                partition_one(values[row], feature, {key: part[row] for key, part in borders.items()})
            )
        except Exception:
            raise BadRow(row) from None
    return joined_rows(made, rows.row_splits.dtype)


def joined_rows(rows: list[Any], splits_dtype: Any) -> Ragged:
    """Put rows that were made one by one (at least one of them) into a column."""
    if isinstance(rows[0], np.ndarray):
        values: Any = np.concatenate(rows)
    else:
        values = BytesColumn.concat(rows) if isinstance(rows[0], BytesColumn) else Ragged.concat(rows)
    return Ragged.unchecked(values, splits_of(np.array([*map(len, rows)]), splits_dtype))
