"""What the values of one feature are: counts, and estimates with their errors.

Values only: `native_statistics.py` makes these from native counts, `statistics_text.py` prints them. What is estimated
says by how much it may be wrong; an error of 0 means that it is exact.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

__all__ = [
    "ByteStatistics",
    "Distinct",
    "FeatureStatistics",
    "Histogram",
    "ImageStatistics",
    "NumberStatistics",
    "TopValue",
    "readable",
]

Value = int | float | bytes | None


@dataclass(frozen=True, slots=True)
class Distinct:
    """How many different values there are.

    Attributes:
        count: the number; an estimate if `standard_error` is not 0.
        standard_error: relative: two of three estimates are nearer than this, 999 of 1,000 nearer than 3.3 times this.
    """

    count: int
    standard_error: float = 0.0


@dataclass(frozen=True, slots=True)
class TopValue:
    """A frequent value.

    Attributes:
        value: a number, or bytes: the beginning of them if they are more than 250; None if they were not kept.
        count: how often it occurs; beyond the limit of exact counts it may be up to `top_error` more.
        size: of bytes: how many there are.
    """

    value: Value
    count: int
    size: int | None = None


@dataclass(frozen=True, slots=True)
class Histogram:
    """Numbers in bins between edges; a bin has its lower edge, the last one both.

    The first and the last bin are wider than the others if few numbers lie far off.
    """

    edges: tuple[float, ...]
    counts: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class NumberStatistics:
    """Many numbers. Floats that are no finite numbers are counted apart, and nowhere else.

    Attributes:
        count: how many there are.
        min: the least.
        max: the greatest.
        mean: exact, then rounded once. None without numbers, like `min`, `max` and `std`.
        std: standard deviation over all of them (divided by count), from an exact variance.
        quantiles: by per cent: the least number such that this many per cent are not greater.
        rank_error: by which part of `count` the rank of a quantile may be wrong at most.
        distinct: how many different ones.
        top: the most frequent, of equals the least first.
        top_error: by how much the counts of `top` may be too low at most.
        histogram: drawn from exact counts, or from what gives the quantiles.
        nan: how many are NaN.
        inf: how many are infinite.
        negative_inf: how many are infinite and negative.
    """

    count: int
    min: float | None = None
    max: float | None = None
    mean: float | None = None
    std: float | None = None
    quantiles: Mapping[int, float] = field(default_factory=dict)
    rank_error: float = 0.0
    distinct: Distinct = field(default_factory=lambda: Distinct(0))
    top: tuple[TopValue, ...] = ()
    top_error: int = 0
    histogram: Histogram | None = None
    nan: int = 0
    inf: int = 0
    negative_inf: int = 0


@dataclass(frozen=True, slots=True)
class ImageStatistics:
    """Values that begin like an image file.

    Attributes:
        formats: how many by format: JPEG, PNG, GIF, WebP, BMP.
        sized: of how many the header says the size.
        width: least and greatest of these.
        height: least and greatest of these.
    """

    formats: Mapping[str, int]
    sized: int
    width: tuple[int, int] | None
    height: tuple[int, int] | None


@dataclass(frozen=True, slots=True)
class ByteStatistics:
    """Many byte strings.

    Attributes:
        count: how many there are.
        lengths: how long they are.
        utf8: how many are UTF-8, the empty ones too.
        images: what is an image, if any is.
        distinct: how many different ones, by a digest of 96 bits.
        top: the most frequent, of equals the first in order.
        top_error: by how much the counts of `top` may be too low at most.
    """

    count: int
    lengths: NumberStatistics
    utf8: int
    images: ImageStatistics | None
    distinct: Distinct
    top: tuple[TopValue, ...]
    top_error: int = 0


@dataclass(frozen=True, slots=True)
class FeatureStatistics:
    """One feature, or one feature list of SequenceExamples.

    Attributes:
        name: its key.
        present: how many records have it.
        absent: how many Examples and SequenceExamples have it not.
        empty: Features (of a list: steps) that have a kind and no value.
        unset: Features (of a list: steps) without a kind.
        lengths: how many values the Features (of a list: the steps) with a kind have.
        steps: of a list: how many steps it has; None for a feature.
        records: how many records have a kind, by kind; more than one kind is a conflict.
        int64: the values, if there are any of this kind.
        float32: the same.
        bytes: the same.
        labels: whether it looks like a label: one value each, few different ones.
    """

    name: str
    present: int
    absent: int
    empty: int
    unset: int
    lengths: NumberStatistics
    steps: NumberStatistics | None
    records: Mapping[str, int]
    int64: NumberStatistics | None = None
    float32: NumberStatistics | None = None
    bytes: ByteStatistics | None = None
    labels: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain lists and dicts; see `Statistics.to_dict`."""
        return _feature(self)


