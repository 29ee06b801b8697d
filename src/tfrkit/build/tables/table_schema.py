"""Which columns become which features: names, kinds, nulls, settled over all inputs before anything is written.

Pure: no I/O. What was seen in the files comes from the formats' surveys; what the user wants from `ColumnChoice`.
"""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tfrkit.build.job.column_report import KIND_NAMES, ColumnCause, ColumnReport
from tfrkit.build.tables.column_names import matching_names, names_text, values_by_name
from tfrkit.build.tables.float_range import beyond_in_cell
from tfrkit.build.tables.partition_filter import NULL_PARTITION
from tfrkit.build.tables.table_format import (
    MAP_KEY,
    MAP_VALUE,
    Seen,
    Survey,
    TableColumn,
    ValueKinds,
    shown_value,
)
from tfrkit.build.tables.table_options import TableOptions, unescape
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.features import check_name
from tfrkit.model.near_names import near_names
from tfrkit.model.specs import FeatureSpec, FixedLenFeature, VarLenFeature
from tfrkit.records.where import parse_where

__all__ = [
    "ColumnChoice",
    "choose_columns",
    "column_reports",
    "feature_spec",
    "parse_column",
    "partition_values",
    "settle",
]

MAX_COLUMNS: Final = 20_000  # a table with more has data for keys
_SHOWN_REFUSED: Final = 20
_KINDS: Final = {
    "int64": "int64",
    "int": "int64",
    "float": "float",
    "float32": "float",
    "bytes": "bytes",
    "string": "bytes",
    "str": "bytes",
}
_COLUMN: Final = re.compile(r"(?s)(?P<name>.*):(?P<kind>\w+)(?:\[(?P<separator>.*)\])?")
_INTEGER: Final = re.compile(r"0|-?[1-9][0-9]{0,18}")
_NUMBER: Final = re.compile(r"-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?")


@dataclass(frozen=True, slots=True)
class ColumnChoice:
    """What the user says about columns, by their names in the input; other than in `renamed` also by patterns.

    Attributes:
        kinds: kind and separator of some.
        only: leave out all others; None: none.
        drop: leave these out.
        renamed: other names for features.
        null_value: what stands for a null in every column, as text or a value; None: the feature is absent.
        null_values: the same for single columns.
        where: columns that are needed to choose rows, even if they are left out.
    """

    kinds: Mapping[str, tuple[str, str | None]] = field(default_factory=dict)
    only: tuple[str, ...] | None = None
    drop: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)
    null_value: Any = None
    null_values: Mapping[str, Any] = field(default_factory=dict)
    where: tuple[str, ...] = ()


def choose_columns(options: TableOptions) -> ColumnChoice:
    """Read what a user says about columns.

    Raises:
        InvalidArgumentError: a form is wrong, or a column is given twice.
    """
    kinds: dict[str, tuple[str, str | None]] = {}
    given, nulls = options.column, options.null_value
    texts = [f"{name}:{kind}" for name, kind in given.items()] if isinstance(given, Mapping) else given
    for text in texts:
        name, kind, separator = parse_column(text)
        if kinds.setdefault(name, (kind, separator)) != (kind, separator):
            raise InvalidArgumentError(f"column (--column): {name!r} is given twice, with different kinds.")
    each: dict[Any, Any] = dict(nulls) if isinstance(nulls, Mapping) else {None: nulls}
    common = each.pop(None, None)
    only = None if options.columns is None else tuple(options.columns)
    where = () if options.where is None else tuple(parse_where(options.where).keys)
    return ColumnChoice(kinds, only, tuple(options.drop), dict(options.rename or {}), common, each, where)


def parse_column(text: str) -> tuple[str, str, str | None]:
    r"""Read what `--column` takes: name, kind and perhaps what separates the values of a list.

    >>> parse_column("fea1:float"), parse_column("tags:bytes[|]"), parse_column(r"ids:int64[\x02]")
    (('fea1', 'float', None), ('tags', 'bytes', '|'), ('ids', 'int64', '\x02'))

    Raises:
        InvalidArgumentError: it is not of this form.
    """
    match = _COLUMN.fullmatch(text)
    if match is None:
        raise InvalidArgumentError(
            f"Expected NAME:KIND or NAME:KIND[SEPARATOR] for a column but got {text!r}, such as fea1:float or "
            "'tags:bytes[|]'."
        )
    name, kind, separator = match.group("name", "kind", "separator")
    if kind not in _KINDS:
        raise InvalidArgumentError(
            f"Column {name!r}: expected int64, float or bytes as its kind but got {kind!r}."
        )
    return name, _KINDS[kind], unescape(separator) if separator else None


