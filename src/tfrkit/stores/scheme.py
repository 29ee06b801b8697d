"""URLs where a path is expected: refused, since only local files can be read and written."""

from __future__ import annotations

import re
from typing import Final

from tfrkit.errors import UnimplementedError

__all__ = ["check_local", "is_url"]

_SCHEME: Final = re.compile(r"([A-Za-z][A-Za-z0-9+.-]*)://")


def is_url(path: str) -> bool:
    """Tell whether a path begins with `<scheme>://`. Pure: no I/O."""
    return _SCHEME.match(path) is not None


def check_local(path: str) -> str:
    """Return a path as it is, unless it begins with `<scheme>://`. Pure: no I/O.

    Raises:
        UnimplementedError: it is a URL; it says what to do instead.

    >>> check_local("./s3:/bucket"), check_local("a://b")
    Traceback (most recent call last):
    tfrkit.errors.UnimplementedError: File system scheme 'a' not implemented (file: 'a://b'). Only local files ...
    """
    found = _SCHEME.match(path)
    if found is None:
        return path
    raise UnimplementedError(
        f"File system scheme {found[1]!r} not implemented (file: {path!r}). Only local files can be read and written: "
        "copy the data to or from a local folder, and name that; a local path that looks like a URL begins with './'.",
        path=path,
    )
