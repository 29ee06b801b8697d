"""LZ4, as an example of a compression that tfrkit does not have: this file is all that it takes."""

from __future__ import annotations

import lz4.frame

from tfrkit.codecs.codec import Codec, Decoder
from tfrkit.codecs.stream_decoder import StreamDecoder
from tfrkit.stores.source import ByteSource


class Lz4Encoder:
    """One LZ4 frame. Not for several threads at once."""

    def __init__(self, level: int) -> None:
        self._engine = lz4.frame.LZ4FrameCompressor(compression_level=level, content_checksum=True)
        self._head = self._engine.begin()

    def compress(self, data: bytes | memoryview, /) -> bytes:
        head, self._head = self._head, b""
        return head + self._engine.compress(data)

    def flush(self) -> bytes:
        return self.compress(b"") + self._engine.flush()


def lz4_decoder(source: ByteSource) -> Decoder:
    """Read frames, one after another."""
    return StreamDecoder(source, lz4.frame.LZ4FrameDecompressor, RuntimeError, "lz4")


LZ4 = Codec(
    name="LZ4",
    title="LZ4",
    suffixes=(".lz4",),
    decoder=lz4_decoder,
    encoder=Lz4Encoder,
    levels=(0, 16),
    default_level=0,
    magic=(b"\x04\x22\x4d\x18",),
)
