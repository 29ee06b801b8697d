"""The tasks of an external shuffle, and the recipe of its shards: plain data that any engine runs.

`external_shuffle.py` plans them; the files of chunks that they write and read are those of `shuffle_chunks.py`.
"""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.build.job.job_plan import Recipe, made_blocks
from tfrkit.build.job.progress import TaskReporter
from tfrkit.build.job.report import Finished
from tfrkit.build.job.shuffle_chunks import ChunkWriter, KeyStream
from tfrkit.build.job.tasks import TaskOptions
from tfrkit.engines.engine import Control
from tfrkit.errors import DataLossError, FailedPreconditionError, NotFoundError, os_errors
from tfrkit.model.block import Block
from tfrkit.stores.output import FileOutput
from tfrkit.stores.source import ByteSource, open_descriptor

__all__ = ["BucketPart", "BucketRecipe", "ChunkFile", "PartTask", "SplitTask", "read_pairs"]

_PART_SHARE: Final = 0.5  # of the input counts when it is read; the other half when it is in a shard


@dataclass(frozen=True, slots=True)
class ChunkFile:
    """The temporary file of a part: its path, how many buckets it has, and where its chunks begin."""

    path: str
    buckets: int
    chunks: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class PartTask:
    """Some recipes of a group, whose records go into a file of chunks.

    Attributes:
        name: of the part.
        path: of its file, to which an attempt adds something of its own.
        recipes: each with its number in the group.
        seed: of the shuffle.
        bits: of the key, that divide records into buckets.
        chunk_bytes: of a chunk.
        options: as all tasks of the job have them.
        input_bytes: how much counts when it is done, for the progress bar.
        mark: a file that every machine sees which shares the folder of `path`; empty if that need not be asked.
    """

    name: str
    path: str
    recipes: tuple[tuple[int, Recipe], ...]
    seed: int
    bits: int
    chunk_bytes: int
    options: TaskOptions
    input_bytes: int
    mark: str = ""

    def run(self, control: Control) -> Finished:
        if self.mark and not os.path.exists(self.mark):  # before hours of work that no other task could read
            raise _not_shared(os.path.dirname(self.path))
        reporter = self.options.reporter(control, _PART_SHARE)
        with _writer(self.name, self.path, 0, self.bits, self.chunk_bytes) as writer:
            for number, recipe in self.recipes:
                keys = KeyStream(self.seed, number)
                with contextlib.closing(made_blocks([recipe], reporter)) as blocks:
                    for block in blocks:
                        reporter.check()
                        writer.add(block, keys.next(len(block)))
            return writer.finish(reporter)


@dataclass(frozen=True, slots=True)
class SplitTask:
    """A bucket that is too large, whose records go into a file of chunks by the next bits of their keys."""

    name: str
    path: str
    sources: tuple[ChunkFile, ...]
    bucket: int
    shift: int
    bits: int
    chunk_bytes: int
    options: TaskOptions
    input_bytes: int = 0

    def run(self, control: Control) -> Finished:
        reporter = self.options.reporter(control)
        with _writer(self.name, self.path, self.shift, self.bits, self.chunk_bytes) as writer:
            for source in self.sources:
                for file, piece in _ChunkReader(source, 0).pieces(self.bucket):
                    reporter.check()
                    keys, frames = np.empty(piece.records, np.uint64), np.empty(piece.bytes, np.uint8)
                    _read_piece(file, piece, memoryview(keys).cast("B"), memoryview(frames))
                    writer.add(_as_block(frames, piece.records, source.path), keys)
            return writer.finish(reporter)


class BucketPart(NamedTuple):
    """Records of a bucket that a shard has: those of ranks [first, after) by key.

    Attributes:
        sources: which of the recipe's files hold its records, in order: from one number on, and up to another.
        number: of the bucket in these files.
        records: of the whole bucket.
        bytes: of their frames.
    """

    sources: tuple[int, int]
    number: int
    records: int
    bytes: int
    first: int
    after: int


@dataclass(frozen=True, slots=True)
class BucketRecipe:
    """The records of a shard in their final order, a bucket at a time.

    Attributes:
        files: those of all parts.
        buckets: in order of their keys.
        room: bytes of heads of chunks that may be kept in memory.
    """

    files: tuple[ChunkFile, ...]
    buckets: tuple[BucketPart, ...]
    room: int
    input_bytes: int = 0

    def blocks(self, reporter: TaskReporter) -> Iterator[Block]:
        readers: dict[int, _ChunkReader] = {}
        room = self.room
        for bucket in self.buckets:
            reporter.check()
            for number in range(*bucket.sources):
                if number not in readers:
                    readers[number] = _ChunkReader(self.files[number], room)
                    room -= readers[number].kept_bytes
            yield _sorted([readers[number] for number in range(*bucket.sources)], bucket)


