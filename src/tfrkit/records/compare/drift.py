"""How far the statistics of two data sets are apart, feature by feature, and where their schemas differ. Pure: no I/O.

Each part of a drift is a distance of two distributions in [0, 1], made of what `stats` has counted: exact up to the
limits that `stats` has, and within its errors beyond.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.records.compare.diff_report import FeatureDrift, SchemaDifference
from tfrkit.records.describe.feature_statistics import ByteStatistics, FeatureStatistics, NumberStatistics
from tfrkit.records.describe.native_statistics import decode_values
from tfrkit.records.describe.statistics import Statistics

__all__ = ["feature_drifts", "schema_differences"]

TOP: Final = 1000  # frequent values to ask `stats` for
_OFTEN: Final = 2  # times that a value of a category occurs, on average
Array = npt.NDArray[Any]


def feature_drifts(a: Statistics, b: Statistics) -> tuple[FeatureDrift, ...]:
    """Return the drift of every feature and feature list, the greatest first."""
    drifts = []
    for is_list in (False, True):
        in_a, in_b = (each.feature_lists if is_list else each.features for each in (a, b))
        places_a, places_b = (_places(each, is_list) for each in (a, b))
        for name in sorted({*in_a, *in_b}):
            one, other = in_a.get(name), in_b.get(name)
            parts = {"presence": abs(_presence(one, a) - _presence(other, b))}
            if one is not None and other is not None:
                known = (
                    _known(each, places[name], is_list) for each, places in ((a, places_a), (b, places_b))
                )
                parts |= _parts(one, other, *known)
            parts = {part: round(distance, 12) for part, distance in parts.items()}  # 0.1 is not a bit more
            by = max(parts, key=lambda part: parts[part])
            drifts.append(FeatureDrift(name, is_list, parts[by], by if parts[by] else "", parts, one, other))
    return tuple(sorted(drifts, key=lambda each: -each.drift))


def _places(statistics: Statistics, is_list: bool) -> dict[str, int]:
    native = statistics.native
    return {} if native is None else {name: place for place, name in enumerate(native.names(is_list))}


def _known(statistics: Statistics, place: int, is_list: bool) -> dict[str, Any]:
    assert statistics.native is not None  # it comes from `stats`
    return statistics.native.feature(place, is_list, 0)


def _presence(feature: FeatureStatistics | None, statistics: Statistics) -> float:
    readable = statistics.examples + statistics.sequence_examples
    return 0.0 if feature is None or not readable else feature.present / readable


def _parts(
    a: FeatureStatistics, b: FeatureStatistics, known_a: dict[str, Any], known_b: dict[str, Any]
) -> dict[str, float]:
    parts = {
        "kind": _variation(_kinds(a), _kinds(b)),
        "lengths": _distance(known_a["counts"], known_b["counts"]),
    }
    if a.steps is not None:
        parts["steps"] = _distance(known_a["steps"], known_b["steps"])
    kinds_a, kinds_b = known_a["kinds"], known_b["kinds"]
    values = [0.0]
    for kind, one, other in ((_core.INT64, a.int64, b.int64), (_core.FLOAT, a.float32, b.float32)):
        if one is not None and other is not None:
            if (a.labels or b.labels) and _has_all(one) and _has_all(other):
                values.append(_variation(_shares(one), _shares(other)))
            else:
                values.append(_number_distance(kinds_a[kind], kinds_b[kind], floats=kind == _core.FLOAT))
    if a.bytes is not None and b.bytes is not None:
        strings = kinds_a[_core.BYTES]["strings"], kinds_b[_core.BYTES]["strings"]
        parts["sizes"] = _distance(strings[0]["lengths"], strings[1]["lengths"])
        if _has_all(a.bytes) and _has_all(b.bytes) and (_is_repeated(a.bytes) or _is_repeated(b.bytes)):
            values.append(_variation(_shares(a.bytes), _shares(b.bytes)))
    return {"values": max(values), **parts}


# -- categories: the total variation distance --------------------------------------------------------------------------


def _kinds(feature: FeatureStatistics) -> dict[Any, float]:
    counts = dict(feature.records)
    if feature.unset and not counts:
        counts["unset"] = feature.unset
    total = sum(counts.values())
    return {kind: count / total for kind, count in counts.items()} if total else {}


def _has_all(values: NumberStatistics | ByteStatistics) -> bool:
    """Tell whether all different values are among the frequent ones, with exact counts."""
    known = all(top.value is not None for top in values.top)
    return known and not values.distinct.standard_error and values.distinct.count == len(values.top)


def _is_repeated(values: ByteStatistics) -> bool:
    return values.count >= _OFTEN * values.distinct.count


def _shares(values: NumberStatistics | ByteStatistics) -> dict[Any, float]:
    return {(top.value, top.size): top.count / values.count for top in values.top}


def _variation(a: Mapping[Any, float], b: Mapping[Any, float]) -> float:
    """Return half the sum of all differences of shares; 0 if there is nothing on a side."""
    if not a or not b:
        return 0.0
    # In an order that does not depend on hashes, so that the sum is the same every time.
    names = [*a, *(name for name in b if name not in a)]
    return min(1.0, sum(abs(a.get(name, 0.0) - b.get(name, 0.0)) for name in names) / 2)


# -- numbers: the Kolmogorov-Smirnov distance --------------------------------------------------------------------------


def _distance(a: dict[str, Any], b: dict[str, Any]) -> float:
    return _greatest_gap(a["values"], b["values"], (0, 0))


def _number_distance(a: dict[str, Any], b: dict[str, Any], *, floats: bool) -> float:
    if not floats:
        return _distance(a["numbers"], b["numbers"])
    sides = []
    for each in (a, b):
        values, weights = decode_values(each["numbers"]["values"], floats=True)
        _, inf, negative_inf = each["special"]
        sides.append((np.append(values, [-np.inf, np.inf]), np.append(weights, [negative_inf, inf])))
    # NaN has no place among numbers: its share is what the greatest number does not reach.
    return _greatest_gap(sides[0], sides[1], (a["special"][0], b["special"][0]))


def _greatest_gap(a: tuple[Array, Array], b: tuple[Array, Array], beyond: tuple[int, int]) -> float:
    """Return the greatest difference of the shares of numbers that are not greater than x, over all x."""
    totals = [int(weights.sum()) + more for (_, weights), more in zip((a, b), beyond, strict=True)]
    if not all(totals):
        return 0.0
    places = np.unique(np.concatenate([a[0], b[0]]))
    shares = []
    for (values, weights), total in zip((a, b), totals, strict=True):
        order = np.argsort(values, kind="stable")
        ranks = np.append(0, np.cumsum(weights[order]))
        shares.append(ranks[np.searchsorted(values[order], places, side="right")] / total)
    return float(np.abs(shares[0] - shares[1]).max(initial=0.0))


# -- schemas -----------------------------------------------------------------------------------------------------------


def schema_differences(a: Statistics, b: Statistics) -> tuple[SchemaDifference, ...]:
    """Return where a spec that reads the one does not fit the other: records, names, kinds, numbers of values."""
    found = list(_record_differences(a, b))
    for is_list in (False, True):
        in_a, in_b = (each.feature_lists if is_list else each.features for each in (a, b))
        for name in sorted({*in_a, *in_b}):
            rows = [
                {"feature": "absent"} if each is None else _signature(each, statistics)
                for each, statistics in ((in_a.get(name), a), (in_b.get(name), b))
            ]
            if name not in in_a or name not in in_b:
                rows = [row if "kind" not in row else {"feature": _in_words(row)} for row in rows]
            found += [
                SchemaDifference(name, is_list, what, rows[0][what], rows[1][what])
                for what in rows[0]
                if rows[0][what] != rows[1][what]
            ]
    return tuple(found)


def _record_differences(a: Statistics, b: Statistics) -> Iterator[SchemaDifference]:
    one, other = map(_record_kinds, (a, b))
    if a.records and b.records and one != other:
        yield SchemaDifference("", False, "records", one, other)


def _record_kinds(found: Statistics) -> str:
    others = found.records - found.examples - found.sequence_examples
    counts = {"Example": found.examples, "SequenceExample": found.sequence_examples, "other": others}
    return " and ".join(kind for kind, count in counts.items() if count)


def _signature(feature: FeatureStatistics, statistics: Statistics) -> dict[str, str]:
    lengths = feature.lengths
    regular = lengths.count and lengths.min == lengths.max and not feature.unset
    everywhere = feature.present == statistics.examples + statistics.sequence_examples
    return {
        "kind": " and ".join(feature.records) or "none",
        "values": ("one" if lengths.max == 1 else f"{lengths.max}") if regular else "lists",
        "present": "always" if everywhere else "not always",
    }


def _in_words(row: Mapping[str, str]) -> str:
    values = {"one": "one value", "lists": "lists"}.get(row["values"], f"{row['values']} values")
    return f"{row['kind']}, {values}"
