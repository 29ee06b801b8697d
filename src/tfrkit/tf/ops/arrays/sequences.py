"""Arrays that follow a rule: ranges, identity matrices, one-hot rows, sequence masks, grids."""

from __future__ import annotations

import math
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import dtype_name
from tfrkit.model.shapes import show_dims
from tfrkit.tf.ops.math.apply import quietly
from tfrkit.values.cast import cast, cast_value
from tfrkit.values.operands import (
    STRING,
    alike,
    as_type,
    as_value,
    convert,
    dtype_of,
    integers,
    is_tensor,
    of_array,
)
from tfrkit.values.types import check_type

__all__ = ["band_part", "eye", "linspace", "meshgrid", "one_hot", "sequence_mask", "value_range"]

_ORDER: Final = [np.dtype(name) for name in ("int32", "int64", "float32", "float64")]


@quietly
def value_range(start: Any, limit: Any = None, delta: Any = 1, dtype: Any = None) -> Any:
    """Return the numbers from a start up to, not including, a limit.

    Raises:
        InvalidArgumentError: `delta` does not lead from start to limit; the text is TensorFlow's.

    >>> value_range(3).tolist(), value_range(10, 0, -4).tolist()
    ([0, 1, 2], [10, 6, 2])
    """
    if limit is None:
        start, limit = 0, start
    wanted = None if dtype is None else as_type(dtype)
    if wanted is not None:
        bounds = [
            cast_value(value, wanted) if is_tensor(value) else convert(value, wanted)
            for value in (start, limit, delta)
        ]
    else:
        bounds = _widest([as_value(value) for value in (start, limit, delta)])
    check_type("Range", dtype_of(bounds[0]), "Tidx")
    first, last, step = (np.reshape(value, -1)[0] for value in bounds)
    if step == 0:
        raise InvalidArgumentError(f"Requires delta != 0: {step}")
    if step > 0 and first > last:
        raise InvalidArgumentError(f"Requires start <= limit when delta > 0: {_shown(first)}/{_shown(last)}")
    if step < 0 and first < last:
        raise InvalidArgumentError(f"Requires start >= limit when delta < 0: {_shown(first)}/{_shown(last)}")
    kind = first.dtype
    if kind.kind in "iu":
        return np.arange(int(first), int(last), int(step)).astype(kind)
    count = math.ceil(abs((last - first) / step))
    return first + np.arange(count).astype(kind) * step


@quietly
def linspace(start: Any, stop: Any, num: Any, axis: int = 0) -> Any:
    """Return evenly spaced numbers, both ends included.

    >>> linspace(0.0, 1.0, 3).tolist()
    [0.0, 0.5, 1.0]
    """
    first = as_value(start)
    if is_tensor(stop) and dtype_of(stop) != dtype_of(first):
        raise ValueError(
            f"stop: Tensor conversion requested dtype {dtype_name(dtype_of(first))} for Tensor with dtype "
            f"{dtype_name(dtype_of(stop))}"
        )
    last = stop if is_tensor(stop) else convert(stop, dtype_of(first))
    count = as_value(num)
    if dtype_of(count).kind not in "iu":
        raise TypeError(
            f"Argument `tensor` (name: num) must be of type integer. Received `tensor` = {count} of dtype: "
            f"<dtype: {dtype_name(dtype_of(count))!r}>"
        )
    total = int(count)
    if dtype_of(first).kind in "iu":
        first, last = first.astype(np.float64), last.astype(np.float64)
    if total <= 1:
        if total < 0:
            raise InvalidArgumentError(f"Requires start <= limit when delta > 0: 1/{total}")
        return np.expand_dims(first, axis)[:total] if axis == 0 else np.expand_dims(first, axis)
    first, last = np.broadcast_arrays(first, last)
    kind = first.dtype.type
    step = (last - first) / kind(total - 1)
    parts = [first, *(first + step * kind(number) for number in range(1, total - 1)), last]
    return np.stack(parts, axis)


def eye(num_rows: Any, num_columns: Any = None, batch_shape: Any = None, dtype: Any = "float32") -> Any:
    """Return identity matrices."""
    kind = as_type(dtype)
    if kind == STRING:
        raise TypeError("Cannot convert 1 to EagerTensor of dtype string: choose a dtype of numbers")
    rows = int(as_value(num_rows))
    columns = rows if num_columns is None else int(as_value(num_columns))
    for size in (min(rows, columns), max(rows, columns)):
        if size < 0:
            raise InvalidArgumentError(f"Dimension {size} must be >= 0")
    unit = np.eye(rows, columns, dtype=kind)
    before = [] if batch_shape is None else integers(batch_shape, "Tshape").tolist()
    return np.broadcast_to(unit, (*before, rows, columns)).copy()


