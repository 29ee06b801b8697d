"""RecordFiles: the records of many files, local or remote, as one list.

A file is opened when one of its records is wanted, or when its number of records is known from nowhere else; many are
opened at once. How frames are read is in `file_frames.py`.
"""

from __future__ import annotations

import operator
import os
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from itertools import accumulate
from types import TracebackType
from typing import Any, Final, Self, overload

import numpy as np

from tfrkit.errors import FailedPreconditionError, InvalidArgumentError
from tfrkit.model.arguments import check_bools
from tfrkit.model.block import Block, IntArray
from tfrkit.model.row_selection import RowIndices, is_one_row, row_numbers
from tfrkit.records.access.count import manifest_counts
from tfrkit.records.access.file_frames import FileFrames, no_short_way
from tfrkit.records.access.gather import FramePart, gather
from tfrkit.records.access.iterate import iterate_records
from tfrkit.records.access.record_file import SPILL_BYTES
from tfrkit.stores.files import is_local
from tfrkit.stores.object_config import adopt_settings, settings_of
from tfrkit.stores.paths import PathLike, Paths, expand_paths, path_text
from tfrkit.stores.url import display_name
from tfrkit.threads import default_threads, spawn_all

__all__ = ["RecordFiles"]

_REMOTE_AT_ONCE: Final = 32  # files that are opened
_NO_COUNT: Final = -1  # before the files were counted


