"""BZIP2: text of other programs is read; records are never written with it."""

from __future__ import annotations

import bz2
from typing import TYPE_CHECKING, Final

from tfrkit.codecs.codec import Codec, Decoder
from tfrkit.codecs.stream_decoder import StreamDecoder

if TYPE_CHECKING:
    from tfrkit.stores.source import ByteSource

__all__ = ["BZIP2"]


def _decoder(source: ByteSource) -> Decoder:
    return StreamDecoder(source, bz2.BZ2Decompressor, OSError, "bzip2", garbage=True)  # as the program


BZIP2: Final = Codec(
    name="BZIP2",
    title="bzip2",
    suffixes=(".bz2",),
    decoder=_decoder,
    encoder=None,
    levels=(1, 9),
    default_level=9,
    magic=tuple(b"BZh%d1AY&SY" % level for level in range(1, 10)),  # "BZh" alone might be text
)
