"""Statistics of features as the page gets them: short, without NaN, with literals to search for. Pure: no I/O."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final

from tfrkit.records.describe.feature_statistics import (
    ByteStatistics,
    FeatureStatistics,
    Histogram,
    NumberStatistics,
    TopValue,
    readable,
)
from tfrkit.viewer.answers import plain_number

__all__ = ["feature_json", "features_json", "histogram_json", "rarest_json", "where_literal", "where_name"]

TOP: Final = 20  # frequent values that are sent
RAREST: Final = 5
MOST_BYTES: Final = 2_000_000  # of all features in one event
_NAME: Final = re.compile(r"[^\W\d][\w/.:-]*")
_WORDS: Final = ("and", "or", "not", "in")


def where_name(name: str) -> str | None:
    """Return a feature's name as it stands in a condition; None if none can name it. Pure: no I/O.

    >>> where_name("label"), where_name("not"), where_name("a b"), where_name("`")
    ('label', '`not`', '`a b`', None)
    """
    if _NAME.fullmatch(name) and name not in _WORDS:
        return name
    return f"`{name}`" if name and "`" not in name else None


def where_literal(value: float | bytes | None, size: int | None = None) -> str | None:
    """Return a value as it stands in a condition; None if it is not known as a whole. Pure: no I/O.

    >>> where_literal(3), where_literal("süß".encode()), where_literal(b"abc", 300)
    ('3', "'süß'", None)
    """
    if value is None or (isinstance(value, bytes) and size is not None and size > len(value)):
        return None
    if not isinstance(value, bytes):
        return repr(value) if math.isfinite(value) else None
    try:
        text = value.decode()
    except UnicodeDecodeError:
        return repr(value)
    return repr(text) if text.isprintable() else repr(value)


def number_or_none(value: float | None) -> float | str | None:
    """Return a number as every reader of JSON reads it; None stays."""
    return None if value is None else plain_number(value)


def features_json(
    features: Iterable[tuple[FeatureStatistics, bool]], records: int, most_bytes: int = MOST_BYTES
) -> tuple[list[dict[str, Any]], int]:
    """Return features, with whether each is a list, as far as there is room for them, and how many there are more."""
    found: list[dict[str, Any]] = []
    left = 0
    for feature, is_list in features:
        if most_bytes > 0:
            found.append(feature_json(feature, is_list, records))
            most_bytes -= len(json.dumps(found[-1]))
        else:
            left += 1
    return found, left


def feature_json(feature: FeatureStatistics, is_list: bool, records: int) -> dict[str, Any]:
    """Return what a card of a feature shows.

    Args:
        feature: its statistics.
        is_list: whether it is a feature list of SequenceExamples.
        records: how many Examples and SequenceExamples were counted.
    """
    kind = max(feature.records, key=lambda each: feature.records[each]) if feature.records else None
    values = {"int64": feature.int64, "float32": feature.float32}.get(kind or "")
    return {
        "name": feature.name,
        "key": None if is_list else where_name(feature.name),
        "list": "steps" if is_list else "context",
        "kind": "float" if kind == "float32" else kind,
        "kinds": dict(feature.records),
        "present": feature.present,
        "presence": feature.present / records if records else 0.0,
        "empty": feature.empty,
        "is_label": feature.labels,
        "length": _spread(feature.lengths),
        "steps": None if feature.steps is None else _spread(feature.steps),
        **_numbers(values),
        **_content(values if feature.bytes is None or kind != "bytes" else feature.bytes),
    }


def rarest_json(feature: FeatureStatistics) -> list[dict[str, Any]]:
    """Return the values that are least frequent, the rarest first, if `top` has all of them but does not end before."""
    values = feature.int64 or feature.float32 or feature.bytes
    return [] if values is None else [_top(each) for each in reversed(values.top[TOP:][-RAREST:])]


def histogram_json(histogram: Histogram | None) -> dict[str, Any] | None:
    """Return a histogram, whose edges are one more than its counts."""
    if histogram is None:
        return None
    return {"edges": [plain_number(edge) for edge in histogram.edges], "counts": list(histogram.counts)}


def _spread(numbers: NumberStatistics) -> dict[str, Any]:
    known = {name: number_or_none(getattr(numbers, name)) for name in ("min", "max", "mean", "std")}
    return {**known, "histogram": histogram_json(numbers.histogram)}


def _numbers(values: NumberStatistics | None) -> dict[str, Any]:
    numbers = values or NumberStatistics(0)
    return {
        **_spread(numbers),
        "nan": numbers.nan,
        "inf": numbers.inf,
        "negative_inf": numbers.negative_inf,
    }


def _content(values: NumberStatistics | ByteStatistics | None) -> dict[str, Any]:
    if values is None:
        return {"count": 0, "top": [], "distinct": 0, "exact": True, "bytes": None, "images": None}
    is_exact = not values.distinct.standard_error
    strings = values if isinstance(values, ByteStatistics) else None
    images = None if strings is None else strings.images
    return {
        "count": values.count,
        "top": [_top(each) for each in values.top[:TOP]],
        "distinct": values.distinct.count,
        "exact": is_exact,
        "bytes": None if strings is None else {"utf8": strings.utf8, **_spread(strings.lengths)},
        "images": None
        if images is None
        else {
            "formats": dict(images.formats),
            "sized": images.sized,
            "width": images.width,
            "height": images.height,
        },
    }


def _top(top: TopValue) -> dict[str, Any]:
    value = top.value
    shown = readable(value) if isinstance(value, bytes) else number_or_none(value)
    row: Mapping[str, Any] = {"value": shown, "count": top.count, "label": None}
    return {**row, "size": top.size, "literal": where_literal(value, top.size)}
