"""Sinks: framed bytes on their way into a file, compressed or not.

A sink takes runs of whole frames; it knows how many frames a run has and nothing else about records.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, Final, Protocol

from tfrkit.errors import DataLossError
from tfrkit.records.options import DEFAULT_BUFFER_BYTES, TFRecordOptions
from tfrkit.records.pool import thread_pool
from tfrkit.storage.deflate import Encoder, zlib_encoder
from tfrkit.storage.inflate import zlib_text
from tfrkit.storage.member import (
    EMPTY_MEMBER,
    MAX_MEMBER_BYTES,
    deflate_huge,
    deflate_member,
    ends_badly,
    pad_member,
)
from tfrkit.storage.output import Output

__all__ = ["MEMBER_LEVEL", "MemberSink", "PlainSink", "Sink", "StreamSink", "ZlibSink"]

MEMBER_LEVEL: Final = (
    5  # zlib-ng's: 5 % larger than zlib's 6 at 2.7 times the speed (benchmarks/gzip_write.py)
)


class Sink(Protocol):
    """Takes frames, gives bytes to an Output."""

    def write(self, data: memoryview, frames: int) -> None:
        """Take a run of whole frames; the buffer may be kept."""

    def flush(self) -> None:
        """Bring everything taken so far into the file, so that readers can read it."""

    def finish(self) -> None:
        """Write the end of the container. The output is closed by the caller."""


class PlainSink:
    """No compression."""

    def __init__(self, output: Output) -> None:
        self._output = output

    def write(self, data: memoryview, frames: int) -> None:
        self._output.write(data)

    def flush(self) -> None:
        self._output.flush()

    def finish(self) -> None:
        pass


class StreamSink:
    """Streams of any encoder, one after another: XZ, ZSTD. A flush ends a stream, the next write begins another."""

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


class ZlibSink:
    """TensorFlow's GZIP or ZLIB stream, with all its options."""

    def __init__(self, output: Output, options: TFRecordOptions) -> None:
        self._output = output
        self._encoder: Any = zlib_encoder(*options.zlib_arguments())
        self._flush_mode = options.flush_mode or zlib.Z_NO_FLUSH
        sizes = options.input_buffer_size, options.output_buffer_size
        self._size, self._out_size = (DEFAULT_BUFFER_BYTES if size is None else size for size in sizes)
        self._input = bytearray()
        self._compressed: list[bytes] = []
        self._compressed_bytes = 0

    @property
    def flushes_by_itself(self) -> bool:
        """Whether flushes come whenever the input buffer is full."""
        return self._flush_mode != zlib.Z_NO_FLUSH

    def write(self, data: memoryview, frames: int) -> None:
        if not self.flushes_by_itself:
            self._deflate(data)  # the bytes do not depend on how the input is cut
            return
        at = 0
        while at < len(data):
            length = int.from_bytes(data[at : at + 8], "little")
            ends = (at + 12, at + 12 + length, at + 16 + length)
            for start, end in zip((at, *ends), ends, strict=False):
                self._append(data[start:end])
            at = ends[-1]

    def _append(self, piece: memoryview) -> None:
        """Take header, data or footer as TensorFlow does: a flush comes whenever the buffer is too full for it."""
        if len(self._input) + len(piece) > self._size:
            self._deflate(self._input, self._flush_mode)
            self._input = bytearray()
            if len(piece) > self._size:
                self._deflate(piece, self._flush_mode)
                return
        self._input += piece

    def _deflate(self, data: Any, flush_mode: int = zlib.Z_NO_FLUSH) -> None:
        try:
            if len(data):  # a call without input would make zlib forget that it has just flushed
                self._put(self._encoder.compress(data))
            if flush_mode != zlib.Z_NO_FLUSH:
                self._put(self._encoder.flush(flush_mode))
        except zlib.error as error:
            text = zlib_text(error, "deflate")
            raise DataLossError(text, path=self._output.name) from error

    def _put(self, compressed: bytes) -> None:
        self._compressed.append(compressed)
        self._compressed_bytes += len(compressed)
        if self._compressed_bytes >= self._out_size:
            self._write_out()

    def _write_out(self) -> None:
        self._output.write(b"".join(self._compressed))
        self._compressed, self._compressed_bytes = [], 0

    def flush(self) -> None:
        self._deflate(self._input, zlib.Z_PARTIAL_FLUSH)
        self._input = bytearray()
        self._write_out()
        self._output.flush()

    def finish(self) -> None:
        self._deflate(self._input)
        self._put(self._encoder.flush())
        self._write_out()


class MemberSink:
    """GZIP as members, deflated on several threads and written in order."""

    def __init__(self, output: Output, level: int, threads: int) -> None:
        self._output = output
        self._level = level
        self._threads = threads
        self._pending: deque[tuple[Future[bytes], int]] = deque()  # with the uncompressed size
        self._stream = 0  # uncompressed bytes of the members written so far
        self.member_file: list[int] = []  # where each member begins in the file
        self.member_stream: list[int] = []  # and in the uncompressed stream

    def write(self, data: memoryview, frames: int) -> None:
        if len(data) > MAX_MEMBER_BYTES:
            self._drain(0)
            self._write_huge(data)
        elif self._threads == 1:
            self._put(deflate_member(data, frames, self._level), len(data))
        else:
            future = thread_pool().submit(deflate_member, data, frames, self._level)
            self._pending.append((future, len(data)))
            self._drain(2 * self._threads)

    def _write_huge(self, data: memoryview) -> None:
        """Write an ordinary gzip member: sizes beyond 32 bits do not fit into ours."""
        start = self._output.position
        self._begin_member(len(data))
        for padded in (False, True):
            for piece in deflate_huge(data, self._level, padded=padded):
                self._output.write(piece)
            if not ends_badly(self._output.position):
                break
            self._output.rollback(start)

    def _drain(self, keep: int) -> None:
        while len(self._pending) > keep or (self._pending and self._pending[0][0].done()):
            future, size = self._pending.popleft()
            self._put(future.result(), size)

    def _begin_member(self, size: int) -> None:
        self.member_file.append(self._output.position)
        self.member_stream.append(self._stream)
        self._stream += size

    def _put(self, member: bytes, size: int) -> None:
        self._begin_member(size)
        self._output.write(pad_member(member, self._output.position))

    def flush(self) -> None:
        self._drain(0)
        self._output.flush()

    def finish(self) -> None:
        self._drain(0)
        if self._output.position == 0:
            self._output.write(EMPTY_MEMBER)
