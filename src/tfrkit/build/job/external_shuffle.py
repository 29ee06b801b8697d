"""The external shuffle: all records of a group in random order, however many, in bounded memory.

Every record has a random key of 64 bits, made of the seed, the number of its recipe and its own number in it. The order
is that of the keys, so it is a uniform permutation and does not depend on how the work is divided. Three steps:

    part     records go to the temporary file of their part, chunk by chunk; in a chunk they stand by bucket, which is
             the first bits of the key
    split    a bucket that is too large is divided by the next bits, until none is
    gather   a shard is a range of ranks: its buckets are read whole, one by one, and sorted by key

Keys, and the files of chunks, are in `shuffle_chunks.py`.
"""

from __future__ import annotations

import contextlib
import itertools
import math
import os
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.build.job.job_plan import ShardGroup, made_blocks
from tfrkit.build.job.progress import TaskReporter
from tfrkit.build.job.report import Finished
from tfrkit.build.job.shuffle_chunks import KEY_BITS, RECORD_BYTES, ChunkWriter, Keys, KeyStream
from tfrkit.errors import DataLossError, OpError, os_errors
from tfrkit.model.block import Block
from tfrkit.stores.output import FileOutput
from tfrkit.stores.source import ByteSource, open_descriptor

__all__ = ["MAX_SHUFFLERS", "Bucket", "ExternalShuffle"]

MAX_SHUFFLERS: Final = 16  # tasks at once: each has a bucket or a chunk in memory
_CHUNK_ROOM: Final = 1 << 26  # bytes of the chunks of all tasks together
_CHUNK_BYTES: Final = (1 << 22, 1 << 25)  # of one, at least and at most
_BUCKET_BYTES: Final = 1 << 22  # that a bucket should have
_SPLIT_BYTES: Final = 3 * _BUCKET_BYTES  # with more it is split
_MAX_BITS: Final = 10  # of the key in one step: more would make the reads of gathering small
_TABLE_BYTES: Final = 1 << 25  # of heads of chunks that are kept in memory
_PARTS: Final = 64  # about how many parts a group is cut into, if they are not too small
_PART_BYTES: Final = 1 << 24


@dataclass(frozen=True, slots=True)
class Bucket:
    """One range of keys.

    Attributes:
        path: the numbers of the buckets that lead to it, its own last.
        shift: how many bits of the key these are.
        number: the last of these numbers.
        sources: names of the parts that hold its records, in order.
        records: how many there are.
        bytes: of their frames.
    """

    path: str
    shift: int
    number: int
    sources: tuple[str, ...]
    records: int
    bytes: int

    @property
    def cost(self) -> int:
        """About how much memory it takes to sort it."""
        return self.bytes + RECORD_BYTES * self.records

    @property
    def too_large(self) -> bool:
        """Whether it must be split before it can be sorted."""
        return self.cost > _SPLIT_BYTES and self.records > 1 and self.shift + _MAX_BITS <= KEY_BITS


class _Piece(NamedTuple):
    """What a chunk has for a bucket: how many records and bytes, and where keys and frames are in the file."""

    records: int
    keys_at: int
    bytes: int
    frames_at: int


