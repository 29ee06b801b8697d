"""Names of the members of archives: which are taken, and in which order.

Nothing is ever written under such a name. Names that lead out of the archive are refused all the same: an archive that
has them was made to do harm.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final

import numpy as np

from tfrkit.build.images.image_items import IGNORED, ImageItems, ItemColumns, is_ignored, shown
from tfrkit.errors import InvalidArgumentError

__all__ = ["DAMAGED", "LINK", "MemberList", "split_name"]

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
