"""Ragged values from nested lists: ragged.constant."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import as_dtype
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.values.operands import STRING
from tfrkit.values.to_array import to_array

__all__ = ["constant"]


def constant(
    pylist: Any,
    dtype: Any = None,
    ragged_rank: int | None = None,
    inner_shape: Any = None,
    row_splits_dtype: Any = "int64",
) -> Any:
    """Make a Ragged of nested lists.

    Args:
        pylist: nested lists, tuples or arrays, with all values at one depth.
        dtype: of the values; by default what TensorFlow chooses.
        ragged_rank: how many dimensions are ragged; by default all but the first, less those of `inner_shape`.
        inner_shape: sizes of the dimensions that are not ragged.
        row_splits_dtype: int32 or int64.

    Returns:
        A Ragged; a plain value if no dimension is ragged.

    Raises:
        ValueError: the lists do not fit; the texts are TensorFlow's.

    >>> constant([[1, 2], []]).to_list(), constant([[1, 2], []]).dtype
    ([[1, 2], []], dtype('int32'))
    """
    items = _as_lists(pylist)
    if not isinstance(items, list):
        if ragged_rank:
            raise ValueError(f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank}")
        return _leaves(items, dtype, ())
    depth, least = _depths(items)
    if depth is not None and least > depth:
        raise ValueError(f"Invalid pylist={pylist}: empty list nesting is greater than scalar value nesting")
    full = least if depth is None else depth
    if inner_shape is not None:
        inner = tuple(np.atleast_1d(np.asarray(inner_shape, np.int64)).tolist())
        rank = full - len(inner) - 1 if ragged_rank is None else ragged_rank
        if depth is not None and rank != full - len(inner) - 1:
            raise ValueError(
                f"Invalid pylist={pylist}: incompatible with ragged_rank={ragged_rank} and "
                f"dim(inner_shape)={len(inner)}"
            )
    else:
        rank = max(int(least > 1), full - 1) if ragged_rank is None else ragged_rank
        if depth is not None and rank >= depth:
            raise ValueError(
                f"pylist has scalar values depth {depth}, but ragged_rank={rank} requires scalar value depth greater "
                f"than {rank}"
            )
        inner = _inner_shape(items, rank)
    return _nested(items, rank, inner, dtype, as_dtype(row_splits_dtype))


def _as_lists(value: Any) -> Any:
    """Lists and scalars of lists, tuples and arrays."""
    if isinstance(value, (list, tuple)) or (isinstance(value, np.ndarray) and value.ndim):
        return [_as_lists(part) for part in value]
    return value.to_list() if isinstance(value, BytesColumn) else value


def _depths(items: Any) -> tuple[int | None, int]:
    """Depth of the values (None without values), and the deepest nesting of lists.

    Raises:
        ValueError: values stand at different depths.
    """
    if not isinstance(items, list):
        return 0, 0
    found = [_depths(part) for part in items]
    depths = {depth for depth, _ in found if depth is not None}
    if len(depths) > 1:
        raise ValueError("all scalar values must have the same nesting depth")
    least = 1 + max((one for _, one in found), default=0)
    return (depths.pop() + 1 if depths else None), least


def _inner_shape(items: Any, rank: int) -> tuple[int, ...]:
    """Sizes of the dimensions below the ragged ones, as the first list there has them."""
    level = items
    for _ in range(rank):
        level = [part for row in level for part in row]
    shape: list[int] = []
    while level and isinstance(level[0], list):
        sizes = {len(part) if isinstance(part, list) else -1 for part in level}
        if len(sizes) > 1:
            raise ValueError("inner values have inconsistent shape")
        shape.append(sizes.pop())
        level = [part for row in level for part in row]
    return tuple(shape)


def _nested(items: list[Any], rank: int, inner: tuple[int, ...], dtype: Any, splits: np.dtype[Any]) -> Any:
    if rank == 0:
        return _leaves(items, dtype, (len(items), *inner))
    lengths = np.fromiter(map(len, items), np.int64, len(items))
    flat = [part for row in items for part in row]
    values = _nested(flat, rank - 1, inner, dtype, splits)
    return Ragged.unchecked(values, splits_of(lengths).astype(splits))


def _leaves(items: Any, dtype: Any, shape: tuple[int, ...]) -> Any:
    array = to_array(items)
    if dtype is not None:
        wanted = as_dtype(dtype)
        if array.size and (array.dtype == STRING) != (wanted == STRING):
            raise TypeError(f"Cannot convert {items!r:.100} to EagerTensor of dtype {wanted.name}")
        full = (
            array.dtype == np.float32 and wanted.kind == "f" and array.size
        )  # the values at their full precision
        array = np.array(items, wanted) if full else array.astype(wanted)
    if array.size or not shape:
        shape = array.shape
    array = array.reshape(shape)
    if array.dtype == STRING:
        return BytesColumn.from_list(array) if array.ndim else array.item()
    return array if array.ndim else array[()]
