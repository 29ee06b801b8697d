"""How a record is shown: as lines for people, or as one JSON object.

Values are shown by `records/describe/shown_values.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, TypeAlias

from tfrkit.cli.console import number_of, pad, plain, style, width_of
from tfrkit.records.describe.shown_values import (
    bytes_json,
    content_of,
    kind_of,
    names_of,
    steps_json,
    steps_text,
    values_json,
    values_text,
)
from tfrkit.records.read.decoded_record import DecodedRecord

ClassNames: TypeAlias = Mapping[str, tuple[str, ...]]

_NO_NAMES: Final[ClassNames] = {}
RECORD_CHARACTERS: Final = 1000  # of a record that is text
DUMP_BYTES: Final = 64


# -- for people --------------------------------------------------------------------------------------------------------


def as_lines(
    record: DecodedRecord, *, full: bool, chosen: bool = False, class_names: ClassNames = _NO_NAMES
) -> list[str]:
    """Return a record as lines, in colours if they are for a terminal.

    Args:
        record: the record.
        full: leave nothing out.
        chosen: whether only some of its features were asked for.
        class_names: what numbers stand for, by feature.
    """
    kind, body = _body(record, full, class_names)
    nothing = "fields" if record.message else "features"
    body = body or [f"(none of these {nothing})" if chosen else f"(no {nothing})"]
    head = f"record {record.number} of {plain(record.path)}, {number_of(record.size, 'byte')}{kind}"
    return [style(head, bold=True), *("  " + line if line else line for line in body)]


def _body(record: DecodedRecord, full: bool, names: ClassNames) -> tuple[str, list[str]]:
    if record.data is not None:
        return _other_lines(record.data, record.message or "Example", full)
    if record.message:
        return f", {record.message}", _field_lines(record, full)
    if record.lists is None:
        return "", _feature_lines(record.features, full, names)
    steps = {name: steps_text(values, full) for name, values in record.lists.items()}
    lines = ["context:", *("  " + line for line in _feature_lines(record.features, full, names))]
    lines += ["feature lists:", *("  " + line for line in _columns(steps))]
    return ", SequenceExample", lines


def _field_lines(record: DecodedRecord, full: bool) -> list[str]:
    """Return the fields of a message, and after them those that have a list for each step of another."""
    fields = {name: (kind_of(value), values_text(value, full)) for name, value in record.features.items()}
    return _columns(
        fields | {name: steps_text(values, full) for name, values in (record.lists or {}).items()}
    )


def _feature_lines(features: dict[str, Any], full: bool, names: ClassNames) -> list[str]:
    return _columns(
        {
            name: (kind_of(value), values_text(value, full, names_of(name, names)))
            for name, value in features.items()
        }
    )


def _columns(rows: dict[str, tuple[str, str]]) -> list[str]:
    names = {name: plain(name) for name in rows}
    wide = max(map(width_of, names.values()), default=0)
    kinds = max((len(kind) for kind, _ in rows.values()), default=0)
    return [
        f"{style(pad(names[name], wide), fg='cyan')}  {kind.ljust(kinds)}  {text}".rstrip()
        for name, (kind, text) in rows.items()
    ]


def _other_lines(data: bytes, expected: str, full: bool) -> tuple[str, list[str]]:
    kind, text = content_of(data)
    title = f", no {expected}: {kind or 'binary data'}"
    if text is None:
        shown = data if full else data[:DUMP_BYTES]
        lines = [_dump_line(shown[at : at + 16], at) for at in range(0, len(shown), 16)]
        return title, lines if len(shown) == len(data) else [*lines, "..."]
    shown_text = text if full else text[:RECORD_CHARACTERS]
    lines = [plain(line) for line in shown_text.splitlines()]
    return title, lines if len(shown_text) == len(text) else [*lines, "..."]


def _dump_line(data: bytes, at: int) -> str:
    letters = "".join(chr(byte) if 32 <= byte < 127 else "." for byte in data)
    return f"{at:06x}  {data.hex(' '):47}  {letters}"


# -- JSON --------------------------------------------------------------------------------------------------------------


def as_json(record: DecodedRecord, *, full: bool) -> dict[str, Any]:
    """Return a record as JSON values.

    Every feature is a list. Bytes are strings where they are text. What is left out is an object: of a long list
    `{"first": [...], "values": n}`, of a long text `{"first": "...", "bytes": n}`, of other bytes
    `{"looks_like": "...", "bytes": n}`. With `full` nothing is; bytes that are no text are `{"base64": "..."}`.
    """
    place = {"file": record.path, "record": record.number, "bytes": record.size}
    if record.data is not None:
        return {**place, "other": bytes_json(record.data, full, RECORD_CHARACTERS)}
    features = {name: values_json(value, full) for name, value in record.features.items()}
    lists = {name: steps_json(steps, full) for name, steps in (record.lists or {}).items()}
    if record.message:
        return {**place, "message": record.message, "fields": features | lists}
    if record.lists is None:
        return {**place, "features": features}
    return {**place, "context": features, "feature_lists": lists}
