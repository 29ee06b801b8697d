"""Folders of data sets among the paths of a command: the shards of their splits, and the names of their classes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from tfrkit.cli.console import UsageError, number_of, plain, say
from tfrkit.errors import NotFoundError, OpError
from tfrkit.stores.files import ask_all, is_folder

if TYPE_CHECKING:
    from tfrkit.folders.folder_kind import FolderDescription

__all__ = ["FolderShards", "folder_shards"]

_BY_NAMES: Final = (
    "tfrkit",
    "shards",
)  # kinds of folders whose shards are found, and held against, by their names


@dataclass(frozen=True, slots=True)
class FolderShards:
    """Paths, with shards in place of the folders that say which they have.

    Attributes:
        paths: of files, patterns and other folders.
        class_names: what numbers stand for, by feature, where the folders say it and agree.
    """

    paths: list[str]
    class_names: Mapping[str, tuple[str, ...]]


def folder_shards(paths: Sequence[str], split: str | None = None) -> FolderShards:
    """Put the shards of data sets in place of their folders.

    A folder that cannot be described is left as it is, with a warning, unless shards are missing.

    Args:
        paths: as they stand on the command line.
        split: only this one; all paths are folders then.

    Raises:
        UsageError: there is no such split, or a path is not a folder.
        NotFoundError: shards of a data set are missing.
        OpError: a folder whose split is wanted cannot be described.
    """
    found: list[str] = []
    classes: dict[str, tuple[str, ...]] = {}
    differing: set[str] = set()
    for path, folder in zip(paths, ask_all(is_folder, paths), strict=True):
        if split is not None and not folder:
            raise UsageError(
                f"--split is for the folder of a data set, and {path} is not one", "leave it out."
            )
        described = _described(path, needed=split is not None) if folder else None
        if described is None:
            found.append(path)
            continue
        found += _shards(described, split)
        for key, names in described.class_names.items():
            if names == tuple(map(str, range(len(names)))):
                continue  # they are not named
            if classes.setdefault(key, names) != names:
                differing.add(key)
    return FolderShards(found, {key: names for key, names in classes.items() if key not in differing})


def _described(path: str, *, needed: bool) -> FolderDescription | None:
    """Describe a folder that says which shards it has; None if its kind goes by the names of files."""
    from tfrkit.folders.folder_kind import FolderListing
    from tfrkit.folders.folder_table import folder_kinds, kind_of

    listing = FolderListing(path)
    if needed:
        return kind_of(listing).describe(listing)
    try:
        kind = next((each for each in folder_kinds() if each.recognises(listing)), None)
        return None if kind is None or kind.name in _BY_NAMES else kind.describe(listing)
    except NotFoundError:
        raise  # without them all that is said of the others would seem to be of the whole
    except OpError as error:
        say(f"warning: {plain(error.message)}")
        return None


def _shards(described: FolderDescription, split: str | None) -> list[str]:
    if split is not None and split not in described.splits:
        raise UsageError(
            f"{described.path}: no split {split!r}",
            f"it has {number_of(len(described.splits), 'split')}: {', '.join(map(plain, described.splits))}. "
            "Parts such as 'train[:10%]' are for `tfr.load`.",
        )
    return described.files(split)
