"""JPEG files as pixels: those of TensorFlow, bit for bit, if the file is sound.

The codec is libjpeg-turbo, as TensorFlow's is; here is what TensorFlow asks of it. A file without an end is an error;
what the codec makes of other damage is returned and logged. Takes JPEG data and checked options: the operations with
TensorFlow's arguments are in `jpeg`.
"""

from __future__ import annotations

import logging
from functools import cache
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError, UnimplementedError
from tfrkit.images.codecs.jpeg.jpeg_header import Frame, read_frame, tidy_header
from tfrkit.images.codecs.jpeg.jpeg_options import JpegOptions
from tfrkit.images.codecs.jpeg.jpeg_ratio import enlarged, reduced
from tfrkit.images.codecs.jpeg.jpeg_sampling import decode_unusual_sampling
from tfrkit.optional import require

__all__ = ["Pixels", "decode_components", "decode_jpeg_data", "invalid_jpeg"]

Pixels = npt.NDArray[np.uint8]

_MAX_SAMPLES: Final = 2**29  # TensorFlow's limit, pixels times components
_MAX_PER_BYTE: Final = 8 * 1024  # pixels: a block of 32 x 32, the largest there is, has at least a bit
_PRINT: Final = 4  # components of images for print: cyan, magenta, yellow, black
_WARNINGS: Final = (  # how the codec's warnings begin; what begins otherwise is an error
    "Application transferred",
    "Corrupt JPEG data",
    "Inconsistent progression",
    "Invalid SOS parameters",
    "Premature end",
    "Unknown Adobe",
    "Warning",
)
_UNKNOWN_SAMPLING: Final = "Could not determine subsampling"
_SPACES: Final = {1: "Gray", 3: "RGB"}

logger = logging.getLogger(__name__)


def invalid_jpeg(reason: str) -> InvalidArgumentError:
    """Make TensorFlow's error for data that cannot be decoded, with the reason."""
    return InvalidArgumentError(f"jpeg::Uncompress failed. Invalid JPEG data or crop window. {reason}")


def decode_jpeg_data(data: bytes, options: JpegOptions) -> Pixels:
    """Decode a JPEG file.

    Args:
        data: the file, beginning with its magic number.
        options: what TensorFlow's arguments say.

    Returns:
        Pixels of shape (height, width, channels).

    Raises:
        InvalidArgumentError: the data is not a JPEG that TensorFlow decodes, or is cut and shall not be recovered.
        UnimplementedError: TensorFlow decodes it, and the codec cannot.
    """
    frame = read_frame(data)
    if frame is None:
        raise invalid_jpeg("The file ends before it says the size of the image.")
    channels = options.channels or min(frame.channels, 3)
    _check_frame(frame, channels, options)
    space = "CMYK" if frame.channels == _PRINT else _SPACES[channels]
    try:
        pixels = _run_codec(frame, space, options, strict=True)
    except ValueError as error:
        frame = read_frame(tidy_header(frame)) or frame
        pixels = _decode_damaged(frame, space, options, str(error))
    return _as_rgb(pixels, frame) if space == "CMYK" else pixels


def decode_components(data: bytes, options: JpegOptions) -> Pixels:
    """Decode a file of four components, and return these as they are stored.

    Raises:
        InvalidArgumentError: it cannot be decoded.
        UnimplementedError: it is sampled in an unusual way.
    """
    frame = read_frame(data)
    if frame is None:
        raise invalid_jpeg("The file ends before it says the size of the image.")
    try:
        return _run_codec(frame, "CMYK", options, strict=True)
    except ValueError as error:
        if _UNKNOWN_SAMPLING in str(error):
            raise UnimplementedError(f"decode_and_crop_jpeg cannot decode this file: {error}.") from None
        return _decode_damaged(frame, "CMYK", options, str(error))


