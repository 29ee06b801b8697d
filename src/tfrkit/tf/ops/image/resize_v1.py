"""The resizing functions of TensorFlow 1, which place pixels differently: compat.v1.image.resize and its parts.

They place pixels at their upper left corners, or with `align_corners` so that the corner pixels of both images
coincide; with `half_pixel_centers` as TensorFlow 2 does.
"""

from __future__ import annotations

from typing import Any, Final

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.resize.resize import Array, as_images, check_images, check_type, run_resize
from tfrkit.images.resize.resize_fit import fit_with_pad
from tfrkit.images.resize.resize_size import fitting_size, int32_array, output_size
from tfrkit.tf.tensors.unsized import is_unsized
from tfrkit.values.attributes import bool_attribute
from tfrkit.values.seeds import in_scope
from tfrkit.values.to_array import to_array

__all__ = [
    "ResizeMethodV1",
    "resize_area",
    "resize_bicubic",
    "resize_bilinear",
    "resize_image_with_pad",
    "resize_images",
    "resize_nearest_neighbor",
]


class ResizeMethodV1:
    """The numbers of the methods of `resize_images`.

    >>> ResizeMethodV1.AREA
    3
    """

    BILINEAR = 0
    NEAREST_NEIGHBOR = 1
    BICUBIC = 2
    AREA = 3


# Numbers of core/images/resize.h.
_NEAREST: Final = 0
_BILINEAR: Final = 1
_BICUBIC: Final = 2
_AREA: Final = 3
_HALF_PIXEL: Final = 0
_CORNER: Final = 1
_ALIGNED: Final = 2
_METHODS: Final[dict[Any, int]] = {
    0: _BILINEAR, 1: _NEAREST, 2: _BICUBIC, 3: _AREA,
    "bilinear": _BILINEAR, "nearest": _NEAREST, "bicubic": _BICUBIC, "area": _AREA,
}  # fmt: skip


def resize_images(
    images: Any,
    size: Any,
    method: Any = ResizeMethodV1.BILINEAR,
    align_corners: bool = False,
    preserve_aspect_ratio: bool = False,
) -> Array:
    """Resize images as TensorFlow 1 does.

    Args:
        images: an image of (height, width, channels) or a batch of them.
        size: new height and width.
        method: one of the numbers of `ResizeMethodV1`, or its name in `ResizeMethod`.
        align_corners: let the centres of the corner pixels coincide.
        preserve_aspect_ratio: take the largest size within `size` that has the shape of the images.

    Returns:
        float32; with nearest neighbours, or if the images have the size already, their own type. In functions of which
        TensorFlow makes graphs, decoded images are resized all the same, as it does not know their sizes.

    Raises:
        ValueError: the images do not have 3 or 4 dimensions, `size` is not two integers, or the method is unknown.
        InvalidArgumentError: images of another type, or with nothing in them; a size that is not positive.

    >>> resize_images([[[0], [10]]], (1, 4)).ravel().tolist(), resize_images([[[0], [10]]], (1, 2)).dtype
    ([0.0, 5.0, 10.0, 10.0], dtype('int32'))
    """
    array = as_images(images)
    unknown = in_scope() and (preserve_aspect_ratio or is_unsized(images))  # to TensorFlow, in a graph
    height, width = output_size(size)
    if preserve_aspect_ratio:
        height, width = fitting_size(array.shape[-3:-1], height, width)
    if height < -1 or width < -1:
        raise ValueError(f"Dimension {height if height < -1 else width} must be >= 0")
    if (height, width) == array.shape[-3:-1] and not unknown:
        return array
    return _resize_anyway(array, (height, width), method, align_corners)


def _resize_anyway(array: Array, size: tuple[int, int], method: Any, align_corners: bool) -> Array:
    """Resize as `resize_images` does, also to the size that the images have."""
    try:
        number = _METHODS.get(method)
    except TypeError:  # something that cannot be a key
        number = None
    if number is None:
        raise ValueError(f"Resize method is not implemented: {method}. Use a name of tf.image.ResizeMethod.")
    aligned = bool_attribute(align_corners, "align_corners", False)
    return run_resize(array, *size, number, _ALIGNED if aligned else _CORNER, False)