class RecordFiles:
    """The records of many files as one sequence, in the order of the files. Reading is thread-safe.

    Nothing is opened before it is needed. How many records a file has is taken from the manifest of its folder if that
    fits, else from its index; indexes that are missing are made on all cores, and kept beside the files or, where that
    cannot be done, in the cache folder. A remote file is read at the version that it had when it was opened; `take`
    joins what lies near each other and fetches what it needs of all files at once.

    Args:
        paths: a path, URL or pattern, or a list of them. A pattern gives its files sorted.
        compression: "auto" finds out by the content of each.
        crc: check the CRC of every record read.
        index: as for `RecordFile`; or a list with the path of an index file for each file, as DALI has it.
        spill_bytes: as for `RecordFile`, for each file.
        cache: keep what is read of remote files in the cache folder; None: as `configure_store` says.

    Raises:
        NotFoundError: no file matches a pattern.

    >>> import tempfile, os, tfrkit
    >>> folder = tempfile.mkdtemp()
    >>> for name, records in ("a", [b"zero", b"one"]), ("b", [b"two", b"three", b"four"]):
    ...     with tfrkit.TFRecordWriter(os.path.join(folder, name + ".tfrecord")) as writer:
    ...         writer.write_many(records)
    >>> files = RecordFiles(os.path.join(folder, "*.tfrecord"))
    >>> len(files), files[-1], files[1:3].to_list(), files.take([4, 0]).to_list()
    (5, b'four', [b'one', b'two'], [b'four', b'zero'])
    >>> path, record = files.locate(3)
    >>> os.path.basename(path), record
    ('b.tfrecord', 1)
    """

    def __init__(
        self,
        paths: Paths,
        *,
        compression: str = "auto",
        crc: bool = True,
        index: str | Sequence[PathLike] = "save",
        spill_bytes: int = SPILL_BYTES,
        cache: bool | None = None,
    ) -> None:
        check_bools(crc=crc, cache=cache)
        files = expand_paths(paths, globs=True)
        if streams := [file for file in files if not isinstance(file, str)]:
            raise TypeError(f"expected paths but got {streams[0]!r}: random access needs files with names")
        self._paths = tuple(file for file in files if isinstance(file, str))
        self._crc = crc
        self._arguments: dict[str, Any] = {
            "compression": compression,
            "crc": crc,
            "spill_bytes": spill_bytes,
            "cache": cache,
        }
        if isinstance(index, (str, os.PathLike)):
            self._indexes = (path_text(index),) * len(self._paths)
        else:
            self._indexes = tuple(path_text(each) for each in index)
        if len(self._indexes) != len(self._paths):
            raise InvalidArgumentError(
                f"Expected an index for each of {len(self._paths)} files but got {len(self._indexes)}."
            )
        self._locks: dict[int, threading.Lock] = {}
        self._closed = False
        self._files: list[FileFrames | None] = [None] * len(self._paths)
        self._shorts: list[Callable[[object], bytes | int]] = [no_short_way] * len(self._paths)
        self._counts: list[int | None] = [None] * len(self._paths)
        self._starts: list[int] = [0]  # of the first record of each file, then the number of all
        self._count = _NO_COUNT

    @property
    def paths(self) -> tuple[str, ...]:
        """The files, in order."""
        return self._paths

    def __len__(self) -> int:
        if self._count == _NO_COUNT:
            self._count_records()
        return self._count

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice | RowIndices) -> Block: ...
    def __getitem__(self, index: int | slice | RowIndices) -> bytes | Block:
        """One record as bytes, or some as a Block: those of a slice, or as `take` gives them."""
        if type(index) is int and 0 <= index < self._count:
            file = bisect_right(self._starts, index) - 1
            record = self._shorts[file](index - self._starts[file])
            if type(record) is bytes:
                return record
        return self._get(index)

    def _get(self, index: Any) -> bytes | Block:
        """Do the less usual: slices, negative numbers, files that are not open or not mapped, errors."""
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        if not is_one_row(index):
            return self.take(index)
        file, number = self._place(index)
        return self._open([file])[0].record(number)

    def __iter__(self) -> Iterator[bytes]:
        len(self)
        for first in range(0, len(self._paths), _REMOTE_AT_ONCE):
            files = self._open(range(first, min(first + _REMOTE_AT_ONCE, len(self._paths))))
            yield from iterate_records(files)

    def __repr__(self) -> str:
        first = f" {display_name(self._paths[0])!r}" if self._paths else ""
        more = ", ..." if len(self._paths) > 1 else ""
        count = f"{self._count} records in " if self._count != _NO_COUNT else ""
        return f"<RecordFiles{first}{more}: {count}{len(self._paths)} files>"

    def locate(self, index: int) -> tuple[str, int]:
        """Return where a record is: the path of its file, and its number there; negative ones count from the end.

        Raises:
            IndexError: there is no such record.
        """
        file, number = self._place(index)
        return self._paths[file], number

    def _place(self, index: Any) -> tuple[int, int]:
        count, number = len(self), operator.index(index)
        if number < 0:
            number += count
        if not 0 <= number < count:
            raise self._no_such(index)
        file = bisect_right(self._starts, number) - 1
        return file, number - self._starts[file]

    def _no_such(self, index: Any) -> IndexError:
        return IndexError(
            f"record {index} is out of range: the {len(self._paths)} files have {self._count} records"
        )

    def take(self, indices: RowIndices) -> Block:
        """Return the records with these numbers, in this order, as one Block.

        Args:
            indices: integers, negative ones count from the end, any may come twice; or a mask: a boolean for every
                record of all files.

        Raises:
            TypeError: neither integers nor booleans.
            IndexError: a number is out of range, or a mask has another length than there are records.
            DataLossError: a record is damaged, or a file has not the records that the manifest says.
            FailedPreconditionError: a remote file has changed since it was opened.
        """
        count = len(self)
        wanted = row_numbers(indices, count, flat=True)
        numbers = np.where(wanted < 0, wanted + count, wanted)
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < count):
            raise self._no_such(int(wanted[(numbers < 0) | (numbers >= count)][0]))
        starts = np.array(self._starts)
        of_file = np.searchsorted(starts, numbers, side="right") - 1
        order = np.argsort(of_file, kind="stable")
        cuts = np.flatnonzero(np.diff(of_file[order])) + 1
        groups = np.split(order, cuts) if len(order) else []
        chosen = [int(of_file[group[0]]) for group in groups]
        files = self._open(chosen)
        parts = [
            FramePart(file, numbers[group] - self._starts[at], group)
            for file, at, group in zip(files, chosen, groups, strict=True)
        ]
        return _block(parts, numbers)

    def close(self) -> None:
        """Let go of all files; using them afterwards is an error. They also close by themselves."""
        with self._lock():
            self._closed = True
            for file in self._files:
                if file is not None:
                    file.close()
            self._shorts = [no_short_way] * len(self._paths)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        arguments = self._arguments | {"index": self._indexes}
        return _reopen, (list(self._paths), arguments, self._counts, settings_of(self._paths))

    # -- inside -----------------------------------------------------------------------------------------------------

    def _lock(self) -> threading.Lock:
        """Return the lock of this process: a forked one may find that of its parent held for ever."""
        return self._locks.setdefault(os.getpid(), threading.Lock())

    def _count_records(self) -> None:
        """Find out how many records each file has; files that no manifest knows are opened."""
        counts = manifest_counts(self._paths)
        unknown = [number for number, count in enumerate(counts) if count is None]
        for number, file in zip(unknown, self._open(unknown), strict=True):
            counts[number] = len(file)
        self._expect(counts)

    def _expect(self, counts: list[int | None]) -> None:
        """Take the numbers of records as known; a file that turns out to have another is an error."""
        for number, file in enumerate(self._files):
            _check(file, counts[number])
        self._counts = counts
        if None not in counts:
            self._starts = [0, *accumulate(count or 0 for count in counts)]
            self._count = self._starts[-1]  # last: other threads look at it first

    def _open(self, wanted: Sequence[int]) -> list[FileFrames]:
        """Return files by their numbers, open; those that are not yet are opened at once."""
        if any(self._files[number] is None for number in wanted):
            with self._lock():
                missing = [number for number in wanted if self._files[number] is None]
                remote = any(not is_local(self._paths[number]) for number in missing)
                limit = _REMOTE_AT_ONCE if remote else default_threads()
                opened = spawn_all(self._open_one, missing, limit)
                for number, file in zip(missing, opened, strict=True):
                    _check(file, self._counts[number])
                    self._files[number], self._shorts[number] = file, file.short
        if self._closed:
            raise FailedPreconditionError("RecordFiles is closed.")
        return [there for number in wanted if (there := self._files[number]) is not None]

    def _open_one(self, number: int) -> FileFrames:
        return FileFrames(self._paths[number], index=self._indexes[number], **self._arguments)


def _check(file: FileFrames | None, known: int | None) -> None:
    if file is not None and known is not None and len(file) != known:
        raise FailedPreconditionError(
            f"{file.name}; expected {known} records, as the manifest of its folder or an earlier count says, but its "
            f"index has {len(file)}. Make the index again, or repair the folder.",
            path=file.name,
        )


def _block(parts: Sequence[FramePart], numbers: IntArray) -> Block:
    """Return the records of some parts, with their numbers among those of all files."""
    buffer, offsets, lengths = gather(parts, len(numbers))
    first = int(numbers[0]) if len(numbers) else 0
    return Block(buffer, offsets, lengths, first_record=first, start=-1, numbers=numbers)


def _reopen(
    paths: list[str], arguments: dict[str, Any], counts: list[int | None], stores: dict[str, Any]
) -> RecordFiles:
    adopt_settings(stores)
    files = RecordFiles(paths, **arguments)
    files._expect(counts)  # noqa: SLF001  # of this module
    return files
