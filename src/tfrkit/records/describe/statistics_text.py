"""Statistics as tables, bars and histograms for people. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Final
from unicodedata import east_asian_width

from tfrkit.records.describe.shown_values import LabelNames, label_names_of

if TYPE_CHECKING:
    from tfrkit.records.describe.feature_statistics import (
        ByteStatistics,
        Distinct,
        FeatureStatistics,
        NumberStatistics,
        TopValue,
    )
    from tfrkit.records.describe.statistics import Statistics

__all__ = [
    "Style",
    "distinct_cell",
    "number_cell",
    "percent_cell",
    "short_cell",
    "span_cell",
    "table_lines",
    "text",
]

_NAME_WIDTH: Final = 40
_VALUE_WIDTH: Final = 32
_BAR_WIDTH: Final = 30
_FILES_SHOWN: Final = 3
_FEATURES_SHOWN: Final = 1000
_LABELS_SHOWN: Final = 5  # features
_LEVELS: Final = "▁▂▃▄▅▆▇█"
_ASCII_LEVELS: Final = ".:-=+*#@"
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"


@dataclass(frozen=True, slots=True)
class Style:
    """How to write: see `Statistics.to_text`."""

    top: int = 10
    details: bool = False
    label_names: LabelNames = None
    blocks: bool = True


def text(report: Statistics, style: Style) -> str:
    """Return the report as lines of text: tables of all features, the balance of labels, and details if wanted."""
    lines = [_headline(report)]
    title = "context" if report.feature_lists else "feature"
    for name, features in ((title, report.features), ("feature list", report.feature_lists)):
        lines += _numbers_table(name, features, report, style)
        lines += _bytes_table(name, features, report)
    if style.details:
        for feature in [*report.features.values(), *report.feature_lists.values()]:
            lines += _details(feature, style)
    else:
        lines += _labels(report, style)
    return "\n".join([*lines, *_remarks(report)])


def _headline(report: Statistics) -> str:
    others = report.records - report.examples - report.sequence_examples
    counted = [
        f"{count:,} {name}{'' if count == 1 else 's'}"
        for count, name in (
            (report.examples, "Example"),
            (report.sequence_examples, "SequenceExample"),
            (others, "other record"),
        )
        if count
    ]
    names = ", ".join(report.files[:_FILES_SHOWN]) + (", ..." if len(report.files) > _FILES_SHOWN else "")
    files = f"{len(report.files)} files: {names}" if len(report.files) > 1 else names or "0 files"
    return f"{'a sample of ' if report.sampled else ''}{', '.join(counted) or 'no records'} in {files}"


# -- tables ------------------------------------------------------------------------------------------------------------


def table_lines(head: Sequence[str], rows: Sequence[Sequence[str]], left: int) -> list[str]:
    """Return aligned columns, the first `left` and the last to the left, after a blank line; nothing without rows."""
    if not rows:
        return []
    widths = [max(_width(row[column]) for row in [head, *rows]) for column in range(len(head))]
    last = len(head) - 1
    lines = [""]
    for row in [head, *rows]:
        cells = (
            _left(cell, width) if column < left or column == last else " " * (width - _width(cell)) + cell
            for column, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join(cells).rstrip())
    return lines


def _width(cell: str) -> int:
    """Columns that a text takes in a terminal: Chinese characters take two."""
    return len(cell) if cell.isascii() else sum(1 + (east_asian_width(c) in "WF") for c in cell)


def _left(cell: str, width: int) -> str:
    return cell + " " * (width - _width(cell))


def _common(feature: FeatureStatistics, report: Statistics) -> list[str]:
    readable = report.examples + report.sequence_examples
    present = "all" if feature.present == readable else percent_cell(feature.present, readable)
    lengths = span_cell(feature.lengths) if feature.lengths.count else "-"
    if feature.steps is not None:
        lengths = f"{span_cell(feature.steps)} x {lengths}"
    return [present, lengths]


def _numbers_table(
    title: str, features: Mapping[str, FeatureStatistics], report: Statistics, style: Style
) -> list[str]:
    head = [
        title, "kind", "present", "values", "distinct", "min", "mean", "std", "median", "max", "histogram",
    ]  # fmt: skip
    rows = []
    for feature in islice(features.values(), _FEATURES_SHOWN):
        for kind, numbers in (("int64", feature.int64), ("float32", feature.float32)):
            if numbers is None:
                continue
            shown = (numbers.min, numbers.mean, numbers.std, numbers.quantiles.get(50), numbers.max)
            cells = [
                distinct_cell(numbers.distinct),
                *("-" if value is None else number_cell(value) for value in shown),
            ]
            rows.append([
                short_cell(feature.name, _NAME_WIDTH), kind, *_common(feature, report), *cells,
                _note(_sparkline(numbers, style), _special(numbers)),
            ])  # fmt: skip
        if not feature.records:
            rows.append([
                short_cell(feature.name, _NAME_WIDTH), "unset", *_common(feature, report), *["-"] * 6, "",
            ])  # fmt: skip
    return table_lines(head, rows, 2)


def _bytes_table(title: str, features: Mapping[str, FeatureStatistics], report: Statistics) -> list[str]:
    rows = [
        [
            short_cell(feature.name, _NAME_WIDTH), "bytes", *_common(feature, report),
            distinct_cell(feature.bytes.distinct),
            span_cell(feature.bytes.lengths) if feature.bytes.count else "-", _content(feature.bytes),
        ]
        for feature in islice(features.values(), _FEATURES_SHOWN)
        if feature.bytes is not None
    ]  # fmt: skip
    return table_lines([title, "kind", "present", "values", "distinct", "length", "content"], rows, 2)


def _content(strings: ByteStatistics) -> str:
    parts = []
    if images := strings.images:
        parts += [
            f"{name}{'' if count == strings.count else f' {percent_cell(count, strings.count)}'}"
            for name, count in images.formats.items()
        ]
        if images.width and images.height:
            parts.append(f"{_ends(*images.width)} x {_ends(*images.height)} pixels")
    elif strings.count and strings.utf8:
        share = "" if strings.utf8 == strings.count else f" {percent_cell(strings.utf8, strings.count)}"
        parts.append(f"UTF-8{share}")
        if strings.top and strings.top[0].count >= strings.count / 100 and strings.count > 1:
            parts.append(
                f"most often {_value(strings.top[0])} ({percent_cell(strings.top[0].count, strings.count)})"
            )
    elif strings.count:
        parts.append("not UTF-8")
    return ", ".join(parts)


def _special(numbers: NumberStatistics) -> str:
    counted = ((numbers.nan, "NaN"), (numbers.inf, "inf"), (numbers.negative_inf, "-inf"))
    return ", ".join(f"{count:,} {name}" for count, name in counted if count)


def _note(*parts: str) -> str:
    return "  ".join(part for part in parts if part)


def _sparkline(numbers: NumberStatistics, style: Style) -> str:
    if numbers.histogram is None:
        return ""
    levels = _LEVELS if style.blocks else _ASCII_LEVELS
    most = max(numbers.histogram.counts)
    # What is not empty must not look empty.
    return "".join(
        levels[max(0, -(-count * len(levels) // most) - 1)] if count else " "
        for count in numbers.histogram.counts
    ).rstrip()


# -- labels and details ------------------------------------------------------------------------------------------------


def _labels(report: Statistics, style: Style) -> list[str]:
    labels = [feature for feature in report.features.values() if feature.labels]
    named = [feature for feature in labels if _has_name(feature)] or labels
    lines: list[str] = []
    for feature in named[:_LABELS_SHOWN]:
        lines += ["", f"{short_cell(feature.name, _NAME_WIDTH)}:", *_shares(feature, style)]
    if len(named) > _LABELS_SHOWN:
        names = ", ".join(short_cell(feature.name, _NAME_WIDTH) for feature in named[_LABELS_SHOWN:])
        lines += ["", f"few different values too: {names}"]
    return lines


def _has_name(feature: FeatureStatistics) -> bool:
    return any(word in feature.name.lower() for word in ("label", "class"))


def _shares(feature: FeatureStatistics, style: Style) -> list[str]:
    """A line for each of the most frequent values: name, bar, share, count."""
    values = feature.int64 or feature.float32 or feature.bytes
    if values is None or not values.count:
        return []
    shown = values.top[: style.top]
    names = [_label(top, feature, style) for top in shown]
    width = max(map(_width, names), default=0)
    most = max((top.count for top in shown), default=1)
    rows = [
        f"  {_left(name, width)}  {_bar(top.count / most, style)} "
        f"{percent_cell(top.count, values.count):>7}  {top.count:,}"
        for name, top in zip(names, shown, strict=True)
    ]
    rest = values.count - sum(top.count for top in shown)
    if rest:
        more = values.distinct.count - len(shown)
        rows.append(f"  {more:,} more  {percent_cell(rest, values.count)}  {rest:,}")
    return rows


def _label(top: TopValue, feature: FeatureStatistics, style: Style) -> str:
    names = label_names_of(feature.name, style.label_names, is_label=feature.labels)
    if isinstance(top.value, int) and 0 <= top.value < len(names):
        return f"{top.value} {short_cell(names[top.value], _VALUE_WIDTH)}"
    return _value(top)


def _details(feature: FeatureStatistics, style: Style) -> list[str]:
    lines = ["", f"{short_cell(feature.name, _NAME_WIDTH)}:"]
    for name, count in (
        ("absent", feature.absent),
        ("empty", feature.empty),
        ("without a kind", feature.unset),
    ):
        if count:
            lines.append(f"  {name}  {count:,}")
    if feature.lengths.count and feature.lengths.min != feature.lengths.max:
        lines.append(f"  values in each  {_number_line(feature.lengths)}")
    for kind, numbers in (("int64", feature.int64), ("float32", feature.float32)):
        if numbers is not None and numbers.count:
            lines.append(f"  {kind}  {_number_line(numbers)}")
            lines += [] if feature.labels else _histogram(numbers, style)
    if feature.bytes is not None and feature.bytes.count:
        lines.append(f"  bytes  lengths {_number_line(feature.bytes.lengths)}")
        lines.append(f"  {_content(feature.bytes)}")
    values = feature.int64 or feature.float32 or feature.bytes
    if values is not None and values.count:
        lines += [f"  most frequent of {distinct_cell(values.distinct)} different", *_shares(feature, style)]
        if values.top_error:
            lines.append(f"  these counts may be up to {values.top_error:,} too low")
    return lines


def _number_line(numbers: NumberStatistics) -> str:
    quantiles = ", ".join(f"{percent} % {number_cell(value)}" for percent, value in numbers.quantiles.items())
    within = f" (ranks within {100 * numbers.rank_error:.2g} %)" if numbers.rank_error else ""
    ends = f"{number_cell(numbers.min or 0)} to {number_cell(numbers.max or 0)}"
    mean = f"mean {number_cell(numbers.mean or 0)}, std {number_cell(numbers.std or 0)}"
    return f"{ends}, {mean}; {quantiles}{within}"


def _histogram(numbers: NumberStatistics, style: Style) -> list[str]:
    histogram = numbers.histogram
    if histogram is None:
        return []
    edges = [number_cell(edge) for edge in histogram.edges]
    width = max(map(len, edges))
    most = max(histogram.counts)
    return [
        f"  {edge.rjust(width)}  {_bar(count / most, style)} {count:,}"
        for edge, count in zip(edges[:-1], histogram.counts, strict=True)
    ]


def _bar(share: float, style: Style) -> str:
    if not style.blocks:
        return ("#" * max(round(share * _BAR_WIDTH), int(share > 0))).ljust(_BAR_WIDTH)
    eighths = max(round(share * _BAR_WIDTH * 8), int(share > 0))
    rest = _EIGHTHS[eighths % 8] if eighths % 8 else ""
    return ("█" * (eighths // 8) + rest).ljust(_BAR_WIDTH)


def _remarks(report: Statistics) -> list[str]:
    lines = []
    if report.sampled:
        lines.append("only a sample of the records was counted")
    everything = [*report.features.values(), *report.feature_lists.values()]
    for feature in everything:
        if len(feature.records) > 1:
            kinds = " and ".join(f"{kind} in {count:,}" for kind, count in feature.records.items())
            lines.append(f"conflict: {short_cell(feature.name, _NAME_WIDTH)} is {kinds} records")
    if any(distinct.standard_error for distinct in _all_distinct(everything)):
        error = max(distinct.standard_error for distinct in _all_distinct(everything))
        lines.append(f"~ estimated, with a standard error of {100 * error:.1f} % at most")
    others = report.records - report.examples - report.sequence_examples
    if others:
        lines.append(
            f"{others:,} neither Example nor SequenceExample, and not counted; `tfr schema` says where"
        )
    if report.not_followed:
        lines.append(f"{report.not_followed:,} more features were not followed: there are too many names")
    if report.skipped:
        lines.append(f"{report.skipped:,} damage{' was' if report.skipped == 1 else 's were'} passed over")
    return ["", *lines] if lines else []


def _all_distinct(features: Iterable[FeatureStatistics]) -> list[Distinct]:
    return [
        values.distinct
        for feature in features
        for values in (feature.int64, feature.float32, feature.bytes)
        if values is not None
    ]


# -- cells -------------------------------------------------------------------------------------------------------------


def distinct_cell(distinct: Distinct) -> str:
    """Return how many different values there are; ~ marks an estimate."""
    return f"{'~' if distinct.standard_error else ''}{distinct.count:,}"


def span_cell(numbers: NumberStatistics) -> str:
    """Return the least, the greatest and the mean of numbers."""
    if numbers.min == numbers.max:
        return number_cell(numbers.min or 0)
    return f"{_ends(numbers.min, numbers.max)} ({number_cell(numbers.mean or 0)})"


def _ends(least: float | None, greatest: float | None) -> str:
    low, high = number_cell(least or 0), number_cell(greatest or 0)
    return low if low == high else f"{low}-{high}"


def number_cell(value: float) -> str:
    """Return a number, a float with five digits."""
    return str(value) if isinstance(value, int) else f"{value:.5g}"


def percent_cell(part: float, whole: float) -> str:
    """Return a share that never looks like none or all if it is not."""
    share = 100 * part / whole if whole else 0
    if 99.95 <= share < 100:
        return ">99.9 %"
    return f"{share:.1f} %" if share >= 0.05 or not part else "<0.1 %"


def _value(top: TopValue) -> str:
    if not isinstance(top.value, bytes):
        return "?" if top.value is None else number_cell(top.value)
    shown = short_cell(top.value.decode(errors="backslashreplace"), _VALUE_WIDTH)
    shortened = top.size is not None and top.size > len(top.value) and not shown.endswith("...")
    return f"{shown}..." if shortened else shown


def short_cell(value: str, width: int) -> str:
    """Return a text that is printable and not too wide."""
    printable = value if value.isprintable() and value.strip() else repr(value)
    return printable if len(printable) <= width else printable[: width - 3] + "..."
