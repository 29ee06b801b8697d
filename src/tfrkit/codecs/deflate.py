"""Uncompressed bytes -> one compressed stream: TensorFlow's GZIP and ZLIB with all its options.

Knows containers, not records. GZIP in members, on all cores, is `member.py`.

At level 0 and with flush modes, zlib's bytes depend on when it runs out of input and of room for output. So
`DeflateStream` gathers input and output in buffers of TensorFlow's sizes and, in these cases, calls the system's libz
itself; everywhere else Python's zlib gives the same bytes. Where no libz can be loaded, Python's zlib does everything:
the content is the same, but stored blocks and flush markers may then stand elsewhere than in TensorFlow's file.
Byte for byte the same as TensorFlow's is only the output of the original zlib (1.2.12 or later), not that of zlib-ng
under its name.
"""

from __future__ import annotations

import functools
import zlib
from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np

from tfrkit.codecs.inflate import zlib_text
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.stores.at_exit import unless_exiting

__all__ = ["DeflateStream"]

_MAX_BUFFER_BYTES: Final = (1 << 31) - 1  # TensorFlow keeps the sizes in 32 bits
_MAX_CALL_BYTES: Final = 1 << 30  # zlib counts input in 32 bits; TensorFlow loses what is beyond them
# With smaller output buffers the header may fill one, which only libz itself gets right.
_MIN_PYTHON_ROOM: Final = 64
_FLUSH_ROOM: Final = 6  # a flush marker fits; with less, TensorFlow writes markers for ever
_MARKED: Final = (zlib.Z_SYNC_FLUSH, zlib.Z_FULL_FLUSH)
_OK, _STREAM_END, _BUF_ERROR = 0, 1, -5  # zlib's results that are no errors

Arguments = tuple[int, int, int, int, int]  # level, method, window bits, memory level, strategy
Write = Callable[[Any], None]


class DeflateStream:
    """One GZIP or ZLIB stream with TensorFlow's buffers, and so with its bytes. Not for several threads at once.

    Args:
        write: takes the compressed bytes, and is done with them when it returns.
        name: of the file, for errors.
        arguments: level, method, window bits, memory level and strategy, as for zlib.compressobj().
        flush_mode: zlib's flush mode each time the input buffer is full.
        input_size: bytes that are gathered before they are deflated, 0 or more.
        output_size: bytes that are gathered before they are written, 2 or more. Sync and full flushes get at least 6:
            with less, TensorFlow itself never ends.
    """

    def __init__(
        self,
        write: Write,
        name: str,
        arguments: Arguments,
        flush_mode: int,
        input_size: int,
        output_size: int,
    ) -> None:
        room = max(output_size, _FLUSH_ROOM) if flush_mode in _MARKED else output_size
        room = min(room, _MAX_BUFFER_BYTES)
        exact = flush_mode == zlib.Z_NO_FLUSH and arguments[0] != zlib.Z_NO_COMPRESSION
        exact = exact and room >= _MIN_PYTHON_ROOM
        engine: type[_PythonEngine | _LibzEngine] = _PythonEngine
        if not exact and _libz() is not None:
            engine = _LibzEngine
        self._engine = engine(write, name, arguments, room)
        self._name = name
        self._flush_mode = flush_mode
        self._size = min(input_size, _MAX_BUFFER_BYTES)
        self._input = bytearray()

    @property
    def room(self) -> int:
        """How many more bytes the input buffer takes before anything is deflated."""
        return self._size - len(self._input)

    def append(self, piece: memoryview) -> None:
        """Take a piece as TensorFlow does: what is buffered is deflated, and flushed, if there is no room for it.

        The bytes depend on how the input is split into pieces; pieces that fit together may be given as one.

        Raises:
            DataLossError: zlib refuses the flush mode; or it is Z_FINISH, which ends the stream before this piece
                (TensorFlow drops it, or never returns).
        """
        if len(piece) > self.room:
            if self._flush_mode == zlib.Z_FINISH:
                raise DataLossError(
                    "deflate() failed with error -5: flush_mode 4 (Z_FINISH) ends the stream when the input buffer of "
                    f"{self._size} bytes is full, with more to come. Use another flush_mode or a larger "
                    "input_buffer_size",
                    path=self._name,
                )
            self._deflate_buffered(self._flush_mode)
            if len(piece) > self.room:
                self._deflate_direct(piece)
                return
        self._input += piece

    def flush(self) -> None:
        """Write everything taken so far, so that it can be inflated."""
        self._deflate_buffered(zlib.Z_PARTIAL_FLUSH)
        self._engine.write_out()

    def finish(self) -> None:
        """Write what is left and the end of the stream."""
        self._deflate_buffered(zlib.Z_FINISH)
        self._engine.write_out()

    def _deflate_buffered(self, flush_mode: int) -> None:
        # Only here TensorFlow makes room for a marker beforehand.
        room = _FLUSH_ROOM if flush_mode in _MARKED else 1
        try:
            self._engine.deflate(self._input, flush_mode, room)
        finally:  # after an error, such as a full disk, the rest may be asked for again
            del self._input[: self._engine.taken]

    def _deflate_direct(self, piece: memoryview) -> None:
        while len(piece) > _MAX_CALL_BYTES:
            self._engine.deflate(piece[:_MAX_CALL_BYTES], zlib.Z_NO_FLUSH, 1)
            piece = piece[_MAX_CALL_BYTES:]
        self._engine.deflate(piece, self._flush_mode, 1)


