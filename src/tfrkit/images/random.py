"""Random changes of images: flips, crops, brightness, contrast, saturation, hue.

Every change exists twice: with state, so that each call draws other numbers (see `seeds`), and without, where two seeds
decide. Both draw TensorFlow's numbers, and so decide as it does.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError, UnimplementedError
from tfrkit.images.adjust import adjust_brightness, adjust_contrast, adjust_hue, adjust_saturation
from tfrkit.images.image_value import Image, as_image, check_at_least_3d, finish, is_batch
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.values.random import stateless_uniform, uniform
from tfrkit.values.random_arguments import as_type
from tfrkit.values.to_array import to_array

__all__ = [
    "random_brightness",
    "random_contrast",
    "random_crop",
    "random_flip_left_right",
    "random_flip_up_down",
    "random_hue",
    "random_saturation",
    "stateless_random_brightness",
    "stateless_random_contrast",
    "stateless_random_crop",
    "stateless_random_flip_left_right",
    "stateless_random_flip_up_down",
    "stateless_random_hue",
    "stateless_random_saturation",
]

Draw = Callable[..., Any]  # uniform numbers, with the seed given
_LARGEST: Final = 2**31 - 1


def random_flip_left_right(image: Any, seed: Any = None) -> Image:
    """Mirror an image at its middle column, or not; each of a batch by itself.

    Args:
        image: [height, width, channels], or a batch of them.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        ValueError: it has fewer or more dimensions.
    """
    return _random_flip(image, -2, partial(uniform, seed=seed))


def random_flip_up_down(image: Any, seed: Any = None) -> Image:
    """Mirror an image at its middle row, or not; each of a batch by itself.

    Args:
        image: [height, width, channels], or a batch of them.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        ValueError: it has fewer or more dimensions.
    """
    return _random_flip(image, -3, partial(uniform, seed=seed))


def stateless_random_flip_left_right(image: Any, seed: Any) -> Image:
    """Mirror an image at its middle column, or not, as the seeds decide; each of a batch by itself.

    Args:
        image: [height, width, channels], or a batch of them.
        seed: two integers.

    Raises:
        ValueError: the image has fewer or more dimensions.
        InvalidArgumentError: there are not two seeds.

    >>> stateless_random_flip_left_right([[[1], [2]]], (1, 2)).tolist()
    [[[1], [2]]]
    >>> stateless_random_flip_left_right([[[1], [2]]], (3, 4)).tolist()
    [[[2], [1]]]
    """
    return _random_flip(image, -2, partial(stateless_uniform, seed=seed))


def stateless_random_flip_up_down(image: Any, seed: Any) -> Image:
    """Mirror an image at its middle row, or not, as the seeds decide; each of a batch by itself.

    Args:
        image: [height, width, channels], or a batch of them.
        seed: two integers.

    Raises:
        ValueError: the image has fewer or more dimensions.
        InvalidArgumentError: there are not two seeds.
    """
    return _random_flip(image, -3, partial(stateless_uniform, seed=seed))


def _random_flip(image: Any, axis: int, draw: Draw) -> Image:
    array = as_image(image)
    check_at_least_3d(array)
    if not is_batch(array):
        return finish(np.flip(array, axis)) if draw([]) < 0.5 else array
    rounded = np.round(draw([len(array)])).reshape(-1, 1, 1, 1)
    flipped = np.flip(array, axis)
    if array.dtype == object:
        raise UnimplementedError("Cast float to string is not supported")
    if array.dtype == np.bool_:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype bool")
    if array.dtype.kind in "iu":
        return np.where(rounded != 0, flipped, array)
    factors = rounded.astype(array.dtype)
    with np.errstate(invalid="ignore"):  # a product is what TensorFlow takes, so that 0 times infinity is NaN
        made: Image = factors * flipped + (array.dtype.type(1) - factors) * array
    return made


def random_crop(value: Any, size: Any, seed: Any = None) -> Any:
    """Cut out a box of a size at a random place.

    Args:
        value: a tensor of any rank, such as an image.
        size: of the box, in every dimension.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        InvalidArgumentError: the box is larger than the tensor, or has another rank.

    >>> random_crop(np.zeros((4, 5, 3)), [2, 2, 3]).shape
    (2, 2, 3)
    """
    return _random_crop(value, size, partial(uniform, seed=seed))


def stateless_random_crop(value: Any, size: Any, seed: Any) -> Any:
    """Cut out a box of a size, at a place that the seeds decide.

    Args:
        value: a tensor of any rank, such as an image.
        size: of the box, in every dimension.
        seed: two integers.

    Raises:
        InvalidArgumentError: the box is larger than the tensor or has another rank, or there are not two seeds.

    >>> stateless_random_crop([1, 2, 3, 4], [2], seed=(1, 2)).tolist()
    [2, 3]
    """
    return _random_crop(value, size, partial(stateless_uniform, seed=seed))


def _random_crop(value: Any, size: Any, draw: Draw) -> Any:
    array = to_array(value)
    sizes = as_type(size, np.dtype(np.int32)).astype(np.int64)
    shape = np.array(array.shape, np.int64)
    try:
        fits = shape >= sizes
    except ValueError:
        raise InvalidArgumentError(f"Incompatible shapes: [{array.ndim}] vs. {_shown(sizes.shape)}") from None
    if not fits.all():
        listed = [", ".join(map(str, each.ravel().tolist())) for each in (shape, sizes)]
        raise InvalidArgumentError(
            "Expected 'tf.Tensor(False, shape=(), dtype=bool)' to be true. Summarized data: "
            f"b'Need value.shape >= size, got '\n{listed[0]}\n{listed[1]}"
        )
    begin = draw([array.ndim], maxval=_LARGEST, dtype="int32") % (shape - sizes + 1)
    if sizes.shape != shape.shape:
        raise InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {array.ndim}, but got shapes "
            f"{_shown(begin.shape)} and {_shown(sizes.shape)} instead."
        )
    return _slice(array, begin.tolist(), sizes.tolist())


def _shown(shape: tuple[int, ...]) -> str:
    return f"[{','.join(map(str, shape))}]"


def _slice(array: Any, begin: list[int], sizes: list[int]) -> Any:
    """Cut out a box; a size of -1 is the rest."""
    for axis, (first, size, whole) in enumerate(zip(begin, sizes, array.shape, strict=True)):
        if first > whole:
            raise InvalidArgumentError(f"Expected begin[{axis}] in [0, {whole}], but got {first}")
        if size < -1:
            raise InvalidArgumentError(f"Expected size[{axis}] in [0, {whole - first}], but got {size}")
    ends = [None if size == -1 else first + size for first, size in zip(begin, sizes, strict=True)]
    cut = array[tuple(slice(first, end) for first, end in zip(begin, ends, strict=True))]
    if not cut.ndim:
        return cut[()]
    return BytesColumn.from_list(cut) if cut.dtype == object else finish(cut)


def random_brightness(image: Any, max_delta: Any, seed: Any = None) -> Image:
    """Add a random number to all values; see `adjust_brightness`.

    Args:
        image: of any shape.
        max_delta: how much is added or taken away at most.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        ValueError: `max_delta` is negative.
    """
    return adjust_brightness(image, _delta(max_delta, None, partial(uniform, seed=seed)))


def stateless_random_brightness(image: Any, max_delta: Any, seed: Any) -> Image:
    """Add a number that the seeds decide to all values; see `adjust_brightness`.

    Args:
        image: of any shape.
        max_delta: how much is added or taken away at most.
        seed: two integers.

    Raises:
        ValueError: `max_delta` is negative.
        InvalidArgumentError: there are not two seeds.

    >>> stateless_random_brightness(np.uint8([[[100]]]), 0.2, (1, 2)).tolist()
    [[[135]]]
    """
    return adjust_brightness(image, _delta(max_delta, None, partial(stateless_uniform, seed=seed)))


def random_hue(image: Any, max_delta: Any, seed: Any = None) -> Image:
    """Turn all colours by a random angle; see `adjust_hue`.

    Args:
        image: [..., height, width, 3].
        max_delta: parts of the circle, at most 0.5.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        ValueError: `max_delta` is negative or above 0.5.
    """
    return adjust_hue(image, _delta(max_delta, 0.5, partial(uniform, seed=seed)))


def stateless_random_hue(image: Any, max_delta: Any, seed: Any) -> Image:
    """Turn all colours by an angle that the seeds decide; see `adjust_hue`.

    Args:
        image: [..., height, width, 3].
        max_delta: parts of the circle, at most 0.5.
        seed: two integers.

    Raises:
        ValueError: `max_delta` is negative or above 0.5.
        InvalidArgumentError: there are not two seeds.
    """
    return adjust_hue(image, _delta(max_delta, 0.5, partial(stateless_uniform, seed=seed)))


def _delta(limit: Any, most: float | None, draw: Draw) -> Any:
    if most is not None and limit > most:
        raise ValueError(f"max_delta must be <= {most}. Got {limit}.")
    if limit < 0:
        raise ValueError(f"max_delta must be non-negative. Got {limit}.")
    return draw([], minval=-limit, maxval=limit)


def random_contrast(image: Any, lower: Any, upper: Any, seed: Any = None) -> Image:
    """Multiply contrasts by a random factor; see `adjust_contrast`.

    Args:
        image: [..., height, width, channels].
        lower: the smallest factor.
        upper: what it stays below.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        ValueError: `lower` is negative, or `upper` not above it.
    """
    return adjust_contrast(image, _factor(lower, upper, partial(uniform, seed=seed)))


def stateless_random_contrast(image: Any, lower: Any, upper: Any, seed: Any) -> Image:
    """Multiply contrasts by a factor that the seeds decide; see `adjust_contrast`.

    Args:
        image: [..., height, width, channels].
        lower: the smallest factor.
        upper: what it stays below.
        seed: two integers.

    Raises:
        ValueError: `lower` is negative, or `upper` not above it.
        InvalidArgumentError: there are not two seeds.
    """
    return adjust_contrast(image, _factor(lower, upper, partial(stateless_uniform, seed=seed)))


def random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Image:
    """Multiply saturations by a random factor; see `adjust_saturation`.

    Args:
        image: [..., height, width, 3].
        lower: the smallest factor.
        upper: what it stays below.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        ValueError: `lower` is negative, or `upper` not above it.
    """
    return adjust_saturation(image, _factor(lower, upper, partial(uniform, seed=seed)))


def stateless_random_saturation(image: Any, lower: Any, upper: Any, seed: Any = None) -> Image:
    """Multiply saturations by a factor that the seeds decide; see `adjust_saturation`.

    Args:
        image: [..., height, width, 3].
        lower: the smallest factor.
        upper: what it stays below.
        seed: two integers.

    Raises:
        ValueError: `lower` is negative or `upper` not above it, or there is no seed.
        InvalidArgumentError: there are not two seeds.
    """
    return adjust_saturation(image, _factor(lower, upper, partial(stateless_uniform, seed=seed)))


def _factor(lower: Any, upper: Any, draw: Draw) -> Any:
    if upper <= lower:
        raise ValueError(f"upper must be > lower. Got lower={lower} and upper={upper}.")
    if lower < 0:
        raise ValueError(f"lower must be non-negative. Got {lower}.")
    return draw([], minval=lower, maxval=upper)
