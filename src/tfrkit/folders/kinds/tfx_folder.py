"""Examples of TFX pipelines: a folder for each split with numbered shards, and the schema that the pipeline keeps.

`<pipeline>/CsvExampleGen/examples/<id>/Split-train/data_tfrecord-00000-of-00001.gz` is what ExampleGen writes,
`<pipeline>/Transform/transformed_examples/<id>/...` what Transform does. Of the folders round them only names that TFX
gives are looked at.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator
from typing import Final

from tfrkit.errors import NotFoundError, OpError, UnimplementedError
from tfrkit.folders.folder_kind import FolderDescription, FolderListing, FolderSplit, SpecDecoder
from tfrkit.folders.inferred_spec import inferred_spec
from tfrkit.folders.split_shards import loose_record_names, record_names, splits_by_name
from tfrkit.folders.tfx_schema import read_tfx_schema
from tfrkit.stores.files import is_local, read_bytes
from tfrkit.stores.shard_names import numbered_prefix, shard_sets
from tfrkit.stores.url import local_path, split_path

__all__ = ["TfxFolder"]

_SPLIT: Final = "Split-"
_OLD_SPLITS: Final = ("train", "eval")  # folders of splits before TFX 0.24
_DATA: Final = "data_tfrecord-"
_SCHEMA: Final = "schema.pbtxt"
_PARQUET: Final = ".parquet"


class TfxFolder:
    """An artifact of examples of TFX; with a schema that the user names any folder of shards."""

    name = "tfx"

    def recognises(self, listing: FolderListing) -> bool:
        """By folders `Split-...`, or `train` and `eval` with shards that are named as TFX does."""
        return bool(_split_folders(listing))

    def describe(self, listing: FolderListing) -> FolderDescription:
        """Put together the shards of each split, and read the schema; without one look at some records."""
        folders = _split_folders(listing)
        splits = {name: _split(FolderListing(path), name) for name, path in folders.items()}
        if not splits:
            splits = splits_by_name(listing, loose_record_names(listing.names))
        if not splits:
            raise NotFoundError(
                f"{listing.path}; there are no record files. Name the folder that has them, or folders Split-...",
                path=listing.path,
            )
        path = listing.schema or next(_schemas(listing), "")
        return FolderDescription(listing.path, self.name, "", "", splits, _decoder(path, splits))


def _decoder(path: str, splits: dict[str, FolderSplit]) -> SpecDecoder:
    if not path:
        return SpecDecoder(inferred_spec(splits.values()))
    schema = read_tfx_schema(read_bytes(path), path)
    if not schema.spec:
        raise UnimplementedError(
            f"{path}; none of its features is of the data and of a type that is read. Name another schema.",
            path=path,
        )
    if schema.left_out:
        warnings.warn(
            f"{path}; features of types that are not read: {', '.join(map(repr, schema.left_out))}. They are left out.",
            stacklevel=2,
        )
    return SpecDecoder(schema.spec, schema.domains)


def _split_folders(listing: FolderListing) -> dict[str, str]:
    """Return the folders of splits by the names of these."""
    names = sorted(name for name in listing.names if name.startswith(_SPLIT) and len(name) > len(_SPLIT))
    if names:
        return {name.removeprefix(_SPLIT): listing.join(name) for name in names}
    old = {name: listing.join(name) for name in _OLD_SPLITS if name in listing.names}
    return {name: path for name, path in old.items() if _is_old_split(FolderListing(path))}


def _is_old_split(listing: FolderListing) -> bool:
    try:
        return any(name.startswith(_DATA) for name in listing.names)
    except OpError:  # it is a file
        return False


def _split(listing: FolderListing, split: str) -> FolderSplit:
    """Return a split: all numbered files of its folder, which other programs name otherwise.

    Raises:
        NotFoundError: there is none, or some are missing.
        UnimplementedError: they are Parquet files.
    """
    names = [name for name in sorted(listing.names) if shard_sets([name])]
    if any((numbered_prefix(name) or "") and name.endswith(_PARQUET) for name in names):
        raise UnimplementedError(
            f"{listing.path}; its examples are Parquet files, which are read with pyarrow, not with tfrkit.",
            path=listing.path,
        )
    found = splits_by_name(listing, sorted({*names, *record_names(listing.names)}))
    if not found:
        raise NotFoundError(
            f"{listing.path}; the split {split!r} has no shards. Run the component again, or copy them.",
            path=listing.path,
        )
    return FolderSplit(split, tuple(shard for each in found.values() for shard in each.shards))


def _schemas(listing: FolderListing) -> Iterator[str]:
    """Yield the paths of schemas that are of a folder of examples: in it, beside it, else of its pipeline."""
    path = os.path.abspath(local_path(listing.path)) if is_local(listing.path) else listing.path
    above = split_path(path)[0]
    yield from _there(path, f"{path}/schema", above)
    number = path[len(above) :].strip("/")
    output = above if number.isdecimal() else path
    component, name = split_path(output)
    if not name.endswith("examples"):
        return
    if name.startswith("transformed"):
        graphs = f"{component}/transform_graph"
        yield from _there(*(f"{each}/transformed_metadata" for each in _newest(graphs, number)))
    pipeline = split_path(component)[0]
    for each in sorted(_names(pipeline)):
        if "schema" in each.lower():
            yield from _there(*_newest(f"{pipeline}/{each}/schema"))


def _there(*folders: str) -> Iterator[str]:
    return (f"{folder}/{_SCHEMA}" for folder in folders if _SCHEMA in _names(folder))


def _newest(folder: str, first: str = "") -> list[str]:
    """Return the folders of executions, that of a number first, then the newest; and the folder itself."""
    numbers = sorted((name for name in _names(folder) if name.isdecimal()), key=int, reverse=True)
    chosen = [name for name in numbers if name == first] + [name for name in numbers if name != first]
    return [*(f"{folder}/{name}" for name in chosen), folder]


def _names(folder: str) -> frozenset[str]:
    try:
        return FolderListing(folder).names
    except OpError:
        return frozenset()
