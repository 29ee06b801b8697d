"""Functions on shapes with the arguments that TensorFlow 1 had, where they differ."""

from __future__ import annotations

from typing import Any

from tfrkit.tf.ops.arrays import gather as choosing
from tfrkit.tf.ops.arrays import make, shapes
from tfrkit.tf.ops.arrays import pad as padding
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.values.operands import convert, dtype_of, is_tensor, shape_of, takes_alike

__all__ = [
    "boolean_mask",
    "expand_dims",
    "gather",
    "ones_like",
    "pad",
    "shape",
    "size",
    "squeeze",
    "transpose",
    "where",
    "zeros_like",
]


def squeeze(
    input: Any,  # noqa: A002
    axis: Any = None,
    name: str | None = None,  # noqa: ARG001
    squeeze_dims: Any = None,
) -> Any:
    """Without dimensions of size 1."""
    return shapes.squeeze(input, squeeze_dims if axis is None else axis)


def expand_dims(
    input: Any,  # noqa: A002
    axis: Any = None,
    name: str | None = None,  # noqa: ARG001
    dim: Any = None,
) -> Any:
    """One dimension of size 1 more."""
    return shapes.expand_dims(input, dim if axis is None else axis)


def shape(
    input: Any,  # noqa: A002
    name: str | None = None,  # noqa: ARG001
    out_type: Any = "int32",
) -> Any:
    """The sizes, as numbers."""
    return shapes.shape(input, out_type)


def size(
    input: Any,  # noqa: A002
    name: str | None = None,  # noqa: ARG001
    out_type: Any = "int32",
) -> Any:
    """The number of elements."""
    return shapes.size(input, out_type)


def zeros_like(
    tensor: Any,
    dtype: Any = None,
    name: str | None = None,  # noqa: ARG001
    optimize: bool = True,  # noqa: ARG001
) -> Any:
    """Zeros in the shape of another value."""
    return make.zeros_like(tensor, dtype)


def ones_like(
    tensor: Any,
    dtype: Any = None,
    name: str | None = None,  # noqa: ARG001
    optimize: bool = True,  # noqa: ARG001
) -> Any:
    """Ones in the shape of another value."""
    return make.ones_like(tensor, dtype)


def transpose(
    a: Any,
    perm: Any = None,
    name: str = "transpose",  # noqa: ARG001
    conjugate: bool = False,
) -> Any:
    """The dimensions in another order."""
    return shapes.transpose(a, perm, conjugate)


@takes_alike("tensor", "constant_values")
def pad(
    tensor: Any,
    paddings: Any,
    mode: str = "CONSTANT",
    name: str | None = None,  # noqa: ARG001
    constant_values: Any = 0,
) -> Any:
    """Put elements before and behind along each dimension."""
    return padding.pad(tensor, paddings, mode, constant_values)


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    name: str | None = None,  # noqa: ARG001
    axis: Any = None,
    batch_dims: int = 0,
) -> Any:
    """The rows at these places."""
    return choosing.gather(params, indices, validate_indices, axis, batch_dims)


def boolean_mask(
    tensor: Any,
    mask: Any,
    name: str = "boolean_mask",  # noqa: ARG001
    axis: Any = None,
) -> Any:
    """The elements, or rows, where a mask is true."""
    return choosing.boolean_mask(tensor, mask, axis)


@takes_alike("x", "y")
def where(
    condition: Any,
    x: Any = None,
    y: Any = None,
    name: str | None = None,  # noqa: ARG001
) -> Any:
    """Choose, without broadcasting: a condition of one dimension chooses rows."""
    if x is None or y is None:
        return choosing.where(condition, x, y)
    chosen = condition if is_tensor(condition) else convert(condition, dtype_of(convert(True)))
    extra = len(shape_of(convert(x))) - len(shape_of(chosen))
    if len(shape_of(chosen)) == 1 and extra > 0:
        chosen = rearranged(chosen, lambda array: array.reshape(-1, *[1] * extra))
    return choosing.where(chosen, x, y)