class _PythonEngine:
    """Python's zlib: exact at all levels but 0 if only Z_PARTIAL_FLUSH and Z_FINISH are asked for. Releases the GIL."""

    def __init__(self, write: Write, name: str, arguments: Arguments, room: int) -> None:
        self._write, self._name, self._room = write, name, room
        self._encoder: Any = zlib.compressobj(*arguments)
        self.taken = 0  # bytes of the last deflate()'s input
        self._ready: list[bytes] = []
        self._ready_bytes = 0
        self._fill = 0  # bytes in TensorFlow's output buffer, which unlike ours is written when exactly full
        self._flushed = False  # nothing came after the last flush

    def deflate(self, data: memoryview | bytearray, flush_mode: int, _min_room: int) -> None:
        self.taken = 0
        if not zlib.Z_NO_FLUSH <= flush_mode <= zlib.Z_BLOCK:  # before anything is taken
            raise DataLossError("deflate() failed with error -2", path=self._name)
        try:
            if len(data):  # a call without input would make zlib forget that it has just flushed
                compressed = self._encoder.compress(data)
                self.taken, self._flushed = len(data), False
                self._put(compressed)
            if flush_mode == zlib.Z_PARTIAL_FLUSH:
                self._flush_partially()
            elif flush_mode != zlib.Z_NO_FLUSH:
                self._put(self._encoder.flush(flush_mode))
        except zlib.error as error:
            raise DataLossError(zlib_text(error, "deflate"), path=self._name) from error

    def _flush_partially(self) -> None:
        """End the block and put one marker, or two where the first fills TensorFlow's output buffer.

        zlib puts the marker again when it is asked to flush again after the buffer was full. The block is ended on its
        own, because otherwise it is Python's buffer that may be full: then there would be a marker that is not in
        TensorFlow's file.
        """
        if not self._flushed:
            self._put(self._encoder.flush(zlib.Z_BLOCK))
        before = self._fill
        marker = self._encoder.flush(zlib.Z_PARTIAL_FLUSH)
        self._put(marker)
        if before + len(marker) >= self._room:
            self._encoder.flush(zlib.Z_BLOCK)  # gives nothing, but makes zlib forget that it has just flushed
            self._put(self._encoder.flush(zlib.Z_PARTIAL_FLUSH))
        self._flushed = True

    def _put(self, compressed: bytes) -> None:
        self._ready.append(compressed)
        self._ready_bytes += len(compressed)
        self._fill = (self._fill + len(compressed)) % self._room
        if self._ready_bytes >= self._room:
            self._write_ready()

    def _write_ready(self) -> None:
        self._write(b"".join(self._ready))
        self._ready, self._ready_bytes = [], 0

    def write_out(self) -> None:
        self._write_ready()
        self._fill = 0


