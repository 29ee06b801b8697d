"""encode_jpeg and what is built on it: the same bytes as TensorFlow's.

Pillow's encoder is libjpeg-turbo with the settings of TensorFlow; the header's density and metadata are put in here.
"""

from __future__ import annotations

import io
import threading
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InternalError, InvalidArgumentError
from tfrkit.images.codecs.jpeg.jpeg import decode_jpeg
from tfrkit.images.dtype import convert_image_dtype
from tfrkit.images.image_value import as_image
from tfrkit.optional import require
from tfrkit.values.attributes import bool_attribute, int_attribute, str_attribute
from tfrkit.values.to_array import to_array

__all__ = ["adjust_jpeg_quality", "encode_jpeg", "encode_jpeg_variable_quality"]

Pixels = npt.NDArray[np.uint8]

_FORMATS: Final = {"": 0, "grayscale": 1, "rgb": 3}  # and the channels that they need
_UNITS: Final = {"in": 1, "cm": 2}
_DENSITY: Final = slice(13, 18)  # of the header: the unit, then dots across and down
_HEADER: Final = 20  # bytes up to the end of the first segment
_XMP: Final = b"http://ns.adobe.com/xap/1.0/\0"
_MAX_SEGMENT: Final = 2**16 - 3
_MAX_SIZE: Final = 65_500  # pixels in each direction, the encoder's limit
_buffer_lock = threading.Lock()  # for Pillow's setting, which is one for the process


def encode_jpeg(
    image: Any,
    format: str = "",
    quality: int = 95,
    progressive: bool = False,
    optimize_size: bool = False,
    chroma_downsampling: bool = True,
    density_unit: str = "in",
    x_density: int = 300,
    y_density: int = 300,
    xmp_metadata: str = "",
) -> bytes:
    """Encode an image as a JPEG file.

    Args:
        image: pixels of shape (height, width, 1 or 3), uint8; other numbers are converted.
        format: "grayscale" or "rgb" to insist on 1 or 3 channels.
        quality: 0 to 100.
        progressive: store the image in scans of growing precision.
        optimize_size: compute the best tables instead of taking those of the standard; same pixels, fewer bytes.
        chroma_downsampling: store colours at half the resolution.
        density_unit: "in" or "cm".
        x_density: dots for each unit.
        y_density: the same downwards.
        xmp_metadata: a text to embed.

    Returns:
        The file, byte for byte that of TensorFlow.

    Raises:
        InvalidArgumentError: an argument is wrong.
        InternalError: the image has no pixels, or more than 65,500 in a direction, or the metadata is too long.
        MissingExtraError: the extra `images` is not installed.

    >>> encode_jpeg(np.zeros((8, 8, 1), np.uint8))[:18].hex()
    'ffd8ffe000104a46494600010101012c012c'
    """
    kind = str_attribute(format, "format", "")
    level = int_attribute(quality, "quality", 95)
    settings = {
        "progressive": bool_attribute(progressive, "progressive", False),
        "optimize": bool_attribute(optimize_size, "optimize_size", False),
        "subsampling": "4:2:0"
        if bool_attribute(chroma_downsampling, "chroma_downsampling", True)
        else "4:4:4",
    }
    unit = _one_of(str_attribute(density_unit, "density_unit", "in"), "density_unit", _UNITS)
    wanted = _one_of(kind, "format", _FORMATS)
    dots = int_attribute(x_density, "x_density", 300), int_attribute(y_density, "y_density", 300)
    metadata = str_attribute(xmp_metadata, "xmp_metadata", "").encode("utf-8", "surrogateescape")
    pixels = _as_pixels(image)
    _check_quality(level)
    _check_shape(pixels, wanted, kind)
    file = _encode(pixels, level, settings)
    density = bytes([unit]) + b"".join((number & 0xFFFF).to_bytes(2, "big") for number in dots)
    return _with_header(file, density, metadata)


def encode_jpeg_variable_quality(images: Any, quality: Any) -> bytes:
    """Encode an image with a quality that is a value: `tf.raw_ops.EncodeJpegVariableQuality`.

    Args:
        images: one image, see `encode_jpeg`.
        quality: 0 to 100.

    Raises:
        InvalidArgumentError: the quality is not a single number of this range; else as `encode_jpeg`.
    """
    pixels = _as_pixels(images)
    level = to_array(quality)
    if level.dtype.kind not in "biu" and not hasattr(quality, "__array__"):
        raise TypeError(f"Cannot convert {quality!r:.100} to EagerTensor of dtype int32")
    _check_rank(pixels)
    if level.ndim:
        raise InvalidArgumentError(f"quality must be scalar: [{','.join(map(str, level.shape))}]")
    number = int(level.astype(np.int32))
    _check_quality(number)
    _check_shape(pixels, 0, "")
    return encode_jpeg(pixels, quality=number)


