"""A schema as a table for people. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from tfrkit.records.describe.schema import Counts, FeatureSummary, KindSummary, Schema

__all__ = ["content_text", "table"]

_NAME_WIDTH: Final = 40
_EXAMPLE_BYTES: Final = 24
_FILES_SHOWN: Final = 3
_FEATURES_SHOWN: Final = 1000


def table(schema: Schema) -> str:
    """Return the schema as lines of text: what the records are, a line for each feature, and what is wrong."""
    lines = [_headline(schema)]
    readable = schema.examples + schema.sequence_examples
    if schema.features:
        title = "context" if schema.feature_lists else "feature"
        lines += _block([title, "kind", "present", "values", "content"], schema.features, readable)
    if schema.feature_lists:
        head = ["feature list", "kind", "present", "steps", "values", "content"]
        lines += _block(head, schema.feature_lists, readable)
    lines += _problems(schema)
    return "\n".join(lines)


def _headline(schema: Schema) -> str:
    others = schema.records - schema.examples - schema.sequence_examples
    counted = [
        f"{count:,} {name}{'' if count == 1 else 's'}"
        for count, name in (
            (schema.examples, "Example"),
            (schema.sequence_examples, "SequenceExample"),
            (others, "other record"),
        )
        if count
    ]
    names = ", ".join(schema.files[:_FILES_SHOWN]) + (", ..." if len(schema.files) > _FILES_SHOWN else "")
    files = f"{len(schema.files)} files: {names}" if len(schema.files) > 1 else names or "0 files"
    sampled = "a sample of " if schema.sampled else ""
    return f"{sampled}{', '.join(counted) or 'no records'} in {files}"


def _block(head: list[str], features: Mapping[str, FeatureSummary], records: int) -> list[str]:
    rows = [head]
    for feature in islice(features.values(), _FEATURES_SHOWN):
        steps = [] if feature.steps is None else [_counts(feature.steps)]
        rows.append([
            _short(feature.name, _NAME_WIDTH), _kinds(feature), _present(feature.records, records), *steps,
            _counts(feature.counts) if feature.counts.total else "-", content_text(feature),
        ])  # fmt: skip
    widths = [max(len(row[column]) for row in rows) for column in range(len(head) - 1)]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, [*widths, 0], strict=True))])
        for row in rows
    ]
    more = len(features) - _FEATURES_SHOWN
    return ["", *(line.rstrip() for line in lines), *([f"... and {more:,} more"] if more > 0 else [])]


def _short(text: str, width: int) -> str:
    printable = text if text.isprintable() and text else repr(text)
    return printable if len(printable) <= width else printable[: width - 3] + "..."


def _kinds(feature: FeatureSummary) -> str:
    return "/".join(feature.kinds) or "unset"


def _present(count: int, records: int) -> str:
    if count == records:
        return "all"
    return f"{count:,} of {records:,}"


def _counts(counts: Counts) -> str:
    if counts.min == counts.max:
        return f"{counts.min:,}"
    return f"{counts.min:,} to {counts.max:,}, usually {counts.usual:,}"


def content_text(feature: FeatureSummary) -> str:
    """Say what the values of a feature are: their range, or what bytes look like."""
    parts = [_range(kind, use, feature) for kind, use in feature.kinds.items()]
    for count, what in ((feature.unset, "without a kind"), (feature.empty, "empty")):
        if count:
            parts.append(f"{count:,} {what}")
    return "; ".join(part for part in parts if part)


def _range(kind: str, use: KindSummary, feature: FeatureSummary) -> str:
    if kind == "bytes":
        return ", ".join(_bytes(use, feature))
    parts = []
    if use.range is not None:
        low, high = (_number(bound) for bound in use.range)
        parts.append(low if low == high else f"{low} to {high}")
    for count, name in ((use.nans, "NaN"), (use.infinities, "inf"), (use.negative_infinities, "-inf")):
        if count:
            parts.append(f"{count:,} {name}")
    return ", ".join(parts)


def _number(value: float) -> str:
    return str(value) if isinstance(value, int) else f"{value:.6g}"


def _bytes(use: KindSummary, feature: FeatureSummary) -> Iterable[str]:
    if feature.looks_like:
        yield feature.looks_like
    if use.range is not None:
        low, high = (int(bound) for bound in use.range)
        length = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        yield f"{length} byte{'' if high == 1 else 's'}"
    shown = _example(feature.examples) if "text" in feature.looks_like else ""
    if shown:
        yield f"such as {shown}"


def _example(examples: Sequence[bytes]) -> str:
    for example in examples:
        text = example[:_EXAMPLE_BYTES].decode(errors="ignore")
        if text:
            return repr(text) + ("..." if len(example) > _EXAMPLE_BYTES else "")
    return ""


def _problems(schema: Schema) -> list[str]:
    lines = [f"conflict: feature {feature.conflict()}" for feature in schema.conflicts]
    others = schema.records - schema.examples - schema.sequence_examples
    if others:
        lines.append(f"{others:,} neither Example nor SequenceExample, first: {schema.others[0]}")
    if schema.examples and schema.sequence_examples:
        firsts = f"{schema.firsts['Example']} and {schema.firsts['SequenceExample']}"
        lines.append(f"Examples and SequenceExamples are mixed, first: {firsts}")
    if schema.not_followed:
        lines.append(f"{schema.not_followed:,} more features were not followed: there are too many names")
    if schema.skipped:
        lines.append(f"{schema.skipped:,} damage{' was' if schema.skipped == 1 else 's were'} passed over")
    return ["", *lines] if lines else []
