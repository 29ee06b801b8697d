"""Compressed files -> their uncompressed stream, chunk by chunk.

Knows containers, not records. A decoder returns chunks in order; when the container is damaged it raises DataLossError
with zlib's text, and `recover()` may find a place to continue. Decoders are used by one thread at a time; isal, zlib,
lzma and zstandard all release the GIL while they work.

GZIP and ZLIB are inflated by isal. When isal finds damage, the member is inflated again by zlib: it salvages what
stands before the damage, and its error text is the one that TensorFlow shows. With `tensorflow=True` input and output
are split into the same 256 kB windows as in TensorFlow, because what it loses depends on them.
"""

from __future__ import annotations

import lzma
import re
import zlib
from typing import Any, Final, Protocol

from tfrkit.errors import DataLossError, OpError, ResourceExhaustedError
from tfrkit.optional import require
from tfrkit.stores.source import ByteSource

_fast: Any
try:
    from isal import isal_zlib as _fast
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _fast = zlib

__all__ = [
    "Decoder",
    "DeflateDecoder",
    "RawDecoder",
    "XzDecoder",
    "ZstdDecoder",
    "inflate_raw",
    "open_decoder",
    "zlib_text",
]

WINDOW_BYTES: Final = 262144  # TensorFlow's input and output buffers
CHUNK_BYTES: Final = 1 << 18  # the most that one read() of a decoder gives
_HEAD_BYTES: Final = 64  # enough for any usual gzip header
_ZSTD_PIECE_BYTES: Final = 1024  # four bytes may stand for 128 kB, and zstandard gives all that a piece holds
# What a decoder keeps of its output to refer to. Larger ones would let a few bytes claim gigabytes of memory.
_LOOK_BACK_BYTES: Final = 1 << 27
_XZ_MEMORY_BYTES: Final = _LOOK_BACK_BYTES + (4 << 20)
_ENGINE_ERRORS: Final[tuple[type[Exception], ...]] = (zlib.error, _fast.error)


class Decoder(Protocol):
    """The uncompressed stream of one file, in order."""

    lost: str  # what was left out silently, as TensorFlow does; "" if nothing was
    truncated: bool  # the container ended before its own end

    def read(self) -> bytes:
        """Return the next chunk; b"" at the end. Raise DataLossError where the container is damaged."""

    def recover(self) -> bool:
        """After an error: move to the next place from which reading can continue; False if there is none."""


class RawDecoder:
    """No compression: pipes, standard input and file objects."""

    lost = ""
    truncated = False

    def __init__(self, source: ByteSource) -> None:
        self._source = source

    def read(self) -> bytes:
        return self._source.read(CHUNK_BYTES)

    def recover(self) -> bool:
        return False


