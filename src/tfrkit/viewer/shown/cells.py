"""Cells: one feature of a record in a word or a few, for tables and tiles. Pure: no I/O."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from tfrkit.records.describe.shown_values import bytes_json, content_of, kind_of, named_text
from tfrkit.viewer.answers import plain_number
from tfrkit.viewer.outline import Feature, role_of

__all__ = [
    "boxes_of",
    "cell_of",
    "kind_name",
    "number_json",
    "plain_text",
    "size_text",
    "steps_cell",
    "value_json",
]

_FEW: Final = 8  # values that a cell has
_TEXT: Final = 120  # characters
_BOXES: Final = 50
_KINDS: Final = {
    "-": None,
    "bytes": "bytes",
    "float32": "float",
    "float64": "float",
}  # the others are integers
_TEXT_ROLES: Final = ("text", "label", "json")
_MARKUP: Final = ("HTML page", "SVG image", "XML document")  # files that are shown as the text that they are


def cell_of(name: str, value: Any, feature: Feature | None) -> dict[str, Any]:
    """Return the cell of a feature.

    Args:
        name: of the feature.
        value: an array, a list of bytes, or None for a feature without a kind.
        feature: what the outline knows of it, None if it has no such feature.
    """
    kind = kind_name(value)
    count = 0 if value is None else len(value)
    role = feature.role if feature is not None and feature.kind == kind else role_of(name, kind, "", count)
    cell: dict[str, Any] = {"k": kind, "n": count, "role": role}
    if value is None or not count:
        return {**cell, "t": "(no kind)" if value is None else "(no values)"}
    few = value[:_FEW] if role != "image" else value[:1]
    if isinstance(value, list):
        texts = [_bytes_text(item, role) for item in few]
    else:
        numbers = [number_json(item) for item in few]
        names = () if feature is None else feature.class_names
        texts = [named_text(number, names) for number in numbers]
        if count <= _FEW:
            cell["v"] = numbers[0] if count == 1 else numbers
    shown = ", ".join(texts)[:_TEXT]
    more = f" … {count:,} values" if count > len(few) else ""
    return {**cell, "t": shown + more}


def kind_name(value: Any) -> str | None:
    """Return the kind of values as the page calls it."""
    return _KINDS.get(kind_of(value), "int64")


def steps_cell(name: str, steps: Sequence[Any], feature: Feature | None) -> dict[str, Any]:
    """Return the cell of a feature list: how many steps it has, and the first."""
    first = cell_of(name, steps[0], feature) if steps else {"k": None, "role": "numbers", "t": ""}
    count = f"{len(steps):,} step{'' if len(steps) == 1 else 's'}"
    text = f"{count}: {first['t']}" if first["t"] else count
    return {"k": first["k"], "n": len(steps), "role": first["role"], "t": text[: _TEXT + 20], "steps": True}


def boxes_of(feature: Feature, values: Mapping[str, Any], most: int = _BOXES) -> list[list[Any]] | None:
    """Return the boxes of a record that a feature is a side of, or has all of: [ymin, xmin, ymax, xmax] each."""
    if feature.boxes is None:
        return None
    packed = feature.boxes.get("packed")
    if packed is not None:
        array = values.get(packed)
        if not isinstance(array, np.ndarray) or len(array) % 4:
            return None
        rows = array[: 4 * most].reshape(-1, 4)
    else:
        sides = [values.get(feature.boxes[side]) for side in ("ymin", "xmin", "ymax", "xmax")]
        arrays = [side for side in sides if isinstance(side, np.ndarray)]
        if len(arrays) < 4 or len({len(side) for side in arrays}) > 1:
            return None
        rows = np.stack([side[:most] for side in arrays], axis=1)
    return [[number_json(number) for number in row] for row in rows]


def number_json(value: Any) -> float | int | str:
    """Return a number as JSON has it; of float32 the shortest that is this one."""
    if isinstance(value, np.floating):
        return plain_number(float(str(value)))
    return plain_number(int(value))


def plain_text(data: bytes, most: int = _TEXT) -> str | None:
    """Return the beginning of bytes that are text; None if they are not."""
    try:
        text = data[: 4 * most].decode()
    except UnicodeDecodeError as error:
        if len(data) <= 4 * most or error.start < 4 * most - 3:
            return None
        text = data[: error.start].decode()
    if any(letter < " " and letter not in "\t\n\r\x1b" for letter in text):
        return None
    return text if len(text) <= most and len(data) <= 4 * most else text[:most] + "…"


def _bytes_text(data: bytes, role: str) -> str:
    if role in _TEXT_ROLES and (text := plain_text(data)) is not None:
        return text
    kind, _ = content_of(data)
    if kind in ("UTF-8 text", "JSON", *_MARKUP) and (text := plain_text(data)) is not None:
        return text
    size = size_text(len(data))
    return f"{kind}, {size}" if kind else f"0x{data[:16].hex()}{'…' if len(data) > 16 else ''}, {size}"


def value_json(data: bytes, most: int) -> Any:
    """Return a byte string as JSON has it: a text, of a long one its beginning, of others what they look like."""
    found = bytes_json(data, False, most)
    is_markup = isinstance(found, dict) and found.get("looks_like") in _MARKUP
    text = plain_text(data, most) if is_markup else None
    if text is None:
        return found
    return text if len(data) <= most else {"first": text, "bytes": len(data)}


def size_text(size: int) -> str:
    """Return a number of bytes in words.

    >>> size_text(1), size_text(37_412), size_text(5 << 20)
    ('1 byte', '37.4 kB', '5.2 MB')
    """
    if size < 1000:
        return f"{size} byte{'' if size == 1 else 's'}"
    unit = min(3, (len(str(size)) - 1) // 3)
    return f"{size / 1000**unit:.1f} {('kB', 'MB', 'GB')[unit - 1]}"
