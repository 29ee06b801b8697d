"""From native counts to `FeatureStatistics`: sums become means, counts quantiles and histograms. Pure: no I/O."""

from __future__ import annotations

import math
from collections.abc import Container, Iterator
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.records.describe.feature_statistics import (
    ByteStatistics,
    Distinct,
    FeatureStatistics,
    Histogram,
    ImageStatistics,
    NumberStatistics,
    TopValue,
)

__all__ = ["decode_values", "each_feature", "make_features"]

PERCENTS: Final = (1, 5, 25, 50, 75, 95, 99)
_BINS: Final = 20
_FAR: Final = 4  # outer numbers get a wider bin if they make the range this many times that of 98 % of them
_FLOAT_UNIT_BITS: Final = 149  # native sums of floats count in units of 2^-149
_FORMATS: Final = ("", "JPEG", "PNG", "GIF", "WebP", "BMP")
_MAX_LABELS: Final = 50  # different values that a label has; more if its name says that it is one
_MAX_NAMED_LABELS: Final = 10_000
_LABEL_NAMES: Final = ("label", "class", "category", "target")
_LABEL_RECORDS: Final = 5  # times as many records as different values

Array = npt.NDArray[Any]


def make_features(native: _core.Statistics, top: int, *, lists: bool) -> dict[str, FeatureStatistics]:
    """Make the statistics of all features, or of all feature lists, by name in order."""
    return dict(sorted(each_feature(native, top, lists=lists)))


def each_feature(
    native: _core.Statistics, top: int, *, lists: bool, names: Container[str] | None = None
) -> Iterator[tuple[str, FeatureStatistics]]:
    """Yield the statistics of features, or of feature lists, all or some of them."""
    examples, sequences, _, _ = native.records()
    # One after the other: the values of all features at once would take much memory.
    for index, name in enumerate(native.names(lists)):
        if names is None or name in names:
            yield name, _feature(name, native.feature(index, lists, top), examples + sequences, top, lists)


def _feature(name: str, known: dict[str, Any], records: int, top: int, is_list: bool) -> FeatureStatistics:
    kinds = known["kinds"]
    lengths = _numbers(known["counts"], top)
    integers = _kind_numbers(kinds.get(_core.INT64), top)
    floats = _kind_numbers(kinds.get(_core.FLOAT), top, floats=True)
    strings = _strings(kinds[_core.BYTES]["strings"], top) if _core.BYTES in kinds else None
    single = not is_list and len(kinds) == 1 and lengths.min == lengths.max == 1
    return FeatureStatistics(
        name=name,
        present=known["records"],
        absent=records - known["records"],
        empty=known["empty"],
        unset=known["unset"],
        lengths=lengths,
        steps=_numbers(known["steps"], top) if is_list else None,
        records={
            kind: kinds[number]["records"]
            for kind, number in (("int64", _core.INT64), ("float32", _core.FLOAT), ("bytes", _core.BYTES))
            if number in kinds
        },
        int64=integers,
        float32=floats,
        bytes=strings,
        labels=single and _are_labels(name, integers or strings),
    )


def _are_labels(name: str, values: NumberStatistics | ByteStatistics | None) -> bool:
    """Whether single values look like labels: few different numbers or texts, each several times."""
    if values is None or values.distinct.standard_error or values.distinct.count < 2:
        return False
    if isinstance(values, ByteStatistics) and (values.utf8 < values.count or values.images is not None):
        return False
    named = any(word in name.lower() for word in _LABEL_NAMES)
    if values.distinct.count > (_MAX_NAMED_LABELS if named else _MAX_LABELS):
        return False
    return named or values.count >= _LABEL_RECORDS * values.distinct.count


# -- numbers -----------------------------------------------------------------------------------------------------------


def _kind_numbers(known: dict[str, Any] | None, top: int, *, floats: bool = False) -> NumberStatistics | None:
    if known is None:
        return None
    return _numbers(known["numbers"], top, floats=floats, special=known["special"])


