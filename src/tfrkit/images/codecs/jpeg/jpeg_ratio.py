"""Decoding a JPEG at exactly 1/2, 1/4 or 1/8 of its size.

The codec takes a size, not a ratio, and tries its sixteen ratios from the largest down until one fits. For all but the
tiniest images only one ratio does. A tiny image is decoded as a larger one: its blocks are whole in the file, so the
frame may say 8 pixels where it says 3, if no samples are spread over pixels in that direction.
"""

from __future__ import annotations

from typing import Final

from tfrkit.errors import UnimplementedError
from tfrkit.images.codecs.jpeg.jpeg_header import Frame

__all__ = ["enlarged", "reduced", "spread"]

_BLOCK: Final = 8  # pixels of a block in each direction
_EIGHTHS: Final = range(1, 17)  # the codec's ratios


def reduced(size: int, ratio: int) -> int:
    """Return the pixels that remain of `size` at 1 / ratio, rounded up."""
    return -(-size // ratio)


def enlarged(frame: Frame, ratio: int) -> tuple[bytes, int, int]:
    """Return the file with a size for which the codec finds the ratio.

    Args:
        frame: of the file.
        ratio: 2, 4 or 8.

    Returns:
        The file, its own or one that says another size; and the height and width that it says. Pure: no I/O.

    Raises:
        UnimplementedError: a tiny image whose samples are spread in both directions even at this ratio.
    """
    height, width = frame.height, frame.width
    if not _ambiguous(height, width, ratio):
        return frame.data, height, width
    spreads = spread(frame, ratio)
    if all(down == 1 for _, down in spreads):
        height = _BLOCK
    elif all(across == 1 for across, _ in spreads):
        width = _BLOCK
    else:
        raise UnimplementedError(
            f"decode_jpeg of {height} x {width} pixels with ratio={ratio} and samples spread over {spreads} pixels "
            "(width, height): the codec does not accept this ratio. Decode it with ratio=1."
        )
    at = frame.offset + 5
    size = height.to_bytes(2, "big") + width.to_bytes(2, "big")
    return frame.data[:at] + size + frame.data[at + 4 :], height, width


def _ambiguous(height: int, width: int, ratio: int) -> bool:
    """Say whether a ratio of the codec's other than 1 / ratio gives the same size."""
    if min(height, width) > _BLOCK:
        return False
    wanted = reduced(height, ratio), reduced(width, ratio)
    return any(
        (-(-height * eighths // 8), -(-width * eighths // 8)) == wanted
        for eighths in _EIGHTHS
        if eighths * ratio != 8
    )


def spread(frame: Frame, ratio: int) -> list[tuple[int, int]]:
    """Return the pixels across and down that each sample of each component makes, at a ratio.

    Components with fewer samples are decoded at a larger scale, as long as that can be doubled in both directions.
    """
    across, down = (size * _BLOCK // ratio for size in frame.largest)
    spreads = []
    for part in frame.components:
        scale = _BLOCK // ratio
        wide, high = max(1, part.across), max(1, part.down)
        while scale < _BLOCK and across % (wide * scale * 2) == 0 and down % (high * scale * 2) == 0:
            scale *= 2
        spreads.append((across // (wide * scale), down // (high * scale)))
    return spreads
