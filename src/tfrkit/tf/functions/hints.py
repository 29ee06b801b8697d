"""The dtypes that operations give to arguments that are not Tensors.

An operation takes a Tensor's array as much as a user's own; TensorFlow tells the two apart in a few places, so `lift`
converts the others before it calls the operation.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from tfrkit.images.resize.resize_size import NO_INTEGERS

__all__ = ["HINTS", "Hint"]


class Hint(NamedTuple):
    """The dtype of one argument of an operation.

    Attributes:
        name: of the argument.
        dtype: what values of numpy and Python become, if they can.
        refusal: the error for Tensors of other dtypes; other values then stay as they are.
    """

    name: str
    dtype: str
    refusal: str = ""


_SIZE: Final = Hint("size", "int32", NO_INTEGERS)
_IMAGES: Final = Hint("images", "float32")

HINTS: Final[dict[str, Hint]] = {  # by the last part of TensorFlow's name
    "resize": _SIZE,
    "resize_images": _SIZE,
    "draw_bounding_boxes": _IMAGES,
    "hsv_to_rgb": _IMAGES,
    "rgb_to_hsv": _IMAGES,
}
