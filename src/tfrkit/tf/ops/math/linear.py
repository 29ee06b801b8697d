"""Products of matrices and sums over indices.

Sums of products are numpy's, whose order of summation differs from TensorFlow's: float32 results agree to about 1e-6 of
the largest term.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.math.apply import quietly
from tfrkit.values.operands import alike_to_first, as_value, convert, dtype_of, shape_of, takes_alike

__all__ = ["einsum", "matmul", "tensordot"]


@takes_alike("a", "b", by_first=True)
def matmul(
    a: Any,
    b: Any,
    transpose_a: bool = False,
    transpose_b: bool = False,
    adjoint_a: bool = False,
    adjoint_b: bool = False,
) -> Any:
    """Multiply matrices, or batches of them.

    Raises:
        InvalidArgumentError: they do not fit; the text is TensorFlow's.
        ValueError: both transposed and adjoint are asked for.

    >>> matmul([[1, 2]], [[3], [4]]).tolist()
    [[11]]
    """
    for transpose, adjoint, name in ((transpose_a, adjoint_a, "a"), (transpose_b, adjoint_b, "b")):
        if transpose and adjoint:
            raise ValueError(
                f"Only one of `transpose_{name}` and `adjoint_{name}` can be True. "
                f"Received `transpose_{name}`={transpose}, `adjoint_{name}`={adjoint}."
            )
    first = as_value(a)
    batched = len(shape_of(first)) > 2 or len(np.shape(b)) > 2
    a, b = alike_to_first("BatchMatMulV2" if batched else "MatMul", first, b)
    a, b = _turned(a, transpose_a, adjoint_a), _turned(b, transpose_b, adjoint_b)
    _check(a, b, batched)
    with np.errstate(all="ignore"):
        return np.matmul(a, b)


@quietly
def tensordot(a: Any, b: Any, axes: Any) -> Any:
    """Sum the products of elements over some axes."""
    a, b = alike_to_first("MatMul", a, b)
    sizes = convert(axes)
    given: Any = int(sizes) if not np.ndim(sizes) else [np.atleast_1d(part).tolist() for part in sizes]
    found = np.tensordot(a, b, given)
    return found if found.ndim else found[()]


@quietly
def einsum(equation: str, *inputs: Any) -> Any:
    """Evaluate an Einstein summation, as numpy's function does."""
    values = [as_value(value) for value in inputs]
    for number, value in enumerate(values):
        if dtype_of(value) != dtype_of(values[0]):
            raise InvalidArgumentError(
                f"cannot compute Einsum as input #{number}(zero-based) was expected to be a "
                f"{dtype_of(values[0]).name} tensor but is a {dtype_of(value).name} tensor"
            )
    found = np.asarray(np.einsum(equation.replace(" ", ""), *values))
    return found if found.ndim else found[()]


def _turned(value: Any, transpose: bool, adjoint: bool) -> Any:
    if not (transpose or adjoint) or np.ndim(value) < 2:
        return value
    turned = np.swapaxes(value, -1, -2)
    return np.conj(turned) if adjoint else turned


def _check(a: Any, b: Any, batched: bool) -> None:
    shapes = show_dims(a.shape), show_dims(b.shape)
    if not batched:
        if a.ndim != b.ndim:
            raise InvalidArgumentError(f"In[0] and In[1] has different ndims: {shapes[0]} vs. {shapes[1]}")
        if a.ndim != 2:
            raise InvalidArgumentError(f"In[0] and In[1] ndims must be == 2: {a.ndim}")
        if a.shape[1] != b.shape[0]:
            raise InvalidArgumentError(f"Matrix size-incompatible: In[0]: {shapes[0]}, In[1]: {shapes[1]}")
        return
    for number, value in enumerate((a, b)):
        if value.ndim < 2:
            raise InvalidArgumentError(f"In[{number}] ndims must be >= 2: {value.ndim}")
    try:
        np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
    except ValueError:
        raise InvalidArgumentError(
            f"In[0] and In[1] must have compatible batch dimensions: {shapes[0]} vs. {shapes[1]}"
        ) from None
    if a.shape[-1] != b.shape[-2]:
        raise InvalidArgumentError(f"Matrix size-incompatible: In[0]: {shapes[0]}, In[1]: {shapes[1]} 0 0")