def _numbers(
    known: dict[str, Any], top: int, *, floats: bool = False, special: tuple[int, int, int] = (0, 0, 0)
) -> NumberStatistics:
    values, weights = decode_values(known["values"], floats)
    sketches = known["sketches"]
    count = int(weights.sum())
    nan, inf, negative_inf = special
    if not count:
        return NumberStatistics(0, nan=nan, inf=inf, negative_inf=negative_inf)
    order = np.argsort(values, kind="stable")
    values, weights = values[order], weights[order]
    least, greatest = values[0].item(), values[-1].item()
    distinct, rank_error, top_error = Distinct(len(values)), 0.0, 0
    frequent = values, weights
    if sketches is not None:
        ends, _ = decode_values((np.array([sketches["least"], sketches["greatest"]]), np.zeros(2)), floats)
        least, greatest = ends[0].item(), ends[1].item()
        distinct = Distinct(round(sketches["distinct"]), sketches["distinct_error"])
        rank_error, top_error = sketches["rank_error"] / count, sketches["top_error"]
        frequent = decode_values(sketches["top"], floats)
    mean, std = _mean_and_std(known["sums"], count, _FLOAT_UNIT_BITS if floats else 0)
    quantiles = _quantiles(values, weights, count)
    return NumberStatistics(
        count=count,
        min=least,
        max=greatest,
        mean=mean,
        std=std,
        quantiles=quantiles,
        rank_error=rank_error,
        distinct=distinct,
        top=_top(*frequent, top),
        top_error=top_error,
        histogram=_histogram(values, weights, least, greatest, quantiles),
        nan=nan,
        inf=inf,
        negative_inf=negative_inf,
    )


def decode_values(arrays: tuple[Array, Array], floats: bool) -> tuple[Array, Array]:
    """Return numbers and how often each occurs as arrays; floats come as their bits."""
    values, weights = arrays
    return (values.astype(np.uint32).view(np.float32) if floats else values), weights


def _mean_and_std(sums: tuple[bytes, bytes, bytes], count: int, unit_bits: int) -> tuple[float, float]:
    """The sums are exact, so the only rounding is in the division of integers, and in the root."""
    positive, negative, squares = (int.from_bytes(limbs, "little") for limbs in sums)
    total = positive - negative
    variance = (count * squares - total * total) / (count * count << 2 * unit_bits)
    return total / (count << unit_bits), math.sqrt(variance)


def _quantiles(values: Array, weights: Array, count: int) -> dict[int, float]:
    ranks = np.cumsum(weights)
    places = np.searchsorted(ranks, [max(1, -(-percent * count // 100)) for percent in PERCENTS])
    return {percent: values[place].item() for percent, place in zip(PERCENTS, places, strict=True)}


def _top(values: Array, weights: Array, top: int) -> tuple[TopValue, ...]:
    order = np.lexsort((values, -weights))[:top]
    return tuple(TopValue(values[place].item(), int(weights[place])) for place in order)


def _histogram(
    values: Array, weights: Array, least: float, greatest: float, quantiles: dict[int, float]
) -> Histogram | None:
    """Bins of equal width; a bin for each number if they are few and whole."""
    if least == greatest:
        return None
    low, high = quantiles[1], quantiles[99]
    if low == high or greatest - least <= _FAR * (high - low):
        low, high = least, greatest
    if values.dtype == np.int64 and high - low < _BINS:
        inner = [*range(int(low), int(high) + 1), int(high) + 1]
    elif values.dtype == np.int64:
        inner = sorted({int(low) + step * (int(high) - int(low)) // _BINS for step in range(_BINS + 1)})
    else:
        # Not high - low, which may be more than the greatest float32.
        inner = [low + (high / _BINS - low / _BINS) * step for step in range(_BINS)] + [high]
    edges = [min(least, inner[0]), *inner[1:-1], max(greatest, inner[-1])]
    # The places of the edges among the sorted values: no arithmetic with the values themselves.
    places = [0, *(int(np.searchsorted(values, _edge(values, edge))) for edge in edges[1:-1]), len(values)]
    totals = np.concatenate([[0], np.cumsum(weights)])
    counts = tuple(int(totals[end] - totals[start]) for start, end in pairwise(places))
    return Histogram(tuple(edges), counts)


def _edge(values: Array, edge: float) -> Any:
    """An edge in the type of the values, so that they are compared as they are."""
    return np.int64(edge) if values.dtype == np.int64 else np.float64(edge)


# -- bytes -------------------------------------------------------------------------------------------------------------


def _strings(known: dict[str, Any], top: int) -> ByteStatistics:
    if known["sketches"] is None:
        distinct, top_error = Distinct(known["distinct"]), 0
    else:
        estimate, error, top_error = known["sketches"]
        distinct = Distinct(round(estimate), error)
    return ByteStatistics(
        count=known["count"],
        lengths=_numbers(known["lengths"], top),
        utf8=known["utf8"],
        images=_images(known["formats"], known["image_sizes"]),
        distinct=distinct,
        top=tuple(
            TopValue(text, count, size if text is not None else None) for text, size, count in known["top"]
        ),
        top_error=top_error,
    )


def _images(counts: list[int], sizes: tuple[int, int, int, int, int]) -> ImageStatistics | None:
    formats = {name: count for name, count in zip(_FORMATS, counts, strict=True) if name and count}
    if not formats:
        return None
    sized, least_width, greatest_width, least_height, greatest_height = sizes
    return ImageStatistics(
        formats,
        sized,
        (least_width, greatest_width) if sized else None,
        (least_height, greatest_height) if sized else None,
    )
