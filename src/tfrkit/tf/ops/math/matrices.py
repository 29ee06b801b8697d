"""Matrices: inverses, determinants, diagonals, norms, and blocks of images moved into their channels."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import FailedPreconditionError, InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.arrays.shapes import matrix_transpose
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.tf.ops.math.elementwise import quietly
from tfrkit.tf.ops.math.reduce import norm
from tfrkit.values.operands import alike, as_value, convert, dtype_of, integers, shape_of
from tfrkit.values.types import check_type

__all__ = [
    "adjoint",
    "clip_by_global_norm",
    "cross",
    "depth_to_space",
    "det",
    "global_norm",
    "inv",
    "normalize",
    "reverse_sequence",
    "set_diag",
    "space_to_depth",
    "tensor_diag",
    "tensor_diag_part",
    "unravel_index",
]

_SOLVED = ["double", "float", "half", "complex64", "complex128"]


@quietly
def inv(input: Any, adjoint: bool = False) -> Any:  # noqa: A002
    """The inverse of matrices; agrees with TensorFlow's to about 1e-5.

    Raises:
        InvalidArgumentError: one has none.
    """
    value = _square(input)
    try:
        found = np.linalg.inv(matrix_transpose(value, conjugate=True) if adjoint else value)
    except np.linalg.LinAlgError:
        raise InvalidArgumentError("Input is not invertible.") from None
    return found.astype(value.dtype)


@quietly
def det(input: Any) -> Any:  # noqa: A002
    """The determinant of matrices."""
    value = _square(input)
    return np.linalg.det(value).astype(value.dtype)


def adjoint(matrix: Any) -> Any:
    """The last two dimensions exchanged, and the conjugate."""
    return matrix_transpose(matrix, conjugate=True)


@quietly
def cross(a: Any, b: Any) -> Any:
    """The cross product of vectors of three elements."""
    a, b = alike("Cross", a, b)
    if shape_of(a)[-1:] != (3,):
        raise FailedPreconditionError("Cross-products are only defined for 3-element vectors.")
    one, two = (np.moveaxis(value, -1, 0) for value in (a, b))
    parts = [one[i] * two[j] - one[j] * two[i] for i, j in ((1, 2), (2, 0), (0, 1))]
    return np.stack(parts, -1)


def set_diag(input: Any, diagonal: Any) -> Any:  # noqa: A002
    """Matrices with other numbers on the diagonal."""
    value, given = alike("MatrixSetDiagV3", input, diagonal)
    size = min(value.shape[-2:])
    if given.shape != (*value.shape[:-2], size):
        raise InvalidArgumentError(
            "Either first dimensions of diagonal don't match input.shape[:-2], or diagonal.shape[:-1] is not equal to "
            "the longests diagonal in range [lower_diag_index:upper_diag_index].\n"
            f"Input shape: {show_dims(value.shape)}\nDiagonal shape: {show_dims(given.shape)}\n"
            f"Expected diagonal shape: {show_dims((*value.shape[:-2], size))}"
        )
    made = value.copy()
    made[..., np.arange(size), np.arange(size)] = given
    return made


def tensor_diag(diagonal: Any) -> Any:
    """A value with all dimensions twice, and these numbers where both halves of the place are equal."""
    given = as_value(diagonal)
    made = np.diag(given.ravel())
    return made.reshape(given.shape * 2)


def tensor_diag_part(input: Any) -> Any:  # noqa: A002
    """The numbers where both halves of the place are equal."""
    value = as_value(input)
    sizes = shape_of(value)
    half = len(sizes) // 2
    if len(sizes) % 2 or not sizes:
        raise InvalidArgumentError(
            "The rank of the tensor should be                                          even and positive, got shape "
            f"{show_dims(sizes)}"
        )
    if sizes[:half] != sizes[half:]:
        raise InvalidArgumentError(f"Invalid shape {show_dims(sizes)}: dimensions {half} apart do not match")
    total = int(np.prod(sizes[:half]))
    return np.diagonal(value.reshape(total, total)).reshape(sizes[:half]).copy()


@quietly
def normalize(tensor: Any, ord: Any = "euclidean", axis: Any = None) -> tuple[Any, Any]:  # noqa: A002
    """A value divided by its norm, and the norm."""
    value = as_value(tensor)
    length = norm(value, ord, axis, keepdims=True)
    with np.errstate(all="ignore"):
        return value / length, length


@quietly
def global_norm(t_list: Any) -> Any:
    """The Euclidean norm of all elements of several values."""
    values = [as_value(value) for value in t_list]
    squares = [np.sum(np.square(value), dtype=dtype_of(value)) for value in values]
    total = squares[0]
    for square in squares[1:]:
        total = total + square
    return np.sqrt(total)


@quietly
def clip_by_global_norm(t_list: Any, clip_norm: Any, use_norm: Any = None) -> tuple[list[Any], Any]:
    """Several values, made smaller if the norm of all is larger than another; and the norm."""
    values = [as_value(value) for value in t_list]
    found = global_norm(values) if use_norm is None else as_value(use_norm)
    most = convert(clip_norm, dtype_of(values[0]))
    scale = most * np.minimum(dtype_of(values[0]).type(1) / found, dtype_of(values[0]).type(1) / most)
    return [value * scale for value in values], found


def space_to_depth(input: Any, block_size: int, data_format: str = "NHWC") -> Any:  # noqa: A002, ARG001
    """Blocks of images as channels."""
    value = _image(input, block_size)
    batch, height, width, depth = shape_of(value)
    if height % block_size or width % block_size:
        raise InvalidArgumentError(
            f"Image width {width} and height {height} should be divisible by block_size: {block_size}"
        )
    rows, columns = height // block_size, width // block_size

    def move(array: Any) -> Any:
        parts = array.reshape(batch, rows, block_size, columns, block_size, depth).transpose(0, 1, 3, 2, 4, 5)
        return parts.reshape(batch, rows, columns, depth * block_size**2)

    return rearranged(value, move)


def depth_to_space(input: Any, block_size: int, data_format: str = "NHWC") -> Any:  # noqa: A002, ARG001
    """Channels of images as blocks."""
    value = _image(input, block_size)
    batch, height, width, depth = shape_of(value)
    if depth % block_size**2:
        raise InvalidArgumentError(f"Input depth dimension {depth} should be divisible by: {block_size**2}")
    left = depth // block_size**2

    def move(array: Any) -> Any:
        parts = array.reshape(batch, height, width, block_size, block_size, left).transpose(0, 1, 3, 2, 4, 5)
        return parts.reshape(batch, height * block_size, width * block_size, left)

    return rearranged(value, move)


def reverse_sequence(
    input: Any,  # noqa: A002
    seq_lengths: Any,
    seq_axis: int | None = None,
    batch_axis: int | None = None,
) -> Any:
    """Turn round the first elements of each row, as many as its length says."""
    value, lengths = as_value(input), integers(seq_lengths, "Tlen")
    along, rows = int(seq_axis or 0), int(batch_axis or 0)
    sizes = shape_of(value)
    if len(lengths) != sizes[rows]:
        raise InvalidArgumentError(
            f"Length of seq_lengths != input.dims({rows}), ({len(lengths)} vs. {sizes[rows]})"
        )
    for number, length in enumerate(lengths.tolist()):
        if length < 0:
            raise InvalidArgumentError(f"seq_lens({number}) < 0")
        if length > sizes[along]:
            raise InvalidArgumentError(f"seq_lens({number}) > input.dims({along})")
    places = np.arange(sizes[along])
    turned = np.where(places < lengths[:, None], lengths[:, None] - 1 - places, places)
    shape = [1] * len(sizes)
    shape[rows], shape[along] = turned.shape
    order = (turned if rows < along else turned.T).reshape(shape)
    return rearranged(value, lambda array: np.take_along_axis(array, order, along))


def unravel_index(indices: Any, dims: Any) -> Any:
    """The places in an array of a shape that flat numbers stand for."""
    flat = as_value(indices)
    try:
        found = np.unravel_index(np.asarray(flat), tuple(integers(dims, "Tidx").tolist()))
    except ValueError:
        raise InvalidArgumentError("index is out of bound as with dims") from None
    return np.stack(found).astype(dtype_of(flat))


def _square(given: Any) -> Any:
    value = as_value(given)
    check_type("", dtype_of(value), "T", _SOLVED)
    sizes = shape_of(value)
    if len(sizes) < 2:
        raise InvalidArgumentError(f"Input must have rank >= 2, got {len(sizes)}")
    if sizes[-1] != sizes[-2]:
        raise InvalidArgumentError("Input matrix must be square.")
    return value


def _image(given: Any, block_size: int) -> Any:
    if block_size < 2:
        raise InvalidArgumentError(f"Value for attr 'block_size' of {block_size} must be at least minimum 2")
    value = as_value(given)
    if len(shape_of(value)) != 4:
        raise InvalidArgumentError(f"Input rank should be 4 instead of {len(shape_of(value))}")
    return value
