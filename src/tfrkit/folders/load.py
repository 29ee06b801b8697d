"""load and open_folder: a folder that others made, as datasets, and as a description."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import accumulate
from typing import Any, overload

from tfrkit.data.dataset import Dataset
from tfrkit.data.sources.records_dataset import TFRecordDataset
from tfrkit.folders.folder_kind import FolderDescription, FolderListing, FolderSplit
from tfrkit.folders.folder_table import kind_of
from tfrkit.folders.promised_count import PromisedCountNode, check_total
from tfrkit.folders.shard_order import ShardPart
from tfrkit.folders.shard_records import ShardRecordsNode, shard_records
from tfrkit.folders.split_language import EvenSplit, Rounding, SplitRange, ranges_of, splits_in
from tfrkit.records.access.record_files import RecordFiles
from tfrkit.stores.paths import PathLike, path_text

__all__ = ["load", "open_folder", "records_of"]


def open_folder(folder: PathLike, *, schema: PathLike | None = None) -> FolderDescription:
    """Say what is in the folder of a data set: its kind, name, version, splits, features and class names.

    Args:
        folder: a path or URL: of TensorFlow Datasets the folder of a version, or one that tfrkit wrote, or any
            folder of TFRecord files.
        schema: a schema.pbtxt that describes its Examples, such as TFX and TensorFlow Data Validation write; folders of
            TFX are asked for theirs without it.

    Returns:
        The description; `print` it.

    Raises:
        NotFoundError: there is no such folder, it is of no kind that is known, or shards are missing.
        DataLossError: a file that describes it is damaged.

    >>> import tempfile, tfrkit
    >>> folder = tempfile.mkdtemp()
    >>> with tfrkit.ShardWriter(folder + "/train", shards=2) as writer:
    ...     for number in range(5):
    ...         writer.write_example({"x": number})
    >>> found = open_folder(folder)
    >>> found.kind, found.splits["train"].records
    ('tfrkit', 5)
    """
    listing = FolderListing(path_text(folder), "" if schema is None else path_text(schema))
    return kind_of(listing).describe(listing)


@overload
def load(
    folder: PathLike,
    split: str | EvenSplit,
    decode: bool = True,
    *,
    rounding: Rounding = ...,
    schema: PathLike | None = ...,
) -> Dataset: ...
@overload
def load(
    folder: PathLike,
    split: None = None,
    decode: bool = True,
    *,
    rounding: Rounding = ...,
    schema: PathLike | None = ...,
) -> dict[str, Dataset]: ...
@overload
def load(
    folder: PathLike,
    split: Sequence[Any] | Mapping[str, Any],
    decode: bool = True,
    *,
    rounding: Rounding = ...,
    schema: PathLike | None = ...,
) -> Any: ...
def load(
    folder: PathLike,
    split: Any = None,
    decode: bool = True,
    *,
    rounding: Rounding = "closest",
    schema: PathLike | None = None,
) -> Any:
    """Open the folder of a data set as it is: its splits as indexable datasets of decoded examples.

    Of a folder that TensorFlow Datasets made, values and their order are those of `tfds.load` with
    `shuffle_files=False`, without TensorFlow. `batch` pads lengths that differ, but no other sizes: see `padded_batch`.

    Args:
        folder: as for `open_folder`.
        split: in the language of TensorFlow Datasets: "train", "train[:10%]", "train[100:200]+test",
            "train[2shard]", or a part of `even_splits`; a list or dict of such gives a list or dict. None gives a dict
            of all splits.
        decode: decode image files; else they are returned as bytes.
        rounding: of percentages: "closest", or "pct1_dropremainder", multiples of one whole percent.
        schema: as for `open_folder`.

    Raises:
        NotFoundError: there is no such folder or split, or shards are missing.
        InvalidArgumentError: a split is not of the language, or has no such records.

    >>> import tempfile, tfrkit
    >>> folder = tempfile.mkdtemp()
    >>> with tfrkit.ShardWriter(folder + "/train", shards=2) as writer:
    ...     for number in range(5):
    ...         writer.write_example({"x": number})
    >>> ds = load(folder, "train[:3]")
    >>> len(ds), [int(example["x"]) for example in ds]
    (3, [0, 2, 4])
    """
    found = open_folder(folder, schema=schema)
    if split is None:
        return {name: _dataset(found, name, decode, rounding) for name in found.splits}
    return _mapped(found, split, decode, rounding)


def _mapped(found: FolderDescription, split: Any, decode: bool, rounding: Rounding) -> Any:
    """Make a dataset for each split in lists and dicts."""
    if isinstance(split, Mapping):
        return {name: _mapped(found, each, decode, rounding) for name, each in split.items()}
    if isinstance(split, (list, tuple)):
        return type(split)(_mapped(found, each, decode, rounding) for each in split)
    return _dataset(found, split, decode, rounding)


def _dataset(found: FolderDescription, split: str | EvenSplit, decode: bool, rounding: Rounding) -> Dataset:
    return found.decoder.decoded(_records(found, split, rounding), images=decode)


def _records(found: FolderDescription, split: str | EvenSplit, rounding: Rounding) -> Dataset:
    """Return the records of a split, in the order of the folder's own library."""
    known = found.splits.get(split) if isinstance(split, str) else None
    if known is not None and known.lacks_counts and (found.cycle == 1 or len(known.shards) == 1):
        records = TFRecordDataset([shard.path for shard in known.shards])
        return (
            records
            if known.total is None
            else Dataset(PromisedCountNode(records.node, known.total, known.name))
        )
    return Dataset(records_of(found, split, rounding))


