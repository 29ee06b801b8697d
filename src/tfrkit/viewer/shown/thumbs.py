"""Thumbs: pictures in records, made small on the server: a JPEG of some kilobytes, or why there is none."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import DataLossError, InvalidArgumentError, UnimplementedError
from tfrkit.images.codecs.decode_image import decode_image
from tfrkit.images.codecs.image_format import image_format
from tfrkit.images.codecs.image_header import BadImageError, read_image_header
from tfrkit.images.codecs.jpeg.jpeg_orientation import jpeg_orientation, upright
from tfrkit.images.codecs.jpeg.jpeg_sized import decode_jpeg_sized
from tfrkit.optional import lazy
from tfrkit.viewer.answers import Answer
from tfrkit.viewer.asked import Asked
from tfrkit.viewer.session import Session
from tfrkit.viewer.shown.payload import value_of

__all__ = ["decoded_picture", "thumb", "thumbnail"]

_Image: Any = lazy("PIL.Image", "thumbnails")
_simplejpeg: Any = lazy("simplejpeg", "thumbnails")
_QUALITY: Final = 85
_LEAST, _USUAL, _MOST = 16, 160, 1024
_MOST_PIXELS: Final = 1 << 26  # of an image that is decoded: 200 MB
_HEADERS: Final = {"Cache-Control": "private, max-age=300"}  # while one scrolls up and down


def thumb(session: Session, asked: Asked) -> Answer:
    """Return what /api/thumb answers.

    Raises:
        DataLossError: the bytes are not an image that can be decoded; the text says why.
    """
    size = asked.number("size", _USUAL, least=_LEAST, most=_MOST)
    return Answer(thumbnail(value_of(session, asked), size), "image/jpeg", headers=_HEADERS)


def thumbnail(data: bytes, size: int) -> bytes:
    """Return an image as a JPEG that fits a square.

    Args:
        data: the file, in any format that is decoded.
        size: the longer side at most; smaller images stay as they are.

    Raises:
        DataLossError: it is not an image, or damaged, or too large.
    """
    pixels = decoded_picture(data, size)
    if data[:3] == b"\xff\xd8\xff":
        pixels = upright(pixels, jpeg_orientation(data))
    image = _Image.fromarray(pixels[:, :, 0] if pixels.shape[2] == 1 else pixels)
    image.thumbnail((size, size), _Image.Resampling.BILINEAR, reducing_gap=None)
    small = np.asarray(image)
    gray = small.ndim == 2
    encoded: bytes = _simplejpeg.encode_jpeg(
        np.ascontiguousarray(small[:, :, np.newaxis] if gray else small),
        _QUALITY,
        "GRAY" if gray else "RGB",
        "444" if max(small.shape[:2]) <= 64 else "420",
    )
    return encoded


def decoded_picture(data: bytes, size: int = 0) -> Any:
    """Return the pixels of an image, uint8 with 1 or 3 channels; transparent ones on white.

    Args:
        data: the file.
        size: a JPEG may be decoded smaller, if its longer side stays at least as long; 0: as it is.

    Raises:
        DataLossError: it is not an image, or damaged, or too large.
    """
    try:
        header = read_image_header(bytearray(data), 0, len(data))
    except BadImageError as error:
        raise DataLossError(": ".join(filter(None, (error.reason, error.detail)))) from error
    if header.height * header.width > _MOST_PIXELS and header.format != "JPEG":
        raise DataLossError(
            f"the image has {header.width} x {header.height} pixels, too many for a small picture"
        )
    try:
        if header.format == "JPEG":
            pixels = _sized_jpeg(data, header.height, header.width, size)
            if pixels is not None:
                return pixels
        if header.height * header.width > _MOST_PIXELS:
            raise DataLossError(
                f"the image has {header.width} x {header.height} pixels, too many for a small picture"
            )
        return _on_white(decode_image(data, expand_animations=False))
    except (InvalidArgumentError, UnimplementedError) as error:
        raise DataLossError(f"{image_format(data)}: {error.message}") from error
    except MemoryError as error:
        raise DataLossError("the image does not fit into memory") from error


def _sized_jpeg(data: bytes, height: int, width: int, size: int) -> Any:
    least = (0, 0)
    if size:
        scale = min(1.0, size / max(height, width))
        least = (max(1, round(height * scale)), max(1, round(width * scale)))
    return decode_jpeg_sized(data, 0, least)


def _on_white(pixels: Any) -> Any:
    if pixels.shape[2] not in (2, 4):
        return pixels
    color, alpha = pixels[:, :, :-1].astype(np.uint16), pixels[:, :, -1:].astype(np.uint16)
    return ((color * alpha + 255 * (255 - alpha) + 127) // 255).astype(np.uint8)