def adjust_jpeg_quality(image: Any, jpeg_quality: Any, dct_method: str = "") -> npt.NDArray[Any]:
    """Encode an image as JPEG and decode it again.

    Args:
        image: of 1 or 3 channels and any type, see `convert_image_dtype`.
        jpeg_quality: 0 to 100.
        dct_method: of decoding, see `decode_jpeg`.

    Returns:
        The image as it comes back, of the same type.
    """
    array = as_image(image)
    file = encode_jpeg_variable_quality(convert_image_dtype(array, np.uint8, saturate=True), jpeg_quality)
    decoded = decode_jpeg(file, channels=array.shape[-1], dct_method=dct_method)
    return convert_image_dtype(decoded, array.dtype, saturate=True)


def _as_pixels(image: Any) -> Pixels:
    array = to_array(image)
    if array.dtype.kind not in ("biuf" if hasattr(image, "__array__") else "iu"):
        raise TypeError(f"Cannot convert {image!r:.100} to EagerTensor of dtype uint8")
    with np.errstate(invalid="ignore"):
        return array.astype(np.uint8, copy=False)


def _one_of(value: str, name: str, known: dict[str, int]) -> int:
    if value not in known:
        allowed = ", ".join(f'"{entry}"' for entry in known)
        raise InvalidArgumentError(
            f"Value for attr '{name}' of \"{value}\" is not in the list of allowed values: {allowed}"
        )
    return known[value]


def _check_quality(quality: int) -> None:
    if not 0 <= quality <= 100:
        raise InvalidArgumentError(f"quality must be in [0,100], got {quality}")


def _check_rank(pixels: Pixels) -> None:
    if pixels.ndim != 3:
        raise InvalidArgumentError(f"image must be 3-dimensional[{','.join(map(str, pixels.shape))}]")


def _check_shape(pixels: Pixels, wanted: int, kind: str) -> None:
    _check_rank(pixels)
    shape = ",".join(map(str, pixels.shape))
    channels = pixels.shape[2]
    if wanted and channels != wanted:
        raise InvalidArgumentError(f"format {kind} expects {wanted} channels, got [{shape}]")
    if channels not in (1, 3):
        raise InvalidArgumentError(f"image must have 1 or 3 channels, got [{shape}]")
    if not pixels.size or max(pixels.shape) > _MAX_SIZE:
        raise InternalError(
            f"JPEG encoding failed. Expected 1 to {_MAX_SIZE} pixels in each direction, got [{shape}]."
        )


def _encode(pixels: Pixels, quality: int, settings: dict[str, Any]) -> bytes:
    module = require("PIL.Image", "encode_jpeg")
    gray = pixels.shape[2] == 1
    if gray:
        settings = settings | {"subsampling": "4:4:4"}
    image = module.fromarray(np.ascontiguousarray(pixels[..., 0] if gray else pixels))
    settings = settings | {"quality": max(1, quality), "dpi": (300, 300)}
    try:
        return _save(image, settings)
    except OSError:
        return _save_in_one_piece(image, settings, 4 * pixels.size)


def _save(image: Any, settings: dict[str, Any]) -> bytes:
    file = io.BytesIO()
    image.save(file, "JPEG", **settings)
    return file.getvalue()


def _save_in_one_piece(image: Any, settings: dict[str, Any], most: int) -> bytes:
    """Save with a larger buffer: Pillow's guess is too small for noise with tables of its own."""
    module: Any = require("PIL.ImageFile", "encode_jpeg")
    with _buffer_lock:
        before = module.MAXBLOCK
        module.MAXBLOCK = max(before, most)
        try:
            return _save(image, settings)
        finally:
            module.MAXBLOCK = before


def _with_header(file: bytes, density: bytes, metadata: bytes) -> bytes:
    """Put the density and the metadata into the header."""
    head = file[: _DENSITY.start] + density + file[_DENSITY.stop : _HEADER]
    if metadata:
        body = _XMP + metadata
        if len(body) > _MAX_SEGMENT:
            raise InternalError(
                f"JPEG encoding failed. Expected at most {_MAX_SEGMENT - len(_XMP)} bytes of metadata, "
                f"got {len(metadata)}."
            )
        head += b"\xff\xe1" + (len(body) + 2).to_bytes(2, "big") + body
    return head + file[_HEADER:]
