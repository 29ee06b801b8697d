"""Arithmetic of Sparse values: sums and extremes along dimensions, sums of two, products with arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.sparse import Sparse
from tfrkit.tf.ops.strings.string_values import shape_text
from tfrkit.values.to_array import to_array

__all__ = [
    "add", "add_v1", "maximum", "minimum", "multiply_dense", "reduce_max", "reduce_max_v1", "reduce_sum",
    "reduce_sum_v1", "sparse_dense_matmul",
]  # fmt: skip


def reduce_sum(
    sp_input: Sparse, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False
) -> Any:
    """Add values along dimensions, all by default.

    >>> reduce_sum(Sparse([[0, 1], [2, 0]], np.array([5, 6]), [3, 2]), axis=1).tolist()
    [5, 0, 6]
    """
    return _reduced(np.add, sp_input, axis, bool(keepdims), output_is_sparse)


def reduce_max(
    sp_input: Sparse, axis: Any = None, keepdims: bool | None = None, output_is_sparse: bool = False
) -> Any:
    """Find the largest of the values that are there; 0 where there is none.

    >>> reduce_max(Sparse([[0, 1], [2, 0]], np.array([-5, 6]), [3, 2]), axis=1).tolist()
    [-5, 0, 6]
    """
    return _reduced(np.maximum, sp_input, axis, bool(keepdims), output_is_sparse)


def reduce_sum_v1(
    sp_input: Sparse,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Any:
    """`reduce_sum` with the names of TensorFlow 1.

    >>> reduce_sum_v1(Sparse([[0, 1]], np.array([5]), [1, 2]), reduction_axes=1).tolist()
    [5]
    """
    return reduce_sum(sp_input, reduction_axes if axis is None else axis, keepdims or keep_dims)


def reduce_max_v1(
    sp_input: Sparse,
    axis: Any = None,
    keepdims: bool | None = None,
    reduction_axes: Any = None,
    keep_dims: bool | None = None,
) -> Any:
    """`reduce_max` with the names of TensorFlow 1.

    >>> reduce_max_v1(Sparse([[0, 1]], np.array([5]), [1, 2]), reduction_axes=1).tolist()
    [5]
    """
    return reduce_max(sp_input, reduction_axes if axis is None else axis, keepdims or keep_dims)


def add(a: Any, b: Any, threshold: Any = 0) -> Any:
    """Add two Sparse values, or one and an array.

    Args:
        a: Sparse or an array.
        b: Sparse or an array; at least one of both is Sparse.
        threshold: leave sums out whose absolute value is smaller.

    >>> add(Sparse([[0]], np.array([5]), [2]), Sparse([[1]], np.array([6]), [2])).values.tolist()
    [5, 6]
    """
    if isinstance(a, Sparse) and isinstance(b, Sparse):
        made = _merged(np.add, a, b, 0) if _is_sorted(a) and _is_sorted(b) else _walked(a, b)
        kept = np.flatnonzero(np.abs(made.values) >= np.asarray(threshold))
        return Sparse.unchecked(made.indices[kept], made.values[kept], made.dense_shape)
    sparse, array = (a, b) if isinstance(a, Sparse) else (b, a)
    if not isinstance(sparse, Sparse):
        raise TypeError("At least one input should be SparseTensor; do you mean to use tf.add()?")
    dense = to_array(array).astype(sparse.dtype)
    if dense.shape != sparse.shape:
        raise InvalidArgumentError(
            f"Dimensions {shape_text(sparse.shape)} and {shape_text(dense.shape)} are not compatible"
        )
    total = dense.copy()
    np.add.at(total, tuple(sparse.indices.T), sparse.values)
    return total


def add_v1(a: Any, b: Any, threshold: Any = None, thresh: Any = None) -> Any:
    """`add` with the names of TensorFlow 1.

    >>> add_v1(Sparse([[0]], np.array([5]), [2]), Sparse([[1]], np.array([6]), [2]), thresh=6).values.tolist()
    [6]
    """
    return add(a, b, next((one for one in (threshold, thresh) if one is not None), 0))


def maximum(sp_a: Sparse, sp_b: Sparse) -> Sparse:
    """The larger of two, place by place; what is not there is 0.

    >>> maximum(Sparse([[0]], np.array([-5]), [2]), Sparse([[1]], np.array([6]), [2])).values.tolist()
    [0, 6]
    """
    return _merged(np.maximum, sp_a, sp_b, 0)


def minimum(sp_a: Sparse, sp_b: Sparse) -> Sparse:
    """The smaller of two, place by place; what is not there is 0.

    >>> minimum(Sparse([[0]], np.array([-5]), [2]), Sparse([[1]], np.array([6]), [2])).values.tolist()
    [-5, 0]
    """
    return _merged(np.minimum, sp_a, sp_b, 0)


def multiply_dense(function: Callable[[Any, Any], Any], sparse: Sparse, dense: Any) -> Sparse:
    """Apply a function to the values and what stands at their places in an array, which is broadcast.

    >>> multiply_dense(np.multiply, Sparse([[0, 1]], np.array([5]), [1, 2]), np.array([3, 4])).values.tolist()
    [20]
    """
    array = np.broadcast_to(np.asarray(dense), sparse.shape)
    return Sparse.unchecked(
        sparse.indices, function(sparse.values, array[tuple(sparse.indices.T)]), sparse.dense_shape
    )


def sparse_dense_matmul(
    sp_a: Any, b: Any, adjoint_a: bool = False, adjoint_b: bool = False
) -> npt.NDArray[Any]:
    """Multiply a Sparse matrix with an array, or an array with a Sparse matrix.

    >>> sparse_dense_matmul(Sparse([[0, 1]], np.array([5.0]), [1, 2]), [[1.0], [2.0]]).tolist()
    [[10.0]]
    """
    if isinstance(b, Sparse) and not isinstance(sp_a, Sparse):
        return sparse_dense_matmul(b, to_array(sp_a), not adjoint_b, not adjoint_a).T
    array = to_array(b)
    array = np.conj(array.T) if adjoint_b else array
    rows, columns = sp_a.indices.T[::-1] if adjoint_a else sp_a.indices.T
    values = np.conj(sp_a.values) if adjoint_a else sp_a.values
    shape = sp_a.shape[::-1] if adjoint_a else sp_a.shape
    if shape[1] != array.shape[0]:
        raise InvalidArgumentError(
            f"Cannot multiply A and B because inner dimension does not match: {shape[1]} vs. {array.shape[0]}.  "
            "Did you forget a transpose?  "
            f"Dimensions of A: [{shape[0]}, {shape[1]}).  Dimensions of B: {shape_text(array.shape)}"
        )
    made = np.zeros((shape[0], array.shape[1]), values.dtype)
    np.add.at(made, rows, values[:, None] * array[columns].astype(values.dtype))
    return made


def _merged(function: np.ufunc, a: Sparse, b: Sparse, absent: int) -> Sparse:
    """A function of two values at every place where one of them has a value."""
    if a.shape != b.shape:
        raise InvalidArgumentError(
            f"Operands' shapes do not match: got {a.dense_shape[0]} and {b.dense_shape[0]} for dimension 0"
        )
    if a.dtype != b.dtype:
        raise InvalidArgumentError(
            f"expected values of one type but got {dtype_name(a.dtype)} and {dtype_name(b.dtype)}"
        )
    both = np.concatenate([a.indices, b.indices])
    places, numbers = np.unique(both, axis=0, return_inverse=True)
    sides = np.full((2, len(places)), absent, a.dtype)
    numbers = numbers.ravel()
    sides[0, numbers[: len(a.indices)]] = a.values
    sides[1, numbers[len(a.indices) :]] = b.values
    return Sparse.unchecked(places.astype(np.int64), function(sides[0], sides[1]), a.dense_shape)


def _is_sorted(sparse: Sparse) -> bool:
    """Whether all coordinates ascend, each once."""
    places = sparse.indices
    steps = places[1:] - places[:-1]
    first = np.argmax(steps != 0, axis=1) if steps.size else np.zeros(len(steps), np.int64)
    return bool((steps[np.arange(len(steps)), first] > 0).all()) if steps.size else len(places) < 2


def _walked(a: Sparse, b: Sparse) -> Sparse:
    """The sum of two that are not in order: whichever coordinates are smaller at the moment come next."""
    sides = [list(zip(map(tuple, one.indices.tolist()), one.values, strict=True)) for one in (a, b)]
    made: list[tuple[tuple[int, ...], Any]] = []
    at = [0, 0]
    while at[0] < len(sides[0]) and at[1] < len(sides[1]):
        (place, value), (other_place, other) = sides[0][at[0]], sides[1][at[1]]
        if place == other_place:
            made.append((place, value + other))
        else:
            made.append((place, value) if place < other_place else (other_place, other))
        at = [at[0] + (place <= other_place), at[1] + (other_place <= place)]
    made += sides[0][at[0] :] + sides[1][at[1] :]
    places = np.array([place for place, _ in made], np.int64).reshape(len(made), a.ndim)
    return Sparse.unchecked(places, np.array([value for _, value in made], a.dtype), a.dense_shape)


def _reduced(function: np.ufunc, sparse: Sparse, axis: Any, keepdims: bool, as_sparse: bool) -> Any:
    rank = sparse.ndim
    axes = list(range(rank)) if axis is None else np.atleast_1d(to_array(axis)).tolist()
    for one in axes:
        if not -rank <= one < rank:
            raise InvalidArgumentError(
                f"Invalid reduction dimension {one}, for input with {rank} dimensions."
            )
    gone = {one % rank for one in axes}
    kept = [place for place in range(rank) if place not in gone]
    shape = tuple(sparse.shape[place] for place in kept)
    whole = tuple(1 if place in gone else size for place, size in enumerate(sparse.shape))
    places = sparse.indices[:, kept]
    flat = (
        np.ravel_multi_index(tuple(places.T), shape)
        if kept and len(places)
        else np.zeros(len(places), np.int64)
    )
    groups, numbers = np.unique(flat, return_inverse=True)
    order = np.argsort(numbers, kind="stable")
    starts = np.searchsorted(numbers[order], np.arange(len(groups)))
    made = function.reduceat(sparse.values[order], starts) if len(groups) else sparse.values[:0]
    made = made.astype(sparse.dtype, copy=False)
    final = whole if keepdims else shape
    if as_sparse:
        unraveled = np.stack(np.unravel_index(groups, final), axis=1) if final else np.zeros((len(groups), 0))
        return Sparse.unchecked(unraveled.astype(np.int64), made, np.array(final, np.int64))
    total = np.zeros(int(np.prod(shape, dtype=np.int64)), sparse.dtype)
    total[groups] = made
    return total.reshape(final) if final else total[0]
