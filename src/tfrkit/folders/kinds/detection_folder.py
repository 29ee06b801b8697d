"""Records of the TensorFlow Object Detection API: images with boxes, and a label map that names their classes.

The keys are those of its TfExampleDecoder. Which of them there are, and any others, is found out by some records. An
image has any number of boxes, whatever those records have.
"""

from __future__ import annotations

import re
from typing import Final

from tfrkit.errors import DataLossError, FailedPreconditionError
from tfrkit.folders.feature_tree import (
    ArrayFeature,
    DictFeature,
    Dims,
    FeatureTree,
    ImageFeature,
    SequenceFeature,
)
from tfrkit.folders.folder_kind import (
    FolderDescription,
    FolderListing,
    RecordDecoder,
    SpecDecoder,
    TreeDecoder,
)
from tfrkit.folders.inferred_spec import inferred_spec
from tfrkit.folders.proto_text import parse_proto_text
from tfrkit.folders.split_shards import loose_record_names, splits_by_name
from tfrkit.model.specs import FeatureSpec, FixedLenFeature

__all__ = ["DetectionFolder", "read_detection_labels"]

_LABEL_MAP: Final = "label_map.pbtxt"
_LABEL_MAPS: Final = re.compile(r"(?is).*label_?map.*\.pbtxt")
_IMAGE: Final = "image/encoded"
_BOXES: Final = tuple(f"image/object/bbox/{side}" for side in ("ymin", "xmin", "ymax", "xmax"))
_LABELS: Final = ("image/object/class/label", "image/class/label")
_MANY: Final = ("image/object/", "image/class/")  # begins of keys of which an image may have any number
_TEXTS: Final = (
    "image/format",
    "image/filename",
    "image/key/sha256",
    "image/source_id",
)  # b"" where they are absent
_MOST_CLASSES: Final = 100_000


class DetectionFolder:
    """A folder with a label map and record files."""

    name = "object_detection"

    def recognises(self, listing: FolderListing) -> bool:
        """By label_map.pbtxt, or another name with "label_map" or "labelmap" in it, and record files."""
        return bool(_label_maps(listing) and loose_record_names(listing.names))

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Read the label map, and look at some records.

        Raises:
            FailedPreconditionError: there are several label maps.
        """
        maps = _label_maps(listing)
        if len(maps) > 1 and _LABEL_MAP not in maps:
            raise FailedPreconditionError(
                f"{listing.path}; there are several label maps: {', '.join(map(repr, maps[:5]))}. Name the one that "
                f"holds {_LABEL_MAP}.",
                path=listing.path,
            )
        chosen = _LABEL_MAP if _LABEL_MAP in maps else maps[0]
        names = read_detection_labels(listing.read(chosen), listing.join(chosen))
        splits = splits_by_name(listing, loose_record_names(listing.names))
        stored = inferred_spec(splits.values())
        decoder: RecordDecoder = SpecDecoder(None) if stored is None else TreeDecoder(_tree(stored, names))
        return FolderDescription(listing.path, self.name, "", "", splits, decoder)


def read_detection_labels(data: bytes, path: str) -> tuple[str, ...]:
    """Return the names of classes by their ids: what a label map shows, "background" for 0 where it has none.

    Raises:
        DataLossError: it is no label map.

    >>> read_detection_labels(b'item { id: 2 name: "/m/1" display_name: "cat" }', "label_map.pbtxt")
    ('background', 'category_1', 'cat')
    """
    items = parse_proto_text(data, path).messages("item")
    if not items:
        raise DataLossError(
            f"{path}; expected a label map, with an item for each class, but got none.", path=path
        )
    names: dict[int, str] = {}
    for item in items:
        number = item.number("id", -1)
        if not 0 <= number <= _MOST_CLASSES:
            raise item.error(
                f"id: expected a number from 0 to {_MOST_CLASSES:,} but got {item.text('id') or 'none'}"
            )
        # Of two items with one id the first counts, as in the Object Detection API.
        names.setdefault(number, item.text("display_name") or item.text("name") or f"category_{number}")
    names.setdefault(0, "background")
    return tuple(names.get(number, f"category_{number}") for number in range(max(names) + 1))


def _label_maps(listing: FolderListing) -> list[str]:
    return sorted(name for name in listing.names if _LABEL_MAPS.fullmatch(name))


def _tree(stored: dict[str, FeatureSpec], names: tuple[str, ...]) -> FeatureTree:
    """Return the features that records have, and those of boxes, which some records may only have none of."""
    features: dict[str, FeatureTree] = {key: _feature(key, spec) for key, spec in sorted(stored.items())}
    if _IMAGE in features:
        boxes = {key: ArrayFeature("float32", (None,)) for key in _BOXES}
        labels: dict[str, FeatureTree] = {
            key: SequenceFeature(ArrayFeature("int64", kind="ClassLabel", class_names=names))
            for key in _LABELS
        }
        labels = {key: each for key, each in labels.items() if key in features or key == _LABELS[0]}
        features |= {_IMAGE: ImageFeature(), **boxes, **labels}
    return DictFeature(features)


def _feature(key: str, spec: FeatureSpec) -> ArrayFeature:
    dtype = getattr(spec, "dtype", "bytes")
    shape: Dims = (None,)
    if isinstance(spec, FixedLenFeature) and not key.startswith(_MANY):
        shape = tuple(spec.shape)
    if key in _TEXTS and dtype == "bytes":
        return ArrayFeature("string", optional=True)
    return ArrayFeature("string" if dtype == "bytes" else str(dtype), shape)