def records_of(
    found: FolderDescription, split: str | EvenSplit, rounding: Rounding = "closest"
) -> ShardRecordsNode:
    """Return the stage that reads the records of a split, in the order of the folder's own library; indexable.

    Raises:
        NotFoundError: there is no such split.
        InvalidArgumentError: a split is not of the language, or has no such records.
        TypeError: it is no split.
    """
    if not isinstance(split, (str, EvenSplit)):
        raise TypeError(
            f"expected a split such as 'train[:10%]' but got {split!r:.60} ({type(split).__name__})"
        )
    known = found.splits.get(split) if isinstance(split, str) else None
    wanted = [split] if known is not None else splits_in(split, list(found.splits))
    counts = {
        name: _counts(each)
        if name in wanted
        else [0 if shard.records is None else shard.records for shard in each.shards]
        for name, each in found.splits.items()
    }
    if known is not None:  # whatever is in its name
        ranges = [SplitRange(known.name, 0, sum(counts[known.name]))]
    else:
        ranges = ranges_of(split, counts, rounding)
    files: dict[str, int] = {}
    parts = [
        part for each in ranges for part in _parts(each, found.splits[each.split], counts[each.split], files)
    ]
    return shard_records(tuple(files), tuple(parts), cycle=found.cycle, block=found.block)


def _counts(split: FolderSplit) -> list[int]:
    """Return the number of records of each shard; files are counted where nothing says it."""
    known: Sequence[int | None] = [shard.records for shard in split.shards]
    if split.lacks_counts:
        known = RecordFiles([shard.path for shard in split.shards]).counts
        check_total(split.name, split.total, known)
    return [count for count in known if count is not None]


def _parts(
    wanted: SplitRange, split: FolderSplit, counts: list[int], files: dict[str, int]
) -> list[ShardPart]:
    """Return the runs of records of a split's shards; `files` numbers the shards, and gets those that are new."""
    parts = []
    for shard, end, count in zip(split.shards, accumulate(counts), counts, strict=True):
        first, last = max(wanted.start, end - count), min(wanted.stop, end)
        if first < last:
            number = files.setdefault(shard.path, len(files))
            parts.append(ShardPart(number, first - (end - count), last - first, count))
    return parts
