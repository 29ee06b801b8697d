"""Where the cache is, and how much it may hold.

Nothing is made before something is to be kept. The folder belongs to the user alone: what is read with credentials is
not to be read without them.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Final

from tfrkit.errors import InvalidArgumentError

__all__ = ["cache_folder", "cache_limit", "make_cache_folder"]

_FOLDER: Final = "TFRKIT_CACHE"
_LIMIT: Final = "TFRKIT_CACHE_BYTES"
_DEFAULT_BYTES: Final = 10 << 30
_SIZE: Final = re.compile(r"(\d{1,15}(?:\.\d{1,6})?) ?([kmgt]?)(?:i?b)?", re.IGNORECASE)
_UNITS: Final = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def cache_folder() -> str:
    """Return the cache folder, which need not exist.

    `TFRKIT_CACHE` names it; else it is `tfrkit` in the platform's folder for caches: `$XDG_CACHE_HOME` or `~/.cache`,
    on macOS `~/Library/Caches`.
    """
    if named := os.environ.get(_FOLDER):
        return os.path.abspath(os.path.expanduser(named))
    if sys.platform == "darwin":
        return os.path.expanduser("~/Library/Caches/tfrkit")
    of_user = os.environ.get("XDG_CACHE_HOME", "")
    if not os.path.isabs(of_user):  # the XDG specification: such a value is to be ignored
        of_user = os.path.expanduser("~/.cache")
    return os.path.join(of_user, "tfrkit")


def make_cache_folder(*names: str) -> str:
    """Return a folder in the cache folder; what is missing of it is made, for this user alone.

    Args:
        names: of folders inside each other; none for the cache folder itself.

    Raises:
        OSError: it cannot be made.
    """
    folder = cache_folder()
    if not os.path.isdir(folder):
        os.makedirs(os.path.dirname(folder), exist_ok=True)
        _make(folder)
    for name in names:
        folder = os.path.join(folder, name)
        _make(folder)
    return folder


def _make(folder: str) -> None:
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise


def cache_limit() -> int:
    """Return how many bytes the cache may hold: `TFRKIT_CACHE_BYTES`, else 10 GiB.

    Raises:
        InvalidArgumentError: the variable is not a size.
    """
    text = os.environ.get(_LIMIT, "").strip()
    if not text:
        return _DEFAULT_BYTES
    found = _SIZE.fullmatch(text)
    if found is None:
        raise InvalidArgumentError(f"Expected {_LIMIT} to be a size such as 500M or 20G but got {text!r}.")
    return int(float(found[1]) * _UNITS[found[2].lower()])
