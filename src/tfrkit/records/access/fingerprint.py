"""file_fingerprint: what a file is known by when a saved state comes back to it.

The same two facts as in the index of a shard (FORMAT.md): its size and a checksum of its tail.
"""

from __future__ import annotations

import os
import zlib
from typing import Final

from tfrkit.errors import OpError, from_os_error
from tfrkit.records.access.index import tail_checksum
from tfrkit.stores.source import open_source

__all__ = ["content_fingerprint", "file_fingerprint"]

_READ_BYTES: Final = 1 << 20


def file_fingerprint(path: str) -> tuple[int, int] | None:
    """Give a file's size and the CRC-32C of its last 64 kB; None for pipes, and where no file can be opened.

    A file that is missing is no error here: reading it is, in its place.
    """
    if not os.path.isfile(path):  # opening a pipe would wait for its writer
        return None
    try:
        return tail_checksum(open_source(path))
    except OpError:
        return None


def content_fingerprint(path: str) -> tuple[int, int]:
    """Give a file's size and the CRC-32 of all of it, which tells more than its tail and reads it once.

    Raises:
        NotFoundError, PermissionDeniedError: it cannot be read.
    """
    size = checksum = 0
    try:
        with open(path, "rb", buffering=0) as file:
            while data := file.read(_READ_BYTES):
                size += len(data)
                checksum = zlib.crc32(data, checksum)
    except OSError as error:
        raise from_os_error(error, path) from error
    return size, checksum
