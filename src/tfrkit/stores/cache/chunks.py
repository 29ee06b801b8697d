"""ChunkFiles: what is kept of one version of one remote file, as files of 8 MiB each.

A chunk is written under a temporary name and renamed, so that a process that is killed leaves nothing half-written
under the name; a power failure may. So each has its length at its end, and the CRC-32C of each MiB, which a process
checks when it reads it first: what is damaged is removed, and fetched again. Readers take no locks: a file that is
removed while another process reads it stays readable there, and one that is gone is a miss.

    <cache folder>/ranges/<hash of URL and version>/about.json    what it is, for `tfr cache`
    <cache folder>/ranges/<hash of URL and version>/<number>      bytes number * 8 MiB onwards, then the trailer
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import secrets
import struct
import threading
import time
import warnings
from collections import OrderedDict
from collections.abc import Sequence
from typing import Final

from tfrkit import _core
from tfrkit.stores.at_exit import unless_exiting
from tfrkit.stores.cache.folder import cache_folder, cache_limit, make_cache_folder
from tfrkit.stores.cache.room import TEMPORARY, lost, room_for
from tfrkit.stores.json_file import json_bytes
from tfrkit.stores.remote_source import RANGE_BYTES
from tfrkit.stores.reopen import most_open

__all__ = ["ABOUT", "CHUNK_BYTES", "RANGES", "CachedChunk", "ChunkFiles"]

CHUNK_BYTES: Final = RANGE_BYTES  # so that a request of a scan is a chunk
RANGES: Final = "ranges"
ABOUT: Final = "about.json"
_TRAILER: Final = struct.Struct("<4sIQ")  # magic, CRC-32C of the checksums before it, length of the content
_MAGIC: Final = b"tfr1"
_PIECE_BYTES: Final = 1 << 20  # of which each checksum is
# 1 GiB of chunks; with 32 an epoch of 650 MB took 1.09 times as long (benchmarks/remote_cache.py).
_MOST_OPEN: Final = 128
_TOUCH_SECONDS: Final = 60.0
_READ_FLAGS: Final = os.O_RDONLY | os.O_CLOEXEC
_WRITE_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC


class CachedChunk:
    """An open chunk; its descriptor is closed with the last reference, so that a reader never sees another file's.

    Each MiB is checked when this process reads it first: of a scan in the memory that it was read into, which costs a
    fifth of reading the file once more (benchmarks/remote_cache.py).
    """

    __slots__ = ("_crcs", "_fd", "_touched", "path", "size")

    def __init__(self, path: str, fd: int, size: int) -> None:
        self._fd = fd
        self.path, self.size = path, size
        self._crcs: tuple[int, ...] = ()
        self._touched = 0.0

    @unless_exiting
    def __del__(self) -> None:
        os.close(self._fd)

    def load(self, key: bytes, number: int) -> bool:
        """Read the checksums; False if they are not of this chunk."""
        table = struct.Struct(f"<{_count(self.size)}I")
        data = self._read(self.size, table.size + _TRAILER.size + 1)
        if len(data) != table.size + _TRAILER.size:
            return False
        magic, crc, size = _TRAILER.unpack_from(data, table.size)
        self._crcs = table.unpack_from(data)
        return bool(magic == _MAGIC and size == self.size and crc == _seal(key, number, size, self._crcs))

    def read(self, offset: int, count: int) -> bytes | None:
        """Return bytes from an offset on; None if they are damaged, or not there any more."""
        data = self._read(offset, count)
        return data if len(data) == count and self._is_sound(memoryview(data), offset) else None

    def read_into(self, view: memoryview, offset: int) -> bool:
        """Fill a view from an offset on; False if the bytes are damaged, or not there any more."""
        done = 0
        try:
            while done < len(view):
                got = os.preadv(self._fd, [view[done:]], offset + done)
                if got == 0:
                    return False
                done += got
        except OSError:  # the disk cannot read it
            return False
        return self._is_sound(view, offset)

    def _read(self, offset: int, count: int) -> bytes:
        try:
            return os.pread(self._fd, count, offset)
        except OSError:  # the disk cannot read it
            return b""

    def _is_sound(self, view: memoryview, offset: int) -> bool:
        """Check every MiB that the bytes are of, unless that was done already."""
        stop = offset + len(view)
        known = _sound.get(self.path, 0)
        for piece in range(offset // _PIECE_BYTES, -(-stop // _PIECE_BYTES)):
            if known >> piece & 1:
                continue
            begin, end = piece * _PIECE_BYTES, min((piece + 1) * _PIECE_BYTES, self.size)
            covered = offset <= begin and end <= stop
            part = view[begin - offset : end - offset] if covered else self._read(begin, end - begin)
            if len(part) != end - begin or _core.crc32c(part) != self._crcs[piece]:
                return False
            known = _sound[self.path] = _sound.get(self.path, 0) | 1 << piece
        return True

    def touch(self) -> None:
        """Note that it is in use: what was not used for longest is removed first."""
        now = time.monotonic()
        if now - self._touched > _TOUCH_SECONDS or not self._touched:
            self._touched = now
            with contextlib.suppress(OSError):  # removed meanwhile, or the folder is another user's
                os.utime(self.path)


_open: OrderedDict[str, CachedChunk] = OrderedDict()  # used last, by path
_sound: dict[str, int] = {}  # by path: a bit for each MiB that this process has checked or written
_stopped: set[str] = set()  # cache folders that cannot be written to
_lock = threading.Lock()


def _after_fork() -> None:
    """Another thread may have held the lock; descriptors are read by position, and so can be shared."""
    global _lock  # noqa: PLW0603  # a lock that is held cannot be released here
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_after_fork)


class ChunkFiles:
    """The chunks of one version of a file. Thread-safe.

    Args:
        identity: the file in a way that no other has; may hold secrets, of which nothing is kept.
        name: the file's name without secrets.
        version: of the content.
        size: of the whole file, in bytes.

    Raises:
        InvalidArgumentError: `TFRKIT_CACHE_BYTES` is not a size.
    """

    def __init__(self, identity: str, name: str, version: str, size: int) -> None:
        self.size = size
        self._about = {"name": name, "version": version, "bytes": size}
        text = f"{identity}\n{version}\n{size}".encode("utf-8", "surrogatepass")
        self._key = hashlib.sha256(text).digest()[:16]
        self._cache, self._limit = cache_folder(), cache_limit()
        self._folder = os.path.join(self._cache, RANGES, self._key.hex())

    @property
    def keeps(self) -> bool:
        """Whether anything that is fetched will be kept."""
        return self._cache not in _stopped

    def bytes_of(self, number: int) -> int:
        """Return the size of a chunk. Pure: no I/O."""
        return min(CHUNK_BYTES, self.size - number * CHUNK_BYTES)

    def has(self, number: int) -> bool:
        """Tell whether a chunk is there, without a look into it."""
        path = self._path(number)
        return path in _open or os.path.exists(path)

    def get(self, number: int) -> CachedChunk | None:
        """Return a chunk that is there and sound."""
        path = self._path(number)
        with _lock:
            chunk = _open.get(path)
            if chunk is not None:
                _open.move_to_end(path)
        if chunk is None:
            chunk = self._open_chunk(path, number)
            if chunk is None:
                return None
            with _lock:
                _open[path] = chunk
                while len(_open) > most_open(_MOST_OPEN):
                    _open.popitem(last=False)
        chunk.touch()
        return chunk

    def _open_chunk(self, path: str, number: int) -> CachedChunk | None:
        try:
            fd = os.open(path, _READ_FLAGS)
        except OSError:
            return None
        chunk = CachedChunk(path, fd, self.bytes_of(number))
        if not chunk.load(self._key, number):
            self.drop(number)
            return None
        return chunk

    def drop(self, number: int) -> None:
        """Remove a chunk that is damaged."""
        path = self._path(number)
        _sound.pop(path, None)
        with _lock:
            _open.pop(path, None)
        with contextlib.suppress(OSError):
            os.unlink(path)

    def keep(self, number: int, pieces: Sequence[bytes | memoryview]) -> None:
        """Write a chunk; where that is not possible, warn once and keep nothing from then on."""
        if not self.keeps:
            return
        size = self.bytes_of(number)
        try:
            if sum(map(len, pieces)) != size:
                return
            needed = size + 4 * _count(size) + _TRAILER.size
            with room_for(self._cache, os.path.join(self._cache, RANGES), needed, self._limit) as has_room:
                if has_room:
                    self._write(number, pieces, size)
        except OSError as error:
            if not lost(error):
                self._stop(error)

    def _write(self, number: int, pieces: Sequence[bytes | memoryview], size: int) -> None:
        crcs = _checksums(pieces)
        table = struct.pack(f"<{len(crcs)}I", *crcs)
        seal = _seal(self._key, number, size, crcs)
        make_cache_folder(RANGES, self._key.hex())
        if not os.path.exists(os.path.join(self._folder, ABOUT)):
            self._write_file(ABOUT, [json_bytes(self._about)])
        self._write_file(str(number), [*pieces, table, _TRAILER.pack(_MAGIC, seal, size)])
        _sound[self._path(number)] = (1 << len(crcs)) - 1

    def _write_file(self, name: str, pieces: Sequence[bytes | memoryview]) -> None:
        temporary = os.path.join(self._folder, f"{TEMPORARY}{os.getpid()}-{secrets.token_hex(6)}")
        fd = os.open(temporary, _WRITE_FLAGS, 0o600)
        try:
            try:
                for piece in pieces:
                    rest = memoryview(piece)
                    while rest:
                        rest = rest[os.write(fd, rest) :]
            finally:
                os.close(fd)
            os.rename(temporary, os.path.join(self._folder, name))
        except BaseException:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            raise

    def _stop(self, error: OSError) -> None:
        with _lock:
            known = self._cache in _stopped
            _stopped.add(self._cache)
        if not known:
            warnings.warn(
                f"{self._cache}: nothing more is kept in the cache, as it cannot be written ({error.strerror}); "
                "reading continues without. Make room, or name another folder by TFRKIT_CACHE.",
                RuntimeWarning,
                stacklevel=2,
            )

    def _path(self, number: int) -> str:
        return os.path.join(self._folder, str(number))


def _count(size: int) -> int:
    return -(-size // _PIECE_BYTES)


def _checksums(pieces: Sequence[bytes | memoryview]) -> tuple[int, ...]:
    """Return the CRC-32C of each MiB of what the pieces hold together. Pure: no I/O."""
    crcs, room = [], 0
    for piece in pieces:
        rest = memoryview(piece)
        while rest:
            if not room:
                crcs.append(0)
                room = _PIECE_BYTES
            part, rest = rest[:room], rest[room:]
            crcs[-1] = _core.crc32c(part, crcs[-1])
            room -= len(part)
    return tuple(crcs)


def _seal(key: bytes, number: int, size: int, crcs: Sequence[int]) -> int:
    """Return the checksum of the others, and of what a chunk is: one in another's place is not sound. Pure: no I/O."""
    return _core.crc32c(key + struct.pack(f"<QQ{len(crcs)}I", number, size, *crcs))
