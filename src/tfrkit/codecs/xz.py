"""XZ: the smallest files, slowly. Streams may follow each other, with padding between them."""

from __future__ import annotations

import lzma
from typing import TYPE_CHECKING, Final

from tfrkit.codecs.codec import Codec, Decoder, Encoder
from tfrkit.codecs.look_back import LOOK_BACK_BYTES, too_much_memory
from tfrkit.codecs.stream_decoder import Decompressor, StreamDecoder
from tfrkit.errors import OpError

if TYPE_CHECKING:
    from tfrkit.stores.source import ByteSource

__all__ = ["XZ"]

_MEMORY_BYTES: Final = LOOK_BACK_BYTES + (4 << 20)


def _engine() -> Decompressor:
    return lzma.LZMADecompressor(lzma.FORMAT_XZ, memlimit=_MEMORY_BYTES)


def _explain(error: Exception, source: ByteSource) -> OpError | None:
    return too_much_memory("xz", "xz -9 or less", source) if "Memory usage limit" in str(error) else None


def _decoder(source: ByteSource) -> Decoder:
    # Padding: zero bytes, a multiple of four.
    return StreamDecoder(source, _engine, lzma.LZMAError, "xz", padding=b"\0", explain=_explain)


def _encoder(level: int) -> Encoder:
    return lzma.LZMACompressor(lzma.FORMAT_XZ, preset=level)


XZ: Final = Codec(
    name="XZ",
    title="XZ",
    suffixes=(".xz",),
    decoder=_decoder,
    encoder=_encoder,
    levels=(0, 9),
    default_level=6,
    magic=(b"\xfd7zXZ\x00",),
    sample_levels=(0, None),
)
