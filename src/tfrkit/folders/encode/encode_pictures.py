"""Images of a feature to the files that are stored: files as they are, arrays as PNG or JPEG.

The way back is `decode/decode_pictures.py`.
"""

from __future__ import annotations

import os
from typing import Any, Final

import numpy as np

from tfrkit.errors import OpError
from tfrkit.folders.decode.stored_keys import BadValue
from tfrkit.folders.encode.encode_arrays import check_alike, check_shape
from tfrkit.folders.feature_tree import ImageFeature, show_shape
from tfrkit.images.codecs.image_header import BadImageError, read_image_header
from tfrkit.images.codecs.jpeg.jpeg_encode import encode_jpeg
from tfrkit.images.codecs.png.png import encode_png
from tfrkit.model.features import shown
from tfrkit.stores.files import read_bytes

__all__ = ["READ_FORMATS", "encode_pictures"]

READ_FORMATS: Final = ("PNG", "JPEG", "BMP")  # that TensorFlow Datasets reads as single images


def encode_pictures(values: Any, feature: ImageFeature, *, alike: bool) -> list[bytes]:
    """Return the files of images.

    Args:
        values: bytes of files, paths (`pathlib.Path`) of files, or arrays.
        feature: what each is.
        alike: all must have one size, as they become one array.

    Raises:
        BadValue: one does not fit.
        MissingExtraError: JPEG files of arrays need the extra `images`.
    """
    files, sizes = [], []
    for row, value in enumerate(values):
        try:
            made, size = _encode(value, feature)
        except (TypeError, ValueError) as error:
            raise BadValue(row, getattr(error, "message", str(error))) from None
        files.append(made)
        sizes.append(size)
    if alike:
        check_alike(sizes)
    return files


def _encode(value: Any, feature: ImageFeature) -> tuple[bytes, tuple[int, ...]]:
    """Return the file of an image, and its height and width."""
    if isinstance(value, os.PathLike):
        value = _read(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _checked(bytes(value), feature)
    if value is None or isinstance(value, str):
        raise ValueError(f"expected an array, the bytes of an image file, or its Path but got {shown(value)}")
    if len(feature.shape) != 3:
        raise ValueError(f"expected the bytes of a file, as it has frames, but got {shown(value)}")
    image = np.asarray(value)
    check_shape(image.shape, feature.shape)
    if image.dtype != feature.dtype:
        raise ValueError(f"expected pixels of {feature.dtype} but got {image.dtype}")
    if not image.size:
        raise ValueError(f"an image of the shape {show_shape(image.shape)} has no pixels")
    if image.dtype == np.float32:  # the four bytes of a number as those of a pixel
        image = np.ascontiguousarray(image, "<f4").view(np.uint8)
    made = encode_jpeg(image) if feature.file_format == "jpeg" else encode_png(image)
    assert isinstance(made, bytes)
    return made, image.shape[:2]


def _read(path: os.PathLike[Any]) -> bytes:
    try:
        return read_bytes(os.fsdecode(path))
    except OpError as error:
        raise ValueError(error.message) from error


def _checked(file: bytes, feature: ImageFeature) -> tuple[bytes, tuple[int, ...]]:
    """Return a file whose header fits the feature, and its height and width."""
    data = bytearray(file)
    try:
        header = read_image_header(data, 0, len(data))
    except BadImageError as error:
        raise ValueError(": ".join(filter(None, (error.reason, error.detail)))) from None
    size = (header.height, header.width)
    if len(feature.shape) == 3:  # else it has frames, which the header does not say
        check_shape(size, feature.shape[:2])
        if header.format not in READ_FORMATS:
            raise ValueError(
                f"expected a PNG, JPEG or BMP file, as TensorFlow reads them, but got {header.format}"
            )
        channels = 4 if feature.dtype == "float32" else feature.shape[-1]
        if header.format == "JPEG" and channels not in (1, 3, None):
            raise ValueError(f"expected a file with {channels} channels, such as PNG, but got JPEG")
    return file, size
