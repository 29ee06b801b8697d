"""file_fingerprint: what a file is known by when a saved state comes back to it.

The same two facts as in the index of a shard (FORMAT.md): its size and a checksum of its tail.
"""

from __future__ import annotations

import os

from tfrkit.errors import OpError
from tfrkit.records.access.index import tail_checksum
from tfrkit.stores.files import is_local, open_source

__all__ = ["file_fingerprint"]


def file_fingerprint(path: str) -> tuple[int, int] | None:
    """Return a file's size and the CRC-32C of its last 64 kB; None for pipes, and where no file can be opened.

    A file that is missing is no error here: reading it is, in its place.
    """
    if is_local(path) and not os.path.isfile(path):  # opening a pipe would wait for its writer
        return None
    try:
        source = open_source(path)
        return tail_checksum(source) if source.regular else None  # a web server need not know ranges
    except OpError:
        return None
