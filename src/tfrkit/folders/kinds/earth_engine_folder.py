"""Image exports of Earth Engine: `<name>-mixer.json` that says how the patches lie, and numbered files of patches.

Each band is a list of numbers, or one string of bytes, row by row. The size of a patch in the mixer is that without the
overlap which `kernelSize` adds on all sides, so that the bands of the first record say how large patches are.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable
from math import isqrt
from typing import Any, Final

from google.protobuf.message import DecodeError

from tfrkit.data.sources.records_dataset import TFRecordDataset
from tfrkit.errors import DataLossError, FailedPreconditionError, NotFoundError
from tfrkit.folders.feature_tree import ArrayFeature, DictFeature
from tfrkit.folders.folder_kind import (
    FolderDescription,
    FolderListing,
    FolderSplit,
    Shard,
    SpecDecoder,
    TreeDecoder,
)
from tfrkit.folders.split_shards import complete_names, record_names
from tfrkit.folders.tfds.json_fields import JsonFields
from tfrkit.model.messages import Example

__all__ = ["EarthEngineFolder", "patch_shape"]

_MIXER: Final = re.compile(r"(?s)(.+?)[-_]?mixer\.json")
_FILE: Final = r"([-_]?)([0-9]{5,18})(\.tfrecord(?:\.gz)?)"  # after the name of the export
_MOST: Final = 1 << 31  # sizes of patches


class EarthEngineFolder:
    """Exports of images as patches."""

    name = "earth_engine"

    def recognises(self, listing: FolderListing) -> bool:
        """By a mixer.json with patchDimensions."""
        return bool(_mixers(listing))

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Read the mixers, and the first patch of each export.

        Raises:
            FailedPreconditionError: the exports have other bands.
        """
        mixers = {
            stem: JsonFields(listing.json(name), listing.join(name), "mixer")
            for stem, name in _mixers(listing).items()
        }
        splits = {stem: _split(listing, stem, mixer) for stem, mixer in mixers.items()}
        trees = {stem: _tree(splits[stem], mixer) for stem, mixer in mixers.items()}
        first = next(iter(trees))
        if other := next((stem for stem, tree in trees.items() if tree != trees[first]), None):
            raise FailedPreconditionError(
                f"{listing.path}; the exports {first!r} and {other!r} have other bands or sizes. Move one of them, "
                "with its mixer.json, to another folder.",
                path=listing.path,
            )
        _warn_of_others(listing, splits.values())
        tree = trees[first]
        decoder = TreeDecoder(tree) if tree.features else SpecDecoder(None)
        projection = mixers[first].mapping("projection").get("crs", "")
        return FolderDescription(listing.path, self.name, "", "", splits, decoder, str(projection))


def patch_shape(count: int, width: int, height: int) -> tuple[int, ...]:
    """Return the shape of a band of a patch: the size in the mixer with the same overlap on all sides, else flat.

    >>> patch_shape(12, 4, 3), patch_shape(30, 4, 3), patch_shape(31, 4, 3)
    ((3, 4), (5, 6), (31,))
    """
    # (width + k) * (height + k) == count
    root = isqrt(max(0, (width - height) ** 2 + 4 * count))
    overlap = (root - width - height) // 2
    if overlap < 0 or (width + overlap) * (height + overlap) != count:
        return (count,)
    return height + overlap, width + overlap


def _mixers(listing: FolderListing) -> dict[str, str]:
    """Return the names of mixers by that of their export."""
    found: dict[str, str] = {}
    for name in sorted(listing.names):
        match = _MIXER.fullmatch(name)
        if match and _is_mixer(listing, name, match[1]) and found.setdefault(match[1], name) != name:
            raise FailedPreconditionError(
                f"{listing.path}; {found[match[1]]!r} and {name!r} are of one export. Move one of them "
                "to another folder.",
                path=listing.path,
            )
    return found


def _is_mixer(listing: FolderListing, name: str, stem: str) -> bool:
    try:
        value: Any = listing.json(name)
    except DataLossError:  # which is told if there are files of the export
        files = re.compile(re.escape(stem) + r"([-_]?[0-9]{5,18})?\.tfrecord(\.gz)?")
        return any(map(files.fullmatch, listing.names))
    return isinstance(value, dict) and "patchDimensions" in value


def _split(listing: FolderListing, stem: str, mixer: JsonFields) -> FolderSplit:
    """Return the files of an export, in order; of those in between none may be missing."""
    pattern = re.compile(re.escape(stem) + _FILE)
    matches = [match for name in listing.names if (match := pattern.fullmatch(name))]
    alone = sorted(listing.names & {f"{stem}.tfrecord", f"{stem}.tfrecord.gz"})
    if not matches and not alone:
        raise NotFoundError(
            f"{listing.path}; there are no files {stem}-00000.tfrecord.gz and on beside {mixer.path}. Copy them, too.",
            path=listing.path,
        )
    names = alone[:1]
    if matches:
        last = max(matches, key=lambda match: int(match[2]))
        begin, width, suffix = f"{stem}{last[1]}", len(last[2]), last[3]
        count = int(last[2]) + 1
        advice = f"Files up to number {last[2]} are there. Copy them again."
        names = complete_names(
            listing, stem, lambda number: f"{begin}{number:0{width}d}{suffix}", count, advice
        )
    total = mixer.number("total_patches", -1)
    known = total if total >= 0 else None
    if len(names) == 1:
        return FolderSplit(stem, (Shard(listing.join(names[0]), known),))
    return FolderSplit(stem, tuple(Shard(listing.join(name)) for name in names), known)


def _tree(split: FolderSplit, mixer: JsonFields) -> DictFeature:
    """Return the bands of the first record; none if there is no record, or it is no Example."""
    sizes = mixer.dims("patch_dimensions")
    if len(sizes) != 2 or not all(size and 0 < size < _MOST for size in sizes):
        raise mixer.error(f"patchDimensions: expected a width and a height but got {sizes!r:.60}")
    width, height = (size or 0 for size in sizes)
    record = next(iter(TFRecordDataset([split.shards[0].path]).take(1)), None)
    if record is None:
        return DictFeature()
    try:
        features = Example.FromString(record).features.feature
    except DecodeError as error:
        path = split.shards[0].path
        raise DataLossError(f"{path}; its first record is no Example: {error}.", path=path) from None
    bands = {key: found for key in sorted(features) if (found := _stored(features[key])) is not None}
    least = min((count for _, count, _ in bands.values()), default=0)
    shape = patch_shape(least, width, height)
    return DictFeature(
        {
            key: ArrayFeature(dtype, shape if count == least else (count,), encoding, kind="Band")
            for key, (dtype, count, encoding) in bands.items()
        }
    )


def _stored(feature: Any) -> Any:
    """Return the type, the number and the encoding of the values of a band; None if it has none."""
    kind = feature.WhichOneof("kind")
    values: Any = getattr(feature, kind).value if kind else []
    if not len(values):
        return None
    if kind != "bytes_list":
        return "int64" if kind == "int64_list" else "float32", len(values), "none"
    return ("uint8", len(values[0]), "bytes") if len(values) == 1 else ("string", len(values), "none")


def _warn_of_others(listing: FolderListing, splits: Iterable[FolderSplit]) -> None:
    used = {shard.path.rpartition("/")[2] for split in splits for shard in split.shards}
    others = [name for name in record_names(listing.names) if name not in used]
    if others:
        warnings.warn(
            f"{listing.path}; {len(others):,} files are of no export with a mixer.json, and are left out: "
            f"{', '.join(map(repr, others[:3]))}.",
            stacklevel=2,
        )
