"""Image files of a column to pixels: into the rows of one array where all have one size, on native threads.

Which pixels a file has is the business of `images/`. Here is what a feature says of them: the shape, the type, and
float32, which is stored as the four bytes of a pixel. PNG files as encoders write them are decoded in one call, 1 us
for 28 x 28 pixels instead of 20 (benchmarks/tfds_folders.py); what that leaves is decoded one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.data.elements.columns import Column, RowList
from tfrkit.data.features.image_column import ByteViews, for_each_row
from tfrkit.errors import InvalidArgumentError, UnimplementedError
from tfrkit.folders.decode.stored_keys import BadValue
from tfrkit.folders.feature_tree import Dims, ImageFeature, show_shape
from tfrkit.images.codecs.decode_image import decode_image
from tfrkit.images.codecs.jpeg.jpeg_sized import decode_jpeg_sized
from tfrkit.model.bytes_column import BytesColumn

__all__ = ["decode_pictures"]

Image = npt.NDArray[Any]

_MOST_PIXELS: Final = 1 << 31  # of all images in one array
_FRAMES: Final = 4  # dimensions of an image with frames


def decode_pictures(column: BytesColumn, feature: ImageFeature, threads: int) -> Column:
    """Return the images, one for each byte string: one array if the feature says their size, else rows.

    Raises:
        BadValue: one is broken, or of another size.
        MissingExtraError: JPEG, GIF and WebP need the extra `images`.
    """
    sizes: Any = feature.shape
    # A size that is not so, which a feature may claim, allocates nothing: images in rows have the size of their files.
    fixed = all(sizes) and prod(sizes) * max(1, len(column)) <= _MOST_PIXELS
    images: Any = np.empty((len(column), *sizes), feature.dtype) if fixed else [None] * len(column)
    left = _decode_plain(column, feature, images, threads) if fixed else range(len(column))
    if left:
        work = partial(_decode_row, feature, ByteViews(column), images, left)
        number, error = for_each_row(len(left), threads, work)
        if isinstance(error, (InvalidArgumentError, UnimplementedError)):
            raise BadValue(left[number], f"its image cannot be decoded: {error.message}")
        if error is not None:
            raise error
    return images if fixed else RowList(images)


def _decode_plain(column: BytesColumn, feature: ImageFeature, images: Image, threads: int) -> Sequence[int]:
    """Decode plain PNG files of the feature's size; return the rows of all others, in order."""
    if feature.dtype != "uint8" or images.ndim == 1 + _FRAMES:
        return range(len(column))
    return _core.decode_png_files(column.data, column.offsets, images.shape[1:], images, threads)


def _decode_row(
    feature: ImageFeature, contents: ByteViews, images: Any, rows: Sequence[int], number: int
) -> None:
    image = _decode(contents[rows[number]], feature)
    _check_shape(image, feature.shape)
    images[rows[number]] = image


def _decode(contents: memoryview, feature: ImageFeature) -> Image:
    channels = feature.shape[-1] or 0
    if feature.dtype == "float32":
        pixels = decode_image(contents, 4, "uint8", expand_animations=False)
        floats: Image = np.ascontiguousarray(pixels).view("<f4").astype(np.float32, copy=False)
        return floats
    if feature.dtype == "uint8":
        found = decode_jpeg_sized(contents, channels)
        if found is not None:
            return found
    frames = len(feature.shape) == _FRAMES
    return decode_image(contents, channels, feature.dtype, expand_animations=frames)


def _check_shape(image: Image, shape: Dims) -> None:
    fits = image.ndim == len(shape) and all(
        not wanted or wanted == found for wanted, found in zip(shape, image.shape, strict=True)
    )
    if not fits:
        raise InvalidArgumentError(
            f"expected the shape {show_shape(shape)} but got {show_shape(image.shape)}"
        )
