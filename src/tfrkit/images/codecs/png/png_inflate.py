"""The filtered rows of a PNG image out of its compressed pixels.

Memory follows what is inflated, never what a header claims. isal inflates; what it cannot say for certain is left to
zlib, which is asked in the same steps as libpng asks it, so that the same damage is found and the same is passed over.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any, Final

_fast: Any
try:
    from isal import isal_zlib as _fast
except ImportError:  # no wheel for this platform: the standard library is slower and does the same
    _fast = zlib

__all__ = ["inflate_rows"]

_MOST_EXPANDED: Final = 1032  # deflate makes at most 258 bytes of two bits
_LARGEST_WINDOW: Final = 7  # in the first byte of a zlib stream, 32 kB
_DICTIONARY: Final = 0x20
_PIECE_BYTES: Final = 8192  # libpng reads so much at once ...
_EXTRA_BYTES: Final = 1024  # ... and throws superfluous rows away in such portions

Buffer = bytes | memoryview


def inflate_rows(pieces: Sequence[Buffer], size: int) -> bytes:
    """Return the `size` bytes of all rows. Pure: no I/O.

    Args:
        pieces: the payloads of the IDAT chunks that follow each other.
        size: bytes of all filtered rows.

    Raises:
        ValueError: the stream is damaged or holds too little; the text says which.
    """
    total = sum(map(len, pieces))
    if total * _MOST_EXPANDED < size:
        raise ValueError(f"{total} compressed bytes cannot hold the {size} of all rows.")
    whole = pieces[0] if len(pieces) == 1 else b"".join(pieces)
    _check_header(bytes(whole[:2]))
    if whole[0] >> 4 == _LARGEST_WINDOW:  # isal does not mind distances beyond a smaller window
        engine = _fast.decompressobj(15)
        try:
            rows: bytes = engine.decompress(whole, size + 1)
        except (zlib.error, _fast.error):
            rows = b""
        if engine.eof and len(rows) == size:
            return rows
    return _inflate_like_libpng(pieces, size)


def _check_header(head: bytes) -> None:
    if len(head) < 2 or int.from_bytes(head, "big") % 31 or head[0] & 15 != 8:
        raise ValueError(f"The pixels do not begin as a zlib stream: {head.hex()}.")
    if head[0] >> 4 > _LARGEST_WINDOW or head[1] & _DICTIONARY:
        raise ValueError(f"The zlib stream asks for a larger window or a dictionary: {head.hex()}.")


def _inflate_like_libpng(pieces: Sequence[Buffer], size: int) -> bytes:
    engine = zlib.decompressobj(0)  # 0: the window that the stream's header says
    portions = _portions(pieces)
    parts: list[bytes] = []
    missing = size
    try:
        while missing and not engine.eof:
            parts.append(engine.decompress(next(portions), missing))
            missing -= len(parts[-1])
    except StopIteration:
        raise ValueError(f"The compressed pixels end, {missing} bytes of rows are missing.") from None
    except zlib.error as error:
        raise ValueError(f"The compressed pixels are damaged ({error}).") from None
    if missing:
        raise ValueError(f"The compressed pixels hold {missing} bytes too few.")
    _finish(engine, portions)
    return b"".join(parts)


def _finish(engine: Any, portions: Iterator[Buffer]) -> None:
    """Look for the end of the stream after the last row: damage there is not an error, a missing end is."""
    extra = False
    rest = engine.unconsumed_tail
    while not engine.eof:
        rest = rest or next(portions, b"")
        if not rest:
            raise ValueError("The compressed pixels have no end.")
        try:
            extra = bool(engine.decompress(rest, _EXTRA_BYTES)) or extra
        except zlib.error:
            return
        rest = engine.unconsumed_tail
        if not extra:
            return


def _portions(pieces: Sequence[Buffer]) -> Iterator[Buffer]:
    for piece in pieces:
        for at in range(0, len(piece), _PIECE_BYTES):
            yield piece[at : at + _PIECE_BYTES]
