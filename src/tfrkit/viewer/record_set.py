"""RecordSet: the records of some files under one row of numbers, from the first request on.

Numbers run over all files, as in `RecordFiles`. The first records are read at once, in order, while a thread finds out
how many each file has. Nothing else is kept in memory but where frames begin, of the files used last.
"""

from __future__ import annotations

import contextlib
import threading
import time
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Final

from tfrkit.errors import DeadlineExceededError, MissingExtraError, OpError, OutOfRangeError, UnavailableError
from tfrkit.records.access.count import manifest_counts
from tfrkit.records.access.find_index import listed_folders
from tfrkit.records.access.index import indexed_count
from tfrkit.stores.files import file_info, file_sizes, is_local, open_source
from tfrkit.stores.url import display_name
from tfrkit.threads import exiting, spawn, spawn_all
from tfrkit.viewer.frames import RawFrame, RawFrames, open_frames, walk_frames

__all__ = ["FileState", "NumberedFrame", "RecordSet"]

_FIRST_RECORDS: Final = 1000  # that are kept until their file is indexed
_FIRST_BYTES: Final = 16 << 20
_INDEX_BYTES: Final = 128 << 20  # of indexes in memory
_WAIT_SECONDS: Final = 10.0
_AT_ONCE: Final = 16  # remote files whose records are counted
_PAUSES: Final = (1.0, 5.0, 30.0)  # before a store that does not answer is asked again


@dataclass(frozen=True, slots=True)
class NumberedFrame:
    """A frame, its number in the data set, and the number of its file."""

    number: int
    file: int
    frame: RawFrame


@dataclass(slots=True)
class FileState:
    """What is known of one file.

    Attributes:
        path: to open it by.
        name: to show.
        size: in bytes; None until it is known.
        records: how many; None until it is known.
        compression: by name; None until it was opened.
        is_indexed: whether there was an index of it; None until that was looked at.
        error: why it cannot be read, or is not as it should be.
    """

    path: str
    name: str
    size: int | None = None
    records: int | None = None
    compression: str | None = None
    is_indexed: bool | None = None
    error: str = ""


