"""TensorFlow's `tf.sparse` on values: to and from arrays, sorting, slicing, reshaping."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.sparse import Sparse
from tfrkit.tf.ops.ragged.ragged_index import take_rows
from tfrkit.tf.ops.strings.string_values import shape_text
from tfrkit.values.to_array import to_array

__all__ = [
    "from_dense", "reorder", "reset_shape", "reshape", "slice_sparse", "sparse_to_dense", "split", "to_dense",
    "to_indicator",
]  # fmt: skip


def to_dense(sp_input: Any, default_value: Any = None, validate_indices: bool = True) -> Any:
    """Return the whole array.

    Args:
        sp_input: a Sparse.
        default_value: the value of places without one; 0, False or "" if None.
        validate_indices: check that the coordinates are in order, without duplicates.

    Raises:
        TypeError: it is not a Sparse, or the default is of another type.
        InvalidArgumentError: coordinates are wrong.

    >>> to_dense(Sparse([[0, 1]], np.array([5]), [2, 2]), -1).tolist()
    [[-1, 5], [-1, -1]]
    """
    sparse = _sparse(sp_input)
    default = _default(default_value, sparse)
    if validate_indices:
        return sparse.to_dense(default)
    places = sparse.indices
    if bool(((places < 0) | (places >= sparse.dense_shape)).any()):
        raise InvalidArgumentError(
            f"Indices are not valid (out of bounds).  Shape: {shape_text(sparse.shape)}"
        )
    array = np.empty(sparse.shape, object if sparse.dtype == object else sparse.dtype)
    array[...] = default
    values = sparse.values
    flat = values.to_numpy() if isinstance(values, BytesColumn) else values
    array[tuple(places.T)] = flat  # of duplicates, the last value stays
    return BytesColumn.from_list(array) if array.dtype == object else array


def sparse_to_dense(
    sparse_indices: Any,
    output_shape: Any,
    sparse_values: Any,
    default_value: Any = 0,
    validate_indices: bool = True,
) -> Any:
    """Put values at places of an array, one for all places or one for each: TensorFlow 1's sparse_to_dense.

    >>> sparse_to_dense([1], [3], 5).tolist()
    [0, 5, 0]
    """
    sizes = to_array(output_shape).astype(np.int64)
    places = to_array(sparse_indices).astype(np.int64)
    places = places.reshape(-1, len(sizes)) if places.ndim < 2 else places
    values = to_array(sparse_values)
    flat = np.broadcast_to(values, len(places)) if not values.ndim else values
    kept = BytesColumn.from_list(flat) if flat.dtype == object else flat
    filler = default_value if flat.dtype != object or default_value != 0 else None
    return to_dense(Sparse.unchecked(places, kept, sizes), filler, validate_indices)


def from_dense(tensor: Any) -> Sparse:
    """Return the entries of an array that are not 0, False or "".

    >>> from_dense([[0, 5], [6, 0]])
    Sparse(dense_shape=(2, 2), dtype=int32, {(0, 1): 5, (1, 0): 6})
    """
    array = to_array(tensor)
    if not array.ndim:
        raise InvalidArgumentError(
            "WhereOp : Unhandled input dimensions: 0. from_dense takes arrays, got a scalar."
        )
    places = np.argwhere(array != (b"" if array.dtype == object else 0))
    values = array[tuple(places.T)]
    sizes = np.array(array.shape, np.int64)
    return Sparse.unchecked(places, BytesColumn.from_list(values) if array.dtype == object else values, sizes)


def reorder(sp_input: Any) -> Sparse:
    """Sort values by their coordinates, row by row.

    >>> reorder(Sparse([[1], [0]], np.array([5, 6]), [2])).values.tolist()
    [6, 5]
    """
    sparse = _sparse(sp_input)
    order = np.lexsort(sparse.indices.T[::-1])
    return Sparse.unchecked(sparse.indices[order], take_rows(sparse.values, order), sparse.dense_shape)


def reset_shape(sp_input: Any, new_shape: Any = None) -> Sparse:
    """Change the sizes of the array, by default to the smallest that hold all values.

    Raises:
        ValueError: a size is smaller than before, or the number of sizes differs.

    >>> reset_shape(Sparse([[0, 1]], np.array([5]), [9, 9])).shape
    (1, 2)
    """
    sparse = _sparse(sp_input)
    if new_shape is None:
        tight = sparse.indices.max(axis=0) + 1 if len(sparse.indices) else np.zeros(sparse.ndim, np.int64)
        return Sparse.unchecked(sparse.indices, sparse.values, tight)
    sizes = to_array(new_shape).astype(np.int64)
    if len(sizes) != sparse.ndim:
        raise ValueError(f"Dimensions {len(sizes)} and {sparse.ndim} are not compatible")
    if bool((sizes < sparse.dense_shape).any()):
        raise ValueError(
            "Requested new_shape should have dimension sizes >= sp_input.shape.  Found new_shape "
            f"({sparse.dense_shape}), sp_input.shape ({sizes})."
        )
    return Sparse.unchecked(sparse.indices, sparse.values, sizes)


def slice_sparse(sp_input: Any, start: Any, size: Any) -> Sparse:
    """Return the part that starts at `start`, of at most `size`.

    >>> slice_sparse(Sparse([[0, 1], [2, 0]], np.array([5, 6]), [3, 2]), [2, 0], [5, 1]).to_dense().tolist()
    [[6]]
    """
    sparse = _sparse(sp_input)
    first, sizes = to_array(start).astype(np.int64), to_array(size).astype(np.int64)
    for name, given in (("start", first), ("size", sizes)):
        if len(given) != sparse.ndim:
            raise InvalidArgumentError(
                f"Expected {name} to be a vector of length {sparse.ndim} but got length {len(given)}"
            )
    kept = np.clip(np.minimum(sizes, sparse.dense_shape - first), 0, None)
    inside = np.flatnonzero(((sparse.indices >= first) & (sparse.indices < first + kept)).all(axis=1))
    return Sparse.unchecked(sparse.indices[inside] - first, take_rows(sparse.values, inside), kept)


def to_indicator(sp_input: Any, vocab_size: int) -> npt.NDArray[np.bool_]:
    """Return for each row which numbers it holds, as bools.

    >>> to_indicator(Sparse([[0, 0], [1, 0]], np.array([2, 0]), [2, 1]), 3).tolist()
    [[False, False, True], [True, False, False]]
    """
    sparse = _sparse(sp_input)
    made = np.zeros((*sparse.shape[:-1], int(vocab_size)), np.bool_)
    values = np.asarray(sparse.values)
    if bool(((values < 0) | (values >= vocab_size)).any()):
        raise InvalidArgumentError(f"Indices are not valid (out of bounds).  Shape: {shape_text(made.shape)}")
    made[(*sparse.indices[:, :-1].T, values)] = True
    return made


def reshape(sp_input: Any, shape: Any) -> Sparse:
    """Reshape the array; one size may be -1.

    >>> reshape(Sparse([[0, 1]], np.array([5]), [3, 2]), [2, -1]).shape
    (2, 3)
    """
    sparse = _sparse(sp_input)
    sizes = to_array(shape).astype(np.int64)
    total = int(np.prod(sparse.dense_shape))
    unknown = np.flatnonzero(sizes == -1)
    given = f"input_shape={shape_text(sparse.shape)}"
    if len(unknown) > 1:
        raise InvalidArgumentError(
            f"only one output dimension may be -1, not both {unknown[0]} and {unknown[1]}"
        )
    if len(unknown):
        rest = int(np.prod(np.delete(sizes, unknown)))
        sizes[unknown] = total // rest if rest else 0
        if rest and total % rest:
            raise InvalidArgumentError(
                f"Input to reshape is a SparseTensor with {total} dense values, but the requested shape requires a "
                f"multiple of {rest}. {given} output_shape={shape_text(sizes.tolist())}"
            )
    if int(np.prod(sizes)) != total:
        raise InvalidArgumentError(
            f"Input to reshape is a tensor with {total} dense values, but the requested shape has {np.prod(sizes)}. "
            f"{given} output_shape={shape_text(sizes.tolist())}"
        )
    flat = (
        np.ravel_multi_index(tuple(sparse.indices.T), sparse.shape)
        if len(sparse.indices)
        else np.zeros(0, np.int64)
    )
    places = np.stack(np.unravel_index(flat, tuple(sizes.tolist())), axis=1).astype(np.int64)
    return Sparse.unchecked(places, sparse.values, sizes)


def split(sp_input: Any, num_split: Any, axis: Any) -> list[Sparse]:
    """Split along a dimension into parts that differ by at most one in size, larger ones first.

    >>> [part.shape for part in split(Sparse([[0]], np.array([5]), [3]), 2, 0)]
    [(2,), (1,)]
    """
    sparse = _sparse(sp_input)
    count, place = int(num_split), int(axis)
    place = place + sparse.ndim if place < 0 else place
    size = int(sparse.dense_shape[place])
    if not 1 <= count <= size:
        raise InvalidArgumentError(
            f"Input num_split should be between 1 and the splitting dimension size ({size}), got {count}"
        )
    ends = np.cumsum([size // count + (number < size % count) for number in range(count)])
    parts = []
    for first, last in zip([0, *ends[:-1]], ends, strict=True):
        start = np.zeros(sparse.ndim, np.int64)
        start[place] = first
        sizes = sparse.dense_shape.copy()
        sizes[place] = last - first
        parts.append(slice_sparse(sparse, start, sizes))
    return parts


def _sparse(value: Any) -> Sparse:
    if not isinstance(value, Sparse):
        raise TypeError(
            f"Input must be a SparseTensor. Got {type(value).__name__}: from_dense makes one of an array."
        )
    return value


def _default(default: Any, sparse: Sparse) -> Any:
    strings = sparse.dtype == object
    if default is None:
        return b"" if strings else sparse.dtype.type(0)
    array = to_array(default)
    fits = array.dtype.kind == sparse.dtype.kind or (array.dtype.kind in "iu" and sparse.dtype.kind in "iufc")
    if not fits:
        raise TypeError(f"Cannot convert {default!r} to EagerTensor of dtype {dtype_name(sparse.dtype)}")
    if array.ndim:
        raise InvalidArgumentError(f"default_value should be a scalar. Got shape {array.shape}.")
    return array.item() if strings else array.astype(sparse.dtype)[()]
