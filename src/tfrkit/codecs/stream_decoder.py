"""StreamDecoder: streams of any decompressor with the interface of the standard library's `lzma` and `bz2`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol

from tfrkit.codecs.codec import CHUNK_BYTES, WINDOW_BYTES
from tfrkit.errors import DataLossError, OpError

if TYPE_CHECKING:
    from tfrkit.stores.source import ByteSource

__all__ = ["Decompressor", "StreamDecoder"]


class Decompressor(Protocol):
    """Decompresses one stream, as lzma.LZMADecompressor, bz2.BZ2Decompressor and lz4.frame.LZ4FrameDecompressor do."""

    @property
    def eof(self) -> bool:
        """Whether the stream's end was reached."""

    @property
    def needs_input(self) -> bool:
        """Whether there is nothing more to return without more input."""

    @property
    def unused_data(self) -> bytes | None:
        """What followed the stream's end."""

    def decompress(self, data: bytes, max_length: int = -1) -> bytes:
        """Return the next bytes, at most that number; input that is not used yet is kept."""


class StreamDecoder:
    """Streams, one after another.

    Args:
        source: stands at the beginning of a stream.
        make_engine: for each stream.
        failures: what an engine raises where the data is damaged.
        tool: the name of the compression, for errors.
        padding: a byte that may stand between streams; b"" if none may.
        explain: makes the error of a failure; by default that the data is damaged.
        garbage: whether what follows the first stream, and is no stream, is ignored instead of an error.
    """

    lost = ""

    def __init__(
        self,
        source: ByteSource,
        make_engine: Callable[[], Decompressor],
        failures: type[Exception] | tuple[type[Exception], ...],
        tool: str,
        *,
        padding: bytes = b"",
        explain: Callable[[Exception, ByteSource], OpError | None] | None = None,
        garbage: bool = False,
    ) -> None:
        self.truncated = False
        self._source = source
        self._make_engine = make_engine
        self._failures = failures
        self._tool = tool
        self._padding = padding
        self._explain = explain
        self._may_be_garbage = False  # what comes next
        self._garbage = garbage
        self._engine: Decompressor | None = None  # of the current stream; None between streams
        self._rest = b""

    def read(self) -> bytes:
        while True:
            if self._engine is None:
                if not self._next_stream():
                    return b""
                self._engine = self._make_engine()
            elif self._engine.needs_input and not self._rest:
                self._rest = self._source.read(WINDOW_BYTES)
                if not self._rest:
                    self.truncated = True
                    return b""
            try:
                chunk = self._engine.decompress(self._rest, CHUNK_BYTES)
            except self._failures as error:
                if self._may_be_garbage:
                    return b""
                raise self._error(error) from error
            self._rest, self._may_be_garbage = b"", False
            if self._engine.eof:
                self._rest, self._engine = self._engine.unused_data or b"", None
                self._may_be_garbage = self._garbage
            if chunk:
                return chunk

    def recover(self) -> bool:
        return False

    def _next_stream(self) -> bool:
        """Go to the beginning of the next stream; False if there is none."""
        while True:
            self._rest = self._rest or self._source.read(WINDOW_BYTES)
            if self._padding:
                self._rest = self._rest.lstrip(self._padding)
            if self._rest or not self._source.peek(1):
                return bool(self._rest)

    def _error(self, error: Exception) -> OpError:
        known = self._explain(error, self._source) if self._explain is not None else None
        return known or DataLossError(f"{self._tool} decompression failed: {error}", path=self._source.name)