def one_hot(
    indices: Any,
    depth: Any,
    on_value: Any = None,
    off_value: Any = None,
    axis: int | None = None,
    dtype: Any = None,
) -> Any:
    """Return a row for each index, with `on_value` there and `off_value` elsewhere.

    >>> one_hot([0, 2, 5], 3).tolist()
    [[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 0.0, 0.0]]
    """
    on, off = _marks(on_value, off_value, dtype)
    given = as_value(indices)
    if not is_tensor(indices) and not given.size:
        given = given.astype(np.int64)
    check_type("", dtype_of(given), "TI", ["uint8", "int8", "int32", "int64"])
    size = as_value(depth)
    if np.ndim(size):
        raise InvalidArgumentError(f"depth must be a scalar, but got: {show_dims(np.shape(size))}")
    if size < 0:
        raise InvalidArgumentError(f"depth must be non-negative, got: {size}")
    place, count = -1 if axis is None else int(axis), np.ndim(given)
    if place != -1 and not 0 <= place <= count:
        raise InvalidArgumentError(
            f"Expected axis to be -1 or between [0, {count + 1}).  But received: {place}"
        )
    where = np.expand_dims(np.asarray(given, np.int64), place)
    shape = [1] * (count + 1)
    shape[place] = -1
    chosen = where == np.arange(int(size)).reshape(shape)
    made = np.empty(chosen.shape, dtype_of(on))
    made[...] = off
    made[chosen] = on
    return of_array(made)


def sequence_mask(lengths: Any, maxlen: Any = None, dtype: Any = "bool") -> Any:
    """Return a row for each length: true up to it, false after.

    >>> sequence_mask([1, 2], 3).tolist()
    [[True, False, False], [True, True, False]]
    """
    given = as_value(lengths)
    if maxlen is None:
        longest = max(np.max(given, initial=0), 0)
    else:
        longest = as_value(maxlen)
        if np.ndim(longest):
            raise ValueError(
                "Argument `maxlen` must be scalar for sequence_mask, received `maxlen` = "
                f"{longest} with shape '{np.shape(longest)}' instead"
            )
    places = np.arange(0, float(longest)) if dtype_of(given).kind == "f" else np.arange(int(longest))
    made = places < np.expand_dims(given, -1)
    return cast(made, dtype)


def meshgrid(*args: Any, indexing: str = "xy", **options: Any) -> list[Any]:
    """Return the coordinates of a grid, one array for each of its dimensions."""
    if options:
        raise TypeError(f"'{next(iter(options))}' is an invalid keyword argument for this function")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"Argument `indexing` parameter must be either 'xy' or 'ij', got '{indexing}'")
    values = [np.reshape(as_value(value), -1) for value in args]
    if not values:
        return []
    alike("Mul", *reversed(values))
    return [np.ascontiguousarray(part) for part in np.meshgrid(*values, indexing=indexing)]  # type: ignore[call-overload]


def band_part(input: Any, num_lower: Any, num_upper: Any) -> Any:
    """Set matrices to 0 outside a band around the diagonal; -1 keeps a whole side."""
    value = as_value(input)
    lower, upper = int(as_value(num_lower)), int(as_value(num_upper))
    rows, columns = np.indices(value.shape[-2:])
    kept = ((lower < 0) | (rows - columns <= lower)) & ((upper < 0) | (columns - rows <= upper))
    return np.where(kept, value, value.dtype.type(0))


def _shown(number: Any) -> Any:
    return number if number.dtype.kind in "iu" else f"{float(number):g}"


def _widest(values: list[Any]) -> list[Any]:
    """Convert all to the type that comes last in TensorFlow's order."""
    kinds = [dtype_of(value) for value in values]
    for kind in kinds:
        if kind not in _ORDER:
            if kind in (STRING, np.dtype(bool)):
                raise AssertionError(f"range takes numbers, got {dtype_name(kind)}")
            return alike("Range", *values)
    widest = max(kinds, key=_ORDER.index)
    return [cast_value(value, widest) for value in values]


def _marks(on_value: Any, off_value: Any, dtype: Any) -> tuple[Any, Any]:
    kind = None if dtype is None else as_type(dtype)
    on = None if on_value is None else _mark(on_value, kind)
    off = None if off_value is None else _mark(off_value, kind)
    for name, value in (("on_value", on), ("off_value", off)):
        if kind is not None and value is not None and dtype_of(value) != kind:
            raise TypeError(
                f"dtype {_text(dtype_of(value))} of {name} does not match dtype parameter {_text(kind)}"
            )
    if on is not None and off is not None and dtype_of(on) != dtype_of(off):
        raise TypeError(
            f"dtype {_text(dtype_of(on))} of on_value does not match dtype {_text(dtype_of(off))} of off_value"
        )
    found = next((dtype_of(value) for value in (on, off) if value is not None), kind or np.dtype("float32"))
    return (convert(1, found) if on is None else on), (convert(0, found) if off is None else off)


def _mark(value: Any, kind: np.dtype[Any] | None) -> Any:
    if kind is None or is_tensor(value):
        return as_value(value)
    try:
        return convert(value, kind)
    except (TypeError, ValueError):
        return as_value(value)


def _text(dtype: np.dtype[Any]) -> str:
    return f"<dtype: {dtype_name(dtype)!r}>"
