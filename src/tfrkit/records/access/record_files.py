"""RecordFiles: the records of many files, local or remote, as one list.

A file is opened when one of its records is wanted, or when its number of records is known from nowhere else; many are
opened at once. How frames are read is in `file_frames.py`.
"""

from __future__ import annotations

import contextlib
import operator
import os
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import accumulate, pairwise
from typing import Any, Final, NamedTuple, Self, overload

import numpy as np

from tfrkit import _core
from tfrkit.errors import FailedPreconditionError, InvalidArgumentError, OpError
from tfrkit.model.arguments import check_bools
from tfrkit.model.block import Block, IntArray
from tfrkit.model.row_selection import RowIndices, is_one_row, row_numbers
from tfrkit.records.access.count import manifest_counts
from tfrkit.records.access.file_frames import FileFrames, no_short_way
from tfrkit.records.access.find_index import MayHave, listed_folders
from tfrkit.records.access.gather import FramePart, block_of, gather
from tfrkit.records.access.gather_pieces import gather_pieces, sorted_order
from tfrkit.records.access.iterate import iterate_records
from tfrkit.records.access.record_file import SPILL_BYTES
from tfrkit.stores.files import ask_all, file_info, is_local
from tfrkit.stores.object_config import adopt_settings, settings_of
from tfrkit.stores.paths import PathLike, Paths, expand_paths, path_text
from tfrkit.stores.url import display_name, local_path
from tfrkit.threads import default_threads, spawn_all

__all__ = ["RecordFiles"]

