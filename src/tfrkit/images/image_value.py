"""What image functions take: an array of three or four dimensions, checked as TensorFlow checks it.

Images are arrays [height, width, channels], batches of them [batch, height, width, channels]. Python's lists become
arrays by TensorFlow's rules. What is done with the pixels is in the other modules.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.values.to_array import to_array

__all__ = [
    "Image",
    "as_float",
    "as_image",
    "check_at_least_3d",
    "finish",
    "is_batch",
    "of_planes",
    "planes_of",
    "scalar_float",
]

Image = npt.NDArray[Any]
_FEW: Final = 4  # channels that photos have


def as_image(value: Any) -> Image:
    """Make an array of a value, in the byte order of this machine; it is not copied if it is one.

    >>> as_image([[[1]]]).dtype
    dtype('int32')
    """
    array = to_array(value)
    return array if array.dtype.isnative else array.astype(array.dtype.newbyteorder("="))


def check_at_least_3d(image: Image) -> None:
    """Check that there are a height, a width and channels, and that none is 0.

    Raises:
        ValueError: one is missing or 0; the text is TensorFlow's.
    """
    if image.ndim < 3:
        raise ValueError(f"'image' (shape {image.shape}) must be at least three-dimensional.")
    if 0 in image.shape[-3:]:
        raise ValueError(f"inner 3 dims of 'image.shape' must be > 0: {image.shape}")


def is_batch(image: Image, gap: str = " ") -> bool:
    """Whether an array is a batch of images rather than one.

    Args:
        image: an array.
        gap: between the words of TensorFlow's message.

    Raises:
        ValueError: it is neither.
    """
    if image.ndim not in {3, 4}:
        raise ValueError(f"'image' (shape {image.shape}){gap}must have either 3 or 4 dimensions.")
    return image.ndim == 4


def finish(image: Image) -> Image:
    """Make an array of its own of a view with gaps or turned round, as tensors are.

    Where neighbouring pixels are not neighbours in memory, channel by channel: 4 times as fast as pixel by pixel.
    """
    channels = image.shape[-1] if image.ndim >= 2 else 0
    if not 1 < channels <= _FEW or image.strides[-2] == channels * image.itemsize:
        return np.ascontiguousarray(image)
    made = np.empty(image.shape, image.dtype)
    for channel in range(channels):
        made[..., channel] = image[..., channel]
    return made


def planes_of(image: Image) -> tuple[Image, Image, Image]:
    """The three channels of an image, each in a piece, so that numpy is quick with them."""
    red, green, blue = np.ascontiguousarray(image.reshape(-1, 3).T)
    return red, green, blue


def of_planes(planes: Iterable[Image], shape: tuple[int, ...]) -> Image:
    """An image of that shape out of its three channels."""
    made: Image | None = None
    for channel, plane in enumerate(planes):
        if made is None:
            made = np.empty((plane.size, 3), plane.dtype)
        made[:, channel] = plane
    assert made is not None
    return made.reshape(shape)


def scalar_float(value: Any, what: str) -> np.float32:
    """Make a float32 of a number, or of an array without dimensions.

    Args:
        value: a number.
        what: its name in the message.

    Raises:
        TypeError: it is not a number.
        InvalidArgumentError: it is several numbers.
    """
    array = to_array(value)
    if array.dtype.kind not in "iufb":
        raise TypeError(f"Cannot convert {value!r} to EagerTensor of dtype float")
    if array.ndim:
        raise InvalidArgumentError(f"{what} must be scalar: [{','.join(map(str, array.shape))}]")
    return np.float32(array[()])


def as_float(image: Image) -> Image:
    """The same numbers as float32."""
    return image if image.dtype == np.float32 else image.astype(np.float32)
