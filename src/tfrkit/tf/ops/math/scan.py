"""Running sums and products, and clipping."""

from __future__ import annotations

from typing import Any

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.math import elementwise
from tfrkit.tf.ops.math.apply import entrywise
from tfrkit.values.operands import as_value, convert, dtype_of, is_tensor, shape_of, takes_alike
from tfrkit.values.types import check_type

__all__ = ["clip_by_value", "cumprod", "cumsum"]


def cumsum(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """Sums of all elements up to each, along a dimension.

    >>> cumsum([1, 2, 3]).tolist(), cumsum([1, 2, 3], exclusive=True, reverse=True).tolist()
    ([1, 3, 6], [5, 3, 0])
    """
    return _scanned("Cumsum", np.cumsum, 0, x, axis, exclusive, reverse)


def cumprod(x: Any, axis: Any = 0, exclusive: bool = False, reverse: bool = False) -> Any:
    """Products of all elements up to each, along a dimension."""
    return _scanned("Cumprod", np.cumprod, 1, x, axis, exclusive, reverse)


@entrywise
@takes_alike("t", "clip_value_min", "clip_value_max")
def clip_by_value(t: Any, clip_value_min: Any, clip_value_max: Any) -> Any:
    """Numbers, but not less than one and not more than another.

    Raises:
        ValueError: the bounds have more elements than the value.

    >>> clip_by_value([1, 5, 9], 2, 6).tolist()
    [2, 5, 6]
    """
    value = as_value(t)
    least = elementwise.minimum(value, clip_value_max)
    for made in (least, found := elementwise.maximum(least, clip_value_min)):
        if shape_of(made) != shape_of(value):
            raise ValueError(f"Shapes {shape_of(value)} and {shape_of(made)} are incompatible")
    return found


def _scanned(op: str, function: Any, start: int, x: Any, axis: Any, exclusive: bool, reverse: bool) -> Any:
    value = as_value(x)
    check_type(op, dtype_of(value))
    given = convert(axis, None if is_tensor(axis) else np.dtype("int32"))
    if np.ndim(given):
        raise InvalidArgumentError(f"ScanOp: axis must be a scalar, not {show_dims(np.shape(given))}")
    place, count = int(given), value.ndim
    if not -count <= place < count:
        low = f"-{count}" if count else "0"
        raise InvalidArgumentError(
            f"ScanOp: Expected scan axis in the range [{low}, {count}), but got {place}"
        )
    turned = np.flip(value, place) if reverse else value
    with np.errstate(all="ignore"):
        made = function(turned, place, dtype=value.dtype)
    if exclusive:
        made = np.roll(made, 1, place)
        key = [slice(None)] * count
        key[place] = slice(0, 1)
        made[tuple(key)] = start
    return np.flip(made, place) if reverse else made
