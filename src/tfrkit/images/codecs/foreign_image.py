"""Images that are not JPEG, for any of TensorFlow's decoding operations.

TensorFlow decodes what the bytes are, not what the operation is called; but shapes, channels and refusals depend on
the operation. JPEG itself is not here, so that decode_jpeg can call this too.
"""

from __future__ import annotations

from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError, UnimplementedError
from tfrkit.images.codecs.bmp import decode_bmp_file
from tfrkit.images.codecs.gif import count_gif_frames, decode_gif_file
from tfrkit.images.codecs.image_format import image_format
from tfrkit.images.codecs.png.png_decode import check_png, decode_png_file
from tfrkit.images.codecs.webp import decode_webp_file

__all__ = ["DecodeOp", "decode_foreign", "scaled"]

DecodeOp = Literal[
    "DecodeJpeg",
    "DecodeAndCropJpeg",
    "DecodePng",
    "DecodeGif",
    "DecodeBmp",
    "DecodeWebP",
    "DecodeJxl",
    "DecodeImage",
]
Pixels = npt.NDArray[Any]
Buffer = bytes | memoryview

_PNG_SCALE: Final = np.float32(1.0 / 65535)
_SCALE: Final = np.float32(1.0 / 255)


def decode_foreign(
    op: DecodeOp, data: Buffer, channels: int = 0, dtype: str = "uint8", expand_animations: bool = True
) -> Pixels:
    """Decode an image in any format but JPEG as an operation of TensorFlow does.

    Args:
        op: TensorFlow's name of the operation.
        data: the file, not empty.
        channels: 0 (as stored), 1, 3 or 4; 3 for DecodeGif.
        dtype: "uint8", "uint16" or "float32".
        expand_animations: return all frames of an animation, with one more dimension.

    Raises:
        InvalidArgumentError: the file is damaged, or the operation does not decode such, with TensorFlow's text.
        UnimplementedError: it is JPEG XL.
        MissingExtraError: it is GIF or WebP, and the extra `images` is not installed.
    """
    kind = image_format(data)
    if kind == "PNG":
        return _png(op, data, channels, dtype)
    if kind == "GIF":
        return scaled(_gif(op, data, channels, expand_animations), dtype)
    if kind == "BMP":
        return scaled(_bmp(op, data, channels), dtype)
    if kind == "WebP" and channels == 1:
        raise InvalidArgumentError(
            "WebP only supports 3 or 4 channels: got channels=1, pass 0 for as many as the file has"
        )
    if dtype != "uint8":
        name = "WebP" if kind == "WebP" else "JXL"
        raise InvalidArgumentError(f"{name} only supports uint8 for dtype, got {dtype}")
    if kind == "WebP":
        return decode_webp_file(data, channels, expand_animations)
    raise UnimplementedError("JPEG XL images are not decoded: convert them to another format, such as PNG.")


def scaled(image: Pixels, dtype: str) -> Pixels:
    """Convert 8 bits to another type: times 256 as uint16 (at most 65,280), and 0 to 1 as float32."""
    if dtype == "uint8":
        return image
    if dtype == "uint16":
        return image.astype(np.uint16) << 8
    floats: Pixels = image.astype(np.float32)
    floats *= _SCALE
    return floats


def _png(op: DecodeOp, data: Buffer, channels: int, dtype: str) -> Pixels:
    if op in ("DecodeBmp", "DecodeAndCropJpeg"):
        check_png(data)
    _refuse_others(op, "PNG", "decode_png")
    image = decode_png_file(data, channels, 8 if dtype == "uint8" else 16)
    if dtype == "float32":
        image = image.astype(np.float32)
        image *= _PNG_SCALE
    return image[np.newaxis] if op == "DecodeGif" else image


def _gif(op: DecodeOp, data: Buffer, channels: int, expand_animations: bool) -> Pixels:
    if channels not in (0, 3):
        raise InvalidArgumentError(f"channels must be 0 or 3 for GIF, got {channels}")
    _refuse_others(op, "GIF", "decode_gif")
    if op in ("DecodePng", "DecodeJpeg"):
        frames = count_gif_frames(data)
        if frames > 1:
            raise InvalidArgumentError(
                f"Got {frames} frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image"
            )
        expand_animations = False
    if op in ("DecodeWebP", "DecodeJxl"):
        raise InvalidArgumentError(
            f"Bad op type {op}: the file is a GIF. Use `decode_gif` or `decode_image`."
        )
    decoded = decode_gif_file(data, expand_animations)
    return decoded if expand_animations else decoded[0]


def _bmp(op: DecodeOp, data: Buffer, channels: int) -> Pixels:
    if channels == 1:
        raise InvalidArgumentError("`channels` must be 0, 3 or 4 for BMP, but got 1")
    if op == "DecodeAndCropJpeg":
        raise InvalidArgumentError(
            "DecodeAndCropJpeg operation can run on JPEG only, but detected BMP. "
            "Use `decode_bmp` or `decode_image`, and crop the result."
        )
    if op not in ("DecodeBmp", "DecodeImage"):
        raise InvalidArgumentError(
            f"Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: {op}"
        )
    return decode_bmp_file(data, channels)


def _refuse_others(op: DecodeOp, kind: str, function: str) -> None:
    if op == "DecodeBmp":
        raise InvalidArgumentError(
            f"Trying to decode {kind} format using DecodeBmp op. Use `{function}` or `decode_image` instead."
        )
    if op == "DecodeAndCropJpeg":
        raise InvalidArgumentError(
            f"DecodeAndCropJpeg operation can run on JPEG only, but detected {kind}. "
            f"Use `{function}` or `decode_image`, and crop the result."
        )
