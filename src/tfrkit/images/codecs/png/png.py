"""decode_png and encode_png, with TensorFlow's arguments and errors.

How PNG files become arrays is in `png_decode`, how arrays become files in `png_encode`.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InternalError, InvalidArgumentError
from tfrkit.images.codecs.decode_image import decode_as
from tfrkit.images.codecs.foreign_image import Pixels
from tfrkit.images.codecs.png.png_encode import encode_png_file
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.tensor_types import tensor_type_of
from tfrkit.values.attributes import int_attribute
from tfrkit.values.to_array import to_array

__all__ = ["decode_png", "encode_png"]

_TYPES: Final = ("uint8", "uint16")
_MAX_SIDE: Final = 1_000_000  # libpng's limit


def decode_png(contents: Any, channels: int = 0, dtype: Any = "uint8") -> Pixels:
    """Decode a PNG image to the same array as TensorFlow.

    Args:
        contents: the file, one string. As in TensorFlow, JPEG, WebP and GIF with one frame are decoded too.
        channels: 0 as stored, 1 gray, 3 RGB, 4 RGBA; palettes are expanded.
        dtype: uint8 or uint16. Samples of 16 bits keep their upper half as uint8, those of 8 bits are multiplied with
            257 as uint16.

    Returns:
        An array of shape (height, width, channels).

    Raises:
        InvalidArgumentError: the file is damaged or no image, or an argument is wrong.

    >>> import numpy as np
    >>> decode_png(encode_png(np.uint8([[[133, 246, 5]]])), channels=1).tolist()
    [[[184]]]
    """
    return decode_as("DecodePng", contents, channels, dtype, _TYPES)


def encode_png(image: Any, compression: int = -1) -> bytes | BytesColumn:
    """Encode images as PNG files, without loss.

    Args:
        image: uint8 or uint16 of shape (height, width, channels) with 1 to 4 channels (gray, gray and alpha, RGB,
            RGBA), or with dimensions of a batch before.
        compression: -1 for the default, or 0 (none) to 9 (smallest).

    Returns:
        The file; a BytesColumn of files for a batch. The bytes are not those that TensorFlow writes, the image is.

    Raises:
        InvalidArgumentError: the type, the shape or the compression is another.
        InternalError: a side has no pixels, or more than 1,000,000.
    """
    array = to_array(image)
    level = int_attribute(compression, "compression", -1)
    kind = tensor_type_of(array.dtype)
    if kind is None or kind.name not in _TYPES:
        named = kind.op_name if kind else array.dtype.name
        raise InvalidArgumentError(
            f"Value for attr 'T' of {named} is not in the list of allowed values: uint8, uint16"
        )
    if not -1 <= level <= 9:
        raise InvalidArgumentError(f"compression should be in [-1,9], got {level}")
    if array.ndim < 3:
        raise InvalidArgumentError(f"images must be at least rank 3[{','.join(map(str, array.shape))}]")
    return _encode_all(array, level)


def _encode_all(array: Pixels, level: int) -> bytes | BytesColumn:
    *batch, height, width, channels = array.shape
    if not 1 <= channels <= 4:
        raise InvalidArgumentError(f"image must have 1, 2, 3, or 4 channels, got {channels}")
    count = int(np.prod(batch, dtype=np.int64))
    if count and not (0 < height <= _MAX_SIDE and 0 < width <= _MAX_SIDE):
        raise InternalError(
            "PNG encoding failed at the following flattened batch indices: "
            f"{', '.join(map(str, range(count)))} (of {height} x {width} pixels)"
        )
    images = array.reshape(count, height, width, channels)
    files = [encode_png_file(image, level) for image in images]
    return files[0] if not batch else BytesColumn.from_list(files).reshape(tuple(batch))
