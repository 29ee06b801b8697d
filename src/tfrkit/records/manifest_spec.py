"""manifest_spec: what reads the records of files, as the manifests beside them say it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from tfrkit.errors import OpError
from tfrkit.model.spec_json import spec_from_data
from tfrkit.model.specs import FeatureSpec
from tfrkit.records.manifest import ShardEntry, manifest_entries, read_manifest
from tfrkit.records.record_names import shard_prefix
from tfrkit.stores.files import file_sizes
from tfrkit.stores.url import split_query

__all__ = ["manifest_spec"]


def manifest_spec(files: Sequence[object]) -> dict[str, FeatureSpec] | None:
    """Return the spec of the records of files; None if a manifest does not know one of them, or they differ.

    A manifest is believed of shards that have the size that it says.
    """
    paths = [split_query(file)[0] for file in files if isinstance(file, str)]
    if len(paths) < len(files) or not paths:
        return None
    specs: list[Any] = []
    known: dict[str, dict[str, Any]] = {}
    entries: dict[str, dict[str, ShardEntry]] = {}
    try:
        for path, size in zip(paths, file_sizes(paths), strict=True):
            folder, name = os.path.split(path)
            if folder not in known:
                known[folder] = read_manifest(folder)
                entries[folder] = manifest_entries(known[folder])
            entry = entries[folder].get(name)
            found = _spec_data(known[folder], name)
            if entry is None or entry.bytes != size or not found or (specs and found != specs[0]):
                return None
            specs.append(found)
        return spec_from_data(specs[0])
    except (OpError, TypeError, ValueError):
        return None


def _spec_data(manifest: dict[str, Any], name: str) -> Any:
    """Return the spec of a shard as a manifest has it: that of all its shards, or of the job that made it."""
    if manifest.get("spec"):
        return manifest["spec"]
    made = manifest.get("made_by", {}).get(shard_prefix(name) or name, {})
    return manifest.get("jobs", {}).get(made.get("job"), {}).get("spec")
