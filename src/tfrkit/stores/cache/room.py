"""The limit of the cache: what was not used for longest is removed before more is written.

The files are the only record of what there is: no process keeps a table that another would have to believe. A process
counts what it writes, and looks at the folder when the limit seems to be reached, and at intervals because others write
too; so several processes together may exceed the limit, each by a sixteenth of it.
"""

from __future__ import annotations

import errno
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Final

from tfrkit.stores.system.file_lock import lock_file

__all__ = ["TEMPORARY", "Kept", "kept_files", "lost", "remove_empty", "room_for"]

TEMPORARY: Final = ".tmp-"  # what names of files begin with that are being written
_LOCK: Final = ".lock"
_ABANDONED_SECONDS: Final = 3600.0
_LOOKS: Final = 16  # at the folder, in the time in which this process writes as much as the limit
_SPARE: Final = 0.05  # of the limit, that is freed beyond what is needed: not every chunk is to cost a look


@dataclass(frozen=True, slots=True)
class Kept:
    """A file in the cache."""

    path: str
    size: int
    used: float  # seconds since 1970


@dataclass(slots=True)
class _Seen:
    """What this process knows of a cache."""

    total: int = 0  # bytes at the last look, and what was written since
    since: int = 0  # bytes written since then
    writing: int = 0  # bytes that threads of this process are writing
    looked: bool = False


_seen: dict[str, _Seen] = {}
_lock = threading.Lock()


def _after_fork() -> None:
    """Another thread may have held the lock when this process was forked, or have written something."""
    global _lock  # noqa: PLW0603  # a lock that is held cannot be released here
    _lock = threading.Lock()
    _seen.clear()


os.register_at_fork(after_in_child=_after_fork)


def lost(error: OSError) -> bool:
    """Tell whether a write failed only because another process has removed the folder meanwhile."""
    return error.errno == errno.ENOENT


@contextmanager
def room_for(cache: str, folder: str, size: int, limit: int) -> Iterator[bool]:
    """Remove files until there is room for one more, which the block writes; yields False if there is none.

    There is none for what is larger than the limit, nor beside what other threads are writing just now.

    Args:
        cache: the cache folder.
        folder: the folder in it whose files may be removed.
        size: in bytes, of what is about to be written.
        limit: bytes that all files together may have.
    """
    with _lock:
        seen = _seen.setdefault(cache, _Seen())
        fits = seen.writing + size <= limit
        if fits:
            _reserve(seen, cache, folder, size, limit)
    if not fits:
        yield False
        return
    try:
        yield True
    finally:
        with _lock:
            seen.writing -= size


def _reserve(seen: _Seen, cache: str, folder: str, size: int, limit: int) -> None:
    """Make room for a file, and count it; the caller holds the lock."""
    if not seen.looked or seen.total + size > limit or seen.since + size > limit // _LOOKS:
        room = limit - size - seen.writing
        kept = _trim(cache, folder, room, room - int(limit * _SPARE))
        seen.total, seen.looked, seen.since = kept + seen.writing, True, 0
    seen.total += size
    seen.since += size
    seen.writing += size


def _trim(cache: str, folder: str, most: int, aim: int) -> int:
    """Remove what was not used for longest if there are more than `most` bytes; return how many there are then."""
    found = list(kept_files(folder))
    now = time.time()
    abandoned = [each for each in found if _is_temporary(each) and now - each.used > _ABANDONED_SECONDS]
    found = [
        each for each in found if not _is_temporary(each)
    ]  # those that are being written count by themselves
    total = sum(each.size for each in found)
    if total <= most and not abandoned:
        return total
    try:
        fd = os.open(os.path.join(cache, _LOCK), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError:
        return total
    try:
        if not lock_file(fd, cache, wait=False):  # another process is removing files just now
            return total
        for each in abandoned:
            _remove(each)
        if total > most:
            for each in sorted(found, key=lambda each: each.used):
                if total <= max(0, aim):
                    break
                if os.path.basename(each.path).isdecimal():
                    total -= _remove(each)
            remove_empty(folder)
    finally:
        os.close(fd)
    return total


def _is_temporary(kept: Kept) -> bool:
    return os.path.basename(kept.path).startswith(TEMPORARY)


def _remove(kept: Kept) -> int:
    try:
        os.unlink(kept.path)
    except FileNotFoundError:
        pass
    except OSError:
        return 0
    return kept.size


def kept_files(folder: str) -> Iterator[Kept]:
    """Yield the files below a folder; what vanishes meanwhile is left out."""
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        try:
            if entry.is_dir(follow_symlinks=False):
                yield from kept_files(entry.path)
            else:
                found = entry.stat(follow_symlinks=False)
                yield Kept(entry.path, found.st_size, found.st_mtime)
        except FileNotFoundError:
            pass


def remove_empty(folder: str) -> None:
    """Remove folders in a folder that hold nothing but a description."""
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        inner = os.path.join(folder, name)
        try:
            left = os.listdir(inner)
            if len(left) > 1 or any(each.isdecimal() or each.startswith(TEMPORARY) for each in left):
                continue
            for each in left:
                os.unlink(os.path.join(inner, each))
            os.rmdir(inner)
        except OSError:  # another process writes there just now
            pass
