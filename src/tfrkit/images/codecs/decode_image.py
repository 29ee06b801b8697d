"""decode_image: an image in whatever format it is."""

from __future__ import annotations

from typing import Any, Final

from tfrkit.images.codecs.foreign_image import Pixels
from tfrkit.images.codecs.image_decoder import decode_as
from tfrkit.images.dtype import convert_image_dtype
from tfrkit.model.tensor_types import tensor_type
from tfrkit.values.attributes import bool_attribute

__all__ = ["decode_image"]

_TYPES: Final = ("uint8", "uint16", "float32")


def decode_image(
    contents: Any,
    channels: int | None = None,
    dtype: Any = "uint8",
    name: str | None = None,  # noqa: ARG001
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
