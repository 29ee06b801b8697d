"""A folder of shards of which nothing is said anywhere: splits by the names of files, features by their records."""

from __future__ import annotations

from tfrkit.folders.folder_kind import (
    FolderDescription,
    FolderListing,
    FolderSplit,
    Shard,
    SpecDecoder,
    missing_shards,
)
from tfrkit.folders.inferred_spec import inferred_spec
from tfrkit.records.record_names import parse_record_name, record_suffixes
from tfrkit.stores.shard_names import shard_sets

__all__ = ["PlainFolder"]


class PlainFolder:
    """Any folder with record files in it."""

    name = "shards"

    def recognises(self, listing: FolderListing) -> bool:
        """By the names of files: `NAME.tfrecord`, or `...tfrecord-00000-of-00008` and the like."""
        return bool(_record_names(listing))

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Put the files into sets, and look at some of their records."""
        names = _record_names(listing)
        splits: dict[str, FolderSplit] = {}
        numbered: set[str] = set()
        for found in shard_sets(names):
            split = _split_name(found.prefix)
            if found.missing_count:
                raise missing_shards(listing, split, list(found.missing()), "Copy them again.")
            chosen = [found.names[number] for number in sorted(found.names)]
            numbered.update(chosen)
            splits[split] = FolderSplit(split, tuple(Shard(listing.join(name)) for name in chosen))
        for name in sorted(set(names) - numbered):
            split = _split_name((parse_record_name(name) or (name, ""))[0])
            splits[split] = FolderSplit(split, (Shard(listing.join(name)),))
        return FolderDescription(
            listing.path, self.name, "", "", splits, SpecDecoder(inferred_spec(splits.values()))
        )


def _record_names(listing: FolderListing) -> list[str]:
    suffixes = tuple(record_suffixes())
    return sorted(name for name in listing.names if name.endswith(suffixes) or _is_numbered(name))


def _is_numbered(name: str) -> bool:
    return ".tfrecord-" in name and bool(shard_sets([name]))


def _split_name(prefix: str) -> str:
    """`mnist-train.tfrecord` -> `mnist-train`."""
    return prefix.removesuffix(".tfrecord")
