"""Splits: a scan in parts that are plain data, which workers of a cluster read independently of each other.

A part is some ranges of records: whole files, or pieces of a file whose index says where its frames begin. Nothing is
read to plan them but indexes; which records match is decided where a part is read.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tfrkit.codecs.table import codec
from tfrkit.errors import InvalidArgumentError, OpError
from tfrkit.model.block import Block
from tfrkit.records.access.count import manifest_counts
from tfrkit.records.access.find_index import kept_index
from tfrkit.records.access.index import Index, index_of, indexed_count
from tfrkit.records.read.file_reader import compression_of
from tfrkit.records.read.position import Position
from tfrkit.records.read.reader import BlockReader, chosen_policy
from tfrkit.scanning.chunks import RowFilter
from tfrkit.scanning.pruning import PrunedBlocks, ZonedPart
from tfrkit.stores.files import ask_all, file_sizes, is_local, open_source
from tfrkit.stores.source import is_stream

if TYPE_CHECKING:
    from tfrkit.scanning.scan import Scan, ScanBatches

__all__ = [
    "MOST_BYTES",
    "FileRange",
    "ScanSplit",
    "SplitBlocks",
    "SplitFile",
    "cut_files",
    "plan_splits",
    "read_split",
]

_LEAST_BYTES: Final = 4 << 20  # of a part: a task takes some milliseconds before it reads
MOST_BYTES: Final = 128 << 20  # by default: what is made of it, perhaps twice as much, is a worker's at once
_WORTH_AN_INDEX: Final = 64 << 20  # a local file of this size without an index is walked once to be cut


@dataclass(frozen=True, slots=True)
class FileRange:
    """Records of one file that stand together.

    Attributes:
        path: of the file.
        bytes: about how many of the file's they are.
        first: number of the first of them.
        offset: where its frame begins in the uncompressed stream.
        stop: where the frame after the last begins; None: they go to the end of the file.
        records: how many; None: not known.
        member: where the member with the first of them begins in a compressed file, and in the uncompressed stream.
    """

    path: str
    bytes: int
    first: int = 0
    offset: int = 0
    stop: int | None = None
    records: int | None = None
    member: tuple[int, int] = (0, 0)

    @property
    def is_whole(self) -> bool:
        """Whether it is all of the file."""
        return self.offset == 0 and self.stop is None


@dataclass(frozen=True, slots=True)
class ScanSplit:
    """What one task reads, in order. Plain data that pickles."""

    ranges: tuple[FileRange, ...]

    @property
    def bytes(self) -> int:
        """About how many bytes of files it is."""
        return sum(part.bytes for part in self.ranges)

    @property
    def records(self) -> int | None:
        """How many records; None: not known."""
        counts = [part.records for part in self.ranges if part.records is not None]
        return sum(counts) if len(counts) == len(self.ranges) else None

    @property
    def paths(self) -> list[str]:
        """The files, each once."""
        return list(dict.fromkeys(part.path for part in self.ranges))


@dataclass(frozen=True, slots=True)
class SplitFile:
    """A file that is to be cut.

    Attributes:
        path: its path.
        bytes: its size.
        records: how many it has; None: not known.
        index: where it can be cut; None: nowhere.
    """

    path: str
    bytes: int
    records: int | None = None
    index: Index | None = None


def cut_files(files: Sequence[SplitFile], target: int) -> list[ScanSplit]:
    """Cut files into parts of about so many bytes, in order; small files share a part. Pure: no I/O.

    >>> [split.paths for split in cut_files([SplitFile("a", 3), SplitFile("b", 2), SplitFile("c", 9)], 5)]
    [['a', 'b'], ['c']]
    """
    return _join([_ranges(file, target) for file in files], target)


def _join(files: Iterable[Sequence[FileRange]], target: int) -> list[ScanSplit]:
    """Make parts of the ranges of files, in order; files that are not cut share a part while they fit. Pure: no I/O."""
    splits: list[ScanSplit] = []
    held: list[FileRange] = []

    def close() -> None:
        if held:
            splits.append(ScanSplit(tuple(held)))
            held.clear()

    for ranges in files:
        if len(ranges) > 1:
            close()
            splits += (ScanSplit((part,)) for part in ranges)
            continue
        if held and sum(part.bytes for part in (*held, *ranges)) > target:
            close()
        held += ranges
    close()
    return splits


def _ranges(file: SplitFile, target: int) -> list[FileRange]:
    """Cut one file where its index allows it."""
    index, wanted = file.index, round(file.bytes / max(1, target))
    if index is None or wanted < 2 or len(index) < 2:
        return [FileRange(file.path, file.bytes, records=file.records)]
    places = np.arange(len(index))
    if index.compression:  # at the first frame of a member, so that none is inflated twice
        places = np.unique(np.searchsorted(index.frames[:-1], index.member_stream))
        places = places[places < len(index)]
        if len(places) < 2:
            return [FileRange(file.path, file.bytes, records=file.records)]
    aims = index.frames[-1] * np.arange(1, wanted) / wanted
    starts = index.frames[places]
    right = np.clip(np.searchsorted(starts, aims), 1, len(places) - 1)
    near = places[right - (aims - starts[right - 1] < starts[right] - aims)]
    bounds = np.unique(np.concatenate([[0], near, [len(index)]])).tolist()
    return [
        FileRange(
            file.path,
            int(file.bytes * (index.frames[after] - index.frames[first]) // index.frames[-1]),
            first,
            int(index.frames[first]),
            None if after == len(index) else int(index.frames[after]),
            None if file.records is None else after - first,
            _member(index, first),
        )
        for first, after in itertools.pairwise(bounds)
    ]


def _member(index: Index, frame: int) -> tuple[int, int]:
    """Return where the member begins that a frame begins in: in the file, and in the stream. Pure: no I/O."""
    if not len(index.member_stream):
        return 0, 0
    number = max(0, int(np.searchsorted(index.member_stream, index.frames[frame], side="right")) - 1)
    return int(index.member_file[number]), int(index.member_stream[number])


def plan_splits(scan: Scan, count: int | None = None, *, most_bytes: int = MOST_BYTES) -> list[ScanSplit]:
    """Divide a scan into parts for workers.

    A file is cut where an index beside it says that frames begin, if it is plain or in members; a large local one
    without an index is walked once. Where damage is passed over, compressed files are not cut; where it ends a file,
    none is.

    Args:
        scan: what is to be read; its files are named by paths.
        count: about how many parts are wanted; by default as many as `most_bytes` makes.
        most_bytes: about how large the files of a part may be.

    Raises:
        InvalidArgumentError: a file is only open in this process, a limit holds for all parts together, or the scan is
            a part itself.
        NotFoundError: a file is not there.
    """
    if count is not None and count < 1:
        raise ValueError(f"expected count to be at least 1 but got {count}")
    if scan.split is not None:
        raise InvalidArgumentError(
            "A part of a scan cannot be divided: divide the scan into more parts instead."
        )
    if scan.row_limit is not None:
        raise InvalidArgumentError("A scan with a limit cannot be divided: limit what comes of it instead.")
    paths = [_path(file) for file in scan.files]
    sizes = file_sizes(paths)
    target = max(_LEAST_BYTES, min(most_bytes, sum(sizes) // count if count else most_bytes))
    known = manifest_counts(paths) if scan.raises else [None] * len(paths)
    asked = dict(zip(paths, zip(sizes, known, strict=True), strict=True))
    # Indexes may be larger than memory together: each goes when its file is cut.
    found = ask_all(lambda path: _ranges(_look(scan, path, *asked[path], target), target), list(asked))
    by_path = dict(zip(asked, found, strict=True))
    return _join([by_path[path] for path in paths], target)


def _path(file: object) -> str:
    if not isinstance(file, str) or is_stream(file):
        raise InvalidArgumentError(
            f"Expected paths of files that can be read again but got {file!r:.80}: only this process can read it."
        )
    return file


def _look(scan: Scan, path: str, size: int, records: int | None, target: int) -> SplitFile:
    """Find out how many records a file has and where it can be cut, if that is known or worth the while."""
    reading = dict(scan.reading)
    reading.pop("block_bytes"), reading.pop("threads")
    policy = chosen_policy(**reading)
    large = round(size / target) > 1
    if policy.on_corrupt == "stop" or not (large or records is None):
        return SplitFile(path, size, records)
    try:
        source = open_source(path, cache=policy.cache)
        if not source.regular:
            return SplitFile(path, size, records)
        if not large:
            return SplitFile(path, size, indexed_count(path, source) if scan.raises else None)
        compression = compression_of(source, policy)
        members = codec(compression).members is not None
        if compression and (not members or not scan.raises):
            return SplitFile(path, size, records)
        index = kept_index(path, source, compression)
        if index is None and is_local(path) and size >= min(_WORTH_AN_INDEX, 2 * target):
            index = index_of(source, compression)
    except OpError:
        return SplitFile(path, size, records)  # the error comes when it is read
    if index is not None and scan.raises:
        records = len(index)
    return SplitFile(path, size, records, index)


def read_split(
    scan: Scan,
    split: ScanSplit,
    names: Collection[str] | None = None,
    rows: RowFilter | None = None,
    *,
    limit: int | None = None,
) -> ScanBatches:
    """Return the batches of one part of a scan; see `Scan.read`, whose other arguments these are."""
    blocks = SplitBlocks(split, scan, scan.chosen_rows(rows))
    return scan.read(names, rows, limit=limit, blocks=blocks)


class SplitBlocks(PrunedBlocks):
    """The blocks of one part, without the runs of records of which zones say that none can match."""

    def __init__(self, split: ScanSplit, scan: Scan, rows: RowFilter | None) -> None:
        zoned = rows is not None and scan.raises
        super().__init__(
            split.paths,
            rows.shares if rows is not None and zoned else None,
            rows.features if rows is not None else (),
            scan.reading,
        )
        self._split = split

    def __iter__(self) -> Iterator[Block]:
        whole: list[str] = []  # files that are read together
        for part in self._split.ranges:
            zoned = self._ranges(part.path)
            if zoned is None and part.is_whole:
                whole.append(part.path)
                continue
            yield from self._read_whole(whole)
            whole = []
            if zoned is None:
                yield from self._read_part(part)
            for run in zoned or ():
                if parts := _within(run, part):
                    yield from self._read_range(part.path, parts, part.member)
        yield from self._read_whole(whole)

    def _read_part(self, part: FileRange) -> Iterator[Block]:
        """Read the records whose frames begin in a range, whatever damage does to their numbers."""
        options = dict(self._reading)
        size, threads = options.pop("block_bytes"), options.pop("threads")
        start, stop = Position(0, part.offset, part.first), part.stop
        reader = BlockReader(
            [part.path], chosen_policy(**options), threads, size, start, near=part.member, stop=stop
        )
        for block in self._follow(reader):
            frames = block.places()[1]
            if stop is None or frames is None:
                yield block
                continue
            yield block if frames[-1] < stop else block[: int(np.searchsorted(frames, stop))]
            if frames[-1] + block.lengths[-1] + 16 >= stop:
                self.close()
                return


def _within(run: list[ZonedPart], part: FileRange) -> list[ZonedPart]:
    """Return what of a run of records, by zones, is in a range of a file. Pure: no I/O."""
    last = None if part.stop is None or part.records is None else part.first + part.records
    found: list[ZonedPart] = []
    for first, after, offset, is_sure in run:
        begin, end = max(first, part.first), after if last is None else min(after, last)
        if begin < end:
            found.append((begin, end, offset if begin == first else part.offset, is_sure))
    return found
