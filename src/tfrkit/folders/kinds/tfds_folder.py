"""Folders that TensorFlow Datasets made: `<name>/<version>/` with dataset_info.json, features.json and shards."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, Final

from tfrkit.errors import DataLossError, NotFoundError, UnimplementedError
from tfrkit.folders.decode.stored_keys import StoredKey
from tfrkit.folders.feature_tree import (
    ArrayFeature,
    DictFeature,
    Dims,
    FeatureTree,
    ImageFeature,
    SequenceFeature,
    UnknownFeature,
)
from tfrkit.folders.folder_kind import (
    FolderDescription,
    FolderListing,
    FolderSplit,
    Shard,
    TreeDecoder,
)
from tfrkit.folders.inferred_spec import inferred_spec
from tfrkit.folders.split_shards import complete_names
from tfrkit.folders.tfds.dataset_info import (
    UNFINISHED,
    SplitInfo,
    TfdsInfo,
    read_info,
    shard_file_name,
)
from tfrkit.folders.tfds.features_json import read_features
from tfrkit.folders.tfds.json_fields import JsonFields
from tfrkit.model.specs import FixedLenFeature
from tfrkit.stores.files import is_there
from tfrkit.stores.output import SIDECAR_FOLDER

__all__ = ["TfdsFolder"]

_INFO: Final = "dataset_info.json"
_FEATURES: Final = "features.json"
_FORMAT: Final = "tfrecord"
_CYCLE: Final = 16  # shards that tfds reads in turn, and records of each
_BLOCK: Final = 16
_MOST_NUMBERS: Final = 100  # classes without names that are named by their numbers
_LABELS: Final = ".labels.txt"
_IMAGE: Final = ".image.json"


class TfdsFolder:
    """TensorFlow Datasets."""

    name = "tfds"

    def recognises(self, listing: FolderListing) -> bool:
        """By dataset_info.json, which has a name and splits, or the mark of what was not written to its end."""
        if not listing.has(_INFO):
            return SIDECAR_FOLDER in listing.names and is_there(listing.join(UNFINISHED))
        value = listing.json(_INFO)
        if not isinstance(value, dict) or isinstance(value.get("splits"), dict):  # as Hugging Face has them
            return False
        return "splits" in value or "name" in value

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Read its JSON files, and see that the shards are there."""
        if not listing.has(_INFO):
            raise NotFoundError(
                f"{listing.path}; there is no {_INFO}: the data set was not written to its end. Write it again, with "
                f"overwrite=True. If the shards are of something else by now, delete {UNFINISHED!r}.",
                path=listing.path,
            )
        info = read_info(listing.json(_INFO), listing.join(_INFO))
        splits = {each.name: _split(listing, info, each) for each in info.splits}
        if not splits:
            raise NotFoundError(
                f"{listing.join(_INFO)}; it names no splits: the data set was not built to its end. Build it again.",
                path=listing.join(_INFO),
            )
        tree = _tree(listing, splits)
        return FolderDescription(
            listing.path,
            self.name,
            f"{info.name}/{info.config}" if info.config else info.name,
            info.version,
            splits,
            TreeDecoder(tree),
            info.description,
            cycle=1 if info.keeps_order else _CYCLE,
            block=_BLOCK,
        )


def _split(listing: FolderListing, info: TfdsInfo, split: SplitInfo) -> FolderSplit:
    """Return a split with its shards.

    Raises:
        NotFoundError: shards are missing.
        DataLossError: they have one name.
        UnimplementedError: they are not TFRecord files.
    """
    count = split.shards or _count_shards(listing, info, split)
    info_path = listing.join(_INFO)

    def name_of(number: int) -> str:
        return shard_file_name(split.template, info.name, split.name, _FORMAT, number, count, info_path)

    if count > 1 and name_of(0) == name_of(1):
        raise DataLossError(
            f"{info_path}; filepathTemplate {split.template!r} gives the {count:,} shards of {split.name!r} one name.",
            path=info_path,
        )
    advice = (
        f"{_INFO if split.shards else 'The name of another'} says that there are {count:,}. Copy them again."
    )
    try:
        names = complete_names(listing, split.name, name_of, count, advice)
    except NotFoundError:
        if name_of(0) in listing.names or not info.file_formats or _FORMAT in info.file_formats:
            raise
        raise UnimplementedError(
            f"{listing.path}; its records are {info.file_formats[0]} files, which tfrkit does not read. Convert them "
            "with tfds: tfds convert_format --out_file_format=tfrecord.",
            path=listing.path,
        ) from None
    lengths = split.lengths or (None,) * count
    return FolderSplit(
        split.name,
        tuple(Shard(listing.join(name), length) for name, length in zip(names, lengths, strict=True)),
    )


