"""Measures of images: how alike two are, and how much one changes from pixel to pixel."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.dtype import convert_image_dtype
from tfrkit.images.image_value import Image, as_image
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import dtype_name

__all__ = ["image_gradients", "psnr", "sobel_edges", "ssim", "ssim_multiscale"]

_FLOATS: Final = ("half", "bfloat16", "float", "double")
_SOBEL: Final = ((-1, -2, -1), (0, 0, 0), (1, 2, 1))
_POWERS: Final = (0.0448, 0.2856, 0.3001, 0.2363, 0.1333)


def psnr(a: Any, b: Any, max_val: Any) -> Any:
    """Give the peak signal-to-noise ratio of images, in decibels.

    Args:
        a: [..., height, width, channels].
        b: of the same shape.
        max_val: the range of values, such as 255.

    Returns:
        A float32, or one for every pair of images.

    Raises:
        InvalidArgumentError: there is no difference of such shapes.
        ValueError: the shapes do not fit otherwise.

    >>> round(float(psnr(np.uint8([[[0]]]), np.uint8([[[51]]]), 255)), 3)
    13.979
    """
    first, second = as_image(a), as_image(b)
    most = float(_most(max_val, first.dtype))
    one, other = (convert_image_dtype(image, np.float32).astype(np.float64) for image in (first, second))
    _check_difference(one, other)
    _check_pair(first, second)
    error = np.square(one - other).mean((-3, -2, -1))
    with np.errstate(divide="ignore"):
        return (20 * np.log10(most) - 10 * np.log10(error)).astype(np.float32)


def _most(max_val: Any, dtype: np.dtype[Any]) -> Any:
    return convert_image_dtype(np.asarray(max_val).astype(dtype), np.float32)[()]


def _check_difference(one: Image, other: Image) -> None:
    """See that there is one, and that it has the dimensions of images."""
    try:
        rank = len(np.broadcast_shapes(one.shape, other.shape))
    except ValueError:
        shapes = [f"[{','.join(map(str, each.shape))}]" for each in (one, other)]
        raise InvalidArgumentError(f"Incompatible shapes: {shapes[0]} vs. {shapes[1]}") from None
    if rank < 3:
        raise InvalidArgumentError(f"Invalid reduction dimension (-3 for input with {rank} dimension(s)")


def _check_pair(first: Image, second: Image) -> None:
    for image in (first, second):
        if image.ndim < 3:
            raise ValueError(f"Shape {image.shape} must have rank at least 3")
    if first.shape[-3:] != second.shape[-3:]:
        raise ValueError(f"Shapes {first.shape[-3:]} and {second.shape[-3:]} are incompatible")
    pairs = zip(reversed(first.shape[:-3]), reversed(second.shape[:-3]), strict=False)
    if any(one != other and 1 not in (one, other) for one, other in pairs):
        raise ValueError(f"Two images are not compatible: {first.shape} and {second.shape}")


def ssim(
    img1: Any,
    img2: Any,
    max_val: Any,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
    return_index_map: bool = False,
) -> Any:
    """Give the structural similarity of images (Wang and others, 2004).

    Args:
        img1: [..., height, width, channels].
        img2: of the same shape.
        max_val: the range of values, such as 255.
        filter_size: of the Gaussian window.
        filter_sigma: its width.
        k1: a small constant.
        k2: another.
        return_index_map: whether to give the similarity at every place.

    Returns:
        A float32, or one for every pair of images; or a map for each.

    Raises:
        ValueError: the shapes do not fit.
        InvalidArgumentError: images are smaller than the window.

    >>> float(ssim(np.zeros((11, 11, 1)), np.zeros((11, 11, 1)), 1.0))
    1.0
    """
    first, second = as_image(img1), as_image(img2)
    _check_pair(first, second)
    most = float(_most(max_val, first.dtype))
    one, other = (convert_image_dtype(image, np.float32).astype(np.float64) for image in (first, second))
    _check_window(one, filter_size)
    weights = _gauss(filter_size, filter_sigma)
    index, _ = _index(one, other, weights, (k1 * most) ** 2, (k2 * most) ** 2)
    made = (index if return_index_map else index.mean((-3, -2))).mean(-1)
    return made.astype(np.float32) if made.ndim else np.float32(made)


def ssim_multiscale(
    img1: Any,
    img2: Any,
    max_val: Any,
    power_factors: Any = _POWERS,
    filter_size: int = 11,
    filter_sigma: float = 1.5,
    k1: float = 0.01,
    k2: float = 0.03,
) -> Any:
    """Give the structural similarity of images at several scales (Wang and others, 2003).

    Args:
        img1: [..., height, width, channels].
        img2: of the same shape.
        max_val: the range of values, such as 255.
        power_factors: a weight for each scale; every one has half the height and width of the one before.
        filter_size: of the Gaussian window.
        filter_sigma: its width.
        k1: a small constant.
        k2: another.

    Returns:
        A float32, or one for every pair of images.

    Raises:
        ValueError: the shapes do not fit.
        InvalidArgumentError: images are smaller than the window at some scale.

    >>> float(ssim_multiscale(np.zeros((22, 22, 1)), np.zeros((22, 22, 1)), 1.0, (0.5, 0.5)))
    1.0
    """
    first, second = as_image(img1), as_image(img2)
    _check_pair(first, second)
    most = float(_most(max_val, first.dtype))
    one, other = (convert_image_dtype(image, np.float32).astype(np.float64) for image in (first, second))
    weights = _gauss(filter_size, filter_sigma)
    found, powers = 1.0, list(power_factors)
    for number, power in enumerate(powers):
        if number:
            one, other = _halved(one), _halved(other)
        _check_window(one, filter_size)
        both, structure = _index(one, other, weights, (k1 * most) ** 2, (k2 * most) ** 2)
        part = both if number == len(powers) - 1 else structure
        found = found * np.maximum(part.mean((-3, -2)), 0) ** float(power)
    made = np.mean(found, -1)
    return made.astype(np.float32) if made.ndim else np.float32(made)


def _halved(image: Image) -> Image:
    """The means of blocks of 2 x 2 pixels; an odd last row or column counts twice."""
    edges = [(0, 0)] * (image.ndim - 3) + [(0, size % 2) for size in image.shape[-3:-1]] + [(0, 0)]
    even = np.pad(image, edges, "edge")
    rows = even[..., ::2, :, :] + even[..., 1::2, :, :]
    made: Image = (rows[..., ::2, :] + rows[..., 1::2, :]) / 4
    return made


def _check_window(image: Image, filter_size: int) -> None:
    if min(image.shape[-3:-1]) < filter_size:
        raise InvalidArgumentError(
            "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
            f"{', '.join(map(str, image.shape))}\n{filter_size}"
        )


def _gauss(size: int, sigma: float) -> Image:
    places = np.arange(size) - (size - 1) / 2
    weights = np.exp(-0.5 * np.square(places / sigma))
    made: Image = weights / weights.sum()
    return made


def _index(one: Image, other: Image, weights: Image, least: float, least2: float) -> tuple[Image, Image]:
    """The similarity at every place, and the part of it that is not the brightness."""
    mean, mean2 = _blurred(one, weights), _blurred(other, weights)
    product, squares = mean * mean2 * 2, np.square(mean) + np.square(mean2)
    luminance = (product + least) / (squares + least)
    common = _blurred(one * other, weights) * 2 - product
    spread = _blurred(np.square(one) + np.square(other), weights) - squares
    structure: Image = (common + least2) / (spread + least2)
    return luminance * structure, structure


def _blurred(image: Image, weights: Image) -> Image:
    """The weighted mean of every window; a Gaussian one is that of columns of that of rows."""
    for axis in (-3, -2):
        windows = np.lib.stride_tricks.sliding_window_view(image, len(weights), axis)
        image = windows @ weights
    return image


def image_gradients(image: Any) -> tuple[Image, Image]:
    """Give the differences to the next row and to the next column; those of the last are 0.

    Args:
        image: [batch, height, width, channels].

    Raises:
        ValueError: it has fewer or more dimensions.

    >>> [each.ravel().tolist() for each in image_gradients([[[[1], [3]], [[2], [7]]]])]
    [[1, 4, 0, 0], [2, 0, 5, 0]]
    """
    array = as_image(image)
    if array.ndim != 4:
        raise ValueError(f"image_gradients expects a 4D tensor [batch_size, h, w, d], not {array.shape}.")
    down, across = np.zeros_like(array), np.zeros_like(array)
    down[:, :-1] = array[:, 1:] - array[:, :-1]
    across[:, :, :-1] = array[:, :, 1:] - array[:, :, :-1]
    return down, across


def sobel_edges(image: Any) -> Image:
    """Give Sobel's gradients downwards and to the right, of the image mirrored at its edges.

    Args:
        image: [batch, height, width, channels], of floats; at least two pixels high and wide.

    Returns:
        [batch, height, width, channels, 2].

    Raises:
        InvalidArgumentError: it has another rank or type, or is too small.

    >>> sobel_edges(np.float32([[[[0], [1]], [[2], [5]]]])).shape
    (1, 2, 2, 1, 2)
    """
    array = as_image(image)
    _check_edges(array)
    height, width = array.shape[1:3]
    wide = array if array.dtype.kind == "f" else array.astype(np.float32)
    padded = np.pad(wide, ((0, 0), (1, 1), (1, 1), (0, 0)), "reflect")
    made = np.zeros((*array.shape, 2), wide.dtype)
    for row, column in np.ndindex(3, 3):  # added in this order, as TensorFlow does
        pixels = padded[:, row : row + height, column : column + width]
        for axis, factor in enumerate((_SOBEL[row][column], _SOBEL[column][row])):
            if factor:
                made[..., axis] += pixels * wide.dtype.type(factor)
    return made.astype(array.dtype, copy=False)


def _check_edges(image: Image) -> None:
    """See that an image can be mirrored at its edges, and multiplied by floats."""
    if image.ndim != 4:
        raise InvalidArgumentError(
            f"The first dimension of paddings must be the rank of inputs[4,2], [{','.join(map(str, image.shape))}]"
        )
    for size, width in zip(image.shape, (0, 1, 1, 0), strict=True):
        if size <= width:
            raise InvalidArgumentError(
                f"paddings must be less than the dimension size: {width}, {width} not less than {size}"
            )
    name = op_name(dtype_name(image.dtype))
    if name not in _FLOATS:
        raise InvalidArgumentError(
            f"Value for attr 'T' of {name} is not in the list of allowed values: {', '.join(_FLOATS)}"
        )
