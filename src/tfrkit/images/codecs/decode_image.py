"""decode_image, decode_bmp, decode_gif and decode_webp, with TensorFlow's arguments and errors.

TensorFlow decodes what the bytes are, not what the operation is called: `decode_as` is what they have in common with
decode_png. The decoders themselves are in a file for each format.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.foreign_image import DecodeOp, Pixels, decode_foreign, scaled
from tfrkit.images.codecs.image_format import check_channels, image_bytes, image_format
from tfrkit.images.codecs.jpeg.jpeg import decode_jpeg
from tfrkit.images.dtype import convert_image_dtype
from tfrkit.model.tensor_types import tensor_type
from tfrkit.values.attributes import bool_attribute, int_attribute

__all__ = ["decode_as", "decode_bmp", "decode_gif", "decode_image", "decode_webp"]

_TYPES: Final = ("uint8", "uint16", "float32")


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = "uint8",
    name: str | None = None,
    expand_animations: bool = True,
) -> Pixels:
    """Decode a JPEG, PNG, GIF, BMP or WebP image to the same array as TensorFlow.

    Args:
        contents: the file, one string.
        channels: 0 or None as stored, else 1, 3 or 4, as far as the format allows it: JPEG 1 or 3, PNG all,
            GIF 3, BMP 3 or 4, WebP what it has.
        dtype: of the result. As in TensorFlow, float32 is 0 to 1; of formats with 8 bits, uint16 is the value times
            256, while PNG's is times 257; WebP has uint8 only; other types are converted from uint16 by
            `convert_image_dtype`.
        name: ignored; TensorFlow has it.
        expand_animations: return GIF and WebP images with four dimensions, frames first, animated or not;
            else their first frame alone.

    Returns:
        An array of shape (height, width, channels), or with the frames before.

    Raises:
        InvalidArgumentError: the image is damaged, or the format does not allow what is asked for.
        UnimplementedError: it is JPEG XL, or JPEG that the codec cannot decode.
        MissingExtraError: JPEG, GIF and WebP need the extra `images`.
    """
    try:
        kind = tensor_type(dtype).name
    except TypeError:
        raise TypeError(
            f"Cannot convert the argument `type_value`: {dtype!r} to a TensorFlow DType."
        ) from None
    expand = bool_attribute(expand_animations, "expand_animations", True)
    decoded = kind if kind in _TYPES else "uint16"
    image = decode_as("DecodeImage", contents, channels, decoded, _TYPES, expand)
    if expand_animations is None and image.ndim == 4:  # TensorFlow decodes frames then, but expects one image
        shape = f"(None, None, {channels or None})"
        raise ValueError(f"Tensor's shape {image.shape} is not compatible with supplied shape {shape}.")
    return image if decoded == kind else convert_image_dtype(image, kind)


def decode_bmp(contents: Any, channels: int = 0) -> Pixels:
    """Decode a BMP image to the same array as TensorFlow.

    Args:
        contents: the file, one string. Of other formats WebP is decoded too, as in TensorFlow.
        channels: 0 as stored, 3 RGB, 4 RGBA.

    Returns:
        uint8 of shape (height, width, channels). Images of 8 bits have one channel, with the numbers as they are
        stored: palettes are ignored.

    Raises:
        InvalidArgumentError: the file is damaged or not BMP, or has neither 8, 24 nor 32 bits.
    """
    return decode_as("DecodeBmp", contents, channels)


def decode_gif(contents: Any) -> Pixels:
    """Decode all frames of a GIF image.

    Args:
        contents: the file, one string. JPEG, PNG and WebP are decoded too, as in TensorFlow: one frame, or all.

    Returns:
        uint8 of shape (frames, height, width, 3). A still image is TensorFlow's, bit for bit, and so is the first frame
        of an animation, if it covers the canvas. Frames are put together by Pillow: they have the size of the canvas,
        follow what the file says about disposal, and are black where they are transparent.

    Raises:
        InvalidArgumentError: the file is damaged or not an image.
        MissingExtraError: the extra `images` is not installed.
    """
    return decode_as("DecodeGif", contents, 3)


def decode_webp(contents: Any, channels: int = 0, dtype: Any = "uint8") -> Pixels:
    """Decode all frames of a WebP image.

    Args:
        contents: the file, one string. JPEG and PNG are decoded too, as in TensorFlow.
        channels: 0 as stored; 3 and 4 only if that is the number stored.
        dtype: uint8.

    Returns:
        uint8 of shape (frames, height, width, channels), also for one frame.

    Raises:
        InvalidArgumentError: the file is damaged or not an image, or has another number of channels.
        MissingExtraError: the extra `images` is not installed.
    """
    return decode_as("DecodeWebP", contents, channels, dtype)


def decode_as(
    op: DecodeOp,
    contents: Any,
    channels: Any = 0,
    dtype: Any = "uint8",
    allowed: tuple[str, ...] = ("uint8",),
    expand_animations: bool = True,
) -> Pixels:
    """Decode an image in any format as an operation of TensorFlow does: arguments are checked first, in its order.

    Args:
        op: TensorFlow's name of the operation.
        contents: the file, one string.
        channels: 0 or None (as stored), 1, 3 or 4.
        dtype: of the result.
        allowed: names of the types that the operation can return.
        expand_animations: return all frames of an animation, with one more dimension.

    Raises:
        InvalidArgumentError: the file is damaged or not an image, or an argument is wrong, with TensorFlow's text.
    """
    wanted = int_attribute(channels, "channels", 0)
    kind = tensor_type("uint8" if dtype is None else dtype, "dtype")
    if kind.name not in allowed:
        raise InvalidArgumentError(
            f"Value for attr 'dtype' of {kind.op_name} is not in the list of allowed values: {', '.join(allowed)}"
        )
    wanted = check_channels(wanted)
    data = image_bytes(contents)
    if image_format(data) != "JPEG":
        return decode_foreign(op, data, wanted, kind.name, expand_animations)
    if wanted == 4:
        raise InvalidArgumentError("JPEG does not support 4 channels: pass channels=0, 1 or 3")
    if op == "DecodeBmp":
        raise InvalidArgumentError(
            "Trying to decode JPEG format using DecodeBmp op. Use `decode_jpeg` or `decode_image` instead."
        )
    image = scaled(decode_jpeg(data, wanted), kind.name)
    return image[np.newaxis] if op == "DecodeGif" else image
