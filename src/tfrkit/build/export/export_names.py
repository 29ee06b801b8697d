"""Names for exported files: whatever records say, nothing is written outside the folder, and nothing twice."""

from __future__ import annotations

import os
import re
import unicodedata
from typing import Final

from tfrkit.build.images.image_items import RESERVED

__all__ = ["ClassFolders", "file_name", "readable", "safe_name"]

_SEPARATORS: Final = re.compile(r"[/\\]")
_CONTROL: Final = re.compile(r"[\x00-\x1f\x7f]")
_MAX_NAME_BYTES: Final = 200  # of 255 that file systems allow: numbers and suffixes are added


def safe_name(text: str) -> str:
    r"""Make the name of a single folder or file; "" if nothing is left. Pure: no I/O.

    Separators and control characters become underscores, dots at the beginning go away (`..`, hidden files), so do
    spaces around, and long names are cut.

    >>> safe_name("../../etc/passwd"), safe_name("a\tb"), safe_name("..")
    ('_.._etc_passwd', 'a_b', '')
    """
    name = _CONTROL.sub("_", _SEPARATORS.sub("_", text)).strip(" ").lstrip(".")
    raw = name.encode("utf-8", "surrogateescape")
    if len(raw) > _MAX_NAME_BYTES:
        # Not in the middle of a character: what is cut off at the end of UTF-8 is ignored, other bytes are kept.
        kept = raw[:_MAX_NAME_BYTES]
        while kept and (raw[len(kept)] & 0xC0) == 0x80:
            kept = kept[:-1]
        name = kept.decode("utf-8", "surrogateescape")
    return name


def readable(text: str) -> str:
    r"""Return a name that is Unicode: bytes of others that are not UTF-8 are written out. Pure: no I/O.

    >>> readable("caf\udce9"), readable("café")
    ('caf\\xe9', 'café')
    """
    return text.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")


def file_name(text: str, suffixes: tuple[str, ...]) -> tuple[str, str]:
    r"""Make a file name and its suffix from a path in a record. Pure: no I/O.

    Args:
        text: the path.
        suffixes: those that fit what is in the file; the first is added to a name that has none of them.

    >>> file_name("cats\\1.JPG", (".jpg", ".jpeg")), file_name("b/c.png", (".jpg",))
    (('1', '.JPG'), ('c.png', '.jpg'))
    """
    last = _SEPARATORS.split(text.rstrip("/\\"))[-1]
    stem, suffix = os.path.splitext(last)
    return (safe_name(stem), suffix) if suffix.lower() in suffixes else (safe_name(last), suffixes[0])


class ClassFolders:
    """Assigns each class a folder of its own: two classes never share one, however their names are changed.

    Nor has one the name of a file that is put beside them, or a name that `build images` passes over.
    """

    def __init__(self, *, unicode: bool = False) -> None:
        """Begin without classes.

        Args:
            unicode: names must be Unicode, as in object stores; else any bytes will do.
        """
        self._unicode = unicode
        self._folders: dict[str | None, str] = {}
        self._taken = set(RESERVED)
        self._next_number: dict[str, int] = {}
        self.mended = 0  # how many classes could not have their own name

    def folder(self, name: str | None, fallback: str) -> str:
        """Return the folder of a class.

        Args:
            name: of the class; None for records without one.
            fallback: the folder's name if nothing of the class's can be used.

        >>> folders = ClassFolders()
        >>> folders.folder("a/b", "class"), folders.folder("a_b", "class"), folders.folder("a/b", "class")
        ('a_b', 'a_b-2', 'a_b')
        >>> folders.folder("labels.txt", "class")
        'labels.txt-2'
        """
        if name not in self._folders:
            wanted = safe_name(readable(name or "") if self._unicode else name or "") or fallback
            title, number = wanted, self._next_number.get(wanted, 2)
            while _same(title) in self._taken:
                title = f"{wanted}-{number}"
                number += 1
            self._next_number[wanted] = number
            self.mended += name is not None and title != name
            self._taken.add(_same(title))
            self._folders[name] = title
        return self._folders[name]


def _same(name: str) -> str:
    """Return what is equal for names that some file systems take for one: lower case, composed accents."""
    return unicodedata.normalize("NFC", unicodedata.normalize("NFC", name).casefold())