class DeflateDecoder:
    """GZIP members or ZLIB streams."""

    def __init__(self, source: ByteSource, kind: str, *, tensorflow: bool) -> None:
        self.lost = ""
        self.truncated = False
        self._source = source
        self._gzip = kind == "GZIP"
        self._wbits = 31 if self._gzip else 15
        self._tensorflow = tensorflow
        self._out_bytes = WINDOW_BYTES if tensorflow else CHUNK_BYTES
        self._window = b""  # input that was read and not yet used
        self._fill = WINDOW_BYTES - source.position % WINDOW_BYTES  # size of the next input window
        self._engine: Any = None  # inflates the current member; None between members
        self._careful = False  # the engine is zlib, after isal failed
        self._member_start = source.position
        self._member_fill = WINDOW_BYTES  # from the member's start to the end of the window it began in
        self._member_out = 0  # bytes of the member given so far
        self._discard = 0  # bytes to inflate again without giving them
        self._failed: DataLossError | None = None  # to be raised once what was salvaged is given
        self._ended = False

    def read(self) -> bytes:
        while not self._ended:
            if self._failed is not None:
                failed, self._failed, self._ended = self._failed, None, True
                raise failed
            if not self._window and not self._refill():
                self._ended = True
                self.truncated = self._engine is not None
                break
            if self._engine is None:
                self._begin_member()
            chunk = self._step()
            if chunk:
                return chunk
        return b""

    def recover(self) -> bool:
        if not self._gzip:
            return False
        while (at := self._find_magic()) is not None:
            self._source.seek(at) if self._source.regular else None
            self._window = b"" if self._source.regular else self._window
            self._fill = WINDOW_BYTES
            self._engine, self._careful, self._ended, self._discard = None, False, False, 0
            return True
        return False

    def _refill(self) -> bool:
        self._window = self._source.read(self._fill)
        self._fill = WINDOW_BYTES
        return bool(self._window)

    def _begin_member(self) -> None:
        if not self._careful:
            self._member_start = self._source.position - len(self._window)
            self._member_fill = len(self._window)
            self._member_out = 0
            self._careful = not self._header_is_fine()
        self._engine = (zlib if self._careful else _fast).decompressobj(self._wbits)

    def _header_is_fine(self) -> bool:
        # isal passes over flags and short headers that zlib refuses.
        try:
            zlib.decompressobj(self._wbits).decompress(self._window[:_HEAD_BYTES], 1)
        except zlib.error:
            return False
        return True

    def _step(self) -> bytes:
        """Inflate once. Gives what came out, perhaps nothing."""
        engine = self._engine
        saved = engine.copy() if self._careful and not self._tensorflow else None
        try:
            chunk: bytes = engine.decompress(self._window, self._out_bytes)
        except _ENGINE_ERRORS as error:
            return self._on_error(error, saved)
        if engine.eof:
            self._end_member(engine.unused_data, produced=bool(chunk))
        elif self._tensorflow and self._is_cut_short(engine):
            return self._restart()
        else:
            self._window = engine.unconsumed_tail
        return self._without_discarded(chunk)

    def _is_cut_short(self, engine: Any) -> bool:
        # zlib may see damage in half a trailer that isal waits for the rest of; the file's end settles it.
        return not (self._careful or engine.unconsumed_tail or self._source.peek(1)) and self._source.regular

    def _without_discarded(self, chunk: bytes) -> bytes:
        if self._discard:
            skip = min(self._discard, len(chunk))
            self._discard -= skip
            chunk = chunk[skip:]
        self._member_out += len(chunk)
        return chunk

    def _end_member(self, rest: bytes, *, produced: bool) -> None:
        self._engine, self._careful, self._discard = None, False, 0
        self._window = rest
        if self._gzip:
            if self._tensorflow and not produced and rest:
                self._tensorflow_reads_on(rest)
            return
        if not rest and not (rest := self._source.peek(1)):
            return
        if self._tensorflow:
            self.lost = "bytes after the end of the ZLIB stream"
            self._ended = True
        elif not _starts_zlib(self._window or self._source.peek(2)):
            self._failed = self._error("garbage after the end of the ZLIB stream")

    def _tensorflow_reads_on(self, rest: bytes) -> None:
        # TensorFlow takes an inflate call without output for a lack of input and asks the file for more. If all the
        # rest of the file is in its window already, that is the end of the file to it.
        more = self._source.read(WINDOW_BYTES - len(rest))
        if not more:
            self.lost = f"{len(rest)} bytes of GZIP members behind one that ended without output"
            self._ended = True
        self._window = rest + more

    def _on_error(self, error: Exception, saved: Any) -> bytes:
        if not self._careful and self._source.regular:
            return self._restart()
        self._failed = self._error(zlib_text(error))
        return self._without_discarded(_salvage(saved, self._window)) if saved is not None else b""

    def _restart(self) -> bytes:
        """Begin the member again with zlib, in the same windows, past what was given of it already."""
        self._source.seek(self._member_start)
        self._careful, self._discard, self._member_out = True, self._member_out, 0
        self._fill = self._member_fill
        self._refill()
        self._begin_member()
        return b""

    def _error(self, text: str) -> DataLossError:
        return DataLossError(text, path=self._source.name)

    def _find_magic(self) -> int | None:
        """Find the next gzip header after the start of the damaged member."""
        if self._source.regular:
            at = self._member_start + 1
            while data := self._source.read_at(at, CHUNK_BYTES):
                found = data.find(b"\x1f\x8b\x08")
                if found >= 0:
                    return at + found
                if len(data) <= 2:
                    break
                at += len(data) - 2
            return None
        self._window = self._window[1:]
        while True:
            found = self._window.find(b"\x1f\x8b\x08")
            if found >= 0:
                self._window = self._window[found:]
                return self._source.position - len(self._window)
            more = self._source.read(WINDOW_BYTES)
            if not more:
                return None
            self._window = self._window[-2:] + more


class XzDecoder:
    """XZ streams, one after another."""

    lost = ""

    def __init__(self, source: ByteSource) -> None:
        self.truncated = False
        self._source = source
        self._engine: lzma.LZMADecompressor | None = None
        self._rest = b""

    def read(self) -> bytes:
        while True:
            if self._engine is None:
                # Streams may be followed by padding: zero bytes, a multiple of four.
                self._rest = (self._rest or self._source.read(WINDOW_BYTES)).lstrip(b"\0")
                if not self._rest:
                    if self._source.peek(1):
                        continue
                    return b""
                self._engine = lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_XZ_MEMORY_BYTES)
            elif self._engine.needs_input and not self._rest:
                self._rest = self._source.read(WINDOW_BYTES)
                if not self._rest:
                    self.truncated = True
                    return b""
            try:
                chunk = self._engine.decompress(self._rest, CHUNK_BYTES)
            except lzma.LZMAError as error:
                if "Memory usage limit" in str(error):
                    raise _too_much_memory("xz", "xz -9 or less", self._source) from error
                raise DataLossError(f"xz decompression failed: {error}", path=self._source.name) from error
            self._rest = b""
            if self._engine.eof:
                self._rest, self._engine = self._engine.unused_data, None
            if chunk:
                return chunk

    def recover(self) -> bool:
        return False


