"""Format, size and channels of an image from its first bytes, and whether its end is there; nothing is decoded.

Needs no extra. Numbers in the bytes are compared with limits and what is left, and never allocate anything. Whether
the pixels are sound is for a decoder to find out.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import Final, NamedTuple

from tfrkit._core import read_usual_jpeg
from tfrkit.codecs.file_kinds import looks_like
from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.image_format import image_format
from tfrkit.images.codecs.jpeg.jpeg_header import read_frame
from tfrkit.images.codecs.webp import read_webp_features

__all__ = [
    "BROKEN",
    "EMPTY",
    "NO_IMAGE",
    "TOO_LARGE",
    "UNSUPPORTED",
    "BadImageError",
    "ImageHeader",
    "read_image_header",
]

# Reasons, by which reports count.
BROKEN: Final = "broken image"
EMPTY: Final = "empty file"
NO_IMAGE: Final = "not an image"
TOO_LARGE: Final = "larger than the limit"
UNSUPPORTED: Final = "unsupported image format"

_MAX_CHUNKS: Final = 10_000  # a file with more is an attempt to waste time
_PNG_BEGIN: Final = struct.Struct(">8xI4sIIBB").unpack_from
_PNG_CHUNK: Final = struct.Struct(">I4s").unpack_from
_PNG_CHANNELS: Final = {0: 1, 2: 3, 3: 3, 4: 2, 6: 4}  # by the number of the kind of colour; 3 is a palette
_PNG_MAX_SIDE: Final = 2**31 - 1
_BMP_CHANNELS: Final = {1: 3, 4: 3, 8: 1, 16: 3, 24: 3, 32: 4}  # by bits of a pixel, as decoders return them


class BadImageError(Exception):
    """A file that is not a sound image.

    Args:
        reason: a few words, the same for all such files.
        detail: what is wrong with this one.
    """

    def __init__(self, reason: str, detail: str = "") -> None:
        super().__init__(reason, detail)
        self.reason = reason
        self.detail = detail


class ImageHeader(NamedTuple):
    """What the beginning of a file says. `format` is "JPEG", "PNG", "GIF", "BMP" or "WEBP"."""

    format: str
    height: int
    width: int
    channels: int


def read_image_header(data: bytearray, begin: int, end: int) -> ImageHeader:
    r"""Read the header of the file that lies in `data` from `begin` to `end`. Pure: no I/O.

    Returns:
        The format by content, and the numbers: height and width as they are stored (an EXIF orientation is not
        applied), and the number of channels that a decoder returns by default; CMYK JPEG has 4.

    Raises:
        BadImageError: there are no bytes, or they are not an image of a known format, or the header makes no sense, or
            the end is missing: a JPEG without an end-of-image marker after its first scan (bytes after the marker do
            not matter), a PNG without IEND, a BMP or WebP shorter than it says.

    >>> data = bytearray(b"GIF89a\x04\x00\x03\x00\xf0\x00\x00;")
    >>> read_image_header(data, 0, len(data))
    ImageHeader(format='GIF', height=3, width=4, channels=3)
    """
    if (usual := read_usual_jpeg(data, begin, end)) is not None:
        return ImageHeader(*usual)
    if begin == end:
        raise BadImageError(EMPTY)
    with memoryview(data)[begin:end] as view:
        try:
            kind = image_format(view).upper()
        except InvalidArgumentError:
            raise _unreadable(looks_like(bytes(view[:1024]), len(view))) from None
        reader = _READERS.get(kind)
        if reader is None:
            raise _unreadable(f"a {kind} image")
        try:
            header = reader(data, begin, end, view)
        except (struct.error, IndexError):
            raise BadImageError(BROKEN, f"the header of the {kind} file is cut") from None
    if not (header.height and header.width):
        raise BadImageError(BROKEN, f"the size is {header.height} x {header.width} pixels")
    return header


def _unreadable(look: str) -> BadImageError:
    if not look.endswith(("image", "icon")):
        return BadImageError(NO_IMAGE, f"it looks like {look}")
    if look.removeprefix("a ").removesuffix(" image").upper() in _READERS:
        return BadImageError(BROKEN, f"it looks like {look}, but its header is cut")
    return BadImageError(UNSUPPORTED, f"it looks like {look}; convert it to JPEG or PNG")


def _jpeg(data: bytearray, begin: int, end: int, _view: memoryview) -> ImageHeader:
    frame = read_frame(data, begin, end)
    if frame is None:
        raise BadImageError(BROKEN, "the JPEG file has no frame")
    if not frame.has_end:
        raise BadImageError(BROKEN, "the JPEG file has no end: it is cut")
    return ImageHeader("JPEG", frame.height, frame.width, frame.channels)


def _png(data: bytearray, begin: int, end: int, view: memoryview) -> ImageHeader:
    length, name, width, height, depth, color = _PNG_BEGIN(view)
    if name != b"IHDR" or length != 13 or color not in _PNG_CHANNELS or depth not in (1, 2, 4, 8, 16):
        raise BadImageError(BROKEN, "the PNG file has no sound IHDR chunk")
    if max(width, height) > _PNG_MAX_SIDE:
        raise BadImageError(BROKEN, f"the PNG file says {height} x {width} pixels")
    if data.rfind(b"IEND", begin + 33, end) < 0:
        raise BadImageError(BROKEN, "the PNG file has no end: it is cut")
    channels = _PNG_CHANNELS[color]
    if color == 3 and _has_transparency(view):
        channels = 4
    return ImageHeader("PNG", height, width, channels)


def _has_transparency(view: memoryview) -> bool:
    """Whether there is a tRNS chunk before the pixels."""
    at = 8
    for _ in range(_MAX_CHUNKS):
        if at + 8 > len(view):
            break
        length, name = _PNG_CHUNK(view, at)
        if name == b"tRNS":
            return True
        if name == b"IDAT":
            return False
        at += 12 + length
    return False


def _gif(_data: bytearray, _begin: int, _end: int, view: memoryview) -> ImageHeader:
    width, height = struct.unpack_from("<HH", view, 6)
    return ImageHeader("GIF", height, width, 3)


def _bmp(_data: bytearray, _begin: int, _end: int, view: memoryview) -> ImageHeader:
    pixels, header_size = struct.unpack_from("<II", view, 10)
    if header_size == 12:  # the first kind, with 16 bits for everything
        width, height, _, bits = struct.unpack_from("<HHHH", view, 18)
        compression = 0
    else:
        width, height, _, bits, compression = struct.unpack_from("<iiHHI", view, 18)
    if bits not in _BMP_CHANNELS or width < 0:
        raise BadImageError(BROKEN, f"the BMP file says {bits} bits a pixel, {height} x {width} pixels")
    height = abs(height)
    needed = pixels + (bits * width + 31) // 32 * 4 * height
    if compression in (0, 3) and needed > len(view):
        raise BadImageError(BROKEN, f"the BMP file is cut: expected {needed} bytes but got {len(view)}")
    return ImageHeader("BMP", height, width, _BMP_CHANNELS[bits])


def _webp(_data: bytearray, _begin: int, _end: int, view: memoryview) -> ImageHeader:
    features = read_webp_features(view)
    if features is None:
        raise BadImageError(BROKEN, "the header of the WebP file makes no sense")
    needed = 8 + int.from_bytes(view[4:8], "little")
    if needed > len(view):
        raise BadImageError(BROKEN, f"the WebP file is cut: expected {needed} bytes but got {len(view)}")
    return ImageHeader("WEBP", features.height, features.width, 4 if features.has_alpha else 3)


_READERS: Final[dict[str, Callable[[bytearray, int, int, memoryview], ImageHeader]]] = {
    "JPEG": _jpeg,
    "PNG": _png,
    "GIF": _gif,
    "BMP": _bmp,
    "WEBP": _webp,
}
