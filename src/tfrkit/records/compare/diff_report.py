"""DiffReport: what differs between two data sets.

Values only: `diff.py` reads the files, `diff_text.py` prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

from tfrkit.records.compare import diff_text
from tfrkit.records.describe.feature_statistics import FeatureStatistics, readable
from tfrkit.records.describe.schema import RecordPlace
from tfrkit.records.describe.shown_values import steps_json, values_json
from tfrkit.records.describe.statistics import Statistics

__all__ = [
    "ChangedFeature",
    "ChangedValue",
    "DiffReport",
    "FeatureDrift",
    "RecordChange",
    "RecordDiff",
    "SchemaDifference",
]


@dataclass(frozen=True, slots=True, eq=False)
class ChangedValue:
    """What a feature was in a record, and what it is now.

    Attributes:
        name: of the feature; "" for a record that is no Example, whose value is the record.
        is_list: whether it is a feature list of a SequenceExample.
        old: an array, a list of bytes, None for a feature without a kind; of a feature list, a list of them.
        new: the same.
        in_old: whether the old record has the feature.
        in_new: whether the new record has it.
    """

    name: str
    is_list: bool
    old: Any
    new: Any
    in_old: bool = True
    in_new: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class RecordChange:
    """A record that is not the same in both data sets.

    Attributes:
        old: where it is in the first; None if it is not there.
        new: where it is in the second.
        key: the values of its key, if records are compared by key.
        values: which features differ, if it is in both.
    """

    old: RecordPlace | None
    new: RecordPlace | None
    key: tuple[int | bytes, ...] = ()
    values: tuple[ChangedValue, ...] = ()


@dataclass(frozen=True, slots=True)
class ChangedFeature:
    """In how many changed records a feature differs.

    Attributes:
        name: its name; "" for records that are no Examples.
        is_list: whether it is a feature list of SequenceExamples.
        changed: in how many it has other values.
        added: in how many only the new record has it.
        removed: in how many only the old record has it.
    """

    name: str
    is_list: bool
    changed: int
    added: int
    removed: int


@dataclass(frozen=True, slots=True)
class RecordDiff:
    """Which records differ.

    Attributes:
        old: how many records the first data set has.
        new: how many the second one has.
        same: how many are in both, and mean the same.
        reencoded: how many of them have other bytes.
        within_tolerance: how many of them have floats that differ no more than the tolerance allows.
        changed: how many have the same key or stand in the same place, and differ.
        added: how many are only in the second.
        removed: how many are only in the first.
        moved: how many of the same records stand elsewhere: the least number that has to be moved; 0 by key.
        repeated_keys: how many records of both have a key that stood before; they are paired in order.
        features: in which features the changed ones differ, the most frequent first.
        changed_examples: the first of the changed records.
        added_examples: the first of the added ones.
        removed_examples: the first of the removed ones.
        repeated_examples: the first with a repeated key, of each data set.
    """

    old: int
    new: int
    same: int
    reencoded: int = 0
    within_tolerance: int = 0
    changed: int = 0
    added: int = 0
    removed: int = 0
    moved: int = 0
    repeated_keys: tuple[int, int] = (0, 0)
    features: tuple[ChangedFeature, ...] = ()
    changed_examples: tuple[RecordChange, ...] = ()
    added_examples: tuple[RecordChange, ...] = ()
    removed_examples: tuple[RecordChange, ...] = ()
    repeated_examples: tuple[RecordChange, ...] = ()

    @property
    def identical(self) -> bool:
        """Whether both have the same records, in whatever order, without any tolerance."""
        return not (self.changed or self.added or self.removed or self.within_tolerance)


@dataclass(frozen=True, slots=True)
class SchemaDifference:
    """One respect in which a feature is not declared alike.

    Attributes:
        name: of the feature; "" if it is about the records themselves.
        is_list: whether it is a feature list of SequenceExamples.
        what: "feature" (only in one), "kind", "values" (how many in a record), "present" (in all records), "records".
        old: what the first data set has.
        new: what the second one has.
    """

    name: str
    is_list: bool
    what: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class FeatureDrift:
    """How far the values of a feature are apart.

    Attributes:
        name: of the feature.
        is_list: whether it is a feature list of SequenceExamples.
        drift: the greatest of `parts`: 0 is none, 1 is nothing in common.
        by: which part that is; "" without drift.
        parts: "presence", "kind", "lengths", "steps", "values", "sizes"; see docs/diff.md.
        old: the statistics of the first data set; None if it has no such feature.
        new: those of the second.
    """

    name: str
    is_list: bool
    drift: float
    by: str
    parts: Mapping[str, float]
    old: FeatureStatistics | None = None
    new: FeatureStatistics | None = None


@dataclass(frozen=True, slots=True)
class DiffReport:
    """What `diff` found; `print` it, or take `.to_dict()`. It is true if anything differs.

    Attributes:
        old_files: the files of the first data set.
        new_files: those of the second.
        key: the features that identify records; none if they are compared by position.
        records: which records differ; None if only statistics were compared.
        schema: where the schemas differ.
        drifts: how far each feature has drifted, the farthest first. Empty, like the next two, where only records were
            compared, or both data sets have the same.
        old_statistics: all statistics of the first.
        new_statistics: those of the second.
        skipped: damages that were passed over in each.
        max_drift: what a feature may drift.
    """

    old_files: tuple[str, ...]
    new_files: tuple[str, ...]
    key: tuple[str, ...] = ()
    records: RecordDiff | None = None
    schema: tuple[SchemaDifference, ...] = ()
    drifts: tuple[FeatureDrift, ...] = ()
    old_statistics: Statistics | None = field(default=None, repr=False)
    new_statistics: Statistics | None = field(default=None, repr=False)
    skipped: tuple[int, int] = (0, 0)
    max_drift: float | None = None

    @property
    def drifted(self) -> tuple[FeatureDrift, ...]:
        """Features that have drifted farther than they may; if no limit was set, all that have drifted at all."""
        return tuple(each for each in self.drifts if each.drift > (self.max_drift or 0.0))

    @property
    def differs(self) -> bool:
        """Whether anything counts as different: records, their order without a key, schemas, and drift."""
        records = self.records
        other = records is not None and bool(
            records.changed or records.added or records.removed or records.moved
        )
        limited = records is None or self.max_drift is not None
        return other or bool(self.schema) or (limited and bool(self.drifted))

    def __bool__(self) -> bool:
        return self.differs

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain lists and dicts that `json` can write; see `Statistics.to_dict` about bytes."""
        left_out = ("old_statistics", "new_statistics")  # what they say of features is in `drifts`
        named = {each.name: getattr(self, each.name) for each in fields(self) if each.name not in left_out}
        return {"differs": self.differs, **{name: _plain(value) for name, value in named.items()}}

    def __str__(self) -> str:
        return diff_text.text(self)


def _plain(value: Any) -> Any:
    if isinstance(value, ChangedValue):
        show = steps_json if value.is_list else values_json
        sides = (("old", value.old, value.in_old), ("new", value.new, value.in_new))
        shown = {side: show(each, full=False) for side, each, known in sides if known}
        return {"name": value.name, "is_list": value.is_list, **shown}
    if isinstance(value, FeatureStatistics):
        return value.to_dict()
    if isinstance(value, bytes):
        return readable(value)
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, tuple):
        return [_plain(each) for each in value]
    if is_dataclass(value):
        return {each.name: _plain(getattr(value, each.name)) for each in fields(value)}
    return value
