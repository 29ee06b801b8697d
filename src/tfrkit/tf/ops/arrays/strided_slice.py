"""Indexing of values, as `tensor[...]` and `tf.strided_slice` do it: integers, slices, an ellipsis, new axes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.shapes import show_dims
from tfrkit.values.operands import as_value, integers

__all__ = ["masked_slice", "rearranged", "strided_slice"]


def rearranged(value: Any, arrange: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]) -> Any:
    """Apply a function that only moves elements; strings work too.

    >>> rearranged(b"x", lambda array: array.reshape(1, 1))
    BytesColumn(shape=(1, 1), [[b'x']])
    """
    if isinstance(value, (bytes, BytesColumn)):
        column = BytesColumn.from_list([value]) if isinstance(value, bytes) else value
        shape = () if isinstance(value, bytes) else value.shape
        places = np.asarray(arrange(np.arange(column.size).reshape(shape)))
        flat = column.reshape((column.size,))
        if not places.ndim:
            return flat[int(places)]
        chosen: BytesColumn = flat.take(places.ravel())
        return chosen.reshape(places.shape)
    made = arrange(np.asarray(value))
    return made if isinstance(made, np.ndarray) and made.ndim else np.asarray(made)[()]


def strided_slice(value: Any, key: tuple[Any, ...]) -> Any:
    """Index a value.

    Args:
        value: any.
        key: ints, slices of ints, at most one Ellipsis, and None for a new axis.

    Raises:
        InvalidArgumentError: it cannot be indexed so; the text is TensorFlow's.

    >>> strided_slice(np.arange(6).reshape(2, 3), (Ellipsis, -1)).tolist()
    [2, 5]
    """
    shape = () if isinstance(value, bytes) else value.shape
    _check(key, shape)
    return rearranged(value, lambda array: array[key])


def masked_slice(
    input_: Any,
    begin: Any,
    end: Any,
    strides: Any = None,
    begin_mask: int = 0,
    end_mask: int = 0,
    ellipsis_mask: int = 0,
    new_axis_mask: int = 0,
    shrink_axis_mask: int = 0,
    var: Any = None,
) -> Any:
    """Index a value with a begin, end and step for each dimension.

    Args:
        input_: any value.
        begin: where each slice begins.
        end: where it ends.
        strides: its step, 1 by default.
        begin_mask: bit i is set if slice i has no begin.
        end_mask: bit i is set if slice i has no end.
        ellipsis_mask: bit i is set if item i stands for as many dimensions as are left.
        new_axis_mask: bit i is set if item i is a new dimension.
        shrink_axis_mask: bit i is set if item i is an index, whose dimension goes.
        var: ignored.

    >>> masked_slice([[1, 2, 3], [4, 5, 6]], [0, 0], [2, 3], [1, 2]).tolist()
    [[1, 3], [4, 6]]
    """
    value = as_value(input_)
    starts, stops = integers(begin, "Index"), integers(end, "Index")
    steps = integers([1] * len(starts) if strides is None else strides, "Index")
    if not starts.shape == stops.shape == steps.shape or starts.ndim != 1:
        shapes = [show_dims(part.shape) for part in (starts, stops, steps)]
        raise InvalidArgumentError(
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes "
            f"{shapes[0]}, {shapes[1]}, and {shapes[2]} instead."
        )
    key: list[Any] = []
    for place, (start, stop, step) in enumerate(
        zip(starts.tolist(), stops.tolist(), steps.tolist(), strict=True)
    ):
        bit = 1 << place
        if ellipsis_mask & bit:
            key.append(Ellipsis)
        elif new_axis_mask & bit:
            key.append(None)
        elif shrink_axis_mask & bit:
            key.append(start)
        else:
            key.append(slice(None if begin_mask & bit else start, None if end_mask & bit else stop, step))
    return strided_slice(value, tuple(key))


def _check(key: tuple[Any, ...], shape: tuple[int, ...]) -> None:
    if key.count(Ellipsis) > 1:
        raise InvalidArgumentError("Multiple ellipses in slice spec not allowed")
    used = [item for item in key if item is not None]
    dense = [item for item in used if item is not Ellipsis]
    if dense and not shape:
        raise InvalidArgumentError("Attempting to slice scalar input.")
    if len(dense) > len(shape):
        raise InvalidArgumentError(
            f"Index out of range using input dim {len(shape)}; input has only {len(shape)} dims"
        )
    after = len(used) - 1 - used.index(Ellipsis) if Ellipsis in used else 0
    for place, item in enumerate(dense):
        dim = place if place < len(dense) - after else len(shape) - len(dense) + place
        _check_item(item, dim, shape[dim])


def _check_item(item: Any, dim: int, size: int) -> None:
    if isinstance(item, slice):
        if item.step == 0:
            raise InvalidArgumentError(f"strides[{dim}] must be non-zero")
    elif not -size <= item < size:
        shown = item + size if item < 0 else item
        raise InvalidArgumentError(f"slice index {shown} of dimension {dim} out of bounds.")
