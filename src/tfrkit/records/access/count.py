"""How many records a file has: from what is written down about it, else by walking the lengths.

Keeps no offsets, so that a file of any size takes little memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import lru_cache, partial
from typing import IO, Any, Final

from tfrkit.errors import OpError
from tfrkit.model.policy import TFRKIT, OnCorrupt
from tfrkit.records.access.index import indexed_count, walk_frames
from tfrkit.records.manifest import manifest_entries, manifest_path, read_manifest
from tfrkit.records.read.reader import BlockReader
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.files import ask_all, file_info, is_local, list_files, open_small, open_source, traits_of
from tfrkit.stores.source import ByteSource
from tfrkit.stores.url import split_query
from tfrkit.threads import thread_pool

__all__ = ["count_files", "count_records", "manifest_counts", "manifest_says"]

_BLOCK_BYTES: Final = 1 << 20


def count_records(
    target: str | IO[bytes],
    *,
    exact: bool = False,
    manifest: bool = True,
    threads: int | None = None,
    on_corrupt: OnCorrupt = "raise",
    skipped: Callable[[int], object] | None = None,
) -> int:
    """Count the records of one file.

    The number comes from the index beside the file if that belongs to it as it is now, else from a manifest that
    knows it with this size, else from the length fields; data is not checked. With `on_corrupt` other than "raise" it
    is the number of records that a reader returns: the whole file is read and checked.

    Args:
        target: a path, or an open binary file.
        exact: believe neither index nor manifest.
        manifest: look into the manifest, which `manifest_counts` does once for many files.
        threads: how many cores read a file; all by default. 1 where this runs in a pool's thread.
        on_corrupt: what to do about damage: "raise", "skip" (count the intact records) or "stop" (count those before).
        skipped: takes the number of damages that were passed over, if there are any.

    Raises:
        DataLossError: the file is damaged.

    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     writer.write_many([b"x"] * 7)
    >>> count_records("a.tfrecord")
    7
    """
    if on_corrupt != "raise":
        policy = TFRKIT.with_options(on_corrupt=on_corrupt)
        reader = BlockReader([target], policy, threads, _BLOCK_BYTES)
        records = sum(len(block) for block in reader)
        if skipped is not None and reader.skipped:
            skipped(reader.skipped)
        return records
    source = open_source(target)
    if isinstance(target, str) and source.regular and not exact:
        known = indexed_count(target, source)
        if known is None and manifest:
            known = _in_manifest(target, source)
        if known is not None:
            return known
    if source.regular and isinstance(target, str) and sniff_compression(source.peek(HEAD_BYTES)) == "":
        return sum(len(frames) for frames in walk_frames(source)) - 1  # the last number is the file's end
    reader = BlockReader([target], TFRKIT.with_options(crc=False), threads, _BLOCK_BYTES)
    return sum(len(block) for block in reader)


def count_files(
    files: Sequence[str | IO[bytes]],
    *,
    exact: bool = False,
    on_corrupt: OnCorrupt = "raise",
    skipped: Callable[[int], object] | None = None,
) -> list[int | OpError]:
    """Count the records of many files, several at once; an error stands in the place of its file.

    Args:
        files: paths, or open binary files.
        exact: as for `count_records`.
        on_corrupt: as for `count_records`.
        skipped: as for `count_records`; called for each file, from any thread.
    """
    ask = partial(_count_or_error, exact=exact, on_corrupt=on_corrupt, skipped=skipped)
    if len(files) == 1:
        return [ask(files[0])]
    remote = list(dict.fromkeys(file for file in files if isinstance(file, str) and not is_local(file)))
    known: dict[object, int | OpError | None] = {}
    if remote:
        reads = exact or on_corrupt != "raise"
        known.update(zip(remote, [None] * len(remote) if reads else manifest_counts(remote), strict=True))
        rest = [path for path in remote if known[path] is None]
        known.update(zip(rest, ask_all(partial(ask, manifest=False, threads=1), rest), strict=True))
    others = thread_pool().map(partial(ask, threads=1), [file for file in files if file not in known])
    return [next(others) if (found := known.get(file)) is None else found for file in files]


def _count_or_error(target: str | IO[bytes], **options: Any) -> int | OpError:
    try:
        return count_records(target, **options)
    except OpError as error:
        return error


def manifest_says(path: str) -> tuple[int, int] | None:
    """Return the records and bytes of a shard by the manifest beside it, or None if no manifest knows it."""
    folder, name = os.path.split(split_query(path)[0])
    return _manifest_of(folder).get(name)


def manifest_counts(paths: Sequence[str]) -> list[int | None]:
    """Return the records of each file by the manifest of its folder; None where none knows it with its size.

    A manifest is read once, and so is the listing of a folder that is not local.
    """
    by_folder: dict[str, list[int]] = {}
    for number, path in enumerate(paths):
        by_folder.setdefault(os.path.dirname(path), []).append(number)
    counts: list[int | None] = [None] * len(paths)
    for folder, numbers in by_folder.items():
        known = _manifest_of(folder)
        names = {number: os.path.basename(paths[number]) for number in numbers}
        if not known.keys() & set(names.values()):
            continue
        sizes = _sizes(folder, [paths[number] for number in numbers])
        for number, name in names.items():
            records, size = known.get(name, (None, -1))
            counts[number] = records if sizes.get(name) == size else None
    return counts


def _sizes(folder: str, paths: Sequence[str]) -> dict[str, int]:
    """Return the sizes of files in a folder by their names, as far as they can be had without a request for each."""
    try:
        if is_local(folder):
            found = [file_info(path) for path in paths]
        else:
            found = list(list_files(folder)) if traits_of(folder).lists else []
    except OpError:
        return {}
    return {os.path.basename(info.path): info.size for info in found if info is not None}


def _manifest_of(folder: str) -> dict[str, tuple[int, int]]:
    """Records and bytes of the shards of a folder by its manifest as it is now."""
    try:
        path = manifest_path(folder)
        found = file_info(path) if is_local(folder) else open_small(path)  # asks for no folder
    except OpError:
        return {}
    return {} if found is None else _manifest(folder, found.version)


def _in_manifest(path: str, source: ByteSource) -> int | None:
    records, size = manifest_says(path) or (None, None)
    return records if size == source.size() else None


@lru_cache(maxsize=64)
def _manifest(folder: str, _version: str) -> dict[str, tuple[int, int]]:
    """Records and bytes of the shards of a folder; nothing if its manifest is not tfrkit's."""
    try:
        entries = manifest_entries(read_manifest(folder))
    except OpError:
        return {}
    return {name: (entry.records, entry.bytes) for name, entry in entries.items()}
