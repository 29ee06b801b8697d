"""The differences of two data sets as text for people. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Final

from tfrkit.records.describe.shown_values import kind_of, steps_text, values_text
from tfrkit.records.describe.statistics_text import (
    distinct_cell,
    number_cell,
    percent_cell,
    short_cell,
    span_cell,
    table_lines,
)

if TYPE_CHECKING:
    from tfrkit.records.compare.diff_report import (
        ChangedValue,
        DiffReport,
        FeatureDrift,
        RecordChange,
        RecordDiff,
    )
    from tfrkit.records.describe.feature_statistics import FeatureStatistics, NumberStatistics
    from tfrkit.records.describe.statistics import Statistics

__all__ = ["text"]

_NAME_WIDTH: Final = 40
_FILES_SHOWN: Final = 3
_FEATURES_SHOWN: Final = 1000


def text(report: DiffReport) -> str:
    """Return a report as lines of text: records with examples, schemas, and statistics side by side."""
    lines = [f"A: {_files(report.old_files)}", f"B: {_files(report.new_files)}"]
    if report.records is not None:
        lines += _records(report.records, report.key)
    schema = [
        [_name(each.name, each.is_list), each.what, each.old, each.new]
        for each in report.schema[:_FEATURES_SHOWN]
    ]
    lines += table_lines(["schema", "", "A", "B"], schema, 4)
    lines += _drifts(report)
    lines += [
        f"{name}: {count:,} damage{' was' if count == 1 else 's were'} passed over"
        for name, count in zip("AB", report.skipped, strict=True)
        if count
    ]
    return "\n".join([*lines, "", _verdict(report)])


def _files(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_FILES_SHOWN]) + (", ..." if len(names) > _FILES_SHOWN else "")
    return f"{len(names)} files: {shown}" if len(names) != 1 else shown


def _verdict(report: DiffReport) -> str:
    if not report.differs:
        return "no differences" if report.max_drift is None else "no differences that count"
    if report.max_drift is not None and (far := report.drifted):
        names = ", ".join(_name(each.name, each.is_list) for each in far[:_FILES_SHOWN])
        more = f" and {len(far) - _FILES_SHOWN:,} more" if len(far) > _FILES_SHOWN else ""
        return f"different; drifted by more than {report.max_drift:g}: {names}{more}"
    return "different"


def _name(name: str, is_list: bool) -> str:
    return short_cell(name, _NAME_WIDTH) + (" (list)" if is_list else "") if name else "(record)"


# -- records -----------------------------------------------------------------------------------------------------------


def _records(found: RecordDiff, key: Sequence[str]) -> list[str]:
    how = f"by {', '.join(key)}" if key else "by position"
    counts = ("same", "changed", "added", "removed", "moved")
    numbers = [
        f"{getattr(found, name):,} {name}" for name in counts if name == "same" or getattr(found, name)
    ]
    lines = ["", f"records {how}: {found.old:,} in A, {found.new:,} in B: {', '.join(numbers)}"]
    for count, what in (
        (found.reencoded, "of the same in other bytes that mean the same"),
        (found.within_tolerance, "of the same within the tolerance"),
        (found.repeated_keys[0], "in A whose key stood before"),
        (found.repeated_keys[1], "in B whose key stood before"),
    ):
        if count:
            lines.append(f"  {count:,} {what}")
    rows = [
        [
            _name(each.name, each.is_list),
            *(f"{count:,}" if count else "-" for count in (each.changed, each.added, each.removed)),
            "",
        ]
        for each in found.features[:_FEATURES_SHOWN]
    ]
    lines += table_lines(["changed feature", "other values", "only in B", "only in A", ""], rows, 1)
    lines += _examples(found)
    return lines


def _examples(found: RecordDiff) -> list[str]:
    lines: list[str] = []
    for change in found.changed_examples:
        lines += ["", *_changed(change)]
    for sign, examples, count, what in (
        ("+", found.added_examples, found.added, "added"),
        ("-", found.removed_examples, found.removed, "removed"),
        ("=", found.repeated_examples, sum(found.repeated_keys), "with a repeated key"),
    ):
        if examples:
            lines += ["", *(f"{sign} {each.old or each.new}{_key(each.key)}" for each in examples)]
            more = count - len(examples)
            lines += [f"{sign} ... {more:,} more {what}"] if more else []
    return lines


def _key(key: Iterable[Any]) -> str:
    parts = [values_text([part], full=False) if isinstance(part, bytes) else str(part) for part in key]
    return f", key {', '.join(parts)}" if parts else ""


def _changed(change: RecordChange) -> Iterator[str]:
    yield f"! {change.old} -> {change.new}{_key(change.key)}"
    for value in change.values:
        yield f"    {_name(value.name, value.is_list)}"
        yield f"      - {_value(value, value.old, value.in_old)}"
        yield f"      + {_value(value, value.new, value.in_new)}"


def _value(change: ChangedValue, value: Any, known: bool) -> str:
    if not known:
        return "(absent)"
    if change.is_list:
        return "  ".join(steps_text(value, full=False))
    return (
        values_text(value, full=False)
        if value is None
        else f"{kind_of(value)}  {values_text(value, full=False)}"
    )


# -- statistics --------------------------------------------------------------------------------------------------------


def _drifts(report: DiffReport) -> list[str]:
    head = [
        "feature",
        "drift",
        "by",
        "",
        "kind",
        "present",
        "values",
        "distinct",
        "min",
        "mean",
        "std",
        "max",
        "",
    ]
    rows = []
    for drift in report.drifts[:_FEATURES_SHOWN]:
        first = [_name(drift.name, drift.is_list), _drift(drift), drift.by or "-"]
        sides = (("A", drift.old, report.old_statistics), ("B", drift.new, report.new_statistics))
        for side, feature, statistics in sides:
            for cells in _cells(feature, statistics):
                rows.append([*first, side, *cells, ""])
                first = ["", "", ""]
    return table_lines(head, rows, 1)


def _drift(drift: FeatureDrift) -> str:
    return f"{drift.drift:.3f}" if drift.drift >= 0.0005 or not drift.drift else "<0.001"


def _cells(feature: FeatureStatistics | None, statistics: Statistics | None) -> Iterator[list[str]]:
    """Yield a row for each kind of a feature: of numbers their statistics, of bytes those of their sizes."""
    if feature is None or statistics is None:
        yield ["absent", *["-"] * 7]
        return
    readable = statistics.examples + statistics.sequence_examples
    present = "all" if feature.present == readable else percent_cell(feature.present, readable)
    lengths = span_cell(feature.lengths) if feature.lengths.count else "-"
    if feature.steps is not None:
        lengths = f"{span_cell(feature.steps)} x {lengths}"
    for kind, numbers in (("int64", feature.int64), ("float32", feature.float32)):
        if numbers is not None:
            yield [kind, present, lengths, distinct_cell(numbers.distinct), *_numbers(numbers)]
    if feature.bytes is not None:
        yield [
            "bytes",
            present,
            lengths,
            distinct_cell(feature.bytes.distinct),
            *_numbers(feature.bytes.lengths),
        ]
    if not feature.records:
        yield ["unset", present, lengths, *["-"] * 5]


def _numbers(numbers: NumberStatistics) -> list[str]:
    shown = (numbers.min, numbers.mean, numbers.std, numbers.max)
    return ["-" if value is None else number_cell(value) for value in shown]
