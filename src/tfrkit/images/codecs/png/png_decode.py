"""PNG files to arrays, pixel for pixel as TensorFlow decodes them.

Knows no other format; `png.py` has the public functions.
"""

from __future__ import annotations

from typing import Any, Final

import numpy.typing as npt

from tfrkit._core import decode_png_rows, png_raw_bytes
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.png.png_chunks import GRAY, GRAY_ALPHA, PALETTE, RGB, RGBA, PngFile, read_chunks
from tfrkit.images.codecs.png.png_gamma import gray_tables
from tfrkit.images.codecs.png.png_inflate import inflate_rows

__all__ = ["check_png", "decode_png_file"]

_CHANNELS: Final = {GRAY: 1, RGB: 3, GRAY_ALPHA: 2, RGBA: 4}
_MAX_PIXELS: Final = 1 << 29
_SPREAD: Final = {1: 255, 2: 85, 4: 17}  # what a step of few bits is in eight

Buffer = bytes | memoryview


def check_png(data: Buffer) -> PngFile:
    """Read the chunks of a file, and refuse it if TensorFlow does so before it decodes pixels."""
    file = read_chunks(data)
    if file.width * file.height >= _MAX_PIXELS:
        raise InvalidArgumentError(f"PNG size too large for int: {file.width} by {file.height}")
    return file


def decode_png_file(data: Buffer, channels: int, bits: int) -> npt.NDArray[Any]:
    """Decode a file whose signature is right.

    Args:
        data: the file.
        channels: 0 (as stored), 1, 3 or 4.
        bits: of a sample of the result, 8 or 16.

    Raises:
        InvalidArgumentError: it is damaged, with TensorFlow's text.
    """
    file = check_png(data)
    header = (file.width, file.height, file.depth, file.color, int(file.interlaced))
    try:
        rows = inflate_rows(file.pixels, png_raw_bytes(header))
    except ValueError as error:
        raise InvalidArgumentError(f"Invalid PNG data, size {len(data)}: {error}") from None
    if file.ending:
        raise InvalidArgumentError(f"Invalid PNG data, size {len(data)}: {file.ending}")
    wanted = channels or _CHANNELS.get(file.color, 3 if file.opacities is None else 4)
    opaque = (1 << file.depth) - 1  # also where samples were spread to 8 bits: TensorFlow means it
    tables = None
    if wanted < 3 and file.color in (RGB, RGBA, PALETTE):
        tables = gray_tables(file.gamma, file.depth, file.significant_bits, bits == 8)
    opacities = file.opacities or bytes([opaque & 255]) * 256
    image = decode_png_rows(
        rows, header, wanted, bits, file.palette, opacities.ljust(256, b"\xff"), _key(file), opaque, tables
    )
    if image is None:
        raise InvalidArgumentError(f"Invalid PNG data, size {len(data)}: a row has an unknown filter.")
    return image


def _key(file: PngFile) -> tuple[int, int, int] | None:
    """The transparent colour as wide as the samples are when it is looked for."""
    if file.key is None:
        return None
    mask = (1 << file.depth) - 1
    values = [(value & mask) * _SPREAD.get(file.depth, 1) for value in file.key]
    return (values[0], values[-2 if len(values) > 1 else 0], values[-1])