class RecordSet:
    """Some files as one list of records. Thread-safe.

    Args:
        paths: of files; remote ones may be among them.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self.paths = tuple(paths)
        self.files = [FileState(path, display_name(path)) for path in paths]
        self._first: list[NumberedFrame] = []
        self._first_frames = self._walk()
        self._first_lock = threading.Lock()
        self._first_ended = False
        self._starts = [0]  # first numbers of the files that are counted, and where the next one begins
        self._counted = threading.Condition()
        self._opened: OrderedDict[int, RawFrames] = OrderedDict()
        self._opening = [threading.Lock() for _ in paths]
        self._stamps: dict[int, tuple[int, int] | None] = {}
        self._may_have = listed_folders(self.paths)
        self._closed = threading.Event()

    def start(self) -> None:
        """Begin to count the records of all files, in the background."""
        spawn(self._count_all)

    def close(self) -> None:
        """Count no further."""
        self._closed.set()

    @property
    def total(self) -> int | None:
        """How many records there are; None until they are counted."""
        return self._starts[-1] if len(self._starts) > len(self.files) else None

    @property
    def known(self) -> int:
        """How many records are known to be there by now."""
        return max(self._starts[-1], len(self._first))

    def first(self, count: int) -> list[NumberedFrame]:
        """Return the first records, read in order if they were not yet; fewer if they are too large to be kept."""
        with self._first_lock:
            while len(self._first) < count and not self._first_ended:
                some = next(self._first_frames, None)
                if some is None:
                    self._first_ended = True
                    break
                self._first += some
                size = sum(each.frame.size for each in self._first)
                self._first_ended = len(self._first) >= _FIRST_RECORDS or size >= _FIRST_BYTES
            if self._first_ended:
                self._first_frames = iter(())  # which has a block of the file
            return self._first[:count]

    def page(self, start: int, count: int) -> Iterator[list[NumberedFrame]]:
        """Yield some records that follow each other, fewer where the data end or are not counted yet.

        Raises:
            UnavailableError: it is still not known where the first of them is.
        """
        if self.total is None and start + count > self._starts[-1]:
            early = self.first(start + count)
            if len(early) > start:
                yield early[start:]
                return
            with contextlib.suppress(OutOfRangeError):
                self.locate(start)
        yield from self.runs(range(start, min(start + count, self._starts[-1])))

    def runs(self, numbers: Sequence[int]) -> Iterator[list[NumberedFrame]]:
        """Yield records with their frames, some megabytes at a time, in the order of their numbers as given.

        Raises:
            OutOfRangeError: there is no such record.
            UnavailableError: it is not known yet where a record is.
        """
        if numbers and max(numbers) >= self._starts[-1] and self.total is None:
            early = self.first(max(numbers) + 1) if max(numbers) < _FIRST_RECORDS else []
            if len(early) > max(numbers):
                yield [early[number] for number in numbers]
                return
        for file, group in groupby(numbers, lambda number: self.locate(number)[0]):
            yield from self.runs_of(file, [number - self._starts[file] for number in group])

    def runs_of(self, file: int, records: Sequence[int]) -> Iterator[list[NumberedFrame]]:
        """Yield records of one file by their numbers there; one that cannot be read has an error."""
        start = self.number_of(file, 0)
        try:
            opened = self._open(file)
            there = [each for each in records if each < opened.count]
            for run in opened.runs(there):
                if any(frame.error for frame in run):
                    self._forget(file)
                yield [NumberedFrame(start + frame.record, file, frame) for frame in run]
            if len(there) < len(records):
                problem = f"the file has changed: it has {opened.count:,} records now"
                yield [_unread(start, file, each, problem) for each in records if each >= opened.count]
        except (OpError, MissingExtraError) as error:
            self._forget(file)
            message = error.message if isinstance(error, OpError) else str(error)
            self.files[file].error = message
            yield [_unread(start, file, each, message) for each in records]

    def one(self, number: int) -> NumberedFrame:
        """Return one record.

        Raises:
            OutOfRangeError: there is no such record.
        """
        return next(frame for run in self.runs([number]) for frame in run)

    def locate(self, number: int) -> tuple[int, int]:
        """Return the file of a record, and its number there; waits until that is known, but not for long.

        Raises:
            OutOfRangeError: there is no such record.
            UnavailableError: it is still not known.
        """
        if number < 0:
            raise OutOfRangeError(f"there is no record {number}: numbers begin with 0.")
        if number >= self._starts[-1] and self.total is None:
            self._wait(lambda: number < self._starts[-1] or self.total is not None, f"record {number}")
        if number >= self._starts[-1]:
            raise OutOfRangeError(f"there is no record {number}: the data set has {self._starts[-1]:,}.")
        file = bisect_right(self._starts, number) - 1
        return file, number - self._starts[file]

    def first_of(self, file: int) -> int | None:
        """Return the number of the first record of a file; None while it is not known."""
        return self._starts[file] if file < len(self._starts) else None

    def number_of(self, file: int, record: int) -> int:
        """Return the number of a record of a file among all; waits until it is known, but not for long.

        Raises:
            UnavailableError: it is still not known.
        """
        self._wait(lambda: file < len(self._starts), f"record {record} of file {file}")
        return self._starts[file] + record

    # -- inside -----------------------------------------------------------------------------------------------------

    def _walk(self) -> Iterator[list[NumberedFrame]]:
        """Yield records from the beginning on; a file that cannot be read has none."""
        number = 0
        for file, state in enumerate(self.files):
            try:
                for frames in walk_frames(state.path):
                    yield [NumberedFrame(number + at, file, frame) for at, frame in enumerate(frames)]
                    number += len(frames)
            except (OpError, MissingExtraError) as error:
                state.error = error.message if isinstance(error, OpError) else str(error)

    def _wait(self, is_known: Callable[[], bool], what: str) -> None:
        end = time.monotonic() + _WAIT_SECONDS
        with self._counted:
            while not is_known():
                left = end - time.monotonic()
                if left <= 0 or self._closed.is_set():
                    raise UnavailableError(
                        f"{what} is not reached yet: {self._starts[-1]:,} records are counted. Wait and ask again; "
                        "`tfr index` makes indexes, with which this takes no time."
                    )
                self._counted.wait(left)

    def _count_all(self) -> None:
        """Find out the size and the number of records of each file; every number is known as soon as it can be."""
        with contextlib.suppress(OpError):
            for state, size in zip(self.files, file_sizes(self.paths), strict=True):
                state.size = size
        counts: list[int | None] = [None] * len(self.paths)
        with contextlib.suppress(OpError):
            counts = manifest_counts(self.paths)
        for file, count in enumerate(counts):
            if count is not None:
                self._set_count(file, count)
        unknown = [file for file, count in enumerate(counts) if count is None]
        for first in range(0, len(unknown), _AT_ONCE):
            some = unknown[first : first + _AT_ONCE]
            remote = not all(is_local(self.paths[file]) for file in some)
            spawn_all(self._count, some, _AT_ONCE if remote else 1)

    def _count(self, file: int) -> None:
        """Find out how many records a file has, none if it cannot be read; a store that fails is asked again."""
        state = self.files[file]
        for pause in (*_PAUSES, None):
            if self._closed.is_set() or exiting():
                return
            try:
                known = indexed_count(state.path, open_source(state.path))
                state.is_indexed = known is not None
                self._set_count(file, self._open(file).count if known is None else known)
            except (OpError, MissingExtraError) as error:
                state.error = error.message if isinstance(error, OpError) else str(error)
                if pause is not None and isinstance(error, (UnavailableError, DeadlineExceededError)):
                    self._closed.wait(pause)
                    continue
                self._set_count(file, 0)
            return

    def _set_count(self, file: int, count: int) -> None:
        """Note how many records a file has; those after it are numbered anew if that has changed."""
        with self._counted:
            before, self.files[file].records = self.files[file].records, count
            starts = self._starts if before in (None, count) else [0]
            while len(starts) <= len(self.files):
                records = self.files[len(starts) - 1].records
                if records is None:
                    break
                starts.append(starts[-1] + records)
            self._starts = starts
            self._counted.notify_all()

    def _open(self, file: int) -> RawFrames:
        with self._opening[file]:
            opened = self._opened.get(file)
            if opened is None:
                state = self.files[file]
                self._stamps[file] = _stamp(state.path)
                opened = open_frames(state.path, self._may_have)
                state.compression, state.error = opened.compression, opened.problem
                self._opened[file] = opened
                if state.records is not None:
                    self._set_count(file, opened.count)
            else:
                with contextlib.suppress(KeyError):
                    self._opened.move_to_end(file)
            self._drop_oldest()
            return opened

    def _drop_oldest(self) -> None:
        """Let go of indexes that were not used for longest: a reader that still has one keeps it."""
        with contextlib.suppress(KeyError, RuntimeError):  # other threads do the same
            while len(self._opened) > 1 and sum(each.nbytes for each in self._opened.values()) > _INDEX_BYTES:
                self._opened.popitem(last=False)

    def _forget(self, file: int) -> None:
        """Open a file anew the next time, if it has changed."""
        if self._stamps.get(file) != _stamp(self.files[file].path):
            self._opened.pop(file, None)

    def opened(self, file: int) -> RawFrames | None:
        """Return a file if it is open."""
        return self._opened.get(file)


def _unread(start: int, file: int, record: int, problem: str) -> NumberedFrame:
    return NumberedFrame(start + record, file, RawFrame(record, -1, 0, b"", problem))


def _stamp(path: str) -> tuple[int, int] | None:
    if not is_local(path):
        return None
    try:
        info = file_info(path)
    except (OpError, OSError):
        return None
    return None if info is None else (info.size, info.modified_ns)
