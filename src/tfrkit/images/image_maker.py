"""ImageMaker: an encoded image to an array of one size and type, in one step.

What `Dataset.decode_image` does with each byte string. A JPEG is decoded into memory that the
thread keeps, and resized from there straight into its place in a batch. Knows no pipelines.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.images.codecs.image_format import check_channels
from tfrkit.images.codecs.jpeg.jpeg_sized import decode_jpeg_sized
from tfrkit.images.normalize import Normalization
from tfrkit.images.resize.resize import resize, resize_into
from tfrkit.model.near_names import near_names

__all__ = ["ImageMaker", "image_size", "method_name", "round_image"]

Image = npt.NDArray[Any]

_KEPT_BYTES: Final = 64 << 20  # a thread keeps no more memory for decoding
_METHODS: Final = (
    "bilinear",
    "nearest",
    "bicubic",
    "area",
    "lanczos3",
    "lanczos5",
    "gaussian",
    "mitchellcubic",
)
_DTYPES: Final = (np.dtype(np.uint8), np.dtype(np.float32))


def image_size(size: Any) -> tuple[int, int]:
    """Check the height and width that a user passed.

    Raises:
        InvalidArgumentError: one is not positive.
        ValueError: they are not two integers; the texts are TensorFlow's.

    >>> image_size([96, np.int64(128)])
    (96, 128)
    """
    sizes = np.asarray(size)
    if sizes.shape != (2,):
        raise ValueError(
            f"'size' must be a 1-D Tensor of 2 elements: new_height, new_width; got {size!r:.60}"
        )
    if sizes.dtype.kind not in "iu":
        raise ValueError(f"'size' must be a 1-D int32 Tensor: got {size!r}")
    if sizes.min() < 1:
        raise InvalidArgumentError(f"output dimensions must be positive: got size={size}")
    return int(sizes[0]), int(sizes[1])


def method_name(method: Any) -> str:
    """The name of a method of `tfr.image.resize`, or of an enumeration's member whose value that is.

    Raises:
        ValueError: there is no such method; the text is TensorFlow's.
    """
    name = getattr(method, "value", method)
    if name not in _METHODS:
        raise ValueError(f"Resize method is not implemented: {name}. {near_names(str(name), _METHODS)}")
    return str(name)


def round_image(
    image: npt.NDArray[np.float32], out: npt.NDArray[np.uint8] | None = None
) -> npt.NDArray[np.uint8]:
    """Round to uint8: to the nearest integer, halves to even ones; what is outside 0 to 255 is cut off.

    Args:
        image: numbers.
        out: where the results go; by default a new array, and otherwise the numbers are changed as well.

    >>> round_image(np.float32([0.5, 1.5, -3, 260])).tolist()
    [0, 2, 0, 255]
    """
    whole = np.rint(image, out=None if out is None else image)
    np.clip(whole, 0, 255, out=whole)
    if out is None:
        return whole.astype(np.uint8)
    out[...] = whole
    return out


class _Scratch(threading.local):
    """Memory of a thread; its content is valid until the thread's next image."""

    def __init__(self) -> None:
        self.decoded = np.empty(0, np.uint8)
        self.resized = np.empty(0, np.float32)

    def bytes(self, size: int) -> npt.NDArray[np.uint8]:
        """Return at least `size` bytes."""
        if size > len(self.decoded):
            memory = np.empty(size, np.uint8)
            if size > _KEPT_BYTES:
                return memory
            self.decoded = memory
        return self.decoded

    def floats(self, shape: tuple[int, ...]) -> npt.NDArray[np.float32]:
        """Return an array of this shape."""
        size = int(np.prod(shape))
        if size > len(self.resized):
            self.resized = np.empty(size, np.float32)
        return self.resized[:size].reshape(shape)


_scratch = _Scratch()


def _decode_any(contents: Any, channels: int) -> Image:
    """Decode an image of any format, of an animation the first frame."""
    from tfrkit.images.codecs.decode_image import (
        decode_image,  # with all its decoders, which few pipelines need
    )

    return decode_image(contents, channels, expand_animations=False)


@dataclass(frozen=True)
class ImageMaker:
    """What to make of encoded images. Any number of threads may use it.

    Attributes:
        channels: 1, 3 or 4; 0 for as many as are stored.
        size: height and width; None leaves them.
        method: of `tfr.image.resize`.
        dtype: uint8 or float32. Values stay 0 to 255. A resized image is rounded to uint8 to the nearest integer,
            halves to even ones, after values outside are cut off.
        scaled: decode JPEGs at the smallest of the scales 1/8, 1/4 and 1/2 that still covers the size.
        antialias: of `tfr.image.resize`.
        change: what is done to the numbers at last; only with float32.
    """

    channels: int
    size: tuple[int, int] | None
    method: str
    dtype: np.dtype[Any]
    scaled: bool
    antialias: bool = False
    change: Normalization | None = None

    def __post_init__(self) -> None:
        """Check what a user passed.

        Raises:
            InvalidArgumentError: there is no such number of channels.
            ValueError: the type is neither uint8 nor float32, or there is no size to scale to.
        """
        check_channels(self.channels)
        if self.dtype not in _DTYPES:
            raise ValueError(
                f"expected dtype to be uint8 or float32 but got {self.dtype}. Use cast() for another."
            )
        if self.scaled and self.size is None:
            raise ValueError("scaled=True decodes to about a size: pass one, such as size=(224, 224)")

    @property
    def shape(self) -> tuple[int | None, int | None, int | None]:
        """Of the results, as far as it is known."""
        height, width = (None, None) if self.size is None else self.size
        return height, width, self.channels or None

    def make(self, contents: Any) -> Image:
        """Make an array of its own of one image.

        Raises:
            InvalidArgumentError: it cannot be decoded; the text is TensorFlow's.
        """
        if self.size is None:
            image = self._decode(contents, own=self.change is None)
            return image.astype(self.dtype, copy=False) if self.change is None else self.change(image)
        image = self._decode(contents, own=False)
        made = np.empty((*self.size, image.shape[2]), self.dtype)
        self._resize(image, made)
        return made

    def make_into(self, contents: Any, out: Image) -> None:
        """Make one image in an array of the type, the size and the number of channels, which must be set.

        Raises:
            InvalidArgumentError: it cannot be decoded; the text is TensorFlow's. The array then holds anything.
        """
        self._resize(self._decode(contents, own=False), out)

    def _decode(self, contents: Any, *, own: bool) -> Image:
        """Decode an image as it is stored; unless `own`, the result is valid until this thread's next image."""
        least = self.size if self.scaled and self.size is not None else (0, 0)
        memory = None if own else _scratch.bytes
        found = decode_jpeg_sized(contents, self.channels, least, memory)
        return _decode_any(contents, self.channels) if found is None else found

    def _resize(self, image: Image, out: Image) -> None:
        if self.method == "nearest":  # keeps the type
            out[...] = resize(image, out.shape[:2], self.method)
        elif self.change is not None and self.change.only_scales:
            resize_into(image, out, self.method, self.antialias, divide=self.change.scale)
            return
        elif out.dtype == np.float32:
            resize_into(image, out, self.method, self.antialias)
        else:
            exact = _scratch.floats(out.shape)
            resize_into(image, exact, self.method, self.antialias)
            round_image(exact, out)
        if self.change is not None:
            self.change(out, out)
