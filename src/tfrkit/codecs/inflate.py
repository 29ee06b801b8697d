"""Deflate: GZIP and ZLIB files -> their uncompressed stream, chunk by chunk.

Knows containers, not records. A decoder returns chunks in order; when the container is damaged it raises DataLossError
with zlib's text, and `recover()` may find a place to continue. Decoders are used by one thread at a time; isal and zlib
release the GIL while they work.

The engine is isal. When isal finds damage, the member is inflated again by zlib: it salvages what
stands before the damage, and its error text is the one that TensorFlow shows. With `tensorflow=True` input and output
are split into the same 256 kB windows as in TensorFlow, because what it loses depends on them.
"""

from __future__ import annotations

import os
import re
import zlib
from functools import cache
from typing import TYPE_CHECKING, Any, Final

from tfrkit.codecs.codec import CHUNK_BYTES, WINDOW_BYTES
from tfrkit.errors import DataLossError

if TYPE_CHECKING:
    from tfrkit.stores.source import ByteSource

_fast: Any
try:
    from isal import isal_zlib as _fast
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _fast = zlib

__all__ = ["DeflateDecoder", "inflate_raw", "preview_deflate", "starts_zlib", "zlib_text"]

# Memory for pieces must come from malloc's heap. Mapped and faulted in anew for every piece, it takes up to a third of
# the time (benchmarks/gzip_read.py). Below 128 kB it always does; glibc raises that limit to the size of a mapped piece
# that is freed, and larger pieces take 0.93 of the time.
_IN_BYTES: Final = 1 << 16
_OUT_BYTES: Final = 120 << 10
_LARGE_OUT_BYTES: Final = 1 << 18
_LED_BYTES: Final = 1 << 22  # twice what isal takes for a member while it inflates one
_HEAD_BYTES: Final = 64  # enough for any usual gzip header
_GZIP_BITS: Final = 16  # from here on, zlib's window bits mean the container of GZIP
_ENGINE_ERRORS: Final[tuple[type[Exception], ...]] = (zlib.error, _fast.error)


@cache
def _out_bytes() -> int:
    """Return how much to inflate at once, after malloc was led to keep as much on its heap, if that is possible."""
    try:
        moves = bool(os.confstr("CS_GNU_LIBC_VERSION"))
    except (AttributeError, OSError, ValueError):  # another C library
        moves = False
    settings = [*os.environ, *os.environ.get("GLIBC_TUNABLES", "").split(".")]
    if not moves or any(
        name.startswith("MALLOC_") or name == "malloc" for name in settings
    ):  # or it is fixed
        return _OUT_BYTES
    bytes(_LED_BYTES)  # made and freed: zeros that are mapped and never touched
    return _LARGE_OUT_BYTES


class DeflateDecoder:
    """GZIP members or ZLIB streams.

    Args:
        source: stands at the beginning of a member or stream.
        window_bits: as zlib counts them: 31 for GZIP, 15 for ZLIB.
        tensorflow: split into windows as TensorFlow does, and lose what it loses.
    """

    def __init__(self, source: ByteSource, *, window_bits: int, tensorflow: bool) -> None:
        self.lost = ""
        self.truncated = False
        self._source = source
        self._gzip = window_bits >= _GZIP_BITS
        self._wbits = window_bits
        self._tensorflow = tensorflow
        self._in_bytes, self._out_bytes = (
            (WINDOW_BYTES, WINDOW_BYTES) if tensorflow else (_IN_BYTES, _out_bytes())
        )
        self._window = b""  # input that was read and not yet used
        self._fill = self._in_bytes - source.position % self._in_bytes  # size of the next input window
        self._engine: Any = None  # inflates the current member; None between members
        self._careful = False  # the engine is zlib, after isal failed
        self._member_start = source.position
        self._member_fill = self._in_bytes  # from the member's start to the end of the window it began in
        self._member_out = 0  # bytes of the member given so far
        self._discard = 0  # bytes to inflate again without giving them
        self._failed: DataLossError | None = None  # to be raised once what was salvaged is given
        self._filled = False  # the last chunk had as many bytes as one may have
        self._ended = False

    def read(self) -> bytes:
        while not self._ended:
            if self._failed is not None:
                failed, self._failed, self._ended = self._failed, None, True
                raise failed
            if not self._window and not self._refill() and not self._holds_more():
                self._ended = True
                self.truncated = self._engine is not None
                break
            if self._engine is None:
                self._begin_member()
            chunk = self._step()
            if chunk:
                return chunk
        return b""

    def _holds_more(self) -> bool:
        """Whether the engine, which has taken all input, may have more output than fitted into the last chunk."""
        return self._engine is not None and self._filled and not self._tensorflow

    def recover(self) -> bool:
        if not self._gzip:
            return False
        while (at := self._find_magic()) is not None:
            self._source.seek(at) if self._source.regular else None
            self._window = b"" if self._source.regular else self._window
            self._fill = self._in_bytes
            self._engine, self._careful, self._ended, self._discard = None, False, False, 0
            return True
        return False

    def _refill(self) -> bool:
        self._window = self._source.read(self._fill)
        self._fill = self._in_bytes
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
        self._filled = len(chunk) == self._out_bytes
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
        elif not starts_zlib(self._window or self._source.peek(2)):
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


def inflate_raw(deflated: bytes | memoryview, size: int) -> bytes:
    """Inflate one raw deflate stream that is known to give `size` bytes; anything else is a ValueError."""
    _out_bytes()  # mapped anew, members take 1.1 times as long (benchmarks/remote_read.py)
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


def preview_deflate(window_bits: int, head: bytes, size: int) -> bytes | None:
    """Return the beginning of the content of a GZIP or ZLIB file by its first bytes; None if they are no such file."""
    try:
        return zlib.decompressobj(window_bits).decompress(head, size)
    except zlib.error:
        return None


def starts_zlib(head: bytes) -> bool:
    """Tell whether a ZLIB stream may begin with these bytes: one in 500 of all byte pairs does. Pure: no I/O."""
    # RFC 1950: method 8, window up to 32 kB, header a multiple of 31.
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
