"""Caches of SeqIO tasks (T5, P3): for each split info.<split>.json, stats.<split>.json and <split>.tfrecord-....

SeqIO keeps numbers of 32 bits and booleans as int64, and values without the shape: what they were is in the info.
"""

from __future__ import annotations

import re
import warnings
from typing import Final

from tfrkit.errors import DataLossError, UnimplementedError
from tfrkit.folders.feature_tree import ArrayFeature, DictFeature, FeatureTree, numpy_dtype, show_shape
from tfrkit.folders.folder_kind import FolderDescription, FolderListing, FolderSplit, Shard, TreeDecoder
from tfrkit.folders.split_shards import complete_names
from tfrkit.folders.tfds.json_fields import JsonFields

__all__ = ["SeqioFolder"]

_INFO: Final = re.compile(r"(?s)info\.(.+)\.json")
_DONE: Final = "COMPLETED"
_MOST_SHARDS: Final = 1_000_000  # names are made of the number: one that is larger is damaged


class SeqioFolder:
    """A cached task of SeqIO."""

    name = "seqio"

    def recognises(self, listing: FolderListing) -> bool:
        """By an info.<split>.json with features and a number of shards."""
        return bool(_infos(listing))

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Read the info of each split, and see that the shards are there.

        Raises:
            DataLossError: an info is damaged, or those of two splits have other features.
        """
        infos = {
            split: JsonFields(listing.json(name), listing.join(name), "info")
            for split, name in _infos(listing).items()
        }
        trees = {split: _tree(info) for split, info in infos.items()}
        first = next(iter(trees))
        for split, tree in trees.items():
            if tree != trees[first]:
                raise infos[split].error(
                    f"its features are not those of the split {first!r}. Move one of them to another folder"
                )
        splits = {split: _split(listing, split, info) for split, info in infos.items()}
        if _DONE not in listing.names:
            warnings.warn(
                f"{listing.path}; there is no file {_DONE}: perhaps the cache was not written to its end.",
                stacklevel=2,
            )
        version = infos[first].text("seqio_version")
        return FolderDescription(
            listing.path, self.name, "", version and f"seqio {version}", splits, TreeDecoder(trees[first])
        )


def _infos(listing: FolderListing) -> dict[str, str]:
    """Return the names of the files with infos by split."""
    found = {name: _INFO.fullmatch(name) for name in sorted(listing.names)}
    return {match[1]: name for name, match in found.items() if match and _is_info(listing, name)}


def _is_info(listing: FolderListing, name: str) -> bool:
    try:
        value = listing.json(name)
    except DataLossError:
        return any(each.startswith(f"{name[5:-5]}.tfrecord-") for each in listing.names)
    return isinstance(value, dict) and "features" in value and "num_shards" in value


def _split(listing: FolderListing, split: str, info: JsonFields) -> FolderSplit:
    count = info.number("num_shards")
    if not 0 < count <= _MOST_SHARDS:
        raise info.error(f"num_shards: expected 1 to {_MOST_SHARDS:,} but got {count}")
    names = complete_names(
        listing,
        split,
        lambda number: f"{split}.tfrecord-{number:05d}-of-{count:05d}",
        count,
        f"info.{split}.json says that there are {count:,}. Copy them again.",
    )
    total = _total(listing, split)
    if len(names) == 1:
        return FolderSplit(split, (Shard(listing.join(names[0]), total),))
    return FolderSplit(split, tuple(Shard(listing.join(name)) for name in names), total)


def _total(listing: FolderListing, split: str) -> int | None:
    """Return the number of examples, which older versions counted otherwise; None if it is not said."""
    name = f"stats.{split}.json"
    if not listing.has(name):
        return None
    stats = JsonFields(listing.json(name), listing.join(name), "stats")
    if "examples" not in stats:
        return None
    count = stats.number("examples")
    if count < 0:
        raise stats.error(f"examples: expected a number of examples but got {count}")
    return count


def _tree(info: JsonFields) -> FeatureTree:
    features = info.mapping("features")
    if not features:
        raise info.error("features: expected the shape and the type of each but got none")
    # Before it noted its version, SeqIO kept all integers as int64 and noted that.
    old = "seqio_version" not in info
    return DictFeature(
        {
            key: _feature(JsonFields(each, info.path, f"features.{key}"), key, old=old)
            for key, each in features.items()
        }
    )


def _feature(fields: JsonFields, key: str, *, old: bool) -> ArrayFeature:
    shape, dtype = fields.dims("shape"), fields.text("dtype")
    if None in shape[1:]:
        raise UnimplementedError(
            f"{fields.path}; feature {key!r} has the shape {show_shape(shape)}, of which only the first size may be "
            "open. Read its values with tfr.TFRecordDataset(...).parse(spec) and a tfr.RaggedFeature.",
            path=fields.path,
        )
    try:
        numpy_dtype(dtype)
    except TypeError:
        raise fields.error(f"dtype: there is no type {dtype!r}. Use a newer tfrkit") from None
    return ArrayFeature("int32" if old and dtype == "int64" else dtype, shape)