def _count_shards(listing: FolderListing, info: TfdsInfo, split: SplitInfo) -> int:
    """Return how many shards a split has whose number an old version did not say."""
    begin = re.escape(f"{info.name}-{split.name}.{_FORMAT}-")
    pattern = re.compile(f"{begin}[0-9]{{5,}}-of-([0-9]{{5,18}})")
    counts = {int(found[1]) for name in listing.names if (found := pattern.fullmatch(name))}
    if len(counts) != 1:
        raise NotFoundError(
            f"{listing.path}; {_INFO} does not say how many shards the split {split.name!r} has, and "
            f"{'none is' if not counts else 'several sets are'} there. Build the data set again.",
            path=listing.path,
        )
    return counts.pop()


def _tree(listing: FolderListing, splits: Mapping[str, FolderSplit]) -> FeatureTree:
    if not listing.has(_FEATURES):
        return _inferred_tree(listing, splits)

    def names(key: str, count: int) -> tuple[str, ...]:
        return _class_names(listing, key, count)

    tree = read_features(listing.json(_FEATURES), listing.join(_FEATURES), names)
    unknown = sorted(_unknown(tree, ""))
    if not unknown:
        return tree
    warnings.warn(
        f"{listing.join(_FEATURES)}; features of classes that are not known: "
        f"{', '.join(f'{key!r} ({kind})' for key, kind in unknown)}. Their values are returned as they are stored.",
        stacklevel=2,
    )
    return _resolved(tree, "", (), inferred_spec(splits.values()) or {})


def _class_names(listing: FolderListing, key: str, count: int) -> tuple[str, ...]:
    """Return the names of classes: those of the file beside the shards, else their numbers."""
    *parents, last = key.split("/")
    candidates = ["-".join([*parents, last]), key.replace("/", ".")]
    for name in dict.fromkeys(candidates):
        if found := listing.lines(f"{name}{_LABELS}"):
            return found
    return tuple(str(number) for number in range(count)) if count <= _MOST_NUMBERS else ()


def _unknown(tree: FeatureTree, key: str) -> list[tuple[str, str]]:
    if isinstance(tree, DictFeature):
        parts = ((f"{key}/{name}" if key else name, each) for name, each in tree.features.items())
        return [found for name, each in parts for found in _unknown(each, name)]
    if isinstance(tree, SequenceFeature):
        return _unknown(tree.feature, key)
    return [(key, tree.kind)] if isinstance(tree, UnknownFeature) else []


def _resolved(
    tree: FeatureTree, key: str, levels: tuple[int | None, ...], stored: Mapping[str, Any]
) -> FeatureTree:
    """Return a tree in which unknown features are what the records hold under their keys."""
    if isinstance(tree, DictFeature):
        parts = {
            name: _resolved(each, f"{key}/{name}" if key else name, levels, stored)
            for name, each in tree.features.items()
        }
        return replace(tree, features=parts)
    if isinstance(tree, SequenceFeature):
        return replace(tree, feature=_resolved(tree.feature, key, (*levels, tree.length), stored))
    if not isinstance(tree, UnknownFeature):
        return tree
    if len(levels) > 1:
        found = stored.get(
            next(iter(StoredKey(key, "bytes", (), levels).spec())).rpartition("/")[0] + "/ragged_flat_values"
        )
        return _stored_feature(found, tree.kind, sequences=len(levels))
    if key in stored:
        return _stored_feature(stored[key], tree.kind, sequences=len(levels))
    inner = {
        name.removeprefix(f"{key}/"): each for name, each in stored.items() if name.startswith(f"{key}/")
    }
    return DictFeature(
        {name: _stored_feature(each, tree.kind, sequences=len(levels)) for name, each in inner.items()},
        tree.kind,
    )


def _stored_feature(spec: Any, kind: str, *, sequences: int = 0) -> ArrayFeature:
    """Return the feature of values as they are stored, by an inferred spec; inside sequences single values."""
    dtype = getattr(spec, "dtype", "bytes")
    shape: Dims = ()
    if not sequences:
        shape = tuple(spec.shape) if isinstance(spec, FixedLenFeature) else (None,)
    return ArrayFeature("string" if dtype == "bytes" else str(dtype), shape, kind=f"{kind} (as stored)")


def _inferred_tree(listing: FolderListing, splits: Mapping[str, FolderSplit]) -> FeatureTree:
    """Return the tree of a folder of an old version, which has no features.json: by its first records."""
    tree: dict[str, FeatureTree] = {}
    for key, spec in sorted((inferred_spec(splits.values()) or {}).items()):
        feature = _stored_feature(spec, "Tensor")
        image = f"{key.replace('/', '.')}{_IMAGE}"
        if listing.has(image):
            fields = JsonFields(listing.json(image), listing.join(image), key)
            tree[key] = ImageFeature(fields.dims("shape") or (None, None, 3))
        elif names := listing.lines(f"{key.replace('/', '-')}{_LABELS}"):
            tree[key] = replace(feature, kind="ClassLabel", class_names=names)
        else:
            tree[key] = replace(feature, kind="Tensor")
    return DictFeature(tree)
