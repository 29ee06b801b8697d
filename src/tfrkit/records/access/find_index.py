"""Where the index of a file comes from: beside it, another tool's, the cache folder, or one pass over the file.

In the cache folder an index is known by the file's name and version. What is remote gets there whenever it was read or
built, so that it is fetched once; what is local only if the folder of the file cannot be written.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import threading
from collections import Counter
from collections.abc import Callable, Sequence
from functools import cache
from typing import Final, TypeAlias

from tfrkit.errors import DataLossError, FailedPreconditionError, OpError
from tfrkit.records.access.index import (
    Index,
    index_of,
    load_index,
    read_index,
    read_text_index,
    save_index,
    tail_checksum,
)
from tfrkit.stores.cache.folder import cache_folder, make_cache_folder
from tfrkit.stores.files import is_local, list_names, read_bytes, real_path, traits_of, write_bytes
from tfrkit.stores.output import sidecar_folder
from tfrkit.stores.source import ByteSource
from tfrkit.stores.url import display_name, split_query
from tfrkit.threads import spawn

__all__ = ["MayHave", "cache_path", "find_index", "kept_index", "listed_folders"]

_FOLDER: Final = "indexes"  # in the cache folder
_building = threading.BoundedSemaphore(8)  # remote files that are read as a whole: each has its window
_LISTED: Final = 4  # files of a folder: for fewer, five requests each may be less than a long listing

MayHave: TypeAlias = Callable[[str], bool]  # whether there may be a file


def listed_folders(paths: Sequence[str]) -> MayHave:
    """Return what says of a name whether it may be there, by one listing of each remote folder of many of the paths.

    It is thread-safe, lists when it is asked, and says True where nothing is known.
    """
    counts = Counter(os.path.dirname(split_query(path)[0]) for path in paths if not is_local(path))
    lock = threading.Lock()

    @cache
    def names(folder: str) -> set[str] | None:
        with contextlib.suppress(OpError):  # of a user who may read files and not list them
            return set(list_names(folder)) if counts[folder] >= _LISTED and traits_of(folder).lists else None
        return None

    def may_have(path: str) -> bool:
        folder, name = os.path.split(split_query(path)[0])
        with lock:
            found = names(folder)
        return found is None or name in found

    return may_have


def find_index(
    path: str, source: ByteSource, wanted: str, compression: str, may_have: MayHave
) -> Index | None:
    """Return the index of a file that is plain or in members.

    Args:
        path: the file's.
        source: the file, open.
        wanted: "auto", "save", "memory" or the path of an index, as `RecordFile` explains.
        compression: of the file.
        may_have: as `listed_folders` returns it.

    Returns:
        None if the file is not in members after all.

    Raises:
        DataLossError: the file is damaged, or the index that was named.
        FailedPreconditionError: the index that was named belongs to another content.
    """
    if wanted not in ("auto", "save", "memory"):
        return _named_index(wanted, source, compression)
    index = None if wanted == "memory" else kept_index(path, source, compression, may_have)
    if index is None:
        with _building if source.remote else contextlib.nullcontext():
            index = index_of(source, compression)
        if index is not None and wanted != "memory":
            _keep(path, source, index, beside=wanted == "save")
    return index


def _named_index(path: str, source: ByteSource, compression: str) -> Index:
    data = read_bytes(path)
    if not data.startswith(b"TFRKIDX"):
        index = read_text_index(path, source)
    else:
        try:
            index = Index.from_bytes(data)
        except ValueError as error:
            raise DataLossError(f"{path}; {error}. Make the index again.", path=path) from error
        if (index.shard_bytes, index.tail_crc) != tail_checksum(source):
            raise FailedPreconditionError(
                f"{path}; the index belongs to another version of {source.name!r}. Make it again.",
                path=path,
            )
    if index.compression != compression:
        raise FailedPreconditionError(
            f"{path}; expected an index of a file that is {compression or 'plain'} but got one of a file that is "
            f"{index.compression or 'plain'}. Make it again.",
            path=path,
        )
    return index


def kept_index(path: str, source: ByteSource, compression: str, may_have: MayHave = bool) -> Index | None:
    """Return an index that fits, from the places where one is kept."""
    places: list[Callable[[], Index | None]] = [
        lambda: load_index(path, source) if may_have(sidecar_folder(path)) else None,
        lambda: _text_index_beside(path, source, may_have) if not compression else None,
    ]
    places.insert(0 if source.remote else 2, lambda: _cached_index(path, source))
    for number, look in enumerate(places):
        index = look()
        if index is not None and index.compression == compression:
            if source.remote and number:
                _keep(path, source, index, beside=False)
            return index
    return None


def _text_index_beside(path: str, source: ByteSource, may_have: MayHave) -> Index | None:
    """Find a text index under the names that other tools use; one that does not fit is left alone."""
    name, query = split_query(path)
    stem = os.path.splitext(name)[0]
    names = [each + query for each in (name + ".idx", name + ".index", stem + ".idx", stem + ".index")]
    there = may_have if source.remote else os.path.isfile
    names = [each for each in names if there(each)]

    def read(each: str) -> Index | None:
        try:
            return read_text_index(each, source)
        except OpError:
            return None

    results = [future.result() for future in [spawn(read, each) for each in names]]
    return next((index for index in results if index is not None), None)


def _keep(path: str, source: ByteSource, index: Index, *, beside: bool) -> None:
    """Keep an index beside its file if that can be done, else in the cache folder if that can be done."""
    if beside and traits_of(path).writes:
        try:
            save_index(path, index)
        except OpError:
            pass
        else:
            return
    if not traits_of(path).lasting or not (beside or source.remote):
        return
    with contextlib.suppress(OSError, OpError):
        make_cache_folder(_FOLDER)
        write_bytes(cache_path(path, source), index.to_bytes())


def _cached_index(path: str, source: ByteSource) -> Index | None:
    return read_index(cache_path(path, source), source, checked=traits_of(path).tagged)


def cache_path(path: str, source: ByteSource, suffix: str = ".idx") -> str:
    """Return where the cache folder has the index of a file of this version: the query of a signed URL is left out."""
    name = display_name(path) if not is_local(path) else real_path(path)
    digest = hashlib.sha256(f"{name}\0{source.version}".encode(errors="surrogateescape")).hexdigest()
    return os.path.join(cache_folder(), _FOLDER, digest[:40] + suffix)
