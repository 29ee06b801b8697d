"""What is in the cache folder: which files of which stores, how much of each, and removing it."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from typing import Final

from tfrkit.errors import from_os_error
from tfrkit.stores.cache.chunks import ABOUT, RANGES
from tfrkit.stores.cache.folder import cache_folder
from tfrkit.stores.cache.room import Kept, kept_files
from tfrkit.stores.json_file import parse_json
from tfrkit.stores.url import display_name

__all__ = ["CachedUrl", "cached_urls", "clear_cache", "other_files"]

_INDEXES: Final = (
    "indexes"  # of remote files; what is beside it, such as work of builds, is not ours to remove
)


@dataclass(frozen=True, slots=True)
class CachedUrl:
    """One version of one file.

    Attributes:
        name: without secrets; empty if its description is damaged.
        version: as the store tells it.
        file_bytes: of the whole file.
        bytes: that are kept.
        files: in the cache.
        used: when, in seconds since 1970.
        folder: where they are.
    """

    name: str
    version: str
    file_bytes: int
    bytes: int
    files: int
    used: float
    folder: str


def cached_urls() -> list[CachedUrl]:
    """Return what is kept of remote files, what was used last first."""
    ranges = os.path.join(cache_folder(), RANGES)
    try:
        names = os.listdir(ranges)
    except OSError:
        return []
    found = (_look_into(os.path.join(ranges, name)) for name in names)
    return sorted((each for each in found if each.files), key=lambda each: (-each.used, each.name))


def _look_into(folder: str) -> CachedUrl:
    kept = list(kept_files(folder))
    about: object = None
    try:
        with open(os.path.join(folder, ABOUT), "rb") as file:
            about = parse_json(file.read())
    except (OSError, ValueError):
        pass
    values = about if isinstance(about, dict) else {}
    size = values.get("bytes")
    return CachedUrl(
        str(values.get("name", "")),
        str(values.get("version", "")),
        size if isinstance(size, int) else 0,
        sum(each.size for each in kept),
        len(kept),
        max((each.used for each in kept), default=0.0),
        folder,
    )


def other_files() -> dict[str, list[Kept]]:
    """Return what else is in the cache folder, by the folder in it: indexes, and work of builds."""
    cache = cache_folder()
    try:
        names = os.listdir(cache)
    except OSError:
        return {}
    found = {name: list(kept_files(os.path.join(cache, name))) for name in sorted(names) if name != RANGES}
    return {name: kept for name, kept in found.items() if kept}


def clear_cache(prefix: str = "") -> tuple[int, int]:
    """Remove what is kept; other processes that are reading it go on, and fetch what they need.

    Args:
        prefix: only files whose URLs begin with it; else all, and the indexes of remote files.

    Returns:
        How many files were removed, and their bytes.

    Raises:
        PermissionDeniedError: they cannot be removed.
    """
    doomed = [
        (each.folder, each.files, each.bytes)
        for each in cached_urls()
        if each.name.startswith(display_name(prefix))
    ]
    if not prefix:
        indexes = other_files().get(_INDEXES, [])
        doomed.append(
            (os.path.join(cache_folder(), _INDEXES), len(indexes), sum(each.size for each in indexes))
        )
    for folder, _, _ in doomed:
        try:
            shutil.rmtree(folder)
        except FileNotFoundError:  # another process was faster
            pass
        except OSError as error:
            raise from_os_error(error, folder) from error
    return sum(files for _, files, _ in doomed), sum(size for _, _, size in doomed)