class ExternalShuffle:
    """The records of one group on their way into random order.

    The folder for temporary files is made when the first is written. The number of workers decides how much memory
    each task may take. Tasks that are done, of this shuffle and of others, are in `done`, by name.
    """

    def __init__(
        self, folder: str, number: int, group: ShardGroup, workers: int, done: dict[str, Finished]
    ) -> None:
        self._folder, self._number, self.group, self._done = folder, number, group, done
        at_least, at_most = _CHUNK_BYTES
        self._chunk_bytes = max(at_least, min(at_most, _CHUNK_ROOM // workers))
        self._bits = _bits_for(2 * group.input_bytes)  # frames may be larger than what they are made of
        self._tables: dict[str, npt.NDArray[np.int64]] = {}
        self._parts = _cut([recipe.input_bytes for recipe in group.recipes])

    # -- names ------------------------------------------------------------------------------------------------------

    @property
    def part_names(self) -> list[str]:
        return [f"mix/{self._number}/part-{number:05d}" for number in range(len(self._parts))]

    def part_bytes(self, number: int) -> int:
        return sum(self.group.recipes[recipe].input_bytes for recipe in self._parts[number])

    def split_name(self, bucket: Bucket) -> str:
        return f"mix/{self._number}/split-{bucket.path}"

    def is_mine(self, name: str) -> bool:
        return name.startswith(f"mix/{self._number}/")

    def _path(self, name: str) -> str:
        return os.path.join(self._folder, name.removeprefix("mix/").replace("/", "-"))

    # -- parts and splits ---------------------------------------------------------------------------------------------

    def write_part(self, number: int, reporter: TaskReporter) -> Finished:
        with self._writer(self.part_names[number], 0, self._bits) as writer:
            for recipe in self._parts[number]:
                keys = KeyStream(self.group.shuffle_seed or 0, recipe)
                with contextlib.closing(made_blocks([self.group.recipes[recipe]], reporter)) as blocks:
                    for block in blocks:
                        reporter.check()
                        writer.add(block, keys.next(len(block)))
            return writer.finish(reporter)

    def write_split(self, bucket: Bucket, reporter: TaskReporter) -> Finished:
        """Divide the records of a bucket once more."""
        bits = min(max(1, _bits_for(bucket.cost)), KEY_BITS - bucket.shift)
        with self._writer(self.split_name(bucket), bucket.shift, bits) as writer:
            for name in bucket.sources:
                for keys, frames in self._segments(self._done[name], bucket.number):
                    reporter.check()
                    writer.add(_as_block(frames, len(keys), self._path(name)), keys)
            return writer.finish(reporter)

    @contextlib.contextmanager
    def _writer(self, name: str, shift: int, bits: int) -> Iterator[ChunkWriter]:
        path = self._path(name)
        with os_errors(self._folder):
            os.makedirs(self._folder, exist_ok=True)
        output = FileOutput(path)
        try:
            yield ChunkWriter(name, output, shift, bits, self._chunk_bytes)
            output.close()
        except BaseException:
            output.close()
            with contextlib.suppress(OSError):
                os.unlink(path)
            raise

    # -- gather -----------------------------------------------------------------------------------------------------

    def buckets(self) -> list[Bucket]:
        """Return the buckets in order of their keys, when all parts are done. Pure: no I/O."""
        names = tuple(self.part_names)
        counts: list[tuple[int, int]] = [(0, 0)] * (1 << self._bits)
        for name in names:
            pairs = zip(counts, self._done[name].buckets, strict=True)
            counts = [(records + more, size + more_bytes) for (records, size), (more, more_bytes) in pairs]
        return list(self._expand("", 0, names, counts))

    def _expand(
        self, path: str, shift: int, sources: tuple[str, ...], counts: Sequence[tuple[int, int]]
    ) -> Iterator[Bucket]:
        shift += (len(counts) - 1).bit_length()
        for number, (records, size) in enumerate(counts):
            if records:
                bucket = Bucket(
                    f"{path}.{number}" if path else str(number), shift, number, sources, records, size
                )
                split = self._done.get(self.split_name(bucket))
                if split is None:
                    yield bucket
                else:
                    yield from self._expand(bucket.path, shift, (split.name,), split.buckets)

    def blocks(
        self, buckets: Sequence[Bucket], shard: int, reporter: TaskReporter
    ) -> Generator[Block, None, None]:
        """Yield the records of a shard in their final order, a bucket at a time."""
        total = sum(bucket.records for bucket in buckets)
        shards = self.group.shards or 1
        first, after = shard * total // shards, (shard + 1) * total // shards
        rank = 0
        for bucket in buckets:
            if first < rank + bucket.records and rank < after:
                reporter.check()
                yield self._sorted(bucket, max(0, first - rank), min(bucket.records, after - rank))
            rank += bucket.records

    def _sorted(self, bucket: Bucket, first: int, after: int) -> Block:
        keys = np.empty(bucket.records, np.uint64)
        frames = np.empty(bucket.bytes, np.uint8)
        key_bytes, frame_bytes = memoryview(keys).cast("B"), memoryview(frames)
        record = at = 0
        for name in bucket.sources:
            file = self._open(self._done[name])
            for piece in self._pieces(file, self._done[name], bucket.number):
                end = at + piece.bytes
                _read(file, piece.keys_at, key_bytes[8 * record : 8 * (record + piece.records)])
                _read(file, piece.frames_at, frame_bytes[at:end])
                record, at = record + piece.records, end
        block = _as_block(frames, bucket.records, self._path(bucket.sources[0]))
        order = np.argsort(keys, kind="stable")[first:after]
        return Block(block.data, block.offsets[order], block.lengths[order])

    def _segments(self, part: Finished, bucket: int) -> Iterator[tuple[Keys, npt.NDArray[np.uint8]]]:
        """Read what the chunks of a part have for a bucket, one by one."""
        file = self._open(part)
        for piece in self._pieces(file, part, bucket):
            keys, frames = np.empty(piece.records, np.uint64), np.empty(piece.bytes, np.uint8)
            _read(file, piece.keys_at, memoryview(keys).cast("B"))
            _read(file, piece.frames_at, memoryview(frames))
            yield keys, frames

    def _open(self, part: Finished) -> ByteSource:
        return open_descriptor(self._path(part.name))

    def _pieces(self, file: ByteSource, part: Finished, bucket: int) -> Iterator[_Piece]:
        """Find what the chunks of a part have for a bucket."""
        if not part.buckets[bucket][0]:
            return
        buckets = len(part.buckets)
        table = self._table(file, part)
        for number, start in enumerate(part.chunks):
            if table is None:
                before, end = _read_pairs(file, start + 16 * bucket, 2)
                ((total, _),) = _read_pairs(file, start + 16 * buckets, 1)
            else:
                before, end, (total, _) = table[number, [bucket, bucket + 1, buckets]].tolist()
            if end[0] > before[0]:
                keys_at = start + 16 * (buckets + 1)
                frames_at = keys_at + 8 * total + before[1]
                yield _Piece(end[0] - before[0], keys_at + 8 * before[0], end[1] - before[1], frames_at)

    def _table(self, file: ByteSource, part: Finished) -> npt.NDArray[np.int64] | None:
        """Return what stands at the head of all chunks of a part; None if that is too much to be kept."""
        table = self._tables.get(part.name)
        if table is None:
            shape = (len(part.chunks), len(part.buckets) + 1, 2)
            size = 8 * math.prod(shape)
            if size + sum(other.nbytes for other in list(self._tables.values())) > _TABLE_BYTES:
                return None
            table = np.empty(shape, np.int64)
            for number, start in enumerate(part.chunks):
                _read(file, start, memoryview(table[number].reshape(-1)).cast("B"))
            self._tables[part.name] = table
        return table

    # -- after a kill -----------------------------------------------------------------------------------------------

    def restore(self) -> None:
        """Forget finished tasks whose files are needed and not whole, and remove files that belong to no task."""
        names, done = set(self.part_names), self._done
        for name in names & done.keys():
            if len(done[name].buckets) != 1 << self._bits:
                del done[name]
        mine = {name for name in done if self.is_mine(name)}
        if names <= mine:
            needed = {name for bucket in self.buckets() for name in bucket.sources}
            if not all(self._is_whole(done[name]) for name in needed):
                for name in mine:
                    del done[name]
        else:
            for name in mine:
                if name not in names or not self._is_whole(done[name]):
                    del done[name]
        kept = {os.path.basename(self._path(name)) for name in done if self.is_mine(name)}
        with contextlib.suppress(FileNotFoundError):
            for file in os.listdir(self._folder):
                if file.startswith(f"{self._number}-") and file not in kept:
                    os.unlink(os.path.join(self._folder, file))

    def _is_whole(self, part: Finished) -> bool:
        """Return whether the file of a part is the one that its entry describes: the chunks are where it says.

        Another machine may have written the entry, whose chunks are larger or smaller.
        """
        last = len(part.buckets)
        try:
            if os.stat(self._path(part.name)).st_size != part.bytes:
                return False
            file = self._open(part)
            for start, end in itertools.pairwise((*part.chunks, part.bytes)):
                ((records, size),) = _read_pairs(file, start + 16 * last, 1)
                if start + 16 * (last + 1) + 8 * records + size != end:
                    return False
        except (OSError, OpError):
            return False
        return True

    def drop_split(self) -> None:
        """Remove the files of parts all of whose buckets were split."""
        needed = {name for bucket in self.buckets() for name in bucket.sources}
        for name in self._done:
            if self.is_mine(name) and name not in needed:
                with contextlib.suppress(FileNotFoundError):
                    os.unlink(self._path(name))


def _bits_for(size: int) -> int:
    """Return how many bits of the key divide `size` bytes into buckets of a good size."""
    return min(_MAX_BITS, max(0, -(-size // _BUCKET_BYTES) - 1).bit_length())


def _cut(sizes: Sequence[int]) -> list[range]:
    """Put neighbouring recipes together into parts of about the same size."""
    enough = max(_PART_BYTES, sum(sizes) // _PARTS)
    parts, first, size = [], 0, 0
    for number, more in enumerate(sizes):
        size += more
        if size >= enough or number == len(sizes) - 1:
            parts.append(range(first, number + 1))
            first, size = number + 1, 0
    return parts


def _read(file: ByteSource, at: int, view: memoryview) -> None:
    """Fill a buffer from a place in a file."""
    if file.read_into(view, at) < len(view):
        raise _damaged(file.name)


def _read_pairs(file: ByteSource, at: int, count: int) -> list[list[int]]:
    pairs = np.empty((count, 2), np.int64)
    _read(file, at, memoryview(pairs.reshape(-1)).cast("B"))
    found: list[list[int]] = pairs.tolist()
    return found


def _as_block(frames: npt.NDArray[np.uint8], records: int, path: str) -> Block:
    scan = _core.scan_frames(frames, 0, len(frames), True, 2**62)
    if scan.end != len(frames) or len(scan.offsets) != records:
        raise _damaged(path)
    return Block(frames, scan.offsets, scan.lengths)


def _damaged(path: str) -> DataLossError:
    return DataLossError(
        f"{path}; this temporary file is not what was written. Check the disk, then run the job again with "
        "overwrite=True (--overwrite), which starts over.",
        path=path,
    )
