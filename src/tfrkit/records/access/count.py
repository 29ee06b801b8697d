"""How many records a file has: from what is written down about it, else by walking the lengths.

Keeps no offsets, so that a file of any size takes little memory.
"""

from __future__ import annotations

import os
from functools import lru_cache
from typing import IO, Final

from tfrkit.errors import OpError
from tfrkit.model.policy import TFRKIT
from tfrkit.records.access.index import indexed_count, walk_frames
from tfrkit.records.manifest import manifest_entries, manifest_path, read_manifest
from tfrkit.records.read.reader import BlockReader
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.source import ByteSource, open_source

__all__ = ["count_records", "manifest_says"]

_BLOCK_BYTES: Final = 1 << 20


def count_records(target: str | IO[bytes], *, exact: bool = False, threads: int | None = None) -> int:
    """Count the records of one file.

    The number comes from the index beside the file if that belongs to it as it is now, else from a manifest that
    knows it with this size, else from the length fields; data is not checked.

    Args:
        target: a path, or an open binary file.
        exact: believe neither index nor manifest.
        threads: how many cores inflate a compressed file; all by default. 1 where this runs in a pool's thread.

    Raises:
        DataLossError: the file is damaged.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_many([b"x"] * 7)
    >>> count_records("a.tfrecord")
    7
    """
    source = open_source(target)
    if isinstance(target, str) and source.regular and not exact:
        known = indexed_count(target, source)
        if known is None:
            known = _in_manifest(target, source)
        if known is not None:
            return known
    if source.regular and isinstance(target, str) and sniff_compression(source.peek(HEAD_BYTES)) == "":
        return sum(len(frames) for frames in walk_frames(source)) - 1  # the last number is the file's end
    reader = BlockReader([target], TFRKIT.with_options(crc=False), threads, _BLOCK_BYTES)
    return sum(len(block) for block in reader)


def manifest_says(path: str) -> tuple[int, int] | None:
    """Return the records and bytes of a shard by the manifest beside it, or None if no manifest knows it."""
    folder, name = os.path.split(path)
    try:
        changed = os.stat(manifest_path(folder)).st_mtime_ns
    except OSError:
        return None
    return _manifest(folder, changed).get(name)


def _in_manifest(path: str, source: ByteSource) -> int | None:
    records, size = manifest_says(path) or (None, None)
    return records if size == source.size() else None


@lru_cache(maxsize=64)
def _manifest(folder: str, _changed: int) -> dict[str, tuple[int, int]]:
    """Records and bytes of the shards of a folder; nothing if its manifest is not tfrkit's."""
    try:
        entries = manifest_entries(read_manifest(folder))
    except OpError:
        return {}
    return {name: (entry.records, entry.bytes) for name, entry in entries.items()}
