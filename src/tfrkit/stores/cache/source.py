"""CachedSource: a remote file of which what is in the cache is read from the local disk.

A scan fetches what is missing in whole chunks, a window of them ahead as any remote source does, and the thread that
fetched a chunk writes it. Random access fetches exactly what it needs, until it has cost as much from one chunk as the
whole chunk would have: that is fetched and kept then. So a few records of a large file cost a few records, and an epoch
in random order at most about twice the file.
"""

from __future__ import annotations

import itertools
import os
from concurrent.futures import Future
from typing import Final

from tfrkit.stores.cache.chunks import CHUNK_BYTES, ChunkFiles
from tfrkit.stores.remote_source import Pieces, RemoteFile, RemoteSource, ScanWindow

__all__ = ["CachedFile", "CachedSource", "with_cache"]

# What a request costs beside its bytes, in chunks: 20 ms at 100 MB/s are 2 MiB.
_REQUEST_COST: Final = 0.25


class CachedFile:
    """A remote file whose chunks are kept when they are fetched. Thread-safe."""

    def __init__(self, file: RemoteFile, chunks: ChunkFiles) -> None:
        self.name, self.size, self.version = file.name, file.size, file.version
        self.chunks = chunks
        self._file = file
        self._spent: dict[int, float] = {}  # by chunk, on parts of it; 1.0 is what the whole costs
        self._running: dict[tuple[int, int], Future[Pieces]] = {}  # by process and chunk

    def fetch(self, start: int, stop: int, *, whole: bool = False) -> Pieces:
        """Return the bytes of a range: what is in the cache, and the rest by as few requests as possible.

        Args:
            start: of the first byte.
            stop: after the last byte.
            whole: fetch and keep whole chunks, as a scan does, not only if that pays.
        """
        pieces: Pieces = []
        missing = start  # from here on to the part that is looked at
        for begin, end in _by_chunk(start, stop):
            found = self._find(begin, end, whole=whole)
            if found is None:
                continue
            if missing < begin:
                pieces += self._file.fetch(missing, begin)
            pieces += found
            missing = end
        if missing < stop:
            pieces += self._file.fetch(missing, stop)
        return pieces

    def _find(self, start: int, stop: int, *, whole: bool) -> Pieces | None:
        """Return a part of a chunk that is in the cache, or is worth being put there; else None."""
        number, offset = divmod(start, CHUNK_BYTES)
        chunk = self.chunks.get(number)
        if chunk is not None:
            data = chunk.read(offset, stop - start)
            if data is not None:
                return [data]
            self.chunks.drop(number)
        if not (self._is_due(number, stop - start) or whole) or not self.chunks.keeps:
            return None
        return _cut(self._fetch_chunk(number), offset, stop - start)

    def _is_due(self, number: int, size: int) -> bool:
        """Note that a part of a chunk is wanted; tell whether the whole is to be fetched instead."""
        spent = self._spent.get(number, 0.0) + _REQUEST_COST + size / self.chunks.bytes_of(number)
        self._spent[number] = 0.0 if spent >= 1 else spent
        return spent >= 1

    def _fetch_chunk(self, number: int) -> Pieces:
        """Fetch and keep a chunk; threads that want the same one wait for the first of them."""
        mine: Future[Pieces] = Future()
        key = os.getpid(), number  # a forked process lacks the threads that finish the parent's requests
        future = self._running.setdefault(key, mine)
        if future is not mine:
            return future.result()
        try:
            start = number * CHUNK_BYTES
            pieces = self._file.fetch(start, start + self.chunks.bytes_of(number))
            self.chunks.keep(number, pieces)
            mine.set_result(pieces)
        except BaseException as error:
            mine.set_exception(error)
            raise
        finally:
            del self._running[key]
        return pieces

    def is_here(self, start: int) -> bool:
        """Tell whether the chunk that begins at a position is in the cache."""
        return self.chunks.has(start // CHUNK_BYTES)

    def read_here(self, view: memoryview, position: int) -> int:
        """Fill a view from the cache as far as a chunk reaches; 0 if it is not there."""
        number, offset = divmod(position, CHUNK_BYTES)
        chunk = self.chunks.get(number)
        if chunk is None:
            return 0
        view = view[: chunk.size - offset]
        return len(view) if chunk.read_into(view, offset) else 0


class CachedSource(RemoteSource):
    """A remote file with a cache between; see the module."""

    __slots__ = ("_cached",)

    scan_bytes = 0  # mostly it is a local file

    def __init__(self, file: CachedFile, head: bytes | memoryview = b"") -> None:
        """Read a file of which the first bytes may be known already."""
        super().__init__(file, head)
        self._cached = file

    def _open_window(self, position: int) -> ScanWindow:
        return ScanWindow(self._cached, position - position % CHUNK_BYTES, self._cached.is_here)

    @property
    def _settled(self) -> bool:
        """Nothing is under way: what is here is in the cache."""
        return self._window is None or self._window.is_over

    def borrow(self, position: int, count: int) -> memoryview | None:
        return None if self._settled else super().borrow(position, count)

    def read_into(self, view: memoryview, position: int) -> int:
        count = max(0, min(len(view), self.file.size - position))
        done = self._cached.read_here(view[:count], position) if self._settled else 0
        return done + (super().read_into(view[done:], position + done) if done < count else 0)

    def read_at(self, position: int, count: int) -> bytes:
        count = max(0, min(count, self.file.size - position))
        number, offset = divmod(position, CHUNK_BYTES)
        if count and offset + count <= CHUNK_BYTES and self._settled:
            chunk = self._cached.chunks.get(number)
            data = None if chunk is None else chunk.read(offset, count)
            if data is not None:
                return data
        return super().read_at(position, count)

    def fresh(self) -> CachedSource:
        return CachedSource(self._cached)

    def _fetch(self, view: memoryview, position: int) -> int:
        got = self._cached.read_here(view, position)
        if got:
            return got
        done = 0
        for piece in self._cached.fetch(position, position + len(view), whole=self._window is not None):
            view[done : done + len(piece)] = piece
            done += len(piece)
        return done


def with_cache(source: RemoteSource, identity: str) -> CachedSource:
    """Put the cache before a source.

    Args:
        source: just opened.
        identity: what tells its file from every other, such as server and name; may hold secrets.

    Raises:
        InvalidArgumentError: `TFRKIT_CACHE_BYTES` is not a size.
    """
    file = source.file
    chunks = ChunkFiles(identity, file.name, file.version, file.size)
    return CachedSource(CachedFile(file, chunks), source._head)  # noqa: SLF001  # what opening has brought


def _by_chunk(start: int, stop: int) -> list[tuple[int, int]]:
    """Cut a range where chunks end. Pure: no I/O.

    >>> _by_chunk(8388607, 8388609), _by_chunk(5, 5)
    ([(8388607, 8388608), (8388608, 8388609)], [])
    """
    cuts = [start, *range((start // CHUNK_BYTES + 1) * CHUNK_BYTES, stop, CHUNK_BYTES), stop]
    return [(begin, end) for begin, end in itertools.pairwise(cuts) if begin < end]


def _cut(pieces: Pieces, offset: int, count: int) -> Pieces:
    """Return some of the bytes that pieces hold. Pure: no I/O.

    >>> [bytes(piece) for piece in _cut([b"abc", b"def", b"ghi"], 2, 3)]
    [b'c', b'de']
    """
    found: Pieces = []
    for piece in pieces:
        part = memoryview(piece)[offset : offset + count]
        if len(part):
            found.append(part)
        offset, count = max(0, offset - len(piece)), count - len(part)
    return found