def readable(value: bytes) -> str:
    r"""Return bytes as text: UTF-8, or with what is not as \x and digits. Pure: no I/O.

    >>> readable("süß".encode()), readable(b"\xff\xd8a")
    ('süß', '\\xff\\xd8a')
    """
    return value.decode(errors="backslashreplace")


def _feature(feature: FeatureStatistics) -> dict[str, Any]:
    kinds: dict[str, Any] = {}
    for name, numbers in (("int64", feature.int64), ("float32", feature.float32)):
        if numbers is not None:
            kinds[name] = {"records": feature.records[name], **_numbers(numbers)}
            if name == "int64":
                for special in ("nan", "inf", "negative_inf"):
                    del kinds[name][special]
    if feature.bytes is not None:
        kinds["bytes"] = {"records": feature.records["bytes"], **_bytes(feature.bytes)}
    result = {
        "present": feature.present,
        "absent": feature.absent,
        "empty": feature.empty,
        "unset": feature.unset,
        "lengths": _lengths(feature.lengths),
        "kinds": kinds,
        "labels": feature.labels,
    }
    return result if feature.steps is None else {"steps": _lengths(feature.steps), **result}


def _lengths(numbers: NumberStatistics) -> dict[str, Any]:
    kept = ("count", "min", "max", "mean", "std", "quantiles", "rank_error", "distinct", "top", "top_error")
    plain = _numbers(numbers)
    return {name: plain[name] for name in kept}


def _numbers(numbers: NumberStatistics) -> dict[str, Any]:
    histogram = numbers.histogram
    return {
        "count": numbers.count,
        "min": numbers.min,
        "max": numbers.max,
        "mean": numbers.mean,
        "std": numbers.std,
        "quantiles": {f"{percent}%": value for percent, value in numbers.quantiles.items()},
        "rank_error": numbers.rank_error,
        "distinct": _distinct(numbers.distinct),
        "top": [{"value": top.value, "count": top.count} for top in numbers.top],
        "top_error": numbers.top_error,
        "histogram": None
        if histogram is None
        else {"edges": list(histogram.edges), "counts": list(histogram.counts)},
        "nan": numbers.nan,
        "inf": numbers.inf,
        "negative_inf": numbers.negative_inf,
    }


def _distinct(distinct: Distinct) -> dict[str, Any]:
    return {"count": distinct.count, "standard_error": distinct.standard_error}


def _bytes(strings: ByteStatistics) -> dict[str, Any]:
    images = strings.images
    return {
        "count": strings.count,
        "lengths": _lengths(strings.lengths),
        "utf8": strings.utf8,
        "images": None
        if images is None
        else {
            "formats": dict(images.formats),
            "sized": images.sized,
            "width": None if images.width is None else list(images.width),
            "height": None if images.height is None else list(images.height),
        },
        "distinct": _distinct(strings.distinct),
        "top": [
            {
                "value": readable(top.value) if isinstance(top.value, bytes) else None,
                "size": top.size,
                "count": top.count,
            }
            for top in strings.top
        ],
        "top_error": strings.top_error,
    }
