"""Sinks: framed bytes on their way into a file, compressed or not.

A sink takes runs of whole frames; it knows how many frames a run has and nothing else about records. What a writer does
differently for one of them is an attribute or a method of `Sink`.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from functools import partial
from typing import Any, Final

import numpy as np

from tfrkit import _core
from tfrkit.codecs.codec import Encoder, MemberFormat
from tfrkit.codecs.deflate import DeflateStream
from tfrkit.model.block import IntArray
from tfrkit.records.write.options import DEFAULT_BUFFER_BYTES, TFRecordOptions
from tfrkit.stores.output import Output
from tfrkit.threads import thread_pool

__all__ = ["MemberSink", "PlainSink", "Sink", "StreamSink", "ZlibSink"]

_MEMBER_BYTES: Final = 3 << 18  # less than a run of the writer (1 MB), so that whole runs are not copied
# Runs of a list into a plain file: each is framed while the one before is written. Shorter ones are switched too often,
# longer ones of small records leave the cache (measured with benchmarks/write_many.py).
_PLAIN_RUN_BYTES: Final = 1 << 21
_LARGE_RUN_BYTES: Final = 1 << 22
_LARGE_RECORD_BYTES: Final = 1 << 14


class Sink(ABC):
    """Takes runs of whole frames, writes bytes to an Output. After an error nothing more is written to it.

    Attributes:
        kept: how many frames are in the file and can be read; None where an encoder hides it.
        overlaps: whether a run may be written while the next is framed.
        joins_blocks: whether the end of a run shows in the file, so that it must not depend on where blocks end.
        immediate: whether each record is to be handed over by itself, so that its errors come with it.
        has_starts: whether a reader can start inside the file, so that an index is of use.
        fails_at_close: whether closing after an error raises it again: the container's end is missing.
    """

    kept: int | None = None
    overlaps = joins_blocks = immediate = has_starts = fails_at_close = False

    @abstractmethod
    def write(self, data: memoryview, frames: int) -> None:
        """Take a run of whole frames; the buffer may be kept."""

    def write_pieces(self, pieces: list[Any]) -> None:
        """Take a run of frames in parts: header, data, footer, header ..."""
        self.write(memoryview(b"".join(pieces)), len(pieces) // 3)

    def run_bytes(self, usual: int, record_bytes: int) -> int:
        """Return how long a run should be that begins with a record of this size."""
        return usual

    def members(self) -> tuple[IntArray, IntArray] | None:
        """Return where members begin in the file and in the uncompressed stream; None if there are none."""
        return None

    @abstractmethod
    def flush(self) -> None:
        """Bring everything taken so far into the file, so that readers can read it."""

    @abstractmethod
    def finish(self) -> None:
        """Write the end of the container. The output is closed by the caller."""


class PlainSink(Sink):
    """No compression."""

    overlaps = has_starts = True

    def __init__(self, output: Output) -> None:
        self._output = output
        self.kept: int = 0

    def write(self, data: memoryview, frames: int) -> None:
        _write_whole(self._output, partial(self._output.write, data))
        self.kept += frames

    def write_pieces(self, pieces: list[Any]) -> None:
        """Write them from where they lie, without a copy."""
        _write_whole(self._output, partial(self._output.write_pieces, pieces))
        self.kept += len(pieces) // 3

    def run_bytes(self, usual: int, record_bytes: int) -> int:
        """Return a longer one: each run is framed while the one before is written."""
        return _LARGE_RUN_BYTES if record_bytes >= _LARGE_RECORD_BYTES else _PLAIN_RUN_BYTES

    def flush(self) -> None:
        self._output.flush()

    def finish(self) -> None:
        pass


class StreamSink(Sink):
    """Streams of any encoder, one after another. A flush ends a stream, the next write begins another."""

    def __init__(self, output: Output, make_encoder: Callable[[], Encoder]) -> None:
        self._output = output
        self._make_encoder = make_encoder
        self._encoder: Encoder | None = None

    def write(self, data: memoryview, frames: int) -> None:
        if self._encoder is None:
            self._encoder = self._make_encoder()
        self._output.write(self._encoder.compress(data))

    def flush(self) -> None:
        if self._encoder is not None:
            self._output.write(self._encoder.flush())
            self._encoder = None
        self._output.flush()

    def finish(self) -> None:
        if self._encoder is None and self._output.position == 0:
            self._encoder = self._make_encoder()  # a file without records is an empty stream
        self.flush()


class ZlibSink(Sink):
    """TensorFlow's one deflate stream, with all its options."""

    fails_at_close = True

    def __init__(self, output: Output, options: TFRecordOptions) -> None:
        self._output = output
        flush_mode = options.flush_mode or zlib.Z_NO_FLUSH
        sizes = options.input_buffer_size, options.output_buffer_size
        size, out_size = (DEFAULT_BUFFER_BYTES if size is None else size for size in sizes)
        arguments = options.zlib_arguments()
        self._stream = DeflateStream(output.write, output.name, arguments, flush_mode, size, out_size)
        self.immediate = flush_mode != zlib.Z_NO_FLUSH  # flushes come whenever the input buffer is full

    def write(self, data: memoryview, frames: int) -> None:
        stream = self._stream
        if len(data) <= stream.room:
            stream.append(data)
            return
        ends = np.cumsum(_core.scan_frames(data, 0, len(data), False, 2**62).lengths + 16)
        at = 0
        while at < len(data):
            fitting = int(np.searchsorted(ends, at + stream.room, "right"))
            if fitting and (end := int(ends[fitting - 1])) > at:
                stream.append(data[at:end])
                at = end
            if at < len(data):  # TensorFlow hands over header, data and footer: the buffer ends between them
                end = int(ends[fitting])
                for start, stop in ((at, at + 12), (at + 12, end - 4), (end - 4, end)):
                    stream.append(data[start:stop])
                at = end

    def flush(self) -> None:
        self._stream.flush()
        self._output.flush()

    def finish(self) -> None:
        self._stream.finish()


