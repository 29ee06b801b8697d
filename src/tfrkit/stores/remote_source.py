"""RemoteSource: a file of which every read is a request, read in order with requests under way, or by ranges.

Knows no store: a `RemoteFile` fetches ranges of the one version that it was opened at. Reading in order keeps a window
of ranges of 8 MiB, several requested at once and used in order, bounded in bytes over all sources of the process.
Random access is by `ranges.py`.
"""

from __future__ import annotations

import os
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from contextlib import contextmanager
from typing import Final, Protocol

from tfrkit.errors import FailedPreconditionError, NotFoundError
from tfrkit.stores.ranges import Pieces, WantedRanges, fetch_ranges, join_ranges
from tfrkit.stores.source import ByteSource
from tfrkit.threads import default_threads, spawn

__all__ = [
    "RANGE_BYTES",
    "Pieces",
    "RemoteFile",
    "RemoteSource",
    "ScanWindow",
    "changed",
    "deleted",
    "join_ranges",
]

RANGE_BYTES: Final = 1 << 23  # of a request while reading in order: what object stores serve best
# Of all ranges that are requested or held, in the process. Blocks that are still in use, and what malloc keeps of
# answers that have come, double that: 112 MiB were 265 MiB at the peak on a busy machine, once 288. At 50 ms a
# request 96 MiB are 1.05 times as fast as 80 (benchmarks/remote_read.py); more pays off from 10 Gbit/s on.
_ASKED_BYTES: Final = int(os.environ.get("TFRKIT_READ_AHEAD_BYTES") or 0)
_WINDOW_BYTES = _ASKED_BYTES or 6 << 24
_NEAR_BYTES: Final = _ASKED_BYTES or 5 << 24  # for stores that are near: more cost memory, and gain nothing
_LEAST_RANGES: Final = 2  # of each source, whatever the others hold


class RemoteFile(Protocol):
    """One version of a file in a store that answers requests. Thread-safe."""

    name: str  # for messages: without secrets
    size: int
    version: str

    def fetch(self, start: int, stop: int) -> Pieces:
        """Return the bytes of a range that lies inside the file, in one or more pieces.

        Raises:
            FailedPreconditionError: the file has changed since it was opened.
            UnavailableError: the store did not answer, after several attempts.
        """


