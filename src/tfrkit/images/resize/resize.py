"""resize: images of another size, with TensorFlow's numbers bit for bit.

The kernels (`core/images/resize.cc`) run without the GIL, one image after another. Here are the checks, in
TensorFlow's order and with its texts. Fitting into a size without distortion is in `resize_fit`, TensorFlow 1's
functions are in `tf.ops.image.resize_v1`.
"""

from __future__ import annotations

from typing import Any, Final, NoReturn

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError, ResourceExhaustedError
from tfrkit.images.resize.resize_size import fitting_size, output_size
from tfrkit.model.near_names import near_names
from tfrkit.model.tensor_types import tensor_type_of
from tfrkit.values.attributes import bool_attribute
from tfrkit.values.to_array import to_array

__all__ = ["ResizeMethod", "as_images", "check_images", "check_type", "resize", "resize_into", "run_resize"]

Array = npt.NDArray[Any]


class ResizeMethod:
    """The names of the methods of `resize`.

    >>> ResizeMethod.NEAREST_NEIGHBOR
    'nearest'
    """

    BILINEAR = "bilinear"
    NEAREST_NEIGHBOR = "nearest"
    BICUBIC = "bicubic"
    AREA = "area"
    LANCZOS3 = "lanczos3"
    LANCZOS5 = "lanczos5"
    GAUSSIAN = "gaussian"
    MITCHELLCUBIC = "mitchellcubic"


# Numbers of core/images/resize.h.
NEAREST: Final = 0
AREA: Final = 3
FIRST_FILTER: Final = 4
_HALF_PIXEL: Final = 0
_CORNER: Final = 1
_BFLOAT16: Final = 7
_TYPES: Final = {
    "B": 0, "b": 1, "H": 2, "h": 3, "i": 4, "l": 5, "q": 5, "e": 6, "E": _BFLOAT16, "f": 8, "d": 9,
}  # fmt: skip
_KERNELS: Final = {"nearest": NEAREST, "bilinear": 1, "bicubic": 2, "area": AREA}
_FILTERS: Final = {"mitchellcubic": 6, "gaussian": 7, "lanczos3": 8, "lanczos5": 9}
_SPREAD: Final = {"bilinear": 4, "bicubic": 5}  # the filters that take the kernels' place with antialias
_LISTED: Final = "int8, uint8, int16, uint16, int32, int64"
_FLOAT32: Final = np.dtype(np.float32)
_LARGEST: Final = 2**63 - 1
_NUMPY_NAMES: Final = {"M": "NPY_DATETIME", "m": "NPY_TIMEDELTA", "g": "NPY_LONGDOUBLE"}


def resize(
    images: Any,
    size: Any,
    method: str = ResizeMethod.BILINEAR,
    preserve_aspect_ratio: bool = False,
    antialias: bool = False,
) -> Array:
    """Resize images.

    Args:
        images: an image of (height, width, channels) or a batch of them, of int8, uint8, int16, uint16, int32, int64,
            float16, bfloat16, float32 or float64.
        size: new height and width.
        method: one of the names of `ResizeMethod`.
        preserve_aspect_ratio: take the largest size within `size` that has the shape of the images.
        antialias: average over all input pixels when an image shrinks. It changes nothing for "nearest" and "area".

    Returns:
        float32; with "nearest" the type of the images.

    Raises:
        ValueError: the images do not have 3 or 4 dimensions, `size` is not two integers, or the method is unknown.
        InvalidArgumentError: images of another type, or with nothing in them; a size that is not positive.
        ResourceExhaustedError: there is not enough memory for the result.

    >>> image = np.array([[[0], [10]], [[20], [30]]], np.uint8)
    >>> resize(image, (2, 4))[:, :, 0].tolist()
    [[0.0, 2.5, 7.5, 10.0], [20.0, 22.5, 27.5, 30.0]]
    >>> resize(image, [1, 1], "area").tolist(), resize(image, [1, 2], "nearest").tolist()
    ([[[15.0]]], [[[20], [30]]])
    """
    array = as_images(images)
    height, width = output_size(size)
    if preserve_aspect_ratio:
        height, width = fitting_size(array.shape[-3:-1], height, width)
    if height < -1 or width < -1:
        raise ValueError(f"Dimension {height if height < -1 else width} must be >= 0")
    number = _number_of(method, antialias)
    return run_resize(array, height, width, number, _CORNER if number == AREA else _HALF_PIXEL, antialias)


def resize_into(
    images: Any,
    out: Array,
    method: str = ResizeMethod.BILINEAR,
    antialias: bool = False,
    *,
    multiply: float | None = None,
    divide: float | None = None,
) -> None:
    """Resize into an existing array, such as a row of a batch.

    Args:
        images: as of `resize`.
        out: C-contiguous and writable, of the wanted shape; float32, or the type of the images with "nearest".
        method: as of `resize`.
        antialias: as of `resize`.
        multiply: a number to multiply the result by, as float32 and as numpy does.
        divide: a number to divide the result by; not together with `multiply`.

    Raises:
        ValueError: `out` is not of this kind, or `multiply` or `divide` come with "nearest".

    >>> batch = np.zeros((2, 1, 2, 1), np.float32)
    >>> resize_into(np.full((4, 4, 1), 51, np.uint8), batch[1], divide=255)
    >>> batch[:, 0, 0, 0].tolist()
    [0.0, 0.20000000298023224]
    """
    array = as_images(images)
    number = _number_of(method, antialias)
    if out.ndim != array.ndim or out.shape[-1] != array.shape[-1] or out.shape[:-3] != array.shape[:-3]:
        raise ValueError(f"expected an array of shape (..., {array.shape[-1]}) but got {out.shape}")
    dtype = array.dtype if number == NEAREST else _FLOAT32
    if out.dtype != dtype or not out.flags.c_contiguous:
        raise ValueError(
            f"expected a C-contiguous array of {dtype} but got {out.dtype}, strides {out.strides}"
        )
    if number == NEAREST and not (multiply is None and divide is None):
        raise ValueError("expected no factor with 'nearest'. Scale the result, or use another method.")
    if multiply is not None and divide is not None:
        raise ValueError("expected multiply or divide, not both")
    height, width = out.shape[-3:-1]
    _check(array, height, width, number)
    last = (
        (1, float(multiply)) if multiply is not None else (0, 1.0) if divide is None else (2, float(divide))
    )
    code = _TYPES[array.dtype.char]
    how = (code, number, _CORNER if number == AREA else _HALF_PIXEL, bool(antialias))
    foreign = code == _BFLOAT16  # which has no buffer protocol
    shape = array.shape if array.ndim == 4 else (1, *array.shape)
    target: Any = out.view(np.uint16) if foreign and number == NEAREST else out
    _core.resize_into(array.view(np.uint16) if foreign else array, shape, (height, width), how, last, target)


