"""Names of the members of archives: which are taken, and in which order.

Nothing is ever written under such a name. Names that lead out of the archive are refused all the same: an archive that
has them was made to do harm.
"""

from __future__ import annotations

import re
from array import array
from typing import Any, Final

import numpy as np

from tfrkit.build.images.image_items import IGNORED, ImageItems, Ledger, is_ignored, shown
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn

__all__ = ["DAMAGED", "LINK", "MemberList", "split_name"]

LINK: Final = "link in an archive"
DAMAGED: Final = "damaged in the archive"
_MAX_SIZE: Final = 1 << 62
_TWICE: Final = "duplicate name"
_NO_NAME: Final = "file without a name"
_DRIVE: Final = re.compile(rb"[A-Za-z]:")


def split_name(name: bytes, archive: str, *, backslash: bool = False) -> list[bytes]:
    """Cut the name of a member into folders and the file.

    Args:
        name: as the archive has it.
        archive: its path, for errors.
        backslash: whether that separates folders too.

    Raises:
        InvalidArgumentError: the name is absolute, has a drive, or leads out of the archive.

    >>> split_name(b"./cat//1.jpg", "a.tar")
    [b'cat', b'1.jpg']
    """
    slashed = name.replace(b"\\", b"/")
    if slashed.startswith(b"/") or _DRIVE.match(name) or b".." in slashed.split(b"/") or b"\0" in name:
        raise InvalidArgumentError(
            f"{archive}: expected names inside the archive but got {shown(name)!r}, which leads out of it. Nothing was "
            "read. Do not trust this archive; if you do, make it again without that name.",
            path=archive,
        )
    return [part for part in (slashed if backslash else name).split(b"/") if part not in (b"", b".")]


class MemberList:
    """Collects the members of an archive as items."""

    def __init__(self, archive: str, bad: Ledger, noted: Ledger, *places: str) -> None:
        self._archive = archive
        self.bad = bad
        self._noted = noted
        self._folders: dict[bytes, int] = {}
        self._folder_of = array("i")
        self._names: list[bytes] = []
        self._sizes = array("q")
        self._places = {name: array("Q") for name in places}

    def takes(self, parts: list[bytes]) -> bool:
        """Whether a member is part of the data; notes it if it is not."""
        for depth, part in enumerate(parts):
            if is_ignored(part, top=len(parts) == 1 or (depth == 1 and len(parts) == 2)):
                self._noted.add(shown(b"/".join(parts)), IGNORED)
                return False
        if not parts:
            self.bad.add("", _NO_NAME)
        return bool(parts)

    def add(self, parts: list[bytes], size: int, *places: int) -> None:
        """Add a file; `places` in the order of the names."""
        folder = b"/".join(parts[:-1])
        self._folder_of.append(self._folders.setdefault(folder, len(self._folders)))
        self._names.append(parts[-1])
        self._sizes.append(min(size, _MAX_SIZE))  # what is said, however absurd; the limit refuses it later
        for column, value in zip(self._places.values(), places, strict=True):
            column.append(value)

    def finish(self, *, ordered: bool) -> ImageItems:
        """Return all files: by folder and then by name, or as they came; of several with one name, the first."""
        folders = list(self._folders)
        by_name = sorted(range(len(folders)), key=lambda number: folders[number].split(b"/"))
        rank = np.empty(len(folders), np.int64)
        rank[by_name] = np.arange(len(folders))
        ranks = rank[np.frombuffer(self._folder_of, np.int32)] if self._names else np.zeros(0, np.int64)
        order = np.argsort(ranks, kind="stable")
        ends = np.searchsorted(ranks[order], np.arange(len(folders) + 1))
        kept: list[int] = []
        for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
            kept += self._each_once(sorted(order[begin:end].tolist(), key=self._names.__getitem__), folders)
        rows = np.array(kept, np.int64)
        if not ordered:
            rows.sort()
        return self._items(rows, tuple(folders[number] for number in by_name), ranks)

    def _each_once(self, rows: list[int], folders: list[bytes]) -> list[int]:
        """The first of each name, of rows of one folder that are sorted by names."""
        kept = []
        before = None
        folder = folders[self._folder_of[rows[0]]] if rows else b""
        for row in rows:
            name = self._names[row]
            if name == before:
                self.bad.add(shown(folder + b"/" + name if folder else name), _TWICE)
            else:
                kept.append(row)
            before = name
        return kept

    def _items(self, rows: Any, folders: tuple[bytes, ...], ranks: Any) -> ImageItems:
        names = BytesColumn.from_list([self._names[row] for row in rows.tolist()])
        self._names = []
        return ImageItems(
            folders,
            ranks[rows].astype(np.int32),
            names,
            np.frombuffer(self._sizes, np.int64)[rows] if len(rows) else np.zeros(0, np.int64),
            {name: np.frombuffer(column, np.uint64)[rows] if len(rows) else np.zeros(0, np.uint64)
             for name, column in self._places.items()},
        )  # fmt: skip
