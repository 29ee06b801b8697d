"""Statistics: what the values of some records are, feature by feature.

Values only: `stats.py` reads the files, `native_statistics.py` makes these from native counts, `statistics_text.py`
prints them. What is estimated says by how much it may be wrong; an error of 0 means that it is exact.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from tfrkit import _core
from tfrkit.records import statistics_text

__all__ = [
    "ByteStatistics",
    "Distinct",
    "FeatureStatistics",
    "Histogram",
    "ImageStatistics",
    "NumberStatistics",
    "Statistics",
    "TopValue",
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
        quantiles: by per cent: the least number such that so many per cent are not greater.
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
        distinct: how many different ones, told apart by a digest of 96 bits.
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


@dataclass(frozen=True, slots=True)
class Statistics:
    """What `stats` found; `print` it, look at `.features`, or take `.to_dict()`.

    Attributes:
        records: how many records were counted.
        examples: how many of them are Examples.
        sequence_examples: how many are SequenceExamples.
        files: in which files they are.
        sampled: whether these are only some of the records there.
        features: by name, sorted: of Examples, and of the context of SequenceExamples.
        feature_lists: the same for the lists of SequenceExamples.
        not_followed: features that were passed over, as there are too many names.
        skipped: damages that were passed over.
        native: the counts themselves, for `merge`.
        top: how many frequent values were asked for.
    """

    records: int
    examples: int
    sequence_examples: int
    files: tuple[str, ...]
    sampled: bool
    features: Mapping[str, FeatureStatistics]
    feature_lists: Mapping[str, FeatureStatistics]
    not_followed: int = 0
    skipped: int = 0
    native: _core.Statistics | None = field(default=None, repr=False, compare=False)
    top: int = field(default=10, repr=False, compare=False)

    def merge(self, *others: Statistics) -> Statistics:
        """Put the statistics of several parts of some data together.

        Counts, sums, least and greatest, and everything that is exact are what they would be if all had been counted at
        once. Estimates keep their bounds.

        Raises:
            ValueError: these statistics were made by `merge` from none, or come from elsewhere than `stats`.

        >>> import tfrkit
        >>> for name, numbers in (("a.tfrecord", [1, 2]), ("b.tfrecord", [3])):
        ...     with tfrkit.TFRecordWriter(name) as writer:
        ...         for number in numbers:
        ...             writer.write_example({"n": number})
        >>> both = tfrkit.stats("a.tfrecord").merge(tfrkit.stats("b.tfrecord"))
        >>> both == tfrkit.stats(["a.tfrecord", "b.tfrecord"])
        True
        """
        from tfrkit.records.native_statistics import Gathered, make_statistics

        native = _core.Statistics(None)
        parts = (self, *others)
        for part in parts:
            if part.native is None:
                raise ValueError("expected statistics that stats() gave, which know what they were made from")
            native.merge(part.native)
        gathered = Gathered(
            tuple(dict.fromkeys(file for part in parts for file in part.files)),
            any(part.sampled for part in parts),
            sum(part.skipped for part in parts),
        )
        return make_statistics(native, gathered, max(part.top for part in parts))

    def to_dict(self) -> dict[str, Any]:
        """Give all of it as plain lists and dicts that `json` can write.

        Bytes become text: UTF-8, or with every other byte as backslash, x and two digits; `size` tells if it is all.
        """
        return {
            "records": self.records,
            "examples": self.examples,
            "sequence_examples": self.sequence_examples,
            "other_records": self.records - self.examples - self.sequence_examples,
            "sampled": self.sampled,
            "files": list(self.files),
            "features": {name: _feature(feature) for name, feature in self.features.items()},
            "feature_lists": {name: _feature(feature) for name, feature in self.feature_lists.items()},
            "not_followed": self.not_followed,
            "skipped": self.skipped,
        }

    def to_text(
        self,
        *,
        top: int = 10,
        details: bool = False,
        label_names: Sequence[str] | None = None,
        blocks: bool = True,
    ) -> str:
        """Give it as tables for people.

        Args:
            top: how many values to show of each label, and in the details.
            details: whether to show quantiles, frequent values and a histogram of each feature.
            label_names: names of labels that are numbers from 0.
            blocks: whether to draw with block characters; else with ASCII.
        """
        return statistics_text.text(
            self, statistics_text.Style(top=top, details=details, label_names=label_names, blocks=blocks)
        )

    def __str__(self) -> str:
        return self.to_text()


def readable(value: bytes) -> str:
    r"""Give bytes as text: UTF-8, or with what is not as \x and digits. Pure: no I/O.

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
