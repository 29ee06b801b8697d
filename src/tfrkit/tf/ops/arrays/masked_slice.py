"""tf.strided_slice: a slice for each dimension, with bits that change what they mean."""

from __future__ import annotations

from typing import Any

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.arrays.strided_slice import strided_slice
from tfrkit.values.operands import as_value, integers

__all__ = ["masked_slice"]


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
    var: Any = None,  # noqa: ARG001
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
