"""Folders that tfrkit wrote: a manifest.json that names the shards, counts their records and may have their spec."""

from __future__ import annotations

from typing import Any

from tfrkit.errors import DataLossError
from tfrkit.folders.folder_kind import (
    FolderDescription,
    FolderListing,
    FolderSplit,
    SpecDecoder,
)
from tfrkit.folders.inferred_spec import inferred_spec
from tfrkit.folders.split_shards import add_split, missing_shards, split_name
from tfrkit.records.manifest import manifest_entries, read_manifest
from tfrkit.records.manifest_spec import manifest_spec
from tfrkit.records.record_names import parse_other_name, shard_prefix

__all__ = ["ManifestFolder"]

_MANIFEST = "manifest.json"
_LABELS = "labels.txt"


class ManifestFolder:
    """A folder with a manifest."""

    name = "tfrkit"

    def recognises(self, listing: FolderListing) -> bool:
        """By the format that manifest.json names."""
        if not listing.has(_MANIFEST):
            return False
        try:
            value = listing.json(_MANIFEST)
        except DataLossError:
            return False
        if not isinstance(value, dict) or value.get("format") != "tfrkit-manifest":
            return False
        shards = value.get("shards")
        return bool(shards) and (not isinstance(shards, list) or any(map(_is_of_records, shards)))

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Read the manifest."""
        found = manifest_entries(read_manifest(listing.path))
        entries = {name: entry for name, entry in found.items() if _is_of_records({"name": name})}
        missing = [name for name in entries if listing.names and name not in listing.names]
        if missing:
            split = shard_prefix(missing[0]) or missing[0]
            raise missing_shards(
                listing, split, missing, len(missing), "manifest.json names them. Copy them again."
            )
        sets: dict[str, list[str]] = {}
        for name in entries:
            sets.setdefault(shard_prefix(name) or name, []).append(name)
        splits: dict[str, FolderSplit] = {}
        for prefix, names in sets.items():
            add_split(splits, listing, split_name(prefix), names, [entries[name].records for name in names])
        spec: Any = manifest_spec([shard.path for split in splits.values() for shard in split.shards])
        return FolderDescription(
            listing.path, self.name, "", "", splits, SpecDecoder(spec or inferred_spec(splits.values()))
        )


def _is_of_records(entry: object) -> bool:
    """Tell whether an entry is that of a file of records, and not of an export."""
    return not isinstance(entry, dict) or parse_other_name(str(entry.get("name"))) is None
