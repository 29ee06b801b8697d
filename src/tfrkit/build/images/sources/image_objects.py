"""Images that are files: read by name; those behind URLs are listed here, and fetched several at once.

Local folders are listed in `image_folder.py`.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import islice
from typing import TypeAlias

from tfrkit.build.images.image_items import (
    BLOCK_BYTES,
    IGNORED,
    Findings,
    ImageBuffer,
    ImageItems,
    ImageReader,
    ItemColumns,
    ReadImage,
    is_ignored,
    shown,
)
from tfrkit.build.images.sources.image_folder import UNREADABLE, KnownFile, read_run, read_sample
from tfrkit.build.images.sources.read_ahead import Fetched, Result, read_ahead
from tfrkit.build.job.input_stamp import InputChangedError
from tfrkit.errors import FailedPreconditionError, NotFoundError, PermissionDeniedError
from tfrkit.images.codecs.image_header import EMPTY, BadImageError
from tfrkit.stores.files import list_files, open_known
from tfrkit.stores.store import FileInfo
from tfrkit.stores.url import is_url
from tfrkit.threads import spawn

__all__ = ["ImageFileReader", "list_objects"]

_SAMPLE_BYTES = 4096
Key: TypeAlias = tuple[bytes, int, int, bytes | None]  # path, size, time; of a URL the version


class ImageFileReader(ImageReader):
    """Reads the files of a folder or a list, which must still be what they were: the next behind URLs meanwhile.

    Reading raises InputChangedError for one that has another size, time or version, or is gone.
    """

    def __init__(self, root: str, max_bytes: int) -> None:
        super().__init__(root, max_bytes)
        self._root = os.path.join(os.fsencode(root), b"")
        self._fetched: Fetched[bytes] | None = None

    def contents(self, items: ImageItems, buffer: ImageBuffer) -> Iterator[ReadImage]:
        """Read local files as many with one call as fill a block."""
        keys = self.keys(items)
        first = 0
        while first < len(keys):
            run = self._local_run(keys, first, BLOCK_BYTES - buffer.at)
            if run:
                yield from read_run(run, buffer)
            else:
                yield self.read_one(keys[first], keys[first][1], buffer)
            first += len(run) or 1

    def _local_run(self, keys: Sequence[Key], first: int, room: int) -> list[KnownFile]:
        """The next local files up to the one that fills the room; none if the first is remote or too large."""
        run: list[KnownFile] = []
        for path, size, time, version in islice(keys, first, None):
            if version is not None or size > self.max_bytes or (run and room <= 0):
                break
            run.append((path, size, time))
            room -= size
        return run

    def samples(self, items: ImageItems) -> Iterator[bytes | None]:
        """Read some bytes in the middle of each file."""
        keys = self._keys(items)
        fetched = self._expect([(key, _SAMPLE_BYTES) for key in keys], _sample)
        for key in keys:
            try:
                sample = _sample(key) if key[3] is None else next(fetched).get()
            except BadImageError:
                yield None
            else:
                yield sample

    def keys(self, items: ImageItems) -> list[Key]:
        keys = self._keys(items)
        self._expect([(key, key[1]) for key in keys if key[1] <= self.max_bytes], _content)
        return keys

    def read(self, key: Key, buffer: ImageBuffer) -> None:
        """Take what is behind a URL; local files are read many with one call."""
        assert self._fetched is not None
        buffer.put(next(self._fetched).get())

    def close(self) -> None:
        if self._fetched is not None:
            self._fetched.close()

    def _keys(self, items: ImageItems) -> list[Key]:
        assert items.times is not None
        paths: list[bytes] = items.paths()
        versions: list[bytes | None] = [None] * len(paths)
        if items.versions is None:
            paths = [os.path.join(self._root, path) for path in paths]
        else:
            paths = [path if _is_remote(path) else os.path.join(self._root, path) for path in paths]
            known = zip(paths, items.versions.to_list(), strict=True)
            versions = [version if _is_remote(path) else None for path, version in known]
        return list(zip(paths, items.sizes.tolist(), items.times.tolist(), versions, strict=True))

    def _expect(self, wanted: list[tuple[Key, int]], fetch: Callable[[Key], bytes]) -> Fetched[bytes]:
        """Say what will be read behind URLs, in this order, with the bytes of each."""
        self.close()
        remote = [each for each in wanted if each[0][3] is not None]
        self._fetched = read_ahead(remote, partial(_begin, fetch))
        return self._fetched


def _is_remote(path: bytes) -> bool:
    return b"://" in path and is_url(os.fsdecode(path))


def _begin(fetch: Callable[[Key], bytes], keys: list[Key]) -> list[Result[bytes]]:
    return [Result(spawn(fetch, key), bytes) for key in keys]


def _content(key: Key) -> bytes:
    return _fetch(key, 0, key[1])


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


def list_objects(url: str, findings: Findings) -> tuple[ImageItems, str]:
    """List all files below a URL in the order in which `list_folder` lists those of a folder.

    Returns:
        The files, and a digest of their versions.
    """
    columns = ItemColumns(findings)
    columns.folder(b"")
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
    for path in sorted(hidden, key=_by_folder):
        columns.noted.add(shown(path), IGNORED)
    for path in sorted(empty, key=_by_folder):
        if path and path not in columns.folders:  # else it was made to show that there is a folder
            columns.bad.add(shown(path), EMPTY)
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
