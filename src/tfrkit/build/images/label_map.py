"""Label maps: the names of classes, one on a line; the number of the line, from 0 on, is the label."""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from typing import Final

from tfrkit.build.images.image_items import shown
from tfrkit.errors import InvalidArgumentError, os_errors
from tfrkit.stores.files import open_file

__all__ = ["LABELS_FILE", "read_label_map", "write_label_map"]

LABELS_FILE: Final = "labels.txt"


def write_label_map(names: Sequence[bytes]) -> bytes:
    r"""Return the bytes of the file.

    Raises:
        InvalidArgumentError: a name has a line break in it.

    >>> write_label_map([b"cat", b"dog"])
    b'cat\ndog\n'
    """
    for name in names:
        if b"\n" in name or b"\r" in name:
            raise InvalidArgumentError(
                f"class {shown(name)!r}: expected a name without line breaks, because the label map has a line for "
                "each. Rename the folder."
            )
    return b"".join(name + b"\n" for name in names)


def read_label_map(path: str) -> tuple[bytes, ...]:
    """Read a file.

    Raises:
        InvalidArgumentError: it is empty, or has an empty line or a name twice.
        NotFoundError: there is none.
    """
    with os_errors(path, "Expected a label map: a class name on each line."), open_file(path) as file:
        content = file.read().removeprefix(codecs.BOM_UTF8)
    names = tuple(line.removesuffix(b"\r") for line in content.removesuffix(b"\n").split(b"\n"))
    seen: set[bytes] = set()
    for number, name in enumerate(names, 1):
        if not name or name in seen:
            problem = "no name" if not name else f"{shown(name)!r} a second time"
            raise InvalidArgumentError(
                f"{path}, line {number}: expected the name of a class but got {problem}. A label map has one name on "
                "each line, and the number of the line, from 0 on, is the label.",
                path=path,
            )
        seen.add(name)
    return names
