"""Archives: the names of their members, which are taken and in which order; and reading anywhere in an open one.

Nothing is ever written under such a name. Names that lead out of the archive are refused all the same: an archive that
has them was made to do harm.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise
from operator import itemgetter
from typing import Final, TypeAlias

import numpy as np

from tfrkit.build.images.image_items import (
    IGNORED,
    ImageItems,
    ImageReader,
    ItemColumns,
    is_ignored,
    shown,
)
from tfrkit.build.images.sources.read_ahead import Fetched, Result, read_ahead
from tfrkit.errors import InvalidArgumentError
from tfrkit.stores.files import open_source
from tfrkit.threads import spawn

__all__ = ["DAMAGED", "LINK", "ArchiveReader", "MemberList", "split_name"]

Range: TypeAlias = tuple[int, int]  # where it begins, and its bytes
Data: TypeAlias = bytes | memoryview
LINK: Final = "link in an archive"
DAMAGED: Final = "damaged in the archive"
_MAX_SIZE: Final = 1 << 62
_TWICE: Final = "duplicate name"
_NO_NAME: Final = "file without a name"
_DRIVE: Final = re.compile(rb"[A-Za-z]:")


def split_name(name: bytes, archive: str, *, backslash: bool = False) -> list[bytes]:
    """Cut the name of a member into folders and the file; with `backslash`, that separates folders too.

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


class MemberList(ItemColumns):
    """Collects the members of an archive."""

    def takes(self, parts: list[bytes]) -> bool:
        """Whether a member is part of the data; notes it if it is not."""
        for depth, part in enumerate(parts):
            if is_ignored(part, top=len(parts) == 1 or (depth == 1 and len(parts) == 2)):
                self.noted.add(shown(b"/".join(parts)), IGNORED)
                return False
        if not parts:
            self.bad.add("", _NO_NAME)
        return bool(parts)

    def add_member(self, parts: list[bytes], size: int, *places: int) -> None:
        """Add a file; `places` in the order of the names."""
        # The size is what is said, however absurd; the limit refuses it later.
        self.add(self.folder(b"/".join(parts[:-1])), parts[-1], min(size, _MAX_SIZE), *places)

    def finish(self, *, ordered: bool) -> ImageItems:
        """Return all files: by folder and then by name, or as they came; of several with one name, the first."""
        items, order = self.by_folder()
        chosen = items.take(order)
        keys = zip(chosen.folder_of.tolist(), chosen.names.to_list(), strict=True)
        twice = np.array([False] * bool(len(chosen)) + [one == other for one, other in pairwise(keys)], bool)
        self.bad.add_rows(chosen, np.flatnonzero(twice), _TWICE, lambda _: "")
        rows = order[~twice]
        return items.take(rows if ordered else np.sort(rows))


class ArchiveReader(ImageReader):
    """An open archive. What is next of one behind a URL is fetched before, in a few requests that are made at once."""

    def __init__(self, path: str, max_bytes: int) -> None:
        super().__init__(path, max_bytes)
        self._source = open_source(path)
        self._ahead: Fetched[Data] | None = None

    def expect(self, ranges: Sequence[Range]) -> None:
        """Say which ranges will be read, in this order."""
        self.close()
        if self._source.remote:
            self._ahead = read_ahead([(place, place[1]) for place in ranges], self._begin)

    def read_into(self, room: memoryview, offset: int, *, expected: bool = True) -> int:
        """Fill memory from a position of the file; returns how much there was.

        Raises:
            OpError: the operating system's reason, or the store's.
        """
        if self._ahead is None or not expected:
            return self._source.read_into(room, offset)
        data = next(self._ahead).get()
        room[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if self._ahead is not None:
            self._ahead.close()

    def _begin(self, ranges: list[Range]) -> list[Result[Data]]:
        """Fetch some ranges, neighbours together."""
        ordered = sorted(ranges)
        starts, sizes = [start for start, _ in ordered], [size for _, size in ordered]
        future = spawn(self._source.read_ranges, starts, sizes)
        return [Result(future, itemgetter(ordered.index(place))) for place in ranges]