_REMOTE_AT_ONCE: Final = 32  # files that are opened
_MOST_AT_ONCE: Final = 1 << 15  # records that one core copies; more are divided among all
# Of maps that a pass in random order may leave resident: pages of the system's cache, which it takes back when it needs
# them. Without them an epoch takes 1.8 times as long, and its first batch several times (benchmarks/epochs.py).
_RESIDENT_BYTES: Final = 2_000_000_000
_GROUP_BYTES: Final = (
    128_000_000  # of records that it reads at once if there are more; as much memory is reused
)
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
        self._maps: list[_core.FrameMap | None] = [None] * len(self._paths)  # of open local files
        self._stamps: list[_Stamp | None] = [None] * len(self._paths)  # of local files, when they were opened
        self._counts: list[int | None] = [None] * len(self._paths)
        self._starts: list[int] = [0]  # of the first record of each file, then the number of all
        self._start_array = np.zeros(1, np.int64)  # the same
        self._count = _NO_COUNT
        self._nbytes: int | None = None
        self._group: int | None = None

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
        if len(numbers) <= _MOST_AT_ONCE and (block := self._take_mapped(numbers)) is not None:
            return block
        of_file = np.searchsorted(self._start_array, numbers, side="right") - 1
        order = np.argsort(of_file, kind="stable")
        cuts = np.flatnonzero(np.diff(of_file[order])) + 1
        groups = np.split(order, cuts) if len(order) else []
        chosen = [int(of_file[group[0]]) for group in groups]
        files = self._open(chosen)
        parts = [
            FramePart(file, numbers[group] - self._starts[at], group)
            for file, at, group in zip(files, chosen, groups, strict=True)
        ]
        return block_of(gather(parts, len(numbers)), numbers)

    def take_pieces(self, numbers: IntArray, each: int) -> list[Block] | None:
        """Return records for one pass: as `take`, in blocks of `each`, and without leaving anything mapped.

        Args:
            numbers: of records that exist.
            each: how many records a block has. Those that are used up take no memory any more.

        Returns:
            The blocks; None if a file is compressed, which `take` reads.

        Raises:
            DataLossError: a record is damaged.
        """
        len(self)
        order = sorted_order(numbers)
        ascending = numbers[order]
        cuts = np.searchsorted(ascending, self._start_array).tolist()
        chosen = [file for file, (begin, end) in enumerate(pairwise(cuts)) if begin < end]
        files = self._open(chosen)
        if any(file.members is not None for file in files):
            return None
        parts = [
            FramePart(
                file, ascending[cuts[at] : cuts[at + 1]] - self._starts[at], order[cuts[at] : cuts[at + 1]]
            )
            for file, at in zip(files, chosen, strict=True)
        ]
        pieces = gather_pieces(parts, len(numbers), each)
        return [block_of(piece, numbers[at * each : (at + 1) * each]) for at, piece in enumerate(pieces)]

    @property
    def counts(self) -> list[int]:
        """How many records each file has, in order."""
        len(self)
        return [end - start for start, end in pairwise(self._starts)]

    @property
    def group(self) -> int:
        """How many records a pass in random order best takes at once by `take_pieces`; 0: as they come.

        Maps of large local files would become resident as a whole. It opens local files when it is first asked for.
        """
        if self._group is None:
            self._group = self._find_group()
        return self._group

    def _find_group(self) -> int:
        count = len(self)
        if not count or not all(map(is_local, self._paths)) or self.nbytes <= _RESIDENT_BYTES:
            return 0
        files: list[FileFrames] = []
        for number in range(len(self._paths)):
            with contextlib.suppress(OpError):  # whoever asks for its records is told
                files += self._open([number])
        if any(file.members is not None for file in files) or all(file.frame_map is None for file in files):
            return 0
        return max(1, _GROUP_BYTES * count // self.nbytes)

    def _take_mapped(self, numbers: IntArray) -> Block | None:
        """Take records of open local files in one native call: 0.2 us each instead of 0.4 (benchmarks/lookup.py)."""
        found = _core.take_mapped(self._maps, self._start_array, np.ascontiguousarray(numbers))
        if found is None or found[3] >= 0:  # the long way finds out what is wrong
            return None
        return block_of(found[:3], numbers)

    def by_file(self, block: Block) -> list[Block]:
        """Split what `take` returned into blocks that know their file and the numbers of their records there.

        Neighbours of one file stay together; the order stays.
        """
        numbers = block.places()[0]
        of_file = np.searchsorted(self._start_array, numbers, side="right") - 1
        cuts = [0, *(np.flatnonzero(np.diff(of_file)) + 1).tolist(), len(numbers)]
        blocks = []
        for begin, end in pairwise(cuts):
            if begin < end:
                file = int(of_file[begin])
                frames = block.data, block.offsets[begin:end], block.lengths[begin:end]
                blocks.append(block_of(frames, numbers[begin:end] - self._starts[file], self._paths[file]))
        return blocks

    def open_file_of(self, record: int) -> None:
        """Open the file of a record, if it is not open.

        Raises:
            DataLossError: no index can be made of it.
        """
        self._open([self._place(record)[0]])

    @property
    def nbytes(self) -> int:
        """Bytes of all files together, when it was first asked for."""
        if self._nbytes is None:
            self._nbytes = sum(info.size for info in ask_all(file_info, self._paths) if info is not None)
        return self._nbytes

    def check_unchanged(self, record: int | None = None) -> None:
        """Look whether local files are those that were opened, which takes a `stat` each; remote ones are, always.

        Args:
            record: look at the file of this one only.

        Raises:
            FailedPreconditionError: one was changed, replaced or removed since.
        """
        files = range(len(self._paths)) if record is None else [self._place(record)[0]]
        for number in files:
            path, stamp = self._paths[number], self._stamps[number]
            if stamp is not None and (now := _stamp_of(path)) != stamp:
                raise FailedPreconditionError(
                    f"{display_name(path)}; the file has changed since it was opened: expected {_shown(stamp)} but got "
                    f"{_shown(now)}. Records of both would be mixed up: open it again, or make the dataset again.",
                    path=display_name(path),
                )

    def close(self) -> None:
        """Let go of all files; using them afterwards is an error. They also close by themselves."""
        with self._lock():
            self._closed = True
            for file in self._files:
                if file is not None:
                    file.close()
            self._shorts = [no_short_way] * len(self._paths)
            self._maps = [None] * len(self._paths)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
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
            self._start_array = np.array(self._starts)
            self._count = self._starts[-1]  # last: other threads look at it first

    def _open(self, wanted: Sequence[int]) -> list[FileFrames]:
        """Return files by their numbers, open; those that are not yet are opened at once."""
        if any(self._files[number] is None for number in wanted):
            with self._lock():
                missing = [number for number in wanted if self._files[number] is None]
                remote = any(not is_local(self._paths[number]) for number in missing)
                limit = _REMOTE_AT_ONCE if remote else default_threads()
                may_have = listed_folders([self._paths[number] for number in missing])
                opened = spawn_all(partial(self._open_one, may_have), missing, limit)
                for number, file in zip(missing, opened, strict=True):
                    _check(file, self._counts[number])
                    self._files[number], self._shorts[number] = file, file.short
                    self._maps[number] = file.frame_map
        if self._closed:
            raise FailedPreconditionError("RecordFiles is closed.")
        return [there for number in wanted if (there := self._files[number]) is not None]

    def _open_one(self, may_have: MayHave, number: int) -> FileFrames:
        path, index = self._paths[number], self._indexes[number]
        self._stamps[number] = _stamp_of(path)
        return FileFrames(path, index=index, may_have=may_have, **self._arguments)


class _Stamp(NamedTuple):
    """What changes if a local file does: its size, the time of the change, and which file it is."""

    size: int
    modified_ns: int
    file: tuple[int, int]


def _stamp_of(path: str) -> _Stamp | None:
    if not is_local(path):
        return None
    try:
        found = os.stat(local_path(path))
    except OSError:
        return None
    return _Stamp(found.st_size, found.st_mtime_ns, (found.st_dev, found.st_ino))


def _shown(stamp: _Stamp | None) -> str:
    return "none" if stamp is None else f"{stamp.size} bytes of {stamp.modified_ns / 1e9:.3f} s"


def _check(file: FileFrames | None, known: int | None) -> None:
    if file is not None and known is not None and len(file) != known:
        raise FailedPreconditionError(
            f"{file.name}; expected {known} records, as the manifest of its folder or an earlier count says, but its "
            f"index has {len(file)}. Make the index again, or repair the folder.",
            path=file.name,
        )


def _reopen(
    paths: list[str], arguments: dict[str, Any], counts: list[int | None], stores: dict[str, Any]
) -> RecordFiles:
    adopt_settings(stores)
    files = RecordFiles(paths, **arguments)
    files._expect(counts)  # noqa: SLF001  # of this module
    return files
