"""decode_jpeg, decode_and_crop_jpeg, extract_jpeg_shape and is_jpeg, with TensorFlow's arguments and errors.

How JPEG data becomes pixels is in `jpeg_decode`, how pixels become JPEG data in `jpeg_encode`.
"""

from __future__ import annotations

from typing import Any, Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.ops.attributes import bool_attribute, float_attribute, int_attribute, str_attribute
from tfrkit.ops.image_format import check_channels, image_bytes
from tfrkit.ops.jpeg_decode import JpegOptions, Pixels, decode_jpeg_data
from tfrkit.ops.jpeg_header import MAGIC

__all__ = ["decode_jpeg"]

_RATIOS: Final = (1, 2, 4, 8)
_METHODS: Final = {"": False, "INTEGER_FAST": False, "INTEGER_ACCURATE": True}


def decode_jpeg(
    contents: Any,
    channels: int = 0,
    ratio: int = 1,
    fancy_upscaling: bool = True,
    try_recover_truncated: bool = False,
    acceptable_fraction: float = 1,
    dct_method: str = "",
) -> Pixels:
    """Decode a JPEG image to the same pixels as TensorFlow.

    Args:
        contents: the file, one string. As in TensorFlow, PNG, GIF and WebP are decoded too.
        channels: 0 as stored, 1 gray, 3 colour.
        ratio: decode at 1/1, 1/2, 1/4 or 1/8 of the size, which is quicker.
        fancy_upscaling: smooth the colours of neighbouring pixels that share one sample.
        try_recover_truncated: take what is missing at the end for empty, instead of raising.
        acceptable_fraction: rows that must be there, as a part of all; those that are not are black.
        dct_method: "INTEGER_FAST" (the default) or "INTEGER_ACCURATE".

    Returns:
        Pixels of shape (height, width, channels), uint8.

    Raises:
        InvalidArgumentError: the data is damaged or no image, or an argument is wrong.
        UnimplementedError: TensorFlow decodes it, and the codec cannot.
        MissingExtraError: the extra `images` is not installed.
    """
    options = _options(
        channels, ratio, fancy_upscaling, try_recover_truncated, acceptable_fraction, dct_method
    )
    data = bytes(image_bytes(contents))
    if not data.startswith(MAGIC):
        raise InvalidArgumentError(
            "Unknown image file format. One of JPEG, JPEG XL, PNG, GIF, BMP, WebP required."
        )
    if options.channels == 4:
        raise InvalidArgumentError("JPEG does not support 4 channels")
    return decode_jpeg_data(data, options)


def _options(channels: Any, ratio: Any, fancy: Any, recover: Any, fraction: Any, method: Any) -> JpegOptions:
    """Check the attributes in TensorFlow's order: types first, then values."""
    wanted = int_attribute(channels, "channels", 0)
    scale = int_attribute(ratio, "ratio", 1)
    smooth = bool_attribute(fancy, "fancy_upscaling", True)
    recovered = bool_attribute(recover, "try_recover_truncated", False)
    least = float_attribute(fraction, "acceptable_fraction", 1.0)
    transform = str_attribute(method, "dct_method", "")
    if scale not in _RATIOS:
        raise InvalidArgumentError(f"ratio must be 1, 2, 4, or 8, got {scale}")
    if transform not in _METHODS:
        raise InvalidArgumentError("dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}")
    return JpegOptions(check_channels(wanted), scale, smooth, recovered, least, _METHODS[transform])