class _Budget:
    """How many bytes the windows of a process hold."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # a window may be collected while this thread holds it
        self.held = 0

    def take(self, size: int, most: int, *, must: bool) -> bool:
        with self.lock:
            if not must and self.held + size > most:
                return False
            self.held += size
            return True

    def give_back(self, size: int) -> None:
        with self.lock:
            self.held -= size


_budget = _Budget()


def _renew_budget() -> None:
    """A forked process has none of the requests of its parent."""
    global _budget  # noqa: PLW0603  # a lock that another thread held cannot be released
    _budget = _Budget()


os.register_at_fork(after_in_child=_renew_budget)


class _Range:
    """One range of a window: its bytes, or the request for them."""

    __slots__ = ("_budget", "_future", "_pieces", "size", "start", "unread")

    def __init__(self, start: int, size: int, future: Future[Pieces], budget: _Budget) -> None:
        self.start, self.size, self.unread = start, size, size
        self._future: Future[Pieces] | None = future
        self._pieces: Pieces = []
        self._budget = budget

    def _wait(self) -> Pieces:
        future = self._future
        if future is not None:
            try:
                self._pieces = future.result()
            except CancelledError:  # passed over by another thread before the request began
                return []
            finally:
                del future  # which holds its error, which holds this frame, and all windows further up
            self._future = None
        return self._pieces

    def borrow(self, position: int, count: int) -> memoryview | None:
        """Return bytes that the range has in one piece."""
        pieces = self._wait()
        begin = position - self.start
        return memoryview(pieces[0])[begin : begin + count] if len(pieces) == 1 else None

    def copy_to(self, view: memoryview, position: int) -> int:
        """Copy what the range has from a position on; return the number of bytes."""
        at, done = self.start, 0
        for piece in self._wait():
            begin = position + done - at
            if begin < len(piece) and done < len(view):
                count = min(len(piece) - begin, len(view) - done)
                view[done : done + count] = memoryview(piece)[begin : begin + count]
                done += count
            at += len(piece)
        return done

    def let_go(self) -> None:
        """Drop the bytes, and the request if it has not begun."""
        size, self.size = self.size, 0
        if size:
            self._budget.give_back(size)
        future, self._future = self._future, None
        if future is not None:
            future.cancel()


class ScanWindow:
    """The ranges of one source that is read in order. Thread-safe.

    A range is dropped when all its bytes were read, or when room is needed further on. A position outside of the window
    is not an error: the caller fetches it by itself.
    """

    def __init__(self, file: RemoteFile, start: int, is_here: Callable[[int], bool] | None = None) -> None:
        """Fetch ranges from a position on, but for those of which `is_here` says that the caller has them."""
        self._file = file
        self._next = start  # where the next range begins
        self._stop = file.size  # what begins here or further on is not requested ahead
        self._is_here = is_here
        self._ranges: OrderedDict[int, _Range] = OrderedDict()  # by start, ascending
        self._lock = threading.Lock()
        self.most = min(64, 8 * default_threads())  # ranges that are requested or held
        self.most_bytes = _WINDOW_BYTES  # of all windows, before this one requests more
        self._process = os.getpid()

    def __del__(self) -> None:
        if os.getpid() == self._process:
            for each in self._ranges.values():
                each.let_go()

    @property
    def is_over(self) -> bool:
        """Nothing is under way or held, and nothing more will be."""
        return not self._ranges and self._next >= self._stop

    def end_at(self, stop: int) -> None:
        """Request nothing ahead that begins at a position or further on; what is read there all the same is fetched."""
        self._stop = min(stop, self._file.size)

    def read(self, view: memoryview, position: int, *, use: bool) -> int | None:
        """Fill a view from a position on as far as one range reaches; None if the position is not in the window."""
        with self._at(position) as found:
            if found is None:
                return None
            done = found.copy_to(view, position)
            self._used(found, done if use else 0)
        return done

    def borrow(self, position: int, count: int) -> memoryview | None:
        """Return bytes that one range has, without a copy; None if they are in no range, or in several."""
        with self._at(position) as found:
            if found is None or position + count > found.start + found.size:
                return None
            piece = found.borrow(position, count)
            self._used(found, 0 if piece is None else len(piece))
        return piece

    def _used(self, found: _Range, count: int) -> None:
        with self._lock:  # several threads read one range: none of them may be left out
            found.unread -= count

    @contextmanager
    def _at(self, position: int) -> Iterator[_Range | None]:
        """Find the range of a position, keep requests under way, and drop the range when all of it was read."""
        if os.getpid() != self._process:  # the threads that finish its requests are the parent's
            yield None
            return
        with self._lock:
            self._fill()
            found = self._find(position)
        try:
            yield found
        except BaseException:
            if found is not None:
                with self._lock:
                    self._drop(found)
            raise
        if found is not None and found.unread <= 0:
            with self._lock:
                self._drop(found)
                self._fill()

    def _find(self, position: int) -> _Range | None:
        for found in self._ranges.values():
            if found.start <= position < found.start + found.size:
                return found
        if position < self._next or position >= self._file.size:
            return None
        while position >= self._next:  # bytes were passed over, and are not needed
            if self._ranges:
                self._drop(next(iter(self._ranges.values())))
            self._next = max(self._next, position - (position - self._next) % RANGE_BYTES)
            if not self._request(must=True):
                return None
        last = next(reversed(self._ranges.values()), None)
        return last if last is not None and last.start <= position < last.start + last.size else None

    def fill(self) -> bool:
        """Request ranges before the first of them is read, as far as other windows leave room; True: all of them."""
        with self._lock:
            while len(self._ranges) < self.most and self._next < self._stop:
                if not self._request(must=False):
                    break
            return self._next >= self._stop

    def _fill(self) -> None:
        while len(self._ranges) < self.most and self._next < self._stop:
            if not self._request(must=len(self._ranges) < _LEAST_RANGES):
                return

    def _request(self, *, must: bool) -> bool:
        size = min(RANGE_BYTES, self._file.size - self._next)
        if size > 0 and self._is_here is not None and self._is_here(self._next):
            self._next += size
            return True
        if size <= 0 or not _budget.take(size, self.most_bytes, must=must):
            return False
        start = self._next
        future = spawn(self._file.fetch, start, start + size)
        self._ranges[start] = _Range(start, size, future, _budget)
        self._next += size
        return True

    def _drop(self, found: _Range) -> None:
        if self._ranges.get(found.start) is found:
            del self._ranges[found.start]
            found.let_go()


class RemoteSource(ByteSource):
    """A file that is read by requests, of the version that it had when it was opened."""

    __slots__ = ("_head", "_near", "_window", "file")

    remote = True
    scan_bytes = (
        1 << 22
    )  # it is in no cache of the core anyway: 1.15 times as fast (benchmarks/remote_read.py)

    def __init__(self, file: RemoteFile, head: bytes | memoryview = b"", *, near: bool = False) -> None:
        """Read a file of which the first bytes may be known already; `near`: an answer takes next to no time."""
        super().__init__(file.name, None, None, owned=False)
        self.file = file
        self._near = near
        self.regular = True
        self._head = memoryview(head)
        self._window: ScanWindow | None = None

    @property
    def version(self) -> str:
        return self.file.version

    def size(self) -> int:
        return self.file.size

    def read_ahead(self, position: int, *, slowly: bool = False, stop: int | None = None) -> bool:
        """Request ranges from a position on, as far as there is room; called again, more of them."""
        if self._window is None and position < self.file.size and len(self._head) < self.file.size:
            self._window = self._open_window(position)  # the head again, so that blocks end where ranges do
            if self._near:
                self._window.most_bytes = min(_WINDOW_BYTES, _NEAR_BYTES)
            if stop is not None:
                self._window.end_at(stop)
        if self._window is not None and slowly and self._near:
            # Requests under way take cores from whoever uses the bytes, and gain nothing: GZIP members are read at
            # 0.73 times the speed of a local file rather than 0.68 (benchmarks/remote_read.py).
            self._window.most = 2 * default_threads()
        return self._window is None or self._window.fill()

    def _open_window(self, position: int) -> ScanWindow:
        return ScanWindow(self.file, position)

    def read(self, count: int) -> bytes:
        """Return the next bytes in order; what follows is fetched ahead."""
        if self._window is None:
            self.read_ahead(self.position)
        data = self.read_at(self.position, count)
        self.position += len(data)
        return data

    def read_at(self, position: int, count: int) -> bytes:
        borrowed = self.borrow(position, count)
        if borrowed is not None:
            return bytes(borrowed)
        count = max(0, min(count, self.file.size - position))
        buffer = bytearray(count)
        self._read(memoryview(buffer), position, use=True)
        return bytes(buffer)

    def look_at(self, position: int, count: int) -> bytes:
        count = max(0, min(count, self.file.size - position))
        buffer = bytearray(count)
        self._read(memoryview(buffer), position, use=False)
        return bytes(buffer)

    def peek(self, count: int) -> bytes:
        return self.look_at(self.position, count)

    def read_into(self, view: memoryview, position: int) -> int:
        count = max(0, min(len(view), self.file.size - position))
        self._read(view[:count], position, use=True)
        return count

    def borrow(self, position: int, count: int) -> memoryview | None:
        count = min(count, self.file.size - position)
        if count <= 0 or self._window is None:
            return None
        return self._window.borrow(position, count)

    def _read(self, view: memoryview, position: int, *, use: bool) -> None:
        """Fill a view that lies inside the file: from the head, the window, or by a request of its own."""
        done = 0
        if position < len(self._head) and (not use or self._window is None):
            done = min(len(view), len(self._head) - position)
            view[:done] = self._head[position : position + done]
        while done < len(view):
            window = self._window
            got = window.read(view[done:], position + done, use=use) if window is not None else None
            if got is None:
                done += self._fetch(view[done:], position + done)
            done += got or 0

    def _fetch(self, view: memoryview, position: int) -> int:
        done = 0
        for piece in self.file.fetch(position, position + len(view)):
            view[done : done + len(piece)] = piece
            done += len(piece)
        return done

    def fetch(self, start: int, stop: int) -> Pieces:
        """Return a range that lies inside the file, in one or more pieces: what is known already, or by one request."""
        if stop <= len(self._head):
            return [self._head[start:stop]]
        return self.file.fetch(start, stop)

    def read_ranges(self, starts: Sequence[int], sizes: Sequence[int]) -> Pieces:
        """Return the bytes of several ranges in ascending order; neighbours in one request, all requests at once."""
        size = self.file.size
        stops = [max(start, min(start + count, size)) for start, count in zip(starts, sizes, strict=True)]
        found: Pieces = [b""] * len(stops)
        filled = [number for number, stop in enumerate(stops) if stop > starts[number]]

        def use(numbers: range, begin: int, data: memoryview) -> None:
            for each in numbers:
                number = filled[each]
                found[number] = data[starts[number] - begin : stops[number] - begin]

        wanted = [starts[number] for number in filled], [stops[number] for number in filled]
        fetch_ranges([WantedRanges(self.fetch, *wanted, use)])
        return found

    def fresh(self) -> RemoteSource:
        """Return another source of the same version of the file: at its beginning, and without what was read of it."""
        return RemoteSource(self.file)


def changed(name: str, opened: str, now: str) -> FailedPreconditionError:
    """Return the error about a file that is no longer what was opened. Pure: no I/O."""
    return FailedPreconditionError(
        f"{name}; it changed while it was read: version {opened} was opened, now it is {now}. Start over, and let "
        "nothing write to what is being read.",
        path=name,
    )


def deleted(name: str, opened: str) -> NotFoundError:
    """Return the error about a file that was opened and is no longer there. Pure: no I/O."""
    return NotFoundError(
        f"{name}; it was deleted while it was read (version {opened}). Restore it and start over.", path=name
    )
