"""What zones say of a condition: in which runs of records some may match, and in which all do. Pure: no I/O.

What cannot be told is read: a run of which nothing is known may match or not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.records.access.zones import FeatureZones, Zones
from tfrkit.records.where import All, Compare, Literal, Not, Present, Some, Tree
from tfrkit.scanning.columns import NO_VALUES, ScanColumn

__all__ = ["ALL", "NOTHING", "Share", "matching_runs", "zones_of_column"]

Runs: TypeAlias = npt.NDArray[np.bool_]
Share: TypeAlias = npt.NDArray[np.int8]  # of each run: NOTHING of it matches, something may (1), or ALL does
NOTHING: Final = 0
ALL: Final = 2
_INT64: Final = range(-(2**63), 2**63)
_OPPOSITE: Final = {"==": "!=", "!=": "==", "<": ">=", "<=": ">", ">": "<=", ">=": "<"}


def matching_runs(tree: Tree, columns: Mapping[str, ScanColumn], zones: Zones) -> Share:
    """Say how much of each run a condition takes. Pure: no I/O.

    Args:
        tree: the condition.
        columns: that it looks at, by their names in it.
        zones: of a file.

    Returns:
        ALL only where evaluating the condition would take all records and raise no error.
    """
    known = _ZonedColumns(columns, zones)
    some = known.may_be(tree, wanted=True)
    every = ~known.may_be(tree, wanted=False)
    if every.any():
        every = np.logical_and.reduce([every, *map(known.parses, columns)])
    return np.where(some, np.where(every, np.int8(ALL), np.int8(1)), np.int8(NOTHING))


class _ZonedColumns:
    """The columns of a condition, and what is known of them."""

    def __init__(self, columns: Mapping[str, ScanColumn], zones: Zones) -> None:
        self._columns, self._zones = columns, zones
        self._lengths = zones.ends - zones.starts

    def may_be(self, tree: Tree, *, wanted: bool) -> Runs:
        """Say whether the condition may be `wanted` (true or false) for some record of each run."""
        match tree:
            case Not(inner):
                return self.may_be(inner, wanted=not wanted)
            case All(parts) | Some(parts):
                every = isinstance(tree, All) == wanted  # "not all" is "some not", "not some" is "all not"
                found = [self.may_be(part, wanted=wanted) for part in parts]
                return np.asarray((np.logical_and if every else np.logical_or).reduce(found))
            case Present(key) | Compare(key, _, _) if key not in self._columns:
                return self._all(True)  # there are no records
            case Present(key):
                return self._present(self._columns[key], wanted=wanted)
            case Compare(key, operator, literal):
                return self._compare(self._columns[key], operator, literal, wanted=wanted)

    def parses(self, key: str) -> Runs:
        """Say in which runs parsing the column raises no error."""
        column = self._columns[key]
        found = zones_of_column(column, self._zones)
        if found is None:
            return self._all(self._is_nowhere(column))
        if column.form.depth and column.shape is None:
            return found.known
        return found.known & found.single if math.prod(column.shape or ()) == 1 else self._all(False)

    def _all(self, value: bool) -> Runs:
        return np.full(len(self._zones), value)

    def _is_nowhere(self, column: ScanColumn) -> bool:
        """Say whether no record has the feature, neither as one nor as a feature list."""
        zones = self._zones
        return zones.complete and not (
            column.feature in zones.features or column.feature in zones.outline.lists
        )

    def _present(self, column: ScanColumn, *, wanted: bool) -> Runs:
        found = zones_of_column(column, self._zones)
        if found is None or column.default is not None:
            return self._all(not (self._is_nowhere(column) and wanted) or column.default is not None)
        some = found.present > 0 if wanted else found.present < self._lengths
        return np.asarray(~found.known | some)

    def _compare(self, column: ScanColumn, operator: str, literal: Literal, *, wanted: bool) -> Runs:
        found = zones_of_column(column, self._zones)
        if found is None:
            return self._all(not (self._is_nowhere(column) and wanted) or column.default is not None)
        if (found.kind == _core.BYTES) != isinstance(literal, bytes):
            return self._all(True)  # an error, which reading tells
        # What of the values makes the comparison `wanted`. A NaN is different from everything, and nothing else.
        inside = _within(found, operator if wanted else _OPPOSITE[operator], literal)
        inside &= found.values > found.nans
        if (operator == "!=") == wanted:
            inside |= found.nans > 0
        if (
            not wanted
        ):  # so do records without values, and those with several of which another one compares so
            inside |= ~found.single
        if not wanted or column.default is not None:
            inside |= found.present < self._lengths
        return np.asarray(~found.known | inside)


def zones_of_column(column: ScanColumn, zones: Zones) -> FeatureZones | None:
    """Return the zones of a column's feature; None if there are none of its kind: other values are errors, or nulls."""
    found = None if column.steps or column.kind == NO_VALUES else zones.features.get(column.feature)
    return found if found is not None and found.kind == column.form.kind else None


def _within(found: FeatureZones, operator: str, literal: Any) -> Runs:
    """Say whether some value between the bounds of each run may compare so."""
    if isinstance(literal, bytes):
        return _byte_bounds(found, operator, literal)
    least, greatest = np.asarray(found.least), np.asarray(found.greatest)
    if least.dtype == np.float32:  # as values are compared
        with np.errstate(over="ignore"):
            return np.asarray(_inside(operator, least, greatest, np.float32(literal)))
    if isinstance(literal, int) and literal in _INT64:
        return np.asarray(_inside(operator, least, greatest, np.int64(literal)))
    # A literal beyond whole numbers, or between two, is compared as Python does.
    pairs = zip(least.tolist(), greatest.tolist(), strict=True)
    return np.fromiter((_inside(operator, *pair, literal) for pair in pairs), np.bool_, len(least))


def _byte_bounds(found: FeatureZones, operator: str, literal: bytes) -> Runs:
    assert isinstance(found.least, BytesColumn)
    assert isinstance(found.greatest, BytesColumn)
    rows = zip(found.least.to_list(), found.greatest.to_list(), found.open_above.tolist(), strict=True)
    return np.fromiter(
        (
            (endless and operator in (">", ">=", "!="))
            or (endless and operator == "==" and low <= literal)
            or bool(_inside(operator, low, high, literal))
            for low, high, endless in rows
        ),
        np.bool_,
        len(found.known),
    )


def _inside(operator: str, least: Any, greatest: Any, literal: Any) -> Any:
    """Say whether some value between two bounds may compare so."""
    if operator == "==":
        return (least <= literal) & (literal <= greatest)
    if operator == "!=":
        return (least != literal) | (greatest != literal)
    if operator in ("<", "<="):
        return least < literal if operator == "<" else least <= literal
    return greatest > literal if operator == ">" else greatest >= literal