class ZstdDecoder:
    """Zstandard frames, one after another."""

    lost = ""

    def __init__(self, source: ByteSource) -> None:
        self.truncated = False
        self._source = source
        self._zstd = require("zstandard", "Reading ZSTD")
        self._decompressor = self._zstd.ZstdDecompressor(max_window_size=_LOOK_BACK_BYTES)
        self._engine: Any = None  # inflates the current frame; None between frames
        self._window = memoryview(b"")
        self._at = 0  # how much of the window is used
        self._failed: OpError | None = None  # to be raised once what came before it is given

    def read(self) -> bytes:
        parts: list[bytes] = []
        size = 0
        while size < CHUNK_BYTES and self._failed is None and self._refill():
            parts.append(self._step())
            size += len(parts[-1])
        if self._failed is not None and not size:
            raise self._failed
        return b"".join(parts)

    def recover(self) -> bool:
        return False

    def _refill(self) -> bool:
        if self._at == len(self._window):
            self._window, self._at = memoryview(self._source.read(WINDOW_BYTES)), 0
            self.truncated = self._engine is not None and not len(self._window)
        return self._at < len(self._window)

    def _step(self) -> bytes:
        piece = self._window[self._at : self._at + _ZSTD_PIECE_BYTES]
        self._at += len(piece)
        if self._engine is None:
            self._engine = self._decompressor.decompressobj()
        try:
            inflated: bytes = self._engine.decompress(piece)
        except self._zstd.ZstdError as error:
            self._failed = DataLossError(f"zstd decompression failed: {error}", path=self._source.name)
            if "too much memory" in str(error):
                self._failed = DataLossError(  # the header says so, which has no checksum
                    f"{_too_much_memory('zstd', 'zstd --long=27 or less', self._source).message} If that is not "
                    "how it was made, it is damaged: copy it again.",
                    path=self._source.name,
                )
            return b""
        if self._engine.eof:
            self._at -= len(self._engine.unused_data)
            self._engine = None
        return inflated


def _too_much_memory(tool: str, remedy: str, source: ByteSource) -> ResourceExhaustedError:
    return ResourceExhaustedError(
        f"{tool} decompression of {source.name!r} needs more than {_LOOK_BACK_BYTES >> 20} MiB to look back. "
        f"Compress the file again, with {remedy}.",
        path=source.name,
    )


def open_decoder(source: ByteSource, compression: str, *, tensorflow: bool = False) -> Decoder:
    """Make the decoder for a source that stands at the start of the (rest of the) container."""
    if compression in ("GZIP", "ZLIB"):
        return DeflateDecoder(source, compression, tensorflow=tensorflow)
    if compression == "XZ":
        return XzDecoder(source)
    if compression == "ZSTD":
        return ZstdDecoder(source)
    return RawDecoder(source)


def inflate_raw(deflated: bytes | memoryview, size: int) -> bytes:
    """Inflate one raw deflate stream that is known to give `size` bytes; anything else is a ValueError."""
    engine = _fast.decompressobj(-15)
    try:
        # One byte more than expected: a longer stream is noticed without inflating all of it.
        inflated: bytes = engine.decompress(deflated, size + 1)
        if not engine.eof and len(inflated) == size:
            inflated += engine.decompress(engine.unconsumed_tail, 1)
    except _ENGINE_ERRORS as error:
        raise ValueError(zlib_text(error)) from error
    if not engine.eof or engine.unused_data or len(inflated) != size:
        raise ValueError(f"expected {size} bytes but got {len(inflated)}")
    return inflated


def _starts_zlib(head: bytes) -> bool:
    return len(head) >= 2 and head[0] & 0x8F == 0x08 and (head[0] << 8 | head[1]) % 31 == 0


def zlib_text(error: Exception, function: str = "inflate") -> str:
    """Return TensorFlow's text for an error of zlib or isal."""
    found = re.match(r"Error (-?\d+) while .*?(?:: (.*))?$", str(error), re.DOTALL)
    number, text = (found.group(1), found.group(2)) if found else ("-3", str(error))
    return f"{function}() failed with error {number}" + (f": {text}" if text else "")


def _salvage(engine: Any, data: bytes) -> bytes:
    """Inflate as much of `data` as comes before the damage in it, by halving steps."""
    out: list[bytes] = []
    step = (len(data) + 1) // 2
    while data:
        attempt = engine.copy()
        try:
            out.append(attempt.decompress(data[:step]))
        except zlib.error:
            if step == 1:
                break
            step = (step + 1) // 2
        else:
            engine, data = attempt, data[step:]
            if engine.eof:
                break
    return b"".join(out)
