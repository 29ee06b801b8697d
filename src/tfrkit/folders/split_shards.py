"""The shards of splits, by the names of files: which belong together, and that none of them is missing.

Looks at names only. They are anybody's: a number of shards that a name or a description claims makes neither a list nor
a loop of that length.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from itertools import islice
from typing import Final

from tfrkit.errors import FailedPreconditionError, NotFoundError
from tfrkit.folders.folder_kind import FolderListing, FolderSplit, Shard
from tfrkit.records.record_names import parse_record_name, record_suffixes
from tfrkit.stores.shard_names import ShardSet, shard_sets

__all__ = [
    "add_split",
    "complete_names",
    "complete_set",
    "loose_record_names",
    "missing_shards",
    "record_names",
    "split_name",
    "splits_by_name",
]

_SHOWN: Final = 3  # names of missing shards
_ENDS: Final = (".tfrecord", ".tfrecords", "_tfrecord", ".record")  # of a shard's name before its number
_LOOSE: Final = (".record", ".tfrecords")  # endings where something else says that these are files of records
_BARE: Final = re.compile(r"(?s).+-[0-9]{1,18}-of-[0-9]{1,18}")
_MARKS: Final = tuple(f"{end}-" for end in _ENDS)


def record_names(names: Iterable[str], more: tuple[str, ...] = ()) -> list[str]:
    """Return the names of record files, sorted: `NAME.tfrecord`, `NAME.tfrecord-00000-of-00008.gz` and the like.

    Args:
        names: of all files.
        more: endings of names that are such files, too.

    >>> record_names(["b.tfrecord.gz", "a.record-00000-of-00001", "a.record", "notes.txt", "b.tfrecord-0-of-1.idx"])
    ['a.record-00000-of-00001', 'b.tfrecord.gz']
    """
    suffixes = (*record_suffixes(), *more)
    return sorted(name for name in names if name.endswith(suffixes) or _is_numbered(name))


def loose_record_names(names: Iterable[str]) -> list[str]:
    """Return the names of record files where it is known that the folder has some: also `a.record`, `a-0-of-8`."""
    known = list(names)
    return sorted({*record_names(known, _LOOSE), *filter(_BARE.fullmatch, known)})


def splits_by_name(listing: FolderListing, names: list[str]) -> dict[str, FolderSplit]:
    """Put the record files of a folder into splits, named by what stands before the numbers of the shards.

    Raises:
        NotFoundError: shards are missing.
        FailedPreconditionError: the shards of two sets have one name.
    """
    splits: dict[str, FolderSplit] = {}
    numbered: set[str] = set()
    for found in shard_sets(names):
        split = split_name(found.prefix)
        chosen = complete_set(listing, split, found)
        numbered.update(chosen)
        add_split(splits, listing, split, chosen)
    for name in sorted(set(names) - numbered):
        add_split(splits, listing, split_name((parse_record_name(name) or (name, ""))[0]), [name])
    return splits


def complete_set(listing: FolderListing, split: str, found: ShardSet, advice: str = "") -> list[str]:
    """Return the names of a set of shards, in order.

    Raises:
        NotFoundError: some are missing; `advice`: what else the reader should know.
    """
    if found.missing_count:
        raise missing_shards(
            listing, split, found.missing(), found.missing_count, advice or "Copy them again."
        )
    return [found.names[number] for number in sorted(found.names)]


def complete_names(
    listing: FolderListing, split: str, name_of: Callable[[int], str], count: int, advice: str
) -> list[str]:
    """Return the names of the shards that a description claims, which must be in the folder if it can be listed.

    Args:
        listing: the folder.
        split: the shards are of.
        name_of: returns the name of a shard by its number; of folders below nothing is checked.
        count: how many shards there should be.
        advice: what to say if some are missing.

    Raises:
        NotFoundError: some are missing.
    """
    there = listing.names
    # Among as many names as there are files, and some more, enough are missing to be named.
    looked = count if not there or "/" in name_of(0) else min(count, len(there) + _SHOWN)
    names = [name_of(number) for number in range(looked)]
    missing = [name for name in names if there and "/" not in name and name not in there]
    if missing:
        least = looked < count
        raise missing_shards(
            listing, split, missing, count - len(there) if least else len(missing), advice, least=least
        )
    return names


def missing_shards(
    listing: FolderListing, split: str, names: Iterable[str], count: int, advice: str, *, least: bool = False
) -> NotFoundError:
    """Return the error about shards that are not there.

    Args:
        listing: the folder.
        split: they are of.
        names: of those that are missing; only the first ones are taken.
        count: how many are missing.
        advice: what else the reader should know or can do.
        least: there may be more than `count`.
    """
    shown = list(islice(names, _SHOWN))
    more = f" and {count - len(shown):,} more" if count > len(shown) else ""
    return NotFoundError(
        f"{listing.path}; {'at least ' if least else ''}{count:,} shards of the split {split!r} are missing: "
        f"{', '.join(map(repr, shown))}{more}. {advice}",
        path=listing.path,
    )


def _is_numbered(name: str) -> bool:
    return any(mark in name for mark in _MARKS) and bool(shard_sets([name]))


def split_name(prefix: str) -> str:
    """Return the name of a split by what stands before the numbers of its shards.

    >>> split_name("mnist-train.tfrecord")
    'mnist-train'
    """
    end = next((end for end in _ENDS if prefix.endswith(end)), "")
    return prefix.removesuffix(end) or prefix


def add_split(
    splits: dict[str, FolderSplit],
    listing: FolderListing,
    split: str,
    names: list[str],
    counts: Iterable[int | None] | None = None,
) -> None:
    """Add a split, with the numbers of records in its shards if they are known.

    Raises:
        FailedPreconditionError: there is one of this name.
    """
    if split in splits:
        before = splits[split].shards[0].path.rpartition("/")[2]
        raise FailedPreconditionError(
            f"{listing.path}; two sets of files are named {split!r}: those of {before!r} and of {names[0]!r}. Move one "
            "of them to another folder.",
            path=listing.path,
        )
    known = [None] * len(names) if counts is None else counts
    splits[split] = FolderSplit(
        split, tuple(Shard(listing.join(name), count) for name, count in zip(names, known, strict=True))
    )
