"""No compression: bytes as they are."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from tfrkit.codecs.codec import CHUNK_BYTES, Codec

if TYPE_CHECKING:
    from tfrkit.stores.source import ByteSource

__all__ = ["NONE", "RawDecoder"]


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


class RawEncoder:
    """Returns what it is given."""

    def __init__(self, _level: int) -> None:
        """Take a level, as every encoder does, and ignore it."""

    def compress(self, data: Any, /) -> bytes:
        return bytes(data)

    def flush(self) -> bytes:
        return b""


def _preview(head: bytes, size: int) -> bytes:
    return head[:size]


NONE: Final = Codec(
    name="",
    title="plain",
    suffixes=(),
    decoder=RawDecoder,
    encoder=RawEncoder,
    levels=(-1, 9),
    default_level=-1,
    preview=_preview,
    tensorflow_decoder=RawDecoder,
    index_number=0,
    hadoop=("uncompressed",),
)
