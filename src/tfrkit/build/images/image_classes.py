"""What the folders of a source mean: which split they belong to, and which class. Pure: no I/O.

photos/cat/1.jpg           class "cat"
photos/cat/indoor/2.jpg    class "cat": folders inside a class belong to it
photos/train/cat/1.jpg     with splits by folder: split "train", class "cat"
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

__all__ = ["SPLIT_FOLDERS", "FolderMeaning", "common_top", "read_folders"]

SPLIT_FOLDERS: Final = {
    b"train": "train",
    b"training": "train",
    b"validation": "validation",
    b"val": "validation",
    b"valid": "validation",
    b"test": "test",
    b"testing": "test",
}


class FolderMeaning(NamedTuple):
    """The split and the class that files directly in a folder belong to; None: to none."""

    split: str | None
    label: bytes | None


def common_top(folders: Sequence[bytes], splits: Mapping[bytes, str] | None) -> bytes:
    """Return the one folder above all others that archives often have; b"" if there is none.

    It counts as such if all files are below it, and if there are no files directly in it or at least two folders;
    and never if it is the folder of a split. `folders` are those that have files.

    >>> common_top([b"photos/cat", b"photos/dog/small"], None)
    b'photos'
    >>> common_top([b"cat", b"cat/small"], None), common_top([b"cat", b"dog"], None)
    (b'', b'')
    """
    parts = [folder.split(b"/") for folder in folders if folder]
    tops = {part[0] for part in parts}
    if len(tops) != 1 or b"" in folders:
        return b""
    (top,) = tops
    if splits is not None and top in splits:
        return b""
    below = {part[1] for part in parts if len(part) > 1}
    if len(below) >= 2 or (below and top not in folders):
        return top
    return b""


def read_folders(
    folders: Sequence[bytes], splits: Mapping[bytes, str] | None, *, top: bytes = b"", classes: bool = True
) -> list[FolderMeaning]:
    """Return what each folder means; the folder `top` above all does not count.

    The split is None if folders decide nothing about it, which `splits`, their names by folder, says.
    """
    found = []
    for folder in folders:
        parts = folder.split(b"/")[bool(top) :] if folder else []
        split = None
        if splits is not None:
            split = splits.get(parts[0]) if parts else None
            parts = parts[1:]
        found.append(FolderMeaning(split, parts[0] if classes and parts else None))
    return found
