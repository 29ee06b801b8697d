"""decode_compressed: byte strings, each compressed on its own, as in features of an Example.

Files are decompressed in `codecs`. Output grows as it is inflated: sizes in headers allocate nothing.
"""

from __future__ import annotations

import re
import zlib
from typing import Any, Final

from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.optional import require
from tfrkit.values.attributes import str_attribute
from tfrkit.values.strings import as_strings

_fast: Any
try:
    from isal import isal_zlib as _fast
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _fast = zlib

__all__ = ["decode_compressed", "inflate_zlib"]

_WINDOW_BITS: Final = {"ZLIB": 15, "GZIP": 31}
_GZIP_ODD_FLAGS: Final = 0xE2  # a checksum of the header, and three that are reserved
_ZSTD_PIECE_BYTES: Final = 1024  # four bytes may encode 128 kB, and zstandard returns all that a piece holds
_ZSTD_WINDOW_BYTES: Final = 1 << 27
_ZSTD_TOO_SMALL: Final = "Destination buffer is too small"
_ZSTD_CUT: Final = "Src size is incorrect"


def decode_compressed(
    bytes: Any,
    compression_type: str | None = "",
    name: str | None = None,
) -> bytes | BytesColumn:
    """Decompress byte strings, each on its own.

    Args:
        bytes: one string, or nested lists, an array, a BytesColumn or a Block of them.
        compression_type: "" (the strings are returned as they are), "ZLIB", "GZIP" (all members, one after another) or
            "ZSTD" (needs the extra `zstd`; the header of the first frame must say the size of the whole).
        name: ignored; TensorFlow has it.

    Returns:
        The bytes, or a BytesColumn of the shape of the input. As in TensorFlow, a truncated ZLIB or GZIP stream
        yields what it holds, and bytes after a ZLIB stream are ignored.

    Raises:
        DataLossError: a ZLIB or GZIP stream is damaged.
        InvalidArgumentError: a ZSTD stream is damaged, or the type of compression is unknown.
        MissingExtraError: "ZSTD" without the package zstandard.

    >>> import zlib
    >>> decode_compressed(zlib.compress(b"abc"), "ZLIB")
    b'abc'
    """
    kind = str_attribute(compression_type, "compression_type", "")
    column = as_strings(bytes)
    if kind not in ("", "ZSTD", *_WINDOW_BITS):
        raise InvalidArgumentError(
            f"Only ZLIB, ZSTD, GZIP or NONE are supported compressions; got {kind!r:.40}"
        )
    strings = column.reshape((-1,)).to_list()
    if kind == "ZSTD":
        strings = [_unzstd(data) for data in strings]
    elif kind:
        strings = [_inflate(data, kind) for data in strings]
    return strings[0] if column.shape == () else BytesColumn.from_list(strings).reshape(column.shape)


def inflate_zlib(data: bytes, most: int) -> bytes:
    """Decompress a ZLIB stream as `decode_compressed` does, up to `most` bytes; 0: whatever there is.

    Raises:
        DataLossError: it is damaged.

    >>> import zlib
    >>> inflate_zlib(zlib.compress(b"abc"), 2)
    b'ab'
    """
    return _inflate(data, "ZLIB", most)


def _inflate(data: bytes, kind: str, most: int = 0) -> bytes:
    parts: list[bytes] = []
    while data:
        part, data = _inflate_member(data, _WINDOW_BITS[kind], most)
        parts.append(part)
        if kind == "ZLIB":
            break
    return parts[0] if len(parts) == 1 else b"".join(parts)


def _inflate_member(data: bytes, window_bits: int, most: int) -> tuple[bytes, bytes]:
    """Inflate one stream; return its content and the bytes after it.

    What isal finds damaged or truncated is inflated again by zlib, which returns every byte there is, and has
    TensorFlow's texts. A gzip header with flags that isal ignores goes to zlib alone.
    """
    odd = window_bits == _WINDOW_BITS["GZIP"] and len(data) > 3 and data[3] & _GZIP_ODD_FLAGS
    engine = (zlib if odd else _fast).decompressobj(window_bits)
    try:
        inflated: bytes = engine.decompress(data, most)
    except (zlib.error, _fast.error):
        inflated = b""
    if engine.eof or (most and len(inflated) == most):
        return inflated, engine.unused_data
    exact = zlib.decompressobj(window_bits)
    try:
        return exact.decompress(data, most), exact.unused_data
    except zlib.error as error:
        raise DataLossError(_text(error)) from error


def _text(error: zlib.error) -> str:
    found = re.match(r"Error (-?\d+) while .*?(?:: (.*))?$", str(error), re.DOTALL)
    number, text = (found.group(1), found.group(2)) if found else ("-3", str(error))
    return f"inflate() failed with error {number}" + (f": {text}" if text else "")


def _unzstd(data: bytes) -> bytes:
    zstd = require("zstandard", "Decompressing ZSTD")
    try:
        size = zstd.frame_content_size(data)
    except zstd.ZstdError:
        size = -1
    if size < 0:
        raise InvalidArgumentError("Failed to determine decompressed size")
    decompressor = zstd.ZstdDecompressor(max_window_size=_ZSTD_WINDOW_BYTES)
    engine: Any = None
    out = bytearray()
    at = 0
    while at < len(data):
        piece = data[at : at + _ZSTD_PIECE_BYTES]
        at += len(piece)
        engine = engine or decompressor.decompressobj()
        try:
            out += engine.decompress(piece)
        except zstd.ZstdError as error:
            text = str(error).rpartition(": ")[2]
            raise _zstd_error(_ZSTD_CUT if text == "Unknown frame descriptor" else text) from error
        if len(out) > size:
            raise _zstd_error(_ZSTD_TOO_SMALL)
        if engine.eof:
            at -= len(engine.unused_data)
            engine = None
    if engine is not None:
        raise _zstd_error(_ZSTD_CUT)
    return bytes(out)


def _zstd_error(text: str) -> InvalidArgumentError:
    return InvalidArgumentError(f"Failed to decompress zstd input: {text}")
