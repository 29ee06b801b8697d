"""Pixels of images that are not kept as they are: decoded, resized, and stored as JPEG or raw.

Needs the extra `images`; the operations are imported when they are used. Decoding is what Pillow and OpenCV give (the
accurate inverse transform); resizing and JPEG are TensorFlow's, bit for bit. A file that is kept keeps its EXIF data;
pixels that are encoded again lose it, so they are turned upright as viewers (and OpenCV's imread) do.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError, OpError
from tfrkit.images.codecs.image_header import BROKEN, TOO_LARGE, BadImageError, ImageHeader
from tfrkit.images.codecs.jpeg.jpeg_orientation import jpeg_orientation, upright
from tfrkit.optional import require

__all__ = ["PixelPlan", "fitting", "parse_size"]

Pixels: TypeAlias = npt.NDArray[Any]

MAX_PIXEL_BYTES: Final = 192 << 20  # 64 million pixels
_LARGE_BYTES: Final = 48 << 20
_large = threading.Lock()  # of images that are larger, one is decoded at a time: memory stays bounded


@dataclass(frozen=True, slots=True)
class PixelPlan:
    """What becomes of pixels.

    Attributes:
        encoding: "keep" decodes only to check; "jpeg" or "raw".
        size: height and width, or None.
        max_side: shrink until no side is longer, or None.
        quality: of JPEG.
        channels: 1 or 3.
        order: of the channels of raw pixels, if there are 3: "rgb" or "bgr".
        max_bytes: raw pixels of more bytes are bad.
    """

    encoding: str
    size: tuple[int, int] | None
    max_side: int | None
    quality: int
    channels: int
    order: str
    max_bytes: int

    @property
    def colorspace(self) -> str:
        """What raw pixels are: GRAY, RGB or BGR."""
        return "GRAY" if self.channels == 1 else self.order.upper()

    def require_extra(self) -> None:
        """Fail now, and not in the middle of a job, if the extra is not installed."""
        what = "Decoding images (check, size, quality, encoding)"
        require("simplejpeg", what)
        require("PIL.Image", what)

    def make(self, data: bytes, header: ImageHeader) -> tuple[bytes | memoryview | None, ImageHeader]:
        """Decode an image; return what is stored instead of it (None: keep the file) and its new header.

        Raises:
            BadImageError: it does not decode, or is too large.
        """
        needed = header.height * header.width * max(3, header.channels)
        if needed > MAX_PIXEL_BYTES:
            raise BadImageError(
                "too many pixels",
                f"{header.height} x {header.width} pixels are {needed} bytes, over {MAX_PIXEL_BYTES}",
            )
        if needed <= _LARGE_BYTES:
            return self._make(data, header)
        with _large:
            return self._make(data, header)

    def _make(self, data: bytes, header: ImageHeader) -> tuple[bytes | memoryview | None, ImageHeader]:
        try:
            pixels = _decode(data, header, self.channels)
        except OpError as error:
            raise BadImageError(BROKEN, f"it does not decode: {error}") from None
        if self.encoding == "keep":
            return None, header
        if header.format == "JPEG":
            pixels = upright(pixels, jpeg_orientation(data))
        pixels = self._resized(pixels)
        height, width, channels = pixels.shape
        if self.encoding == "jpeg":
            from tfrkit.images.codecs.jpeg.jpeg_encode import encode_jpeg

            try:
                return encode_jpeg(pixels, quality=self.quality), ImageHeader("JPEG", height, width, channels)
            except OpError as error:
                raise BadImageError("no JPEG can hold it", str(error)) from None
        if pixels.nbytes > self.max_bytes:
            raise BadImageError(TOO_LARGE, f"{height} x {width} pixels are {pixels.nbytes} bytes")
        if self.order == "bgr":
            pixels = pixels[:, :, ::-1]
        stored = memoryview(np.ascontiguousarray(pixels)).cast("B")
        return stored, ImageHeader("RAW", height, width, channels)

    def _resized(self, pixels: Pixels) -> Pixels:
        size = self.size or fitting(pixels.shape[0], pixels.shape[1], self.max_side)
        if size == pixels.shape[:2]:
            return pixels
        from tfrkit.images.resize.resize import resize

        resized = resize(pixels, size, antialias=True)
        return np.clip(np.rint(resized), 0, 255).astype(np.uint8)


def fitting(height: int, width: int, max_side: int | None) -> tuple[int, int]:
    """Return the size of an image that is shrunk until no side is longer than `max_side`. Pure: no I/O.

    >>> fitting(375, 500, 100), fitting(10, 20, 100), fitting(1, 5000, 100)
    ((75, 100), (10, 20), (1, 100))
    """
    longest = max(height, width)
    if max_side is None or longest <= max_side:
        return height, width
    return max(1, round(height * max_side / longest)), max(1, round(width * max_side / longest))


def parse_size(given: Any) -> tuple[int, int] | None:
    """Parse a size: "96x128" or (96, 128) is 96 high and 128 wide. Pure: no I/O.

    Raises:
        InvalidArgumentError: it is not a size.

    >>> parse_size("96x128")
    (96, 128)
    """
    if given is None:
        return None
    parts = given.lower().split("x") if isinstance(given, str) else given
    try:
        height, width = (int(part) for part in parts)
    except (TypeError, ValueError):
        raise InvalidArgumentError(f"size={given!r}: expected HEIGHTxWIDTH, such as 224x224.") from None
    if min(height, width) < 1 or height * width * 3 > MAX_PIXEL_BYTES:
        raise InvalidArgumentError(
            f"size={given!r}: expected at least 1 and at most {MAX_PIXEL_BYTES // 3} pixels in all."
        )
    return height, width


def _decode(data: bytes, header: ImageHeader, channels: int) -> Pixels:
    """Decode to 1 or 3 channels, whatever the file has; of animations the first frame."""
    from tfrkit.images.codecs.decode_image import decode_image
    from tfrkit.images.codecs.jpeg.jpeg import decode_jpeg
    from tfrkit.images.color import rgb_to_grayscale

    if header.format == "JPEG":
        print_colors = header.channels == 4  # CMYK, of which decoders make RGB only
        pixels = decode_jpeg(data, channels=3 if print_colors else channels, dct_method="INTEGER_ACCURATE")
    elif header.format == "PNG":
        return decode_image(data, channels=channels)
    else:
        pixels = decode_image(data, expand_animations=False)
    if pixels.shape[2] == 4:
        pixels = pixels[:, :, :3]
    if pixels.shape[2] == channels:
        return pixels
    return np.repeat(pixels, 3, axis=2) if channels == 3 else np.asarray(rgb_to_grayscale(pixels))