def resize_image_with_pad(
    image: Any,
    target_height: Any,
    target_width: Any,
    method: Any = ResizeMethodV1.BILINEAR,
    align_corners: bool = False,
) -> Array:
    """Do what `resize_with_pad` does, with the resizing of TensorFlow 1.

    Args:
        image: [height, width, channels], or a batch of them.
        target_height: rows of the result.
        target_width: its columns.
        method: as of `resize_images`.
        align_corners: as of `resize_images`.

    >>> resize_image_with_pad([[[1], [1]]] * 2, 2, 4)[0, :, 0].tolist()
    [0, 1, 1, 0]
    """
    resizer = (
        _resize_anyway if in_scope() else resize_images
    )  # sizes that a graph computes are not known beforehand
    return fit_with_pad(
        image,
        target_height,
        target_width,
        lambda array, size: resizer(array, size, method, align_corners),
    )


def resize_bilinear(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Array:
    """Resize a batch of images by mixing neighbours; returns float32.

    Args:
        images: (batch, height, width, channels).
        size: new height and width.
        align_corners: let the centres of the corner pixels coincide.
        name: ignored; TensorFlow has it.
        half_pixel_centers: place pixels as TensorFlow 2 does.

    Raises:
        InvalidArgumentError: images or size are not of such shapes or types, or pixels are to lie in two ways.

    >>> resize_bilinear([[[[0], [10]]]], [1, 3], align_corners=True).ravel().tolist()
    [0.0, 5.0, 10.0]
    """
    return _resize(images, size, align_corners, half_pixel_centers, _BILINEAR)


def resize_nearest_neighbor(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Array:
    """Resize a batch of images by copying pixels; keeps the type. See `resize_bilinear`.

    >>> resize_nearest_neighbor([[[[0], [10]]]], [1, 4]).ravel().tolist()
    [0, 0, 10, 10]
    """
    return _resize(images, size, align_corners, half_pixel_centers, _NEAREST)


def resize_bicubic(
    images: Any,
    size: Any,
    align_corners: bool = False,
    name: str | None = None,
    half_pixel_centers: bool = False,
) -> Array:
    """Resize a batch of images by a cubic through 4 x 4 neighbours; returns float32. See `resize_bilinear`.

    >>> resize_bicubic([[[[0], [10]]]], [1, 4]).ravel().tolist()
    [0.0, 5.0, 10.0, 10.9375]
    """
    return _resize(images, size, align_corners, half_pixel_centers, _BICUBIC)


def resize_area(images: Any, size: Any, align_corners: bool = False) -> Array:
    """Resize a batch of images by averaging what each pixel covers; returns float32. See `resize_bilinear`.

    >>> resize_area([[[[0], [10], [20], [30]]]], [1, 2]).ravel().tolist()
    [5.0, 25.0]
    """
    return _resize(images, size, align_corners, False, _AREA)


def _resize(images: Any, size: Any, align_corners: Any, half_pixel_centers: Any, number: int) -> Array:
    aligned = bool_attribute(align_corners, "align_corners", False)
    half_pixel = bool_attribute(half_pixel_centers, "half_pixel_centers", False)
    array = to_array(images)
    numbers = int32_array(size)
    check_type(array.dtype, number)
    if aligned and half_pixel:
        raise InvalidArgumentError("If half_pixel_centers is True, align_corners must be False.")
    if array.ndim != 4:
        raise InvalidArgumentError(f"input must be 4-dimensional{_shown(array.shape)}")
    check_images(array)
    if numbers.ndim != 1:
        raise InvalidArgumentError(f"shape_t must be 1-dimensional{_shown(numbers.shape)}")
    if numbers.shape != (2,):
        raise InvalidArgumentError(f"shape_t must have two elements{_shown(numbers.shape)}")
    height, width = numbers.tolist()
    centers = _HALF_PIXEL if half_pixel else _ALIGNED if aligned else _CORNER
    return run_resize(as_images(array), height, width, number, centers, False)


def _shown(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"