def _check_frame(frame: Frame, channels: int, options: JpegOptions) -> None:
    """Refuse what TensorFlow refuses after a look at the frame."""
    if not frame.decodable:
        raise invalid_jpeg(
            f"The coding (marker 0xff{frame.marker:02x}, {frame.precision} bits) is not one that TensorFlow decodes: "
            "8 bits, sequential or progressive."
        )
    stored = frame.channels
    if channels not in _SPACES or stored not in (1, 3, _PRINT) or (channels == 1 and stored == _PRINT):
        raise invalid_jpeg(f"An image of {stored} components cannot be decoded to {channels} channels.")
    if not frame.height or not frame.width:
        raise invalid_jpeg(f"The image says that it has {frame.height} x {frame.width} pixels.")
    samples = reduced(frame.height, options.ratio) * reduced(frame.width, options.ratio) * stored
    if samples >= _MAX_SAMPLES:
        raise invalid_jpeg(
            f"The image says that it has {frame.height} x {frame.width} pixels of {stored} components; "
            f"the limit is {_MAX_SAMPLES - 1} samples. Decode it with a larger ratio."
        )
    if frame.height * frame.width > _MAX_PER_BYTE * len(frame.data) and not frame.arithmetic:
        raise invalid_jpeg(
            f"The image says that it has {frame.height} x {frame.width} pixels, "
            f"more than {len(frame.data)} bytes can hold."
        )


@cache
def _codec() -> Any:
    return require("simplejpeg", "decode_jpeg")


def _run_codec(frame: Frame, space: str, options: JpegOptions, *, strict: bool) -> Pixels:
    """Decode with the codec; if strict, its warnings are errors too."""
    codec = _codec()
    fast, plain = not options.accurate, not options.fancy_upscaling
    if options.ratio == 1:
        pixels: Pixels = codec.decode_jpeg(frame.data, space, fast, plain, 0, 0, 1, None, strict)
        return pixels
    data, height, width = enlarged(frame, options.ratio)
    least = reduced(height, options.ratio), reduced(width, options.ratio)
    pixels = codec.decode_jpeg(data, space, fast, plain, *least, 1, None, strict)
    return pixels[: reduced(frame.height, options.ratio), : reduced(frame.width, options.ratio)]


def _decode_damaged(frame: Frame, space: str, options: JpegOptions, reason: str) -> Pixels:
    """Decode what the codec complains about.

    It is run twice, because it returns memory as it was where an error follows a warning, unless it is strict. Then its
    text is that of the error if there was one, and else of the first warning.
    """
    if not frame.has_end and not options.try_recover_truncated:
        raise invalid_jpeg(
            f"The file is cut ({reason}). try_recover_truncated=True decodes what is there of it."
        )
    try:
        return _run_codec(frame, space, options, strict=True)
    except ValueError as error:
        if _UNKNOWN_SAMPLING in str(error) and not frame.usual_sampling:
            return _run_pillow(frame, space, options)
        if not str(error).startswith(_WARNINGS):
            raise invalid_jpeg(f"The codec says: {error}.") from None
        if frame.has_end:
            logger.warning("Damaged JPEG data, some pixels may be wrong. The codec says: %s.", error)
    return _run_codec(frame, space, options, strict=False)


def _run_pillow(frame: Frame, space: str, options: JpegOptions) -> Pixels:
    """Decode what the codec refuses because of its sampling."""
    try:
        return decode_unusual_sampling(
            frame, 1 if space == "Gray" else 3, options.ratio, options.fancy_upscaling, options.accurate
        )
    except ValueError as error:
        raise invalid_jpeg(f"Pillow says: {error}.") from None


def _as_rgb(ink: Pixels, frame: Frame) -> Pixels:
    """Colours of cyan, magenta, yellow and black, as TensorFlow computes them."""
    levels = ink.astype(np.uint16)
    if frame.adobe_transform is None:  # Adobe's programs store the light that is left instead of the ink
        levels = 255 - levels
    light = levels[..., :3] * levels[..., 3:] // 255
    return light.astype(np.uint8)
