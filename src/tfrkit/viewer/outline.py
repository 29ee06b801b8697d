"""Outline: which features the first records have, and what each one is to the page: an image, a label, boxes, text.

A guess from some records and from names, which decides how values are drawn and never what they are. Pure: no I/O.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np

from tfrkit.model.block import Block
from tfrkit.parsing.example_values import make_example, make_sequence_example
from tfrkit.records.describe.choose_records import Chosen
from tfrkit.records.describe.inspect import inspect_blocks
from tfrkit.records.describe.schema import FeatureSummary, Schema
from tfrkit.records.describe.shown_values import names_of
from tfrkit.records.read.decoded_message import MessageType

__all__ = ["Feature", "Outline", "as_examples", "make_outline"]

MOST_FEATURES: Final = 2000  # that the page is told of
_MOST_NAMES: Final = 20_000  # of those beyond
_SAMPLE_BYTES: Final = 8 << 20
_SAMPLE_RECORDS: Final = 200
_LABEL: Final = re.compile(r"(^|[/_.-])(label|labels|class|category|target|cls|y)([/_.-]|$)", re.IGNORECASE)
_SIDES: Final = ("ymin", "xmin", "ymax", "xmax")
_PACKED: Final = re.compile(r"(^|[/_.-])(bbox|bboxes|boxes|box)$", re.IGNORECASE)
_FEW_BYTES: Final = 64  # of a label that is text
_KINDS: Final = {"float32": "float"}  # as the page calls them


@dataclass(frozen=True, slots=True)
class Feature:
    """One feature as the page gets it.

    Attributes:
        name: its key.
        list: "context", or "steps" for a feature list.
        kind: "bytes", "float" or "int64"; "mixed" of several; None without one.
        role: what it is drawn as.
        length: least and greatest number of values; of a feature list, of steps.
        records: in how many records of the sample it is.
        looks_like: what its bytes look like, or "".
        boxes: which features are the sides of boxes, or how one has all of them.
        class_names: what its numbers stand for; nothing if that is not known.
    """

    name: str
    list: str
    kind: str | None
    role: str
    length: tuple[int, int]
    records: int
    looks_like: str = ""
    boxes: Mapping[str, str] | None = None
    class_names: Sequence[str] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON has it."""
        least, most = self.length
        found: dict[str, Any] = {
            "name": self.name,
            "list": self.list,
            "kind": self.kind,
            "role": self.role,
            "length": least if least == most else [least, most],
            "from_records": self.records,
            "looks_like": self.looks_like,
        }
        return found if self.boxes is None else {**found, "boxes": dict(self.boxes)}


@dataclass(frozen=True, slots=True)
class Outline:
    """What the first records have.

    Attributes:
        kind: "example", "sequence", "bytes", "mixed" or "empty".
        features: in the order of their names.
        records: how many were looked at.
        left: how many features there are beyond those.
        names_left: how they are called, of very many the first.
    """

    kind: str = "empty"
    features: tuple[Feature, ...] = ()
    records: int = 0
    left: int = 0
    names_left: tuple[str, ...] = ()
    _by_name: dict[str, Feature] = field(default_factory=dict, repr=False)

    def with_names(self, class_names: Mapping[str, Sequence[str]]) -> Outline:
        """Return it with what numbers stand for, by feature."""
        named = (
            replace(each, role="label", class_names=names)
            if each.kind == "int64" and (names := names_of(each.name, class_names))
            else each
            for each in self.features
        )
        features = tuple(named)
        return replace(self, features=features, _by_name={each.name: each for each in reversed(features)})

    def get(self, name: str) -> Feature | None:
        """Return a feature; None if the sample has none of this name."""
        return self._by_name.get(name)

    @property
    def value_kinds(self) -> dict[str, str]:
        """Kinds of context features as conditions know them: "" for one without, or of several."""
        names = {"float": "float32", "int64": "int64", "bytes": "bytes"}
        return {each.name: names.get(each.kind or "", "") for each in self.features if each.list == "context"}