class _LibzEngine:
    """The system's libz, called with the room for output that TensorFlow gives it. Releases the GIL."""

    def __init__(self, write: Write, name: str, arguments: Arguments, room: int) -> None:
        import ctypes

        self._ended = True  # until zlib has made its state
        self._write, self._name = write, name
        self._given = 0  # bytes of the last deflate()'s input
        self._lib, make_stream = _libz()
        self._out = memoryview(np.empty(room, np.uint8))  # touched only as far as it is filled
        self._out_at = _address(self._out)
        self._stream = make_stream(next_out=self._out_at, avail_out=room)
        self._reference = ctypes.byref(self._stream)
        version, size = self._lib.zlibVersion(), ctypes.sizeof(self._stream)
        status = self._lib.deflateInit2_(self._reference, *arguments, version, size)
        if status != _OK:
            raise InvalidArgumentError(f"deflateInit failed with status {status}", path=name)
        self._ended = False

    @property
    def taken(self) -> int:
        return int(self._given - self._stream.avail_in)

    def deflate(self, data: memoryview | bytearray, flush_mode: int, min_room: int) -> None:
        stream = self._stream
        self._given = len(data)
        stream.next_in, stream.avail_in = _address(data), self._given
        while True:
            if stream.avail_out < min_room:
                self.write_out()
            status = self._lib.deflate(self._reference, flush_mode)
            if status not in (_OK, _BUF_ERROR, _STREAM_END):
                text = f": {stream.msg.decode(errors='replace')}" if stream.msg else ""
                raise DataLossError(f"deflate() failed with error {status}{text}", path=self._name)
            if stream.avail_out and not stream.avail_in:
                return

    def write_out(self) -> None:
        stream, room = self._stream, len(self._out)
        if stream.avail_out < room:
            self._write(self._out[: room - stream.avail_out])
            stream.next_out, stream.avail_out = self._out_at, room

    @unless_exiting
    def __del__(self) -> None:
        if not self._ended:
            self._ended = True
            self._lib.deflateEnd(self._reference)


def _address(data: memoryview | bytearray) -> int:
    return int(np.frombuffer(data, np.uint8).ctypes.data)


@functools.cache
def _libz() -> Any:
    """Return the system's libz with its types declared, and its stream structure; None where there is none."""
    import ctypes

    class Stream(ctypes.Structure):
        _fields_ = (
            ("next_in", ctypes.c_void_p),
            ("avail_in", ctypes.c_uint),
            ("total_in", ctypes.c_ulong),
            ("next_out", ctypes.c_void_p),
            ("avail_out", ctypes.c_uint),
            ("total_out", ctypes.c_ulong),
            ("msg", ctypes.c_char_p),
            ("state", ctypes.c_void_p),
            ("zalloc", ctypes.c_void_p),
            ("zfree", ctypes.c_void_p),
            ("opaque", ctypes.c_void_p),
            ("data_type", ctypes.c_int),
            ("adler", ctypes.c_ulong),
            ("reserved", ctypes.c_ulong),
        )

    pointer, number = ctypes.POINTER(Stream), ctypes.c_int
    for name in _libz_names():
        try:
            lib = ctypes.CDLL(name)
            lib.zlibVersion.argtypes, lib.zlibVersion.restype = (), ctypes.c_char_p
            lib.deflateInit2_.argtypes = (pointer, *[number] * 5, ctypes.c_char_p, number)
            lib.deflate.argtypes = (pointer, number)
            lib.deflateEnd.argtypes = (pointer,)
        except (OSError, AttributeError):  # no such library, or not zlib
            continue
        return lib, Stream
    return None


def _libz_names() -> Iterator[str]:
    from ctypes.util import find_library

    yield from (
        "libz.so.1",
        "libz.dylib",
    )  # the usual names first: find_library() may start a compiler to find out
    if found := find_library("z"):
        yield found