def _sorted(sources: list[_ChunkReader], bucket: BucketPart) -> Block:
    """Read a bucket whole, and put its records into the order of their keys."""
    keys = np.empty(bucket.records, np.uint64)
    frames = np.empty(bucket.bytes, np.uint8)
    key_bytes, frame_bytes = memoryview(keys).cast("B"), memoryview(frames)
    record = at = 0
    for source in sources:
        for file, piece in source.pieces(bucket.number):
            after, end = record + piece.records, at + piece.bytes
            _read_piece(file, piece, key_bytes[8 * record : 8 * after], frame_bytes[at:end])
            record, at = after, end
    block = _as_block(frames, bucket.records, sources[0].path)
    order = np.argsort(keys, kind="stable")[bucket.first : bucket.after]
    return Block(block.data, block.offsets[order], block.lengths[order])


class _Piece(NamedTuple):
    """What a chunk has for a bucket: how many records and bytes, and where keys and frames are in the file."""

    records: int
    keys_at: int
    bytes: int
    frames_at: int


class _ChunkReader:
    """A file of chunks, open only while it is read; their heads are kept in memory if they fit into some room."""

    def __init__(self, file: ChunkFile, room: int) -> None:
        self._file = file
        self._heads: npt.NDArray[np.int64] | None = None
        self.kept_bytes = 16 * len(file.chunks) * (file.buckets + 1)
        if self.kept_bytes > room:
            self.kept_bytes = 0
            return
        source = _opened(file.path)
        self._heads = np.empty((len(file.chunks), file.buckets + 1, 2), np.int64)
        for number, start in enumerate(file.chunks):
            _read(source, start, memoryview(self._heads[number].reshape(-1)).cast("B"))

    @property
    def path(self) -> str:
        return self._file.path

    def pieces(self, bucket: int) -> Iterator[tuple[ByteSource, _Piece]]:
        """Find what the chunks have for a bucket, and the open file that has it."""
        buckets, source = self._file.buckets, _opened(self._file.path)
        for number, start in enumerate(self._file.chunks):
            if self._heads is None:
                before, end = read_pairs(source, start + 16 * bucket, 2)
                ((total, _),) = read_pairs(source, start + 16 * buckets, 1)
            else:
                before, end, (total, _) = self._heads[number, [bucket, bucket + 1, buckets]].tolist()
            if end[0] > before[0]:
                keys_at = start + 16 * (buckets + 1)
                frames_at = keys_at + 8 * total + before[1]
                yield (
                    source,
                    _Piece(end[0] - before[0], keys_at + 8 * before[0], end[1] - before[1], frames_at),
                )


def _opened(path: str) -> ByteSource:
    """Open a file that another task has written."""
    try:
        return open_descriptor(path)
    except NotFoundError as error:
        raise _not_shared(path) from error


def _read_piece(source: ByteSource, piece: _Piece, keys: memoryview, frames: memoryview) -> None:
    _read(source, piece.keys_at, keys)
    _read(source, piece.frames_at, frames)


@contextlib.contextmanager
def _writer(name: str, path: str, shift: int, bits: int, chunk_bytes: int) -> Iterator[ChunkWriter]:
    """Write a file of chunks under a name of this attempt, which the result has; an error leaves nothing."""
    with os_errors(os.path.dirname(path)):
        os.makedirs(os.path.dirname(path), exist_ok=True)
    attempt = f"{path}.{secrets.token_hex(4)}"
    output = FileOutput(attempt)
    try:
        yield ChunkWriter(name, output, shift, bits, chunk_bytes)
        output.close()
    except BaseException:
        output.close()
        with contextlib.suppress(OSError):
            os.unlink(attempt)
        raise


def _read(file: ByteSource, at: int, view: memoryview) -> None:
    """Fill a buffer from a place in a file."""
    if file.read_into(view, at) < len(view):
        raise _damaged(file.name)


def read_pairs(file: ByteSource, at: int, count: int) -> list[list[int]]:
    """Read pairs of numbers, as they stand at the head of a chunk."""
    pairs = np.empty((count, 2), np.int64)
    _read(file, at, memoryview(pairs.reshape(-1)).cast("B"))
    found: list[list[int]] = pairs.tolist()
    return found


def _as_block(frames: npt.NDArray[np.uint8], records: int, path: str) -> Block:
    scan = _core.scan_frames(frames, 0, len(frames), True, 2**62)
    if scan.end != len(frames) or len(scan.offsets) != records:
        raise _damaged(path)
    return Block(frames, scan.offsets, scan.lengths)


def _not_shared(path: str) -> FailedPreconditionError:
    return FailedPreconditionError(
        f"{path}; the machine {socket.gethostname()!r} does not see these temporary files of a shuffle, which each "
        "task writes for all others. If the output is in a store, they are in the cache folder: set TFRKIT_CACHE to a "
        "folder that all machines share where the job is started, and run it again.",
        path=path,
    )


def _damaged(path: str) -> DataLossError:
    return DataLossError(
        f"{path}; this temporary file is not what was written. Check the disk, then run the job again with "
        "overwrite=True (--overwrite), which starts over.",
        path=path,
    )
