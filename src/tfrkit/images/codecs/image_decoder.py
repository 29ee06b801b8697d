"""What decode_png, decode_gif, decode_bmp, decode_webp and decode_image have in common: any format for each of them."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.foreign_image import DecodeOp, Pixels, decode_foreign, scaled
from tfrkit.images.codecs.image_format import check_channels, image_bytes, image_format
from tfrkit.images.codecs.jpeg.jpeg import decode_jpeg
from tfrkit.model.tensor_types import tensor_type
from tfrkit.values.attributes import int_attribute

__all__ = ["decode_as"]


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
        raise InvalidArgumentError("JPEG does not support 4 channels")
    if op == "DecodeBmp":
        raise InvalidArgumentError(
            "Trying to decode JPEG format using DecodeBmp op. Use `decode_jpeg` or `decode_image` instead."
        )
    image = scaled(decode_jpeg(data, wanted), kind.name)
    return image[np.newaxis] if op == "DecodeGif" else image
