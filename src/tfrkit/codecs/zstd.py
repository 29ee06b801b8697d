"""ZSTD: quick on one core. Frames may follow each other."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfrkit.codecs.codec import CHUNK_BYTES, WINDOW_BYTES, Codec, Encoder
from tfrkit.codecs.look_back import LOOK_BACK_BYTES, too_much_memory
from tfrkit.errors import DataLossError, OpError
from tfrkit.optional import require

if TYPE_CHECKING:
    from tfrkit.stores.source import ByteSource

__all__ = ["ZSTD", "ZstdDecoder"]

_PIECE_BYTES: Final = 1024  # four bytes may stand for 128 kB, and zstandard returns all that a piece holds


class ZstdDecoder:
    """Zstandard frames, one after another."""

    lost = ""

    def __init__(self, source: ByteSource) -> None:
        self.truncated = False
        self._source = source
        self._zstd = require("zstandard", "Reading ZSTD")
        self._decompressor = self._zstd.ZstdDecompressor(max_window_size=LOOK_BACK_BYTES)
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
        piece = self._window[self._at : self._at + _PIECE_BYTES]
        self._at += len(piece)
        if self._engine is None:
            self._engine = self._decompressor.decompressobj()
        try:
            inflated: bytes = self._engine.decompress(piece)
        except self._zstd.ZstdError as error:
            self._failed = DataLossError(f"zstd decompression failed: {error}", path=self._source.name)
            if "too much memory" in str(error):
                self._failed = DataLossError(  # the header says so, which has no checksum
                    f"{too_much_memory('zstd', 'zstd --long=27 or less', self._source).message} If that is not "
                    "how it was made, it is damaged: copy it again.",
                    path=self._source.name,
                )
            return b""
        if self._engine.eof:
            self._at -= len(self._engine.unused_data)
            self._engine = None
        return inflated


def _encoder(level: int) -> Encoder:
    encoder: Encoder = require("zstandard", "Writing ZSTD").ZstdCompressor(level=level).compressobj()
    return encoder


ZSTD: Final = Codec(
    name="ZSTD",
    title="Zstandard",
    suffixes=(".zst", ".zstd"),
    decoder=ZstdDecoder,
    encoder=_encoder,
    levels=(-7, 22),
    default_level=3,
    magic=(b"\x28\xb5\x2f\xfd",),
    sample_levels=(None, 12),
    extra="zstd",
    hadoop=("ZStandardCodec",),
)
