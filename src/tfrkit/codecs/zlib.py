"""ZLIB: one deflate stream with zlib's header. No first bytes prove it, and TensorFlow reads one stream only."""

from __future__ import annotations

import zlib
from functools import partial
from typing import Final

from tfrkit.codecs.codec import Codec, Encoder
from tfrkit.codecs.inflate import DeflateDecoder, preview_deflate, starts_zlib

__all__ = ["ZLIB"]

_WINDOW_BITS: Final = 15
_USUAL: Final = 0x78  # the first byte of nearly all streams: the largest window
_ENOUGH_BYTES: Final = 8
_LOOK_BYTES: Final = 1 << 16


def _encoder(level: int) -> Encoder:
    return zlib.compressobj(level, zlib.DEFLATED, _WINDOW_BITS, 9)


def _preview(head: bytes, size: int) -> bytes | None:
    return preview_deflate(_WINDOW_BITS, head, size) if starts_zlib(head) else None


def _recognizes(head: bytes) -> bool:
    return len(head) >= _ENOUGH_BYTES and head[0] == _USUAL and _preview(head, _LOOK_BYTES) is not None


ZLIB: Final = Codec(
    name="ZLIB",
    title="ZLIB",
    suffixes=(".zlib", ".zz"),
    decoder=partial(DeflateDecoder, window_bits=_WINDOW_BITS, tensorflow=False),
    encoder=_encoder,
    levels=(-1, 9),
    default_level=6,
    begins=starts_zlib,
    recognizes=_recognizes,
    preview=_preview,
    appends=False,
    hadoop=("DefaultCodec", "DeflateCodec", "deflate"),
    tensorflow_decoder=partial(DeflateDecoder, window_bits=_WINDOW_BITS, tensorflow=True),
    window_bits=_WINDOW_BITS,
    index_number=1,
)
