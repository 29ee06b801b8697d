"""Choosing elements by indices or by a condition, and writing them at indices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.arrays.strided_slice import rearranged
from tfrkit.values.operands import (
    alike,
    as_array,
    as_value,
    convert,
    dtype_of,
    integers,
    is_tensor,
    of_array,
    shape_of,
    takes_alike,
)
from tfrkit.values.types import check_type

__all__ = [
    "batch_gather", "boolean_mask", "embedding_lookup", "gather", "gather_nd", "scatter_nd", "slice_value",
    "tensor_scatter_nd_add", "tensor_scatter_nd_max", "tensor_scatter_nd_min", "tensor_scatter_nd_sub",
    "tensor_scatter_nd_update", "unravel_index", "where",
]  # fmt: skip

_INDICES = ["int16", "int32", "int64"]
_BOOL = np.dtype(bool)


def boolean_mask(tensor: Any, mask: Any, axis: Any = None) -> Any:
    """Return the elements, or rows, where a mask is true.

    Raises:
        ValueError: the shapes do not fit; the text is TensorFlow's.

    >>> boolean_mask([1, 2, 3], [True, False, True]).tolist()
    [1, 3]
    """
    value, chosen = as_value(tensor), as_value(mask)
    first = 0 if axis is None else int(as_value(axis))
    wanted, given = shape_of(chosen), shape_of(value)
    if not wanted:
        raise ValueError("mask cannot be scalar.")
    part = given[first : first + len(wanted)]
    if part != wanted:
        raise ValueError(f"Shapes {part} and {wanted} are incompatible")
    truths = np.asarray(chosen).astype(bool)
    return rearranged(value, lambda array: array[(slice(None),) * first + (truths,)])


@takes_alike("x", "y")
def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """Choose x where a condition holds, else y; without both, return the indices where it holds.

    Raises:
        ValueError: only one of them is given.
        InvalidArgumentError: types or shapes do not fit.

    >>> where([True, False], [1, 2], 0).tolist(), where([0, 3]).tolist()
    ([1, 0], [[1]])
    """
    if x is None and y is None:
        value = as_value(condition)
        check_type("Where", dtype_of(value))
        return np.argwhere(value).astype(np.int64)
    if x is None or y is None:
        raise ValueError("x and y must both be non-None or both be None.")
    chosen = condition if is_tensor(condition) else convert(condition, _BOOL)
    one, two = alike("SelectV2", x, y, first=1)
    if dtype_of(chosen) != _BOOL:
        raise InvalidArgumentError(
            "cannot compute SelectV2 as input #0(zero-based) was expected to be a bool tensor but is a "
            f"{dtype_of(chosen).name} tensor"
        )
    try:
        return of_array(np.where(chosen, as_array(one), as_array(two)))
    except ValueError:
        shapes = [show_dims(shape_of(value)) for value in (chosen, one, two)]
        raise InvalidArgumentError(
            f"condition {shapes[0]}, then {shapes[1]}, and else {shapes[2]} must be broadcastable"
        ) from None


def gather(
    params: Any,
    indices: Any,
    validate_indices: Any = None,
    axis: Any = None,
    batch_dims: int = 0,
) -> Any:
    """Return the rows at these indices along a dimension, batch by batch if there are batch dimensions.

    Raises:
        InvalidArgumentError: there is no such row or dimension; the text is TensorFlow's.

    >>> gather(["a", "b", "c"], [2, 0]).to_list()
    [b'c', b'a']
    """
    value, places = as_value(params), _indices(indices)
    sizes = shape_of(value)
    batch = int(batch_dims) + (places.ndim if int(batch_dims) < 0 else 0)
    where_ = int(batch_dims) if axis is None else int(as_value(axis))
    if not sizes:
        raise InvalidArgumentError("params must be at least 1 dimensional, got a scalar")
    needed = where_ + 1 if where_ >= 0 else -where_
    if needed > len(sizes):
        raise InvalidArgumentError(f"Shape must be at least rank {needed} but is rank {len(sizes)}")
    where_ %= len(sizes)
    for place in range(batch):
        if sizes[place] != places.shape[place]:
            raise InvalidArgumentError(
                f"params.shape[{place}]: {sizes[place]} should be equal to indices.shape[{place}]: "
                f"{places.shape[place]}"
            )
    wrong = (places < 0) | (places >= sizes[where_])
    if wrong.any():
        at = np.argwhere(wrong)[0].tolist()
        shown = f"[{','.join(map(str, at))}]" if at else ""
        raise InvalidArgumentError(f"indices{shown} = {places[tuple(at)]} is not in [0, {sizes[where_]})")
    if not batch:
        return rearranged(value, lambda array: np.take(array, places, where_))
    return rearranged(value, lambda array: _batched(array, places, where_, batch))


def gather_nd(params: Any, indices: Any, batch_dims: int = 0) -> Any:
    """Return the elements, or slices, at indices into the first dimensions.

    >>> gather_nd([[1, 2], [3, 4]], [[0, 1], [1, 0]]).tolist()
    [2, 3]
    """
    value, places = as_value(params), _indices(indices)
    sizes, batch = shape_of(value), int(batch_dims)
    if not places.ndim:
        raise InvalidArgumentError("indices must be at least a vector")
    deep = places.shape[-1]
    if deep > len(sizes) - batch:
        raise InvalidArgumentError(
            f"index innermost dimension length must be <= params rank; saw: {deep} vs. {len(sizes) - batch}"
        )
    _check_places(places, sizes[batch : batch + deep], f"param shape {show_dims(sizes)}, node name: GatherNd")
    before = _batch_places(places.shape[:batch], places.ndim - 1)
    key = (*before, *np.moveaxis(places, -1, 0))
    if not key:
        return rearranged(value, lambda array: np.broadcast_to(array, (*places.shape[:-1], *sizes)))
    return rearranged(value, lambda array: array[key])


def slice_value(input_: Any, begin: Any, size: Any) -> Any:
    """Return the part that begins at `begin` and has these sizes; -1 takes the rest.

    >>> slice_value([[1, 2, 3], [4, 5, 6]], [0, 1], [2, -1]).tolist()
    [[2, 3], [5, 6]]
    """
    value = as_value(input_)
    starts, counts = (as_array(as_value(given)) for given in (begin, size))
    for given in (starts, counts):
        check_type("", given.dtype, "Index", ["int32", "int64"])
    sizes = shape_of(value)
    if starts.shape != (len(sizes),) or counts.shape != (len(sizes),):
        raise InvalidArgumentError(
            f"Expected begin and size arguments to be 1-D tensors of size {len(sizes)}, but got shapes "
            f"{show_dims(starts.shape)} and {show_dims(counts.shape)} instead."
        )
    key = []
    for place, (start, count, whole) in enumerate(zip(starts.tolist(), counts.tolist(), sizes, strict=True)):
        if not 0 <= start <= whole:
            raise InvalidArgumentError(f"Expected begin[{place}] in [0, {whole}], but got {start}")
        length = whole - start if count == -1 else count
        if not 0 <= length <= whole - start:
            raise InvalidArgumentError(f"Expected size[{place}] in [0, {whole - start}], but got {count}")
        key.append(slice(start, start + length))
    return rearranged(value, lambda array: array[tuple(key)])


def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """Add values at indices into zeros of a shape."""
    values = as_value(updates)
    sizes = as_array(as_value(shape)).tolist()
    return _scattered(np.zeros(sizes, dtype_of(values)), indices, values, np.add)


def _scattering(word: str, function: Any) -> Callable[..., Any]:
    """Make a function that changes values at indices: `function` combines two numbers, None replaces."""

    def scatter(tensor: Any, indices: Any, updates: Any) -> Any:
        value, values = alike(f"TensorScatter{word.capitalize()}", tensor, updates)
        return _scattered(as_array(value).copy(), indices, values, function)

    scatter.__name__ = scatter.__qualname__ = f"tensor_scatter_nd_{word}"
    scatter.__doc__ = f"Return the value with {word} of others at places."
    return scatter


tensor_scatter_nd_update = _scattering("update", None)
tensor_scatter_nd_add = _scattering("add", np.add)
tensor_scatter_nd_sub = _scattering("sub", np.subtract)
tensor_scatter_nd_max = _scattering("max", np.maximum)
tensor_scatter_nd_min = _scattering("min", np.minimum)


def unravel_index(indices: Any, dims: Any) -> Any:
    """Convert flat indices to coordinates in an array of a shape."""
    flat = as_value(indices)
    try:
        found = np.unravel_index(np.asarray(flat), tuple(integers(dims, "Tidx").tolist()))
    except ValueError as error:
        raise InvalidArgumentError(f"index is out of bound as with dims: {error}") from None
    return np.stack(found).astype(dtype_of(flat))


def batch_gather(params: Any, indices: Any) -> Any:
    """Return the elements at these indices of each row."""
    return gather(params, indices, batch_dims=np.ndim(as_value(indices)) - 1)


def embedding_lookup(params: Any, ids: Any, max_norm: Any = None) -> Any:
    """Return the rows of a matrix at these indices."""
    return gather(params, ids)


def _indices(given: Any) -> npt.NDArray[Any]:
    places = as_array(as_value(given))
    check_type("", places.dtype, "Tindices", _INDICES)
    return places


def _check_places(places: npt.NDArray[Any], limits: tuple[int, ...], where: str) -> None:
    wrong = ((places < 0) | (places >= np.array(limits, np.int64))).any(-1)
    if wrong.any():
        number = int(np.argmax(wrong))
        found = places.reshape(-1, len(limits))[number].tolist()
        raise InvalidArgumentError(f"indices[{number}] = {found} does not index into {where}")


def _batched(array: Any, places: Any, axis: int, batch: int) -> Any:
    parts = [np.take(array[at], places[at], axis - batch) for at in np.ndindex(*places.shape[:batch])]
    inner = np.take(np.zeros(array.shape[batch:]), np.zeros(places.shape[batch:], int), axis - batch).shape
    return np.array(parts, array.dtype).reshape(*places.shape[:batch], *inner)


def _batch_places(sizes: tuple[int, ...], rank: int) -> list[Any]:
    """Return the row number of each index, for every batch dimension."""
    return [
        np.arange(size).reshape([-1 if place == at else 1 for place in range(rank)])
        for at, size in enumerate(sizes)
    ]


def _scattered(array: npt.NDArray[Any], indices: Any, values: Any, function: Any) -> Any:
    places = _indices(indices)
    _check_places(places, array.shape[: places.shape[-1]], f"shape {show_dims(array.shape)}")
    key = tuple(np.moveaxis(places, -1, 0))
    if function is None:
        array[key] = as_array(values)
    else:
        function.at(array, key, as_array(values))
    return of_array(array)
