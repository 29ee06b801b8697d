"""How values are shown: in a line for people, or as JSON. Pure: no I/O.

Long lists, long texts and what is no text are summarised unless all is wanted.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias

import numpy as np

from tfrkit.records.sniff.value_sniffer import Sample, sniff_values

__all__ = [
    "LabelNames",
    "bytes_json",
    "content_of",
    "kind_of",
    "label_names_of",
    "named_text",
    "names_of",
    "steps_json",
    "steps_text",
    "values_json",
    "values_text",
]

LabelNames: TypeAlias = Mapping[str, Sequence[str]] | Sequence[str] | None  # by feature, or of all labels

MANY: Final = 16  # values from which on a list is long
FIRST: Final = 8  # values that are shown of it
TEXT_CHARACTERS: Final = 100
_HEX_BYTES: Final = 16
_LOOK_BYTES: Final = 1 << 16  # which nearly always include the size of a picture
_NESTED: Final = "/ragged_flat_values"  # where TensorFlow Datasets keeps values of sequences in sequences
_TEXTS: Final = ("UTF-8 text", "JSON")


def content_of(data: bytes) -> tuple[str, str | None]:
    """Return what bytes look like, and their text if they are text."""
    kind = sniff_values([Sample(data[:_LOOK_BYTES], len(data))])
    if kind not in _TEXTS and data:
        return kind, None
    try:
        return kind, data.decode()
    except UnicodeDecodeError:  # only after what was looked at
        return "", None


def kind_of(value: Any) -> str:
    """Return the kind of the values of a feature: an array, a list of bytes, or None."""
    if value is None:
        return "-"
    return "bytes" if isinstance(value, list) else str(value.dtype)


def names_of(feature: str, class_names: Mapping[str, Sequence[str]]) -> Sequence[str]:
    """Return the names of the classes that the numbers of a feature stand for; none if there are none.

    >>> names_of("a/label/ragged_flat_values", {"a/label": ["cat"]})
    ['cat']
    """
    return class_names.get(feature.removesuffix(_NESTED), ())


def label_names_of(feature: str, given: LabelNames, *, is_label: bool) -> Sequence[str]:
    """Return the names for the numbers of a feature: its own, or those of all labels if it is one."""
    if isinstance(given, Mapping):
        return names_of(feature, given)
    return given if given is not None and is_label else ()


def named_text(value: Any, names: Sequence[str]) -> str:
    """Return a number with the name of its class, if it is of one.

    >>> named_text(1, ["cat", "dog"]), named_text(-1, ["cat", "dog"])
    ('1 (dog)', '-1')
    """
    known = bool(names) and isinstance(value, (int, np.integer)) and 0 <= value < len(names)
    return f"{value} ({names[int(value)]})" if known else str(value)


def values_text(value: Any, full: bool, names: Sequence[str] = ()) -> str:
    """Return the values of a feature in a line; `names`: what numbers stand for."""
    if value is None:
        return "(no kind)"
    if not len(value):
        return "(no values)"
    shown = value if full or len(value) <= MANY else value[:FIRST]
    texts = [
        _bytes_text(item, full) if isinstance(item, bytes) else named_text(item, names) for item in shown
    ]
    more = "" if len(shown) == len(value) else f", ... {len(value):,} values"
    return ", ".join(texts) + more


def steps_text(steps: Sequence[Any], full: bool) -> tuple[str, str]:
    """Return the kind of a feature list, and its steps in brackets."""
    shown = steps if full or len(steps) <= MANY else steps[:FIRST]
    kinds = dict.fromkeys(kind_of(step) for step in steps)
    texts = [f"[{'' if step is not None and not len(step) else values_text(step, full)}]" for step in shown]
    more = "" if len(shown) == len(steps) else " ..."
    return " or ".join(kinds) or "-", " ".join(
        [f"{len(steps):,} step{'' if len(steps) == 1 else 's'}" + (":" if steps else ""), *texts]
    ) + more


def _bytes_text(data: bytes, full: bool) -> str:
    kind, text = content_of(data)
    if text is not None:
        if full or len(text) <= TEXT_CHARACTERS:
            return repr(text)
        return f"{text[:TEXT_CHARACTERS]!r}..., {_size(data)}"
    if full:
        return "0x" + data.hex()
    if kind:
        return f"{kind}, {_size(data)}"
    return f"0x{data[:_HEX_BYTES].hex()}" + (f"..., {len(data):,} bytes" if len(data) > _HEX_BYTES else "")


def values_json(value: Any, full: bool) -> Any:
    """Return the values of a feature for JSON; see `tfr cat --json`."""
    if value is None:
        return None
    shown = value if full or len(value) <= MANY else value[:FIRST]
    if isinstance(value, list):
        items = [bytes_json(item, full, TEXT_CHARACTERS) for item in shown]
    elif value.dtype.kind == "f":
        items = [_float_json(item) for item in shown]
    else:
        items = shown.tolist()
    return items if len(shown) == len(value) else {"first": items, "values": len(value)}


def steps_json(steps: Sequence[Any], full: bool) -> Any:
    """Return the steps of a feature list for JSON."""
    shown = steps if full or len(steps) <= MANY else steps[:FIRST]
    items = [values_json(step, full) for step in shown]
    return items if len(shown) == len(steps) else {"first": items, "steps": len(steps)}


def _float_json(value: Any) -> float | str:
    """Return the shortest number that is this float32; what JSON does not have as protobuf writes it."""
    number = float(value)
    if math.isfinite(number):
        return float(str(value))
    return "NaN" if math.isnan(number) else "Infinity" if number > 0 else "-Infinity"


def bytes_json(data: bytes, full: bool, limit: int) -> Any:
    """Return bytes for JSON: as text, of which `limit` characters, or what they look like."""
    kind, text = content_of(data)
    if text is not None:
        return text if full or len(text) <= limit else {"first": text[:limit], "bytes": len(data)}
    if full:
        return {"base64": base64.b64encode(data).decode()}
    return {"looks_like": kind or "binary data", "bytes": len(data)}


def _size(data: bytes) -> str:
    return f"{len(data):,} byte{'' if len(data) == 1 else 's'}"