def make_outline(payloads: Iterable[bytes | memoryview]) -> Outline:
    """Look into some records."""
    chosen: list[bytes | memoryview] = []
    size = 0
    for payload in payloads:
        chosen.append(payload)
        size += len(payload)
        if size >= _SAMPLE_BYTES or len(chosen) >= _SAMPLE_RECORDS:
            break
    if not chosen:
        return Outline()
    schema = inspect_blocks(Chosen([Block.from_records(chosen)], ()), threads=1)
    found = [*_features(schema.features, "context"), *_features(schema.feature_lists, "steps")]
    found = _with_boxes(_with_names(found))
    kept = tuple(found[:MOST_FEATURES])
    left = len(found) - len(kept) + schema.not_followed
    others = tuple(each.name for each in found[MOST_FEATURES:] if each.list == "context")[:_MOST_NAMES]
    by_name = {each.name: each for each in reversed(kept)}
    return Outline(_kind(schema), kept, schema.records, left, others, by_name)


def as_examples(payloads: Iterable[bytes | memoryview], message: MessageType) -> Iterator[bytes]:
    """Yield messages of a type as Examples with their fields, near enough to be looked into."""
    for payload in payloads:
        (record,) = message.decode(Block.from_records([payload]), None)
        if record.data is not None:
            yield record.data
            continue
        features = {name: _near(value) for name, value in record.features.items()}
        lists = {name: list(map(_near, steps)) for name, steps in (record.lists or {}).items()}
        made = make_sequence_example(features, lists) if lists else make_example(features)
        yield made.SerializeToString()


def _near(value: Any) -> Any:
    """Return values as a feature has them: floats and integers of one size."""
    if isinstance(value, list):
        return value
    with np.errstate(over="ignore"):
        return value.astype(np.float32 if value.dtype.kind == "f" else np.int64)


def role_of(name: str, kind: str | None, looks_like: str, longest: int, longest_bytes: int = 0) -> str:
    """Say what a feature is drawn as.

    >>> role_of("image", "bytes", "JPEG image 500x375", 1), role_of("y", "int64", "", 1), role_of("x", "float", "", 9)
    ('image', 'label', 'numbers')
    """
    is_label = _LABEL.search(name) is not None
    if kind == "bytes":
        if " image" in looks_like and "SVG" not in looks_like:
            return "image"
        if "audio" in looks_like:
            return "audio"
        if looks_like == "JSON":
            return "json"
        if looks_like == "UTF-8 text":
            return "label" if is_label and longest_bytes <= _FEW_BYTES else "text"
        return "bytes"
    if kind == "int64" and is_label:
        return "label"
    return "number" if longest <= 1 else "numbers"


def _features(table: Mapping[str, FeatureSummary], where: str) -> list[Feature]:
    return [_feature(summary, where) for summary in table.values()]


def _feature(summary: FeatureSummary, where: str) -> Feature:
    kind = _KINDS.get(summary.kind or "", summary.kind)
    sizes = summary.kinds["bytes"].range if kind == "bytes" else None
    role = role_of(summary.name, kind, summary.looks_like, summary.counts.max, int(sizes[1]) if sizes else 0)
    counts = summary.counts if summary.steps is None else summary.steps
    least = 0 if summary.unset and summary.steps is None else counts.min
    return Feature(summary.name, where, kind, role, (least, counts.max), summary.records, summary.looks_like)


def _with_names(features: list[Feature]) -> list[Feature]:
    """Find texts that say in words what a label beside them says as a number: `image/text` beside `image/label`."""
    labels = {
        each.name.removesuffix("label") for each in features if each.role == "label" and each.kind == "int64"
    }
    return [
        replace(each, role="label")
        if each.role == "text" and each.name.removesuffix("text") in labels
        else each
        for each in features
    ]


def _with_boxes(features: list[Feature]) -> list[Feature]:
    """Find features that are sides of boxes, or boxes of four numbers each."""
    names = {each.name for each in features if each.kind == "float" and each.list == "context"}
    found = []
    for each in features:
        boxes: dict[str, str] | None = None
        if each.name in names:
            stem = each.name[: -len("ymin")]
            sides = {side: stem + side for side in _SIDES}
            if each.name.endswith(_SIDES) and names.issuperset(sides.values()):
                boxes = sides
            elif _PACKED.search(each.name) and each.length[1] and all(n % 4 == 0 for n in each.length):
                boxes = {"packed": each.name, "order": "yxyx"}
        if boxes is not None:
            each = replace(each, role="boxes", boxes=boxes)  # noqa: PLW2901  # the same with its boxes
        found.append(each)
    return found


def _kind(schema: Schema) -> str:
    others = schema.records - schema.examples - schema.sequence_examples
    counts = {"example": schema.examples, "sequence": schema.sequence_examples, "bytes": others}
    there = [kind for kind, count in counts.items() if count]
    return there[0] if len(there) == 1 else "mixed"
