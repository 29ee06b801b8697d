"""Images that are files: read by name; those behind URLs are listed here, and fetched several at once.

Local folders are listed in `image_folder.py`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TypeAlias

from tfrkit._core import crc32c
from tfrkit.build.images.image_items import (
    BLOCK_BYTES,
    IGNORED,
    ImageBuffer,
    ImageItems,
    ItemColumns,
    Ledger,
    ReadImage,
    is_ignored,
    read_image,
    shown,
)
from tfrkit.build.images.sources.image_folder import UNREADABLE, KnownFile, read_file, read_run, read_sample
from tfrkit.build.images.sources.read_ahead import Fetched, Result, read_ahead, take_next
from tfrkit.build.job.input_stamp import InputChangedError
from tfrkit.build.job.progress import SurveyMeter
from tfrkit.errors import FailedPreconditionError, NotFoundError, PermissionDeniedError
from tfrkit.images.codecs.image_header import EMPTY, TOO_LARGE, BadImageError
from tfrkit.stores.files import list_files, open_known
from tfrkit.stores.store import FileInfo
from tfrkit.stores.url import is_url
from tfrkit.threads import spawn

__all__ = ["ImageFileReader", "list_objects"]

_SAMPLE_BYTES = 4096
Key: TypeAlias = tuple[bytes, int, int, bytes | None]  # path, size, time; of a URL the version


class ImageFileReader:
    """Reads the files of a folder or a list, in the order of the keys: the next behind URLs are fetched meanwhile."""

    def __init__(self, root: str, max_bytes: int) -> None:
        self._root = os.path.join(os.fsencode(root), b"")
        self._max_bytes = max_bytes
        self._contents: Fetched[Key, bytes] = read_ahead([], _begin_contents)
        self._samples: Fetched[Key, bytes] = read_ahead([], _begin_samples)

    def keys(self, items: ImageItems) -> list[Key]:
        assert items.times is not None
        paths: list[bytes] = items.paths()
        versions: list[bytes | None] = [None] * len(paths)
        if items.versions is None:
            paths = [os.path.join(self._root, path) for path in paths]
        else:
            paths = [path if _is_remote(path) else os.path.join(self._root, path) for path in paths]
            known = zip(paths, items.versions.to_list(), strict=True)
            versions = [version if _is_remote(path) else None for path, version in known]
        keys = list(zip(paths, items.sizes.tolist(), items.times.tolist(), versions, strict=True))
        remote = [key for key in keys if key[3] is not None]
        self.close()
        small = [(key, key[1]) for key in remote if key[1] <= self._max_bytes]
        self._contents = read_ahead(small, _begin_contents)
        self._samples = read_ahead([(key, _SAMPLE_BYTES) for key in remote], _begin_samples)
        return keys

    def read(self, key: Key, buffer: ImageBuffer) -> None:
        """Read a file that must still be what it was.

        Raises:
            InputChangedError: it has another size, time or version, or is gone.
        """
        path, size, time, version = key
        if size > self._max_bytes:
            raise BadImageError(TOO_LARGE, f"{size} bytes")
        if version is None:
            read_file((path, size, time), buffer)
        else:
            buffer.put(take_next(self._contents, key))

    def read_all(self, keys: Sequence[Key], buffer: ImageBuffer) -> Iterator[ReadImage]:
        """Read files that must still be what they were: local ones as many with one call as fill a block.

        Raises:
            InputChangedError: as `read` does.
        """
        first = 0
        while first < len(keys):
            run = self._local_run(keys, first, BLOCK_BYTES - buffer.at)
            if run:
                yield from read_run(run, buffer)
            else:
                yield read_image(self, keys[first], buffer)
            first += len(run) or 1

    def _local_run(self, keys: Sequence[Key], first: int, room: int) -> list[KnownFile]:
        """The next local files up to the one that fills the room; none if the first is remote or too large."""
        run: list[KnownFile] = []
        for path, size, time, version in islice(keys, first, None):
            if version is not None or size > self._max_bytes or room <= 0:
                break
            run.append((path, size, time))
            room -= size
        return run

    def mark(self, key: Key) -> int:
        return crc32c(_sample(key) if key[3] is None else take_next(self._samples, key))

    def close(self) -> None:
        self._contents.close()
        self._samples.close()


def _is_remote(path: bytes) -> bool:
    return b"://" in path and is_url(os.fsdecode(path))


def _begin_contents(keys: list[Key]) -> list[Result[Key, bytes]]:
    return [Result(key, spawn(_fetch, key, 0, key[1]), bytes) for key in keys]


def _begin_samples(keys: list[Key]) -> list[Result[Key, bytes]]:
    return [Result(key, spawn(_sample, key), bytes) for key in keys]


def _sample(key: Key) -> bytes:
    path, size, _, version = key
    begin, count = size // 2, min(size - size // 2, _SAMPLE_BYTES)
    return read_sample(path, begin, count) if version is None else _fetch(key, begin, count)


def _fetch(key: Key, begin: int, size: int) -> bytes:
    """Read some bytes of the version that was listed.

    Raises:
        InputChangedError: there is another, or none.
    """
    path, whole, _, version = key
    name, wanted = os.fsdecode(path), (version or b"").decode()
    try:
        source = open_known(FileInfo(name, whole, wanted))
        if source.version.strip('"') != wanted.strip('"') or source.size() != whole:
            raise InputChangedError(
                shown(path),
                f"expected version {wanted} of {whole:,} bytes but got {source.version} of {source.size() or 0:,}",
            )
        return source.read_at(begin, size)
    except NotFoundError:
        raise InputChangedError(shown(path), f"expected {whole:,} bytes but the file is gone") from None
    except FailedPreconditionError as error:
        raise InputChangedError(shown(path), f"expected version {wanted}: {error.message}") from error
    except PermissionDeniedError as error:
        raise BadImageError(UNREADABLE, error.message) from None


# -- listing -----------------------------------------------------------------------------------------------------------


def list_objects(
    url: str, ledger: Ledger, noted: Ledger, meter: SurveyMeter | None = None
) -> tuple[ImageItems, str]:
    """List all files below a URL in the order in which `list_folder` lists those of a folder.

    Returns:
        The files, and a digest of their versions.
    """
    columns = ItemColumns()
    columns.folder(b"")
    meter = meter or SurveyMeter(None)
    begin = len(url.rstrip("/")) + 1
    empty: list[bytes] = []
    hidden: set[bytes] = set()
    for found in list_files(url, recursive=True):
        path = os.fsencode(found.path[begin:])
        parts = path.split(b"/")
        above = [b"/".join(parts[:depth]) for depth in range(1, len(parts) + 1)]
        ignored = (
            place for place, part in zip(above, parts, strict=True) if is_ignored(part, top=len(parts) == 1)
        )
        if (unwanted := next(ignored, None)) is not None:
            hidden.add(unwanted)
        elif not found.size:
            empty.append(path)
        else:
            number = 0
            for folder in above[:-1]:
                number = columns.folder(folder)
            version = found.version.strip('"').encode()
            columns.add(number, parts[-1], found.size, time=found.modified_ns, version=version)
            meter.add(1, found.size)
            meter.tick()
    for path in sorted(hidden, key=_by_folder):
        noted.add(shown(path), IGNORED)
    for path in sorted(empty, key=_by_folder):
        if path and path not in columns.folders:  # else it was made to show that there is a folder
            ledger.add(shown(path), EMPTY)
    items, order = columns.by_folder(versioned=True)
    items = items.take(order)
    stamp = hashlib.blake2b(digest_size=8)
    for version in items.versions or ():
        stamp.update(version + b"\n")
    return items, stamp.hexdigest()


def _by_folder(path: bytes) -> tuple[list[bytes], bytes]:
    """Return what sorts as folders are listed: what is in a folder before what is in the folders inside it."""
    folder, _, name = path.rpartition(b"/")
    return folder.split(b"/") if folder else [], name
