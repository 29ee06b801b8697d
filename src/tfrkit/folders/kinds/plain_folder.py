"""A folder of shards of which nothing is said anywhere: splits by the names of files, features by their records."""

from __future__ import annotations

from tfrkit.folders.folder_kind import FolderDescription, FolderListing, SpecDecoder
from tfrkit.folders.inferred_spec import inferred_spec
from tfrkit.folders.split_shards import record_names, splits_by_name

__all__ = ["PlainFolder"]


class PlainFolder:
    """Any folder with record files in it."""

    name = "shards"

    def recognises(self, listing: FolderListing) -> bool:
        """By the names of files: `NAME.tfrecord`, or `...tfrecord-00000-of-00008` and the like."""
        return bool(record_names(listing.names))

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Put the files into sets, and look at some of their records."""
        splits = splits_by_name(listing, record_names(listing.names))
        return FolderDescription(
            listing.path, self.name, "", "", splits, SpecDecoder(inferred_spec(splits.values()))
        )