class MemberSink(Sink):
    """Members, deflated on several threads and written in order."""

    joins_blocks = has_starts = True

    def __init__(self, output: Output, members: MemberFormat, level: int, threads: int) -> None:
        self._output = output
        self._format = members
        self._level = level
        self._threads = threads
        self._gathered: list[memoryview] = []  # runs that are too small for a member of their own
        self._gathered_bytes = 0
        self._gathered_frames = 0
        self._pending: deque[tuple[Future[bytes], int, int]] = deque()  # with uncompressed size, frames
        self.kept: int = 0
        self._stream = 0  # uncompressed bytes of the members written so far
        self._member_file: list[int] = []  # where each member begins in the file
        self._member_stream: list[int] = []  # and in the uncompressed stream

    def members(self) -> tuple[IntArray, IntArray]:
        return np.array(self._member_file, np.int64), np.array(self._member_stream, np.int64)

    def write(self, data: memoryview, frames: int) -> None:
        self._gathered.append(data)
        self._gathered_bytes += len(data)
        self._gathered_frames += frames
        if self._gathered_bytes >= _MEMBER_BYTES:
            self._submit()

    def _submit(self) -> None:
        """Make a member of what was gathered."""
        if not self._gathered:
            return
        frames = self._gathered_frames
        data = self._gathered[0] if len(self._gathered) == 1 else memoryview(b"".join(self._gathered))
        self._gathered, self._gathered_bytes, self._gathered_frames = [], 0, 0
        if len(data) > self._format.max_bytes:
            self._drain(0)
            self._write_huge(data)
            self.kept += frames
        elif self._threads == 1:
            self._put(self._format.deflate(data, frames, self._level), len(data), frames)
        else:
            future = thread_pool().submit(self._format.deflate, data, frames, self._level)
            self._pending.append((future, len(data), frames))
            self._drain(2 * self._threads)

    def _write_huge(self, data: memoryview) -> None:
        """Write an ordinary stream: sizes beyond 32 bits do not fit into ours.

        It is deflated twice, first to know where it ends: not every output can take back what it has.
        """
        size = sum(map(len, self._format.deflate_huge(data, self._level, False)))
        padded = self._format.ends_badly(self._output.position + size)
        self._begin_member(len(data))
        _write_whole(self._output, lambda: self._write_pieces(data, padded))

    def _write_pieces(self, data: memoryview, padded: bool) -> None:
        for piece in self._format.deflate_huge(data, self._level, padded):
            self._output.write(piece)

    def _drain(self, keep: int) -> None:
        while len(self._pending) > keep or (self._pending and self._pending[0][0].done()):
            future, size, frames = self._pending.popleft()
            self._put(future.result(), size, frames)

    def _begin_member(self, size: int) -> None:
        self._member_file.append(self._output.position)
        self._member_stream.append(self._stream)
        self._stream += size

    def _put(self, member: bytes, size: int, frames: int) -> None:
        self._begin_member(size)
        padded = self._format.pad(member, self._output.position)
        _write_whole(self._output, partial(self._output.write, padded))
        self.kept += frames

    def flush(self) -> None:
        self._submit()
        self._drain(0)
        self._output.flush()

    def finish(self) -> None:
        self._submit()
        self._drain(0)
        if self._output.position == 0:
            self._output.write(self._format.empty)


def _write_whole(output: Output, write: Callable[[], None]) -> None:
    """Write all of it or, after an error or an interruption, nothing."""
    start = output.position
    try:
        write()
    except BaseException:
        output.rollback(start)
        raise
