"""GZIP: TensorFlow's one stream, or members that tell their own size (`member.py`), which any gzip reader reads."""

from __future__ import annotations

import zlib
from functools import partial
from typing import Final

from tfrkit.codecs.codec import Codec, Encoder
from tfrkit.codecs.inflate import DeflateDecoder, preview_deflate
from tfrkit.codecs.member import MEMBERS

__all__ = ["GZIP"]

_WINDOW_BITS: Final = 31  # zlib's 15, and 16 for the container
_MAGIC: Final = b"\x1f\x8b"


def _encoder(level: int) -> Encoder:
    return zlib.compressobj(level, zlib.DEFLATED, _WINDOW_BITS, 9)


def _recognizes(head: bytes) -> bool:
    return head.startswith(_MAGIC + b"\x08")  # deflate, which is the only method there is


GZIP: Final = Codec(
    name="GZIP",
    title="GZIP",
    suffixes=(".gz", ".gzip"),
    decoder=partial(DeflateDecoder, window_bits=_WINDOW_BITS, tensorflow=False),
    encoder=_encoder,
    levels=(-1, 9),
    default_level=6,
    magic=(_MAGIC,),
    recognizes=_recognizes,
    preview=partial(preview_deflate, _WINDOW_BITS),
    members=MEMBERS,
    hadoop=("GzipCodec",),
    tensorflow_decoder=partial(DeflateDecoder, window_bits=_WINDOW_BITS, tensorflow=True),
    window_bits=_WINDOW_BITS,
    index_number=2,
    sample_levels=(1, None, 9),
)
