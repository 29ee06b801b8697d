"""Which compression a TFRecord file has, by its first bytes. Pure: no I/O."""

from __future__ import annotations

from typing import Final

from tfrkit import _core
from tfrkit.codecs.codec import Codec
from tfrkit.codecs.none import NONE
from tfrkit.codecs.table import record_codecs

__all__ = ["HEAD_BYTES", "holds_records", "sniff_compression", "starts_with_frame"]

HEAD_BYTES: Final = 512  # what `sniff_compression` wants to see of a file
_HEADER_BYTES: Final = 12  # of a frame: a length and its CRC


def sniff_compression(head: bytes) -> str:
    """Tell the compression of a TFRecord file by its first HEAD_BYTES bytes. Pure: no I/O.

    Plain is tested first: if the CRC of the first length field holds, the file is plain whatever its first bytes
    look like. What is nothing known counts as plain, so that the reader can say what is wrong with it.
    """
    if starts_with_frame(head):
        return ""
    return _sniff(head).name


def holds_records(head: bytes) -> bool:
    """Tell whether a file surely holds records, by its first HEAD_BYTES bytes. Pure: no I/O.

    Only what can be seen counts: a frame's header, plain or inflated. Some compressions do not show theirs.
    """
    return starts_with_frame(head) or starts_with_frame(_sniff(head).preview(head, _HEADER_BYTES) or b"")


def starts_with_frame(head: bytes) -> bool:
    """Tell whether the first bytes of a stream are a frame's header: a length with its CRC. Pure: no I/O."""
    return len(head) >= _HEADER_BYTES and _core.crc32c_masked(head[:8]) == int.from_bytes(
        head[8:12], "little"
    )


def _sniff(head: bytes) -> Codec:
    for codec in record_codecs():
        if codec.magic and codec.is_surely(head):
            return codec
    for codec in record_codecs():
        # First bytes that prove nothing: the stream must also inflate to a frame's header, or to nothing yet.
        inner = None if codec.begins is None else codec.preview(head, _HEADER_BYTES)
        if inner is not None and (len(inner) < _HEADER_BYTES or starts_with_frame(inner)):
            return codec
    return NONE
