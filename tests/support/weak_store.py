"""A store that can do very little: no locks, and nothing that is made only if it is absent."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec

from tfrkit.stores.fsspec import FsspecStore
from tfrkit.stores.table import add_store


class WeakStore(FsspecStore):
    """Local files by fsspec."""

    def inner(self, path: str) -> tuple[Any, str]:
        return fsspec.core.url_to_fs(path.partition("://disk")[2])


def weak_url(folder: Path) -> str:
    """Return a URL by which a local folder is one of such a store."""
    add_store("weak", WeakStore)
    return f"weak://disk{folder}"
