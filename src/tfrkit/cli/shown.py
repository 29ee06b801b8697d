"""How a record is shown: as lines for people, or as one JSON object. Pure: no I/O.

Long lists, long texts and what is no text are summarised unless all is wanted.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Sequence
from typing import Any, Final

from tfrkit.cli.console import number_of, pad, plain, width_of
from tfrkit.cli.decoded import DecodedRecord
from tfrkit.records.sniff.value_sniffer import Sample, sniff_values

MANY: Final = 16  # values from which on a list is long
FIRST: Final = 8  # values that are shown of it
TEXT_CHARACTERS: Final = 100
RECORD_CHARACTERS: Final = 1000  # of a record that is text
DUMP_BYTES: Final = 64
_HEX_BYTES: Final = 16
_LOOK_BYTES: Final = 1 << 16  # which nearly always include the size of a picture
_TEXTS: Final = ("UTF-8 text", "JSON")
Style = Callable[[str], str]


def _content(data: bytes) -> tuple[str, str | None]:
    """Return what bytes look like, and their text if they are text."""
    kind = sniff_values([Sample(data[:_LOOK_BYTES], len(data))])
    if kind not in _TEXTS and data:
        return kind, None
    try:
        return kind, data.decode()
    except UnicodeDecodeError:  # only after what was looked at
        return "", None


# -- for people --------------------------------------------------------------------------------------------------------


def as_lines(
    record: DecodedRecord,
    *,
    full: bool,
    chosen: bool = False,
    key_style: Style = str,
    head_style: Style = str,
) -> list[str]:
    """Return a record as lines.

    Args:
        record: the record.
        full: leave nothing out.
        chosen: whether only some of its features were asked for.
        key_style: how names of features are written.
        head_style: how the first line is written.
    """
    kind, body = _body(record, full, key_style)
    body = body or ["(none of these features)" if chosen else "(no features)"]
    head = f"record {record.number} of {plain(record.path)}, {number_of(record.size, 'byte')}{kind}"
    return [head_style(head), *("  " + line if line else line for line in body)]


def _body(record: DecodedRecord, full: bool, key_style: Style) -> tuple[str, list[str]]:
    if record.data is not None:
        return _other_lines(record.data, full)
    if record.lists is None:
        return "", _feature_lines(record.features, full, key_style)
    steps = {name: _steps_text(values, full) for name, values in record.lists.items()}
    lines = ["context:", *("  " + line for line in _feature_lines(record.features, full, key_style))]
    lines += ["feature lists:", *("  " + line for line in _columns(steps, key_style))]
    return ", SequenceExample", lines


def _feature_lines(features: dict[str, Any], full: bool, key_style: Style) -> list[str]:
    return _columns(
        {name: (_kind(value), _values_text(value, full)) for name, value in features.items()}, key_style
    )


def _columns(rows: dict[str, tuple[str, str]], key_style: Style) -> list[str]:
    names = {name: plain(name) for name in rows}
    wide = max(map(width_of, names.values()), default=0)
    kinds = max((len(kind) for kind, _ in rows.values()), default=0)
    return [
        f"{key_style(pad(names[name], wide))}  {kind.ljust(kinds)}  {text}".rstrip()
        for name, (kind, text) in rows.items()
    ]


def _kind(value: Any) -> str:
    if value is None:
        return "-"
    return "bytes" if isinstance(value, list) else str(value.dtype)


def _values_text(value: Any, full: bool) -> str:
    if value is None:
        return "(no kind)"
    if not len(value):
        return "(no values)"
    shown = value if full or len(value) <= MANY else value[:FIRST]
    texts = [_bytes_text(item, full) if isinstance(item, bytes) else str(item) for item in shown]
    more = "" if len(shown) == len(value) else f", ... {len(value):,} values"
    return ", ".join(texts) + more


def _steps_text(steps: Sequence[Any], full: bool) -> tuple[str, str]:
    """Return the kind of a feature list, and its steps in brackets."""
    shown = steps if full or len(steps) <= MANY else steps[:FIRST]
    kinds = dict.fromkeys(_kind(step) for step in steps)
    texts = [f"[{'' if step is not None and not len(step) else _values_text(step, full)}]" for step in shown]
    more = "" if len(shown) == len(steps) else " ..."
    return " or ".join(kinds) or "-", " ".join(
        [number_of(len(steps), "step") + (":" if steps else ""), *texts]
    ) + more


def _bytes_text(data: bytes, full: bool) -> str:
    kind, text = _content(data)
    if text is not None:
        if full or len(text) <= TEXT_CHARACTERS:
            return repr(text)
        return f"{text[:TEXT_CHARACTERS]!r}..., {number_of(len(data), 'byte')}"
    if full:
        return "0x" + data.hex()
    if kind:
        return f"{kind}, {number_of(len(data), 'byte')}"
    return f"0x{data[:_HEX_BYTES].hex()}" + (f"..., {len(data):,} bytes" if len(data) > _HEX_BYTES else "")


def _other_lines(data: bytes, full: bool) -> tuple[str, list[str]]:
    kind, text = _content(data)
    title = f", no Example: {kind or 'binary data'}"
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
        return {**place, "other": _bytes_json(record.data, full, RECORD_CHARACTERS)}
    features = {name: _values_json(value, full) for name, value in record.features.items()}
    if record.lists is None:
        return {**place, "features": features}
    lists = {name: _steps_json(steps, full) for name, steps in record.lists.items()}
    return {**place, "context": features, "feature_lists": lists}


def _values_json(value: Any, full: bool) -> Any:
    if value is None:
        return None
    shown = value if full or len(value) <= MANY else value[:FIRST]
    if isinstance(value, list):
        items = [_bytes_json(item, full, TEXT_CHARACTERS) for item in shown]
    elif value.dtype.kind == "f":
        items = [_float_json(item) for item in shown]
    else:
        items = shown.tolist()
    return items if len(shown) == len(value) else {"first": items, "values": len(value)}


def _steps_json(steps: Sequence[Any], full: bool) -> Any:
    shown = steps if full or len(steps) <= MANY else steps[:FIRST]
    items = [_values_json(step, full) for step in shown]
    return items if len(shown) == len(steps) else {"first": items, "steps": len(steps)}


def _float_json(value: Any) -> float | str:
    """Return the shortest number that is this float32; what JSON does not have as protobuf writes it."""
    number = float(value)
    if math.isfinite(number):
        return float(str(value))
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def _bytes_json(data: bytes, full: bool, limit: int) -> Any:
    kind, text = _content(data)
    if text is not None:
        return text if full or len(text) <= limit else {"first": text[:limit], "bytes": len(data)}
    if full:
        return {"base64": base64.b64encode(data).decode()}
    return {"looks_like": kind or "binary data", "bytes": len(data)}