def settle(surveys: Sequence[Survey], choice: ColumnChoice) -> tuple[TableColumn, ...]:
    """Decide every column's kind: integers unless other numbers were seen, and bytes if anything else was.

    Columns are those of all files, in the order in which they appear, then those of the paths, and at last those that
    are only needed to choose rows.

    Raises:
        InvalidArgumentError: a name that the user gave is nowhere, two columns become the same feature, a null value
            does not fit, or there are no columns.
    """
    seen = _union(surveys)
    if not seen:
        path = surveys[0].file.path
        raise InvalidArgumentError(
            f"{path}: expected columns in the inputs but found none, not one row that can be read. Check the format "
            "(--format); JSON lines have an object on each line.",
            path=path,
        )
    choice = _by_names(choice, seen)
    names = [name for name in (seen if choice.only is None else choice.only) if name not in set(choice.drop)]
    lists: dict[str, str] = {}
    for survey in surveys:
        lists.update(survey.feature_lists)
    columns = tuple(_column(name, seen[name], choice, lists) for name in names)
    if not columns:
        raise InvalidArgumentError(
            "Expected at least one column but all of them are left out by `drop` (--drop)."
        )
    _check_features(columns)
    _check_refused(surveys, columns)
    unwritten = [_column(name, seen[name], choice, lists) for name in choice.where if name not in names]
    for survey in surveys:
        for column in unwritten:
            if column.name in survey.refused:
                raise InvalidArgumentError(
                    f"{survey.file.path}: where (--where): column {column.name!r} cannot be compared: "
                    f"{survey.refused[column.name]}.",
                    path=survey.file.path,
                )
    return (*columns, *(replace(column, written=False) for column in unwritten))


def partition_values(partition: Mapping[str, str]) -> dict[str, str | None]:
    """Return the values of a path's columns; None where Hive wrote a null."""
    return {name: None if text == NULL_PARTITION else text for name, text in partition.items()}


def feature_spec(columns: Sequence[TableColumn]) -> dict[str, FeatureSpec] | None:
    """Return the spec by which `parse_example` reads the records: one value where every row has exactly one.

    None for SequenceExamples, which no such spec describes.
    """
    if any(column.steps for column in columns):
        return None
    spec: dict[str, FeatureSpec] = {}
    for column in sorted(_written(columns), key=lambda column: column.feature):
        listed = column.separator is not None or Seen.LIST in column.seen
        single = not listed and (Seen.NULL not in column.seen or column.null_value is not None)
        dtype = {"int64": "int64", "float": "float32", "bytes": "bytes"}[column.kind]
        spec[column.feature] = FixedLenFeature([], dtype) if single else VarLenFeature(dtype)
    return spec


def column_reports(surveys: Sequence[Survey], columns: Sequence[TableColumn]) -> tuple[ColumnReport, ...]:
    """Report how columns were settled, and why where most values look like another kind."""
    kinds: dict[str, ValueKinds] = {}
    for survey in surveys:
        for name, found in survey.kinds.items():
            kinds.setdefault(name, ValueKinds()).merge(found)
        rows = sum(piece.rows for piece in survey.pieces)
        for name, text in partition_values(survey.file.partition).items():
            if (kind := _seen_in(text).kind) is not None:
                said = ColumnCause(survey.file.name, None, shown_value(text or ""))
                kinds.setdefault(name, ValueKinds()).merge(ValueKinds({kind: rows}, {kind: said}))
    reports = []
    for column in _written(columns):
        values = kinds.get(column.name, ValueKinds())
        cause = None if column.given else values.cause(column.kind)
        counts: dict[str, int] = {kind: values.counts[kind] for kind in KIND_NAMES if kind in values.counts}
        reports.append(ColumnReport(column.name, column.feature, column.kind, counts, cause))
    return tuple(reports)


def _written(columns: Sequence[TableColumn]) -> list[TableColumn]:
    return [column for column in columns if column.written]


# -- inside ------------------------------------------------------------------------------------------------------------


def _union(surveys: Sequence[Survey]) -> dict[str, Seen]:
    """What was seen of each column in all files that have rows; files without it count as nulls."""
    seen: dict[str, Seen] = {}
    in_paths: dict[str, Seen] = {}
    full = [survey for survey in surveys if survey.pieces] or list(surveys)
    counts: dict[str, int] = {}
    for survey in full:
        for name, found in survey.columns.items():
            seen[name] = seen.get(name, Seen.NOTHING) | found
            counts[name] = counts.get(name, 0) + 1
            if len(seen) > MAX_COLUMNS:
                raise InvalidArgumentError(
                    f"{survey.file.path}: expected at most {MAX_COLUMNS:,} columns but there are more. If keys of "
                    "nested objects are data, such as user numbers, turn them into lists first.",
                    path=survey.file.path,
                )
        for name, text in partition_values(survey.file.partition).items():
            if name in survey.columns:
                raise InvalidArgumentError(
                    f"{survey.file.path}: the column {name!r} is both in the file and in the path. "
                    "Pass partitions=False (--no-partitions) to take the file's.",
                    path=survey.file.path,
                )
            in_paths[name] = in_paths.get(name, Seen.NOTHING) | _seen_in(text)
            counts[name] = counts.get(name, 0) + 1
    for name, found in in_paths.items():
        seen[name] = seen.get(name, Seen.NOTHING) | found
    for name in [name for name, found in seen.items() if not found & ~Seen.NULL]:
        if name + MAP_KEY in seen and name + MAP_VALUE in seen:
            del seen[name]  # a map that some files have without entries
    return {name: found if counts[name] == len(full) else found | Seen.NULL for name, found in seen.items()}


