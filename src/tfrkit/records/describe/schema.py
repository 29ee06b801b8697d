"""Schema: what was found in some files of records, and the spec that reads them.

Values only: `inspect.py` reads the files, `schema_text.py` prints.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Final, Literal

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.specs import FeatureSpec, FixedLenFeature, FixedLenSequenceFeature, VarLenFeature
from tfrkit.records.describe import schema_text

__all__ = ["Counts", "FeatureSummary", "KindSummary", "OtherRecord", "RecordPlace", "Schema"]

FORMAT: Final = "tfrkit schema 1"
RecordKind = Literal["Example", "SequenceExample", "other", "mixed", "none"]
_RECORD_KINDS: Final[tuple[RecordKind, ...]] = ("Example", "SequenceExample", "other")


@dataclass(frozen=True, slots=True)
class RecordPlace:
    """Where a record is: the file, and its number in there from 0."""

    path: str
    record: int

    def __str__(self) -> str:
        return f"record {self.record} of {self.path!r}"


@dataclass(frozen=True, slots=True)
class Counts:
    """The least, the greatest and the most frequent of many numbers.

    Attributes:
        min: the least.
        max: the greatest.
        usual: the most frequent; of several the least. Beyond 4,096 different numbers it is that of the first.
        times: how often `usual` occurred.
        total: how many numbers there were.
    """

    min: int
    max: int
    usual: int
    times: int
    total: int


@dataclass(frozen=True, slots=True)
class KindSummary:
    """One kind of value that a feature has.

    Attributes:
        records: in how many records.
        values: how many values in all of them.
        first: the first such record.
        range: least and greatest value, of floats the finite ones; of bytes, the shortest and the longest length.
        nans: floats that are NaN.
        infinities: floats that are +inf.
        negative_infinities: floats that are -inf.
        total_bytes: length of all byte strings together.
    """

    records: int
    values: int
    first: RecordPlace
    range: tuple[float, float] | None
    nans: int = 0
    infinities: int = 0
    negative_infinities: int = 0
    total_bytes: int = 0


@dataclass(frozen=True, slots=True)
class FeatureSummary:
    """What was found of one feature, or of one feature list.

    Attributes:
        name: its key.
        records: in how many records it is present.
        kinds: by "int64", "float32" and "bytes", what was found of that kind. More than one is a conflict.
        unset: how often it is present without a kind (of a feature list: steps).
        empty: how often it has a kind and no value (of a feature list: steps).
        counts: how many values it has where it has a kind (of a feature list: in a step).
        steps: of a feature list, how many steps it has.
        looks_like: what its bytes look like, such as "JPEG image 500x375" or "UTF-8 text", or "".
        examples: the beginnings of a few of its byte strings.
    """

    name: str
    records: int
    kinds: Mapping[str, KindSummary]
    unset: int
    empty: int
    counts: Counts
    steps: Counts | None = None
    looks_like: str = ""
    examples: tuple[bytes, ...] = ()

    @property
    def kind(self) -> str | None:
        """The only kind, "mixed" if there are several, None if there is none."""
        return "mixed" if len(self.kinds) > 1 else next(iter(self.kinds), None)

    def conflict(self) -> str:
        """Say in which records the feature is of which kind, if there are several, else ""."""
        if len(self.kinds) < 2:
            return ""
        uses = [f"{kind} in {use.records} (first: {use.first})" for kind, use in self.kinds.items()]
        return f"{self.name!r} is " + " and ".join(uses)

    def spec(self, records: int) -> FeatureSpec | None:
        """Return what reads the feature, given how many records there are; None if nothing can: no kind, or several."""
        if len(self.kinds) != 1:
            return None
        dtype = next(iter(self.kinds))
        regular = self.counts.min == self.counts.max > 0 and not self.unset
        shape = [] if self.counts.max == 1 else [self.counts.max]
        if self.steps is not None:
            return (
                FixedLenSequenceFeature(shape, dtype, self.records < records)
                if regular
                else VarLenFeature(dtype)
            )
        return FixedLenFeature(shape, dtype) if regular and self.records == records else VarLenFeature(dtype)


@dataclass(frozen=True, slots=True)
class OtherRecord:
    """A record that is neither an Example nor a SequenceExample.

    Attributes:
        place: where it is.
        size: its length in bytes.
        head: its beginning.
        looks_like: what it looks like, or "".
    """

    place: RecordPlace
    size: int
    head: bytes
    looks_like: str = ""

    def __str__(self) -> str:
        looks = f", which looks like {self.looks_like}" if self.looks_like else ""
        return f"{self.place} ({self.size} bytes{looks})"


@dataclass(frozen=True, slots=True)
class Schema:
    """What was found in some files.

    `str` gives a table. `to_json` and `from_json` undo each other.

    Attributes:
        records: how many records were looked at.
        data_bytes: length of all of them.
        files: the files that were looked into, in order.
        sampled: whether only some records were looked at; then `records` does not count all there are.
        examples: how many of the records are Examples.
        sequence_examples: how many are SequenceExamples: they have feature lists.
        firsts: the first record of each kind that there is.
        features: what was found of each feature (of SequenceExamples: of the context), by name.
        feature_lists: what was found of each feature list, by name.
        others: the first few records that are neither.
        not_followed: features that were left out because there are too many different names.
        skipped: damages that were passed over (`on_corrupt="skip"` or "stop").
    """

    records: int
    data_bytes: int
    files: tuple[str, ...]
    sampled: bool
    examples: int
    sequence_examples: int
    firsts: Mapping[str, RecordPlace]
    features: Mapping[str, FeatureSummary]
    feature_lists: Mapping[str, FeatureSummary]
    others: tuple[OtherRecord, ...] = ()
    not_followed: int = 0
    skipped: int = 0

    @property
    def kind(self) -> RecordKind:
        """What the records are: all the same, or "mixed", or "none" without records."""
        found = [kind for kind in _RECORD_KINDS if kind in self.firsts]
        return "mixed" if len(found) > 1 else (found or ["none"])[0]

    @property
    def conflicts(self) -> tuple[FeatureSummary, ...]:
        """Features and feature lists that have several kinds."""
        found = [*self.features.values(), *self.feature_lists.values()]
        return tuple(feature for feature in found if len(feature.kinds) > 1)

    @property
    def spec(self) -> dict[str, FeatureSpec]:
        """The spec for `parse_example`: FixedLenFeature where every record has equally many values, else VarLenFeature.

        Features with conflicting kinds, or with none, are left out. `check` says whether there are such.

        Raises:
            InvalidArgumentError: there are no Examples, or there are SequenceExamples.
        """
        if self.sequence_examples:
            first = self.firsts["SequenceExample"]
            raise InvalidArgumentError(
                f"{first} is a SequenceExample, which no single spec describes. "
                "Use context_spec and sequence_spec with parse_sequence_example.",
                path=first.path,
                record=first.record,
            )
        return self.context_spec

    @property
    def context_spec(self) -> dict[str, FeatureSpec]:
        """The spec of the context features, for `parse_sequence_example`.

        Raises:
            InvalidArgumentError: there are no Examples and no SequenceExamples.
        """
        return self._specs(self.features)

    @property
    def sequence_spec(self) -> dict[str, FeatureSpec]:
        """The spec of the feature lists: FixedLenSequenceFeature where every step has equally many values, else VarLen.

        Raises:
            InvalidArgumentError: there are no Examples and no SequenceExamples.
        """
        return self._specs(self.feature_lists)

    def check(self) -> None:
        """Raise an error unless all records can be read with the specs.

        Raises:
            InvalidArgumentError: a record is neither an Example nor a SequenceExample, or a feature has several kinds;
                the text names a record of each, the attributes one that does not fit.
        """
        if self.others:
            raise self._other_error()
        if self.conflicts:
            texts = [feature.conflict() for feature in self.conflicts[:3]]
            _, second, *_ = (use.first for use in self.conflicts[0].kinds.values())
            raise InvalidArgumentError(
                f"Data types don't match: feature {'; '.join(texts)}. No spec reads both. Write the files again with "
                "one kind, or name the features to read in a spec of your own.",
                path=second.path,
                record=second.record,
            )

    def to_json(self) -> str:
        """Return everything as JSON."""
        data = {"format": FORMAT, "kind": self.kind, **asdict(self)}
        return json.dumps(data, indent=1, default=_encode)

    @classmethod
    def from_json(cls, text: str) -> Schema:
        """Read what `to_json` wrote.

        Raises:
            ValueError: the text is something else.
        """
        try:
            data = json.loads(text)
            if not isinstance(data, dict) or data.pop("format", None) != FORMAT:
                raise ValueError("another format")
            data.pop("kind")
            data["files"] = tuple(data["files"])
            data["firsts"] = {kind: RecordPlace(**place) for kind, place in data["firsts"].items()}
            for name in ("features", "feature_lists"):
                data[name] = {key: _feature(feature) for key, feature in data[name].items()}
            data["others"] = tuple(_other(other) for other in data["others"])
            return cls(**data)
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
            raise ValueError(
                f"expected JSON with the format {FORMAT!r} but got: {error}. Was it written by Schema.to_json?"
            ) from error

    def __str__(self) -> str:
        return schema_text.table(self)

    def __repr__(self) -> str:
        return schema_text.table(self)

    def _specs(self, found: Mapping[str, FeatureSummary]) -> dict[str, FeatureSpec]:
        readable = self.examples + self.sequence_examples
        if not readable and self.others:
            raise self._other_error()
        specs = {name: feature.spec(readable) for name, feature in found.items()}
        return {name: spec for name, spec in specs.items() if spec is not None}

    def _other_error(self) -> InvalidArgumentError:
        first = self.others[0]
        return InvalidArgumentError(
            f"Could not parse example input: neither an Example nor a SequenceExample is {first}. "
            "Read such records with read_records.",
            path=first.place.path,
            record=first.place.record,
        )


# -- JSON --------------------------------------------------------------------------------------------------------------


def _encode(value: object) -> str:
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    raise TypeError(f"expected a value that JSON can hold but got {type(value).__name__}")


def _kind(data: dict[str, Any]) -> KindSummary:
    bounds = data.pop("range")
    return KindSummary(
        first=RecordPlace(**data.pop("first")), range=None if bounds is None else tuple(bounds), **data
    )


def _feature(data: dict[str, Any]) -> FeatureSummary:
    data["kinds"] = {name: _kind(kind) for name, kind in data["kinds"].items()}
    data["counts"] = Counts(**data["counts"])
    data["steps"] = None if data["steps"] is None else Counts(**data["steps"])
    data["examples"] = tuple(base64.b64decode(example) for example in data["examples"])
    return FeatureSummary(**data)


def _other(data: dict[str, Any]) -> OtherRecord:
    data["place"] = RecordPlace(**data["place"])
    data["head"] = base64.b64decode(data["head"])
    return OtherRecord(**data)
