"""Statistics: what the values of some records are, feature by feature.

`stats.py` reads the files, `native_statistics.py` has what becomes of native counts, `statistics_text.py` prints.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tfrkit import _core
from tfrkit.records.describe import statistics_text
from tfrkit.records.describe.feature_statistics import FeatureStatistics
from tfrkit.records.describe.native_statistics import make_features
from tfrkit.records.describe.shown_values import LabelNames

__all__ = ["Statistics"]


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

    @classmethod
    def of(
        cls, native: _core.Statistics, files: tuple[str, ...], *, sampled: bool, skipped: int, top: int
    ) -> Statistics:
        """Make the report of native counts, which it keeps for `merge`."""
        examples, sequences, others, not_followed = native.records()
        return cls(
            records=examples + sequences + others,
            examples=examples,
            sequence_examples=sequences,
            files=files,
            sampled=sampled,
            features=make_features(native, top, lists=False),
            feature_lists=make_features(native, top, lists=True),
            not_followed=not_followed,
            skipped=skipped,
            native=native,
            top=top,
        )

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
        native = _core.Statistics(None)
        parts = (self, *others)
        for part in parts:
            if part.native is None:
                raise ValueError(
                    "expected statistics returned by stats(), which know what they were made from"
                )
            native.merge(part.native)
        return Statistics.of(
            native,
            tuple(dict.fromkeys(file for part in parts for file in part.files)),
            sampled=any(part.sampled for part in parts),
            skipped=sum(part.skipped for part in parts),
            top=max(part.top for part in parts),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return all of it as plain lists and dicts that `json` can write.

        Bytes become text: UTF-8, or with every other byte as backslash, x and two digits; `size` tells if it is all.
        """
        return {
            "records": self.records,
            "examples": self.examples,
            "sequence_examples": self.sequence_examples,
            "other_records": self.records - self.examples - self.sequence_examples,
            "sampled": self.sampled,
            "files": list(self.files),
            "features": {name: feature.to_dict() for name, feature in self.features.items()},
            "feature_lists": {name: feature.to_dict() for name, feature in self.feature_lists.items()},
            "not_followed": self.not_followed,
            "skipped": self.skipped,
        }

    def to_text(
        self,
        *,
        top: int = 10,
        details: bool = False,
        label_names: LabelNames = None,
        blocks: bool = True,
    ) -> str:
        """Return it as tables for people.

        Args:
            top: how many values to show of each label, and in the details.
            details: whether to show quantiles, frequent values and a histogram of each feature.
            label_names: names of labels that are numbers from 0: of all of them, or a dict of those of each feature.
            blocks: whether to draw with block characters; else with ASCII.
        """
        return statistics_text.text(
            self, statistics_text.Style(top=top, details=details, label_names=label_names, blocks=blocks)
        )

    def __str__(self) -> str:
        return self.to_text()