def _seen_in(text: str | None) -> Seen:
    if text is None:
        return Seen.NULL
    if _INTEGER.fullmatch(text) and -(2**63) <= int(text) < 2**63:
        return Seen.INT
    return Seen.FLOAT if _NUMBER.fullmatch(text) and not _INTEGER.fullmatch(text) else Seen.TEXT


def _by_names(choice: ColumnChoice, seen: Mapping[str, Seen]) -> ColumnChoice:
    """Return the choice with names of columns in place of patterns."""
    for option, name in [
        *(("rename (--name)", name) for name in choice.renamed),
        *(("where (--where)", name) for name in choice.where),
    ]:
        if name not in seen:
            raise InvalidArgumentError(f"{option}: no input has a column {name!r}. {near_names(name, seen)}")
    only = None
    if choice.only is not None:
        if len(set(choice.only)) < len(choice.only):
            raise InvalidArgumentError(
                f"columns (--columns): a name is given twice in {', '.join(choice.only)}."
            )
        only = _all_matching("columns (--columns)", choice.only, seen)
    return replace(
        choice,
        only=only,
        drop=_all_matching("drop (--drop)", choice.drop, seen),
        kinds=values_by_name("column (--column)", choice.kinds, seen),
        null_values=values_by_name("null_value (--null-value)", choice.null_values, seen),
    )


def _all_matching(option: str, given: Iterable[str], seen: Mapping[str, Seen]) -> tuple[str, ...]:
    """Return the columns of several names and patterns, each once."""
    return tuple(dict.fromkeys(name for each in given for name in matching_names(option, each, seen)))


def _column(name: str, seen: Seen, choice: ColumnChoice, lists: Mapping[str, str]) -> TableColumn:
    kind, separator = choice.kinds.get(name, (seen.kind or "bytes", None))
    text = choice.null_values.get(name, choice.null_value)
    feature = choice.renamed.get(name, lists.get(name, name))
    check_name(feature)
    if name in lists:
        if name in choice.kinds or name in choice.null_values:
            raise InvalidArgumentError(
                f"Column {name!r} is a feature list of SequenceExamples: its kind and its nulls cannot be chosen."
            )
        return TableColumn(name, feature, kind, seen=seen, steps=True)
    null_value = None if text is None else _null_value(name, kind, text)
    return TableColumn(name, feature, kind, separator, null_value, seen, given=name in choice.kinds)


def _null_value(name: str, kind: str, given: Any) -> Any:
    """What the user gave for nulls, as a value of the column's kind."""
    try:
        if kind == "bytes":
            return given if isinstance(given, bytes) else os.fsencode(str(given))
        if kind == "float":
            if beyond_in_cell(float(given)) is not None:
                raise OverflowError
            return float(given)
        value = int(given)
        if (isinstance(given, float) and value != given) or not -(2**63) <= value < 2**63:
            raise ValueError
    except (TypeError, ValueError, OverflowError):
        raise InvalidArgumentError(
            f"null_value (--null-value): {given!r} is not a valid {kind}, which column {name!r} needs. "
            f"Give this column its own: --null-value {name}=VALUE."
        ) from None
    return value


def _check_refused(surveys: Sequence[Survey], columns: Sequence[TableColumn]) -> None:
    """Refuse columns that no feature can hold, all of them in one error."""
    refused: dict[str, tuple[str, str]] = {}
    for survey in surveys:
        for name in (column.name for column in columns if column.name in survey.refused):
            refused.setdefault(name, (survey.file.path, survey.refused[name]))
    if not refused:
        return
    path, why = next(iter(refused.values()))
    drop = f"--drop {shlex.quote(names_text(refused))}"
    if len(refused) == 1:
        text = f"column {next(iter(refused))!r}: {why}, or leave it out: {drop}."
    else:
        shown = [
            f"{name!r}: {reason}" + (f" (in {place})" if place != path else "")
            for name, (place, reason) in list(refused.items())[:_SHOWN_REFUSED]
        ]
        more = len(refused) - len(shown)
        said = "; ".join(shown) + (f"; and {more:,} more" if more else "")
        text = f"{len(refused):,} columns cannot be features. {said}. Or leave them out: {drop}."
    raise InvalidArgumentError(f"{path}: {text}", path=path)


def _check_features(columns: Sequence[TableColumn]) -> None:
    taken: dict[str, str] = {}
    for column in columns:
        if column.key in taken:
            raise InvalidArgumentError(
                f"Columns {taken[column.key]!r} and {column.name!r} would both be the feature {column.feature!r}. "
                "Rename one with --name, or leave one out with --drop."
            )
        taken[column.key] = column.name