def as_images(images: Any) -> Array:
    """Return images as a C-contiguous array of the machine's byte order, with 3 or 4 dimensions."""
    array = images if type(images) is np.ndarray else to_array(images)
    if array.ndim not in (3, 4):
        raise ValueError(f"'images' must have either 3 or 4 dimensions. Got shape {array.shape}.")
    if array.flags.c_contiguous and array.dtype.isnative:
        return array
    return np.ascontiguousarray(array, array.dtype.newbyteorder("="))


def run_resize(array: Array, height: int, width: int, number: int, centers: int, antialias: bool) -> Array:
    """Check what TensorFlow's kernels check, and resize.

    Args:
        array: from `as_images`.
        height: of the result.
        width: of the result.
        number: of the method in core/images/resize.h.
        centers: where pixels lie, by its number there.
        antialias: whether filters are spread.
    """
    _check(array, height, width, number)
    shape = array.shape if array.ndim == 4 else (1, *array.shape)
    code = _TYPES[array.dtype.char]
    plain = array.view(np.uint16) if code == _BFLOAT16 else array
    try:
        buffer = _core.resize(plain, shape, (height, width), (code, number, centers, bool(antialias)))
    except MemoryError:
        _raise_no_memory(array, height, width, number)
    out_shape = (*array.shape[:-3], height, width, array.shape[-1])
    return np.ndarray(out_shape, array.dtype if number == NEAREST else _FLOAT32, buffer)


def _number_of(method: Any, antialias: Any) -> int:
    """The number of a method."""
    try:
        found = _KERNELS.get(method)
        if found is not None and not (antialias and method in _SPREAD):
            return found
        found = _SPREAD.get(method) or _FILTERS.get(method)
    except TypeError:  # something that cannot be a key
        found = None
    if found is None:
        raise ValueError(
            f"Resize method is not implemented: {method}. {near_names(str(method), _KERNELS | _FILTERS)}"
        )
    bool_attribute(antialias, "antialias", False)
    return found


def _check(array: Array, height: int, width: int, number: int) -> None:
    """Check that an operation can be run, in the order of TensorFlow's kernels."""
    check_type(array.dtype, number)
    if number >= FIRST_FILTER and (height <= 0 or width <= 0):
        raise InvalidArgumentError(f"output dimensions must be positive, got {height} x {width}")
    check_images(array)
    if height <= 0 or width <= 0:
        raise InvalidArgumentError(f"output dimensions must be positive, got {height} x {width}")


def check_images(array: Array) -> None:
    """Check that images have pixels.

    Raises:
        InvalidArgumentError: they have none.
    """
    if not array.shape[-1]:
        raise InvalidArgumentError(f"image must have at least one channel, got shape {array.shape}")
    if not (array.shape[-3] and array.shape[-2]):
        raise InvalidArgumentError(f"input image must be of non-zero size, got shape {array.shape}")


def check_type(dtype: np.dtype[Any], number: int) -> None:
    """Check that images of a type can be resized.

    Args:
        dtype: the type.
        number: of the method in core/images/resize.h.

    Raises:
        InvalidArgumentError: they cannot.
        ValueError: TensorFlow has no tensors of this type.
    """
    if dtype.char in _TYPES:
        return
    found = tensor_type_of(dtype)
    if found is None:
        name = _NUMPY_NAMES.get(dtype.char, str(dtype))
        raise ValueError(f"Failed to convert a NumPy array to a Tensor (Unsupported numpy type: {name}).")
    if number >= FIRST_FILTER:
        listed = f"{_LISTED}, bfloat16, half, float, double"
    else:
        listed = f"{_LISTED}, {'bfloat16, ' if number == 1 else ''}half, float, double, bfloat16"
    raise InvalidArgumentError(
        f"Value for attr 'T' of {found.op_name} is not in the list of allowed values: {listed}"
    )


def _raise_no_memory(array: Array, height: int, width: int, number: int) -> NoReturn:
    shape = (array.shape[0] if array.ndim == 4 else 1, height, width, array.shape[-1])
    total = 1
    for side in shape:
        product = total * side
        if product > _LARGEST:
            wrapped = product - 2**64 if product < 2**64 else -1
            raise InvalidArgumentError(
                f"Encountered overflow when multiplying {total} with {side}, result: {wrapped}"
            )
        total = product
    found = tensor_type_of(array.dtype if number == NEAREST else _FLOAT32)
    shown = ",".join(map(str, shape))
    raise ResourceExhaustedError(
        f"OOM when allocating tensor with shape[{shown}] and type {found.op_name if found else array.dtype}. "
        "Resize to a smaller size."
    )
