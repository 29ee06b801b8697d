"""make_manifest: one manifest for all shards of a folder, whatever wrote them and wherever they were copied from.

Every shard is counted; other manifests only say how shards that are as they say were made.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, Final, TypeAlias

from tfrkit.errors import DataLossError, FailedPreconditionError, NotFoundError, OpError
from tfrkit.model.spec_json import spec_from_data, spec_to_data
from tfrkit.model.specs import FeatureSpec, FixedLenFeature, VarLenFeature
from tfrkit.records.access.count import count_files
from tfrkit.records.check.folder_state import look_at_folder
from tfrkit.records.check.unfinished import unfinished_jobs
from tfrkit.records.describe.inspect import inspect
from tfrkit.records.manifest import (
    ShardEntry,
    change_manifest,
    manifest_entries,
    manifest_path,
    read_manifest,
    read_manifest_file,
)
from tfrkit.records.record_names import parse_other_name, shard_prefix
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.files import ask_all, file_size, is_folder, is_there, open_source
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.shard_names import shard_sets

__all__ = ["ManifestReport", "make_manifest"]

_WRITER: Final = "tfr index"
_PLAIN: Final = (FixedLenFeature, VarLenFeature)
_Spec: TypeAlias = dict[str, FeatureSpec]


@dataclass(frozen=True, slots=True)
class ManifestReport:
    """What a folder's new manifest says.

    Attributes:
        folder: where it is.
        shards: all of them, as they were counted.
        dropped: names that the manifest had, and that are not there any more.
        made_by: by prefix, how its shards were made, as far as manifests say.
        spec: what reads the records of all shards; None if nothing does.
        conflicts: what manifests and records say differently.
    """

    folder: str
    shards: tuple[ShardEntry, ...]
    dropped: tuple[str, ...]
    made_by: Mapping[str, Any]
    spec: Mapping[str, FeatureSpec] | None
    conflicts: tuple[str, ...]

    @property
    def records(self) -> int:
        """Records in all shards."""
        return sum(shard.records for shard in self.shards)

    @property
    def remarks(self) -> list[str]:
        """What a user should look at, a line each: how shards were made, what is gone, and conflicts."""
        made = {
            prefix: f"job {each['job']}" if "job" in each else each.get("writer", "?")
            for prefix, each in self.made_by.items()
        }
        return [
            "made by: " + ", ".join(f"{prefix}: {text}" for prefix, text in made.items()),
            *(f"no longer there: {name}" for name in self.dropped),
            *(f"conflict: {text}" for text in self.conflicts),
        ]

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        fields = {name: getattr(self, name) for name in self.__slots__}
        spec = None if self.spec is None else spec_to_data(self.spec)
        return {
            **fields,
            "shards": [asdict(shard) for shard in self.shards],
            "spec": spec,
            "records": self.records,
        }


@dataclass(frozen=True, slots=True)
class _Origin:
    """A manifest that may know how shards were made."""

    name: str
    content: Mapping[str, Any]
    entries: Mapping[str, ShardEntry]


@dataclass(slots=True)
class _Merged:
    """What comes of several manifests and of what is there: by prefix, by digest, by set or by name of a shard."""

    made_by: dict[str, Any] = field(default_factory=dict)
    jobs: dict[str, Any] = field(default_factory=dict)
    specs: dict[str, _Spec | None] = field(default_factory=dict)
    lost: dict[str, int] = field(default_factory=dict)
    unknown: dict[str, list[str]] = field(default_factory=dict)
    conflicts: list[str] = field(default_factory=list)


def make_manifest(folder: PathLike, sources: Iterable[PathLike] = ()) -> ManifestReport:
    """Write one manifest that names all shards of a folder, so that `verify` knows what belongs there.

    All shards are counted. How they were made, and their spec, is taken from the folder's manifest and from `sources`
    where all shards of a prefix are as one of these says; the spec of others is found in their records.

    Args:
        folder: with the shards; a path or a URL.
        sources: folders that shards were copied from, or copies of their manifests (files ending with `.json`).

    Raises:
        NotFoundError: the folder has no shards, or a source has no manifest.
        DataLossError: a shard is damaged, or a manifest cannot be believed.
        FailedPreconditionError: a shard is missing by the numbers in names, or a job or a repair is not complete.

    >>> import os, tfrkit
    >>> os.mkdir("copied")
    >>> with tfrkit.TFRecordWriter("copied/a.tfrecord") as writer:
    ...     writer.write_batch({"label": [1, 2, 3]})
    >>> report = make_manifest("copied")
    >>> report.records, report.spec, tfrkit.verify("copied").ok
    (3, {'label': FixedLenFeature(shape=[], dtype='int64', default_value=None)}, True)
    """
    place = path_text(folder)
    if not is_folder(place):
        raise NotFoundError(
            f"{place}; there is no such folder. Name the folder that has the shards.", path=place
        )
    found = manifest_entries(content := read_manifest(place))
    exports = {name for name in found if parse_other_name(name) is not None}  # stay as they are
    lost = {name for name in exports if not is_there(os.path.join(place, name))}
    records = {name: entry for name, entry in found.items() if name not in exports}
    own = _Origin(manifest_path(place), content, records)
    origins = [_origin(path_text(source)) for source in sources]
    counted = _counted(place, content)
    merged = _merge(counted, [*origins, own])
    for title, names in merged.unknown.items():
        if any(counted[name].records for name in names):  # else any spec reads them
            merged.specs[title] = _spec_in([os.path.join(place, name) for name in names])
    spec = _merge_specs(merged)
    entries = [asdict(entry) | _lost(merged, name) for name, entry in counted.items()]

    def change(content: dict[str, Any]) -> None:
        known = {*own.entries, *counted, *lost}
        added = [entry for entry in content["shards"] if entry["name"] not in known]
        content["shards"] = added + entries  # those of a writer that was busy meanwhile stay
        kept = {prefix for entry in added if (prefix := shard_prefix(entry["name"])) is not None}
        content["made_by"] = {
            **{prefix: made for prefix, made in content["made_by"].items() if prefix in kept},
            **merged.made_by,
        }
        if jobs := {**content.get("jobs", {}), **merged.jobs}:
            content["jobs"] = jobs
        content["spec"] = None if spec is None else spec_to_data(spec)

    change_manifest(place, change)
    dropped = (*(name for name in own.entries if name not in counted), *sorted(lost))
    return ManifestReport(
        place, tuple(counted.values()), dropped, merged.made_by, spec, tuple(merged.conflicts)
    )


# -- what is there -----------------------------------------------------------------------------------------------------


def _origin(source: str) -> _Origin:
    path = source if source.endswith(".json") and not is_folder(source) else manifest_path(source)
    if not is_there(path):
        raise NotFoundError(
            f"{path}; there is no such manifest. Name a folder that has one, or its copy.", path=path
        )
    content = read_manifest_file(path)
    return _Origin(path, content, manifest_entries(content))


def _counted(folder: str, content: Mapping[str, Any]) -> dict[str, ShardEntry]:
    """Count all shards of a folder in which nothing is under way and nothing is missing."""
    jobs = unfinished_jobs(folder)
    repairing = [entry["name"] for entry in content.get("repairing", ())]
    if jobs or repairing:
        what = jobs[0].path if jobs else os.path.join(folder, repairing[0])
        raise FailedPreconditionError(
            f"{what}; a job or a repair in this folder is not complete. Wait for it, or run its command again, "
            "and then make the manifest.",
            path=what,
        )
    state = look_at_folder(folder)
    names = sorted([*state.shards, *state.unlisted])
    if not names:
        raise NotFoundError(
            f"{folder}; no shards in this folder. Name the folder that has them.", path=folder
        )
    for part in shard_sets(names):
        wrong = [*part.stray(), *part.missing()][:3] if part.missing_count or any(part.stray()) else []
        if wrong:
            raise FailedPreconditionError(
                f"{folder}; {part.count - part.missing_count:,} of {part.count:,} shards of {part.pattern!r} are "
                f"there, and {', '.join(wrong)} {'is' if len(wrong) == 1 else 'are'} missing or too many. Copy the "
                "whole set, or move what is left of it away.",
                path=folder,
            )
    paths = [os.path.join(folder, name) for name in names]
    counts = count_files(paths, exact=True)
    errors = [found for found in counts if isinstance(found, OpError)]
    if errors:
        more = f" {len(errors) - 1:,} more shards cannot be counted." if len(errors) > 1 else ""
        raise DataLossError(
            f"{errors[0].message}{more} Nothing was written. Fix or remove it first.", path=errors[0].path
        ) from errors[0]
    looked = ask_all(
        lambda path: (file_size(path), sniff_compression(open_source(path).peek(HEAD_BYTES))), paths
    )
    return {
        name: ShardEntry(name, count, size, compression)
        for name, count, (size, compression) in zip(names, counts, looked, strict=True)
        if not isinstance(count, OpError)
    }


def _spec_in(paths: Sequence[str]) -> _Spec | None:
    """Find the spec of records of which no manifest says it; None if they have none."""
    schema = inspect(paths, crc=False)
    return schema.spec if schema.kind == "Example" else None


# -- merging: pure -----------------------------------------------------------------------------------------------------


def _merge(counted: Mapping[str, ShardEntry], origins: Sequence[_Origin]) -> _Merged:
    """Find for each set of shards the manifest that knows how it was made. Pure: no I/O."""
    merged = _Merged()
    sets = {part.pattern: sorted(part.names.values()) for part in shard_sets(counted)}
    numbered = {name for names in sets.values() for name in names}
    sets |= {name: [name] for name in counted if name not in numbered}
    by_prefix: dict[str, list[tuple[list[str], Mapping[str, Any] | None]]] = {}
    for title, names in sets.items():
        prefix = shard_prefix(names[0]) or names[0]
        made = _made(title, prefix, [counted[name] for name in names], origins, merged)
        by_prefix.setdefault(prefix, []).append((names, made))
    for prefix, parts in by_prefix.items():
        made = parts[0][1] if len(parts) == 1 else None
        merged.made_by[prefix] = made or _combined(
            prefix,
            [counted[name] for names, _ in parts for name in names],
            {each["job"] for _, each in parts if each is not None and "job" in each},
            origins,
            merged,
        )
    return merged


def _made(
    title: str, prefix: str, shards: Sequence[ShardEntry], origins: Sequence[_Origin], merged: _Merged
) -> Mapping[str, Any] | None:
    """Return how a set was made, by the first manifest that knows; its job and spec are noted. None: not known."""
    found: tuple[_Origin, Mapping[str, Any]] | None = None
    for origin in origins:
        made = origin.content.get("made_by", {}).get(prefix)
        if not _knows(origin, title, shards, merged) or not made or made.get("writer") == _WRITER:
            continue
        if found is None:
            found = origin, made
        elif found[1] != made:
            merged.conflicts.append(
                f"{title}: {found[0].name} and {origin.name} say differently how it was made; the first is taken"
            )
    if found is None or "job" not in found[1]:
        merged.unknown[title] = [shard.name for shard in shards]
        return None if found is None else found[1]
    digest = found[1]["job"]
    merged.jobs[digest] = job = found[0].content.get("jobs", {}).get(digest, {})
    try:
        merged.specs[title] = None if job.get("spec") is None else spec_from_data(job["spec"])
    except (TypeError, ValueError):
        merged.unknown[title] = [shard.name for shard in shards]
    return found[1]


def _combined(
    prefix: str, shards: Sequence[ShardEntry], jobs: set[str], origins: Sequence[_Origin], merged: _Merged
) -> dict[str, Any]:
    """Return what is said of a prefix that no one job or writer has made: its jobs, as far as they are known."""
    for origin in origins:
        made = origin.content.get("made_by", {}).get(prefix, {})
        if all(origin.entries.get(shard.name) == shard for shard in shards):  # combined before
            known = origin.content.get("jobs", {})
            merged.jobs |= {digest: known[digest] for digest in made.get("jobs", ()) if digest in known}
            jobs = jobs.union(made.get("jobs", ()))
    kinds = {shard.compression for shard in shards}
    return {
        "writer": _WRITER,
        "shards": len(shards),
        **({"compression": kinds.pop()} if len(kinds) == 1 else {}),
        **({"jobs": sorted(jobs)} if jobs else {}),
    }


def _knows(origin: _Origin, title: str, shards: Sequence[ShardEntry], merged: _Merged) -> bool:
    """Tell whether a manifest names all shards of a set, and they are as it says."""
    known = [(origin.entries[shard.name], shard) for shard in shards if shard.name in origin.entries]
    for entry, found in known:
        if entry != found:
            merged.conflicts.append(
                f"{found.name}: {origin.name} says {entry.records:,} records in {entry.bytes:,} bytes, but there are "
                f"{found.records:,} in {found.bytes:,}"
            )
            return False
    if known and len(known) < len(shards):
        merged.conflicts.append(
            f"{title}: {origin.name} names {len(known):,} of {len(shards):,} shards, so how they were made is not known"
        )
    names = {shard.name for shard in shards}
    if len(known) == len(shards):
        merged.lost |= {
            e["name"]: e["lost"] for e in origin.content["shards"] if "lost" in e and e["name"] in names
        }
    return len(known) == len(shards)


def _merge_specs(merged: _Merged) -> _Spec | None:
    """Return what reads the records of all sets: features that some lack, or have in lists, have any length."""
    if not merged.specs:
        return None
    without = [title for title, spec in merged.specs.items() if spec is None]
    if without:
        if len(without) < len(merged.specs):
            merged.conflicts.append(
                f"{without[0]} has no spec (its records are not plain Examples), so the folder has none"
            )
        return None
    specs = [spec for spec in merged.specs.values() if spec is not None]
    found: _Spec = {}
    for key in sorted({key for spec in specs for key in spec}):
        kinds = {title: spec[key] for title, spec in merged.specs.items() if spec is not None and key in spec}
        one = next(iter(kinds.values()))
        if len(kinds) == len(specs) and all(kind == one for kind in kinds.values()):
            found[key] = one
        elif all(isinstance(kind, _PLAIN) and kind.dtype == one.dtype for kind in kinds.values()):
            found[key] = VarLenFeature(one.dtype)
        else:
            said = ", ".join(f"{kind} in {title}" for title, kind in kinds.items())
            merged.conflicts.append(f"feature {key!r} is left out of the spec: {said}")
    return found


def _lost(merged: _Merged, name: str) -> dict[str, int]:
    return {"lost": merged.lost[name]} if name in merged.lost else {}
