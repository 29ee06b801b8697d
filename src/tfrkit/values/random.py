"""Random tensors: uniform and normal numbers, shuffled rows; with state as in `tf.random`, or without.

The same seeds give the same numbers as in TensorFlow. Operations with state continue their stream from call to call;
`seeds` says how. Those without take two seeds and give the same numbers for them every time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.dtypes import op_name
from tfrkit.model.element_spec import as_dtype, dtype_name
from tfrkit.values import random_numbers
from tfrkit.values.random_arguments import (
    as_type,
    bound,
    check_accepted,
    op_seed,
    stateless_stream,
    tensor_shape,
)
from tfrkit.values.random_numbers import RandomStream
from tfrkit.values.seeds import Operation
from tfrkit.values.stateful import note
from tfrkit.values.to_array import to_array

__all__ = [
    "fold_in",
    "from_bell",
    "from_uniform",
    "normal",
    "shuffle",
    "split",
    "stateless_normal",
    "stateless_shuffle",
    "stateless_truncated_normal",
    "stateless_uniform",
    "truncated_normal",
    "uniform",
]

_FLOATS: Final = ("float16", "bfloat16", "float32", "float64")
_STATEFUL: Final = (*_FLOATS, "int32", "int64")
_STATELESS: Final = (*_STATEFUL, "uint32", "uint64")
_PER_NUMBER: Final = 256  # blocks that an operation passes over for each number that it gives


def _begin(seed: Any) -> Operation:
    """Begin a call of an operation with state."""
    note()
    return Operation(op_seed(seed))


def uniform(shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = "float32", seed: Any = None) -> Any:
    """Draw numbers that are equally likely from `minval` on and below `maxval`.

    Args:
        shape: of the result.
        minval: the smallest; for floats it may be an array.
        maxval: what they stay below; for floats 1 unless given.
        dtype: float16, bfloat16, float32, float64, int32 or int64.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        ValueError: it is another type, or there is no `maxval` for integers.
        InvalidArgumentError: it is not a shape, or `minval` is not below `maxval` for integers.

    >>> 5 <= uniform([], 5, 7, "int32") < 7
    np.True_
    """
    kind = as_dtype(dtype)
    check_accepted(kind, _STATEFUL)
    if maxval is None and kind.kind == "i":
        raise ValueError(f"Must specify maxval for integer dtype tf.{kind.name}")
    sizes, type_name = tensor_shape(shape)
    low, high = as_type(minval, kind), as_type(1 if maxval is None else maxval, kind)
    call = _begin(seed)
    if kind.kind == "i":
        _check_bounds(low, high)
    operation = "RandomUniformInt" if kind.kind == "i" else "RandomUniform", dtype_name(kind), type_name
    stream = RandomStream(*call.take(operation, _PER_NUMBER * math.prod(sizes)))
    return from_uniform(stream, sizes, low, high, kind)


def _check_bounds(low: Any, high: Any) -> None:
    smallest, limit = bound(low, "minval"), bound(high, "maxval")
    if smallest >= limit:
        raise InvalidArgumentError(f"Need minval < maxval, got {smallest} >= {limit}")


def from_uniform(
    stream: RandomStream, sizes: tuple[int, ...], low: Any, high: Any, kind: np.dtype[Any]
) -> Any:
    """Return uniform numbers of a stream, within bounds."""
    count = math.prod(sizes)
    if kind.kind in "iu":
        return _shaped(random_numbers.integers(stream, count, int(low), int(high), kind), sizes)
    drawn = _shaped(random_numbers.uniform(stream, count, kind), sizes)
    return drawn * (high - low)[()] + low[()]


def _shaped(values: Any, sizes: tuple[int, ...]) -> Any:
    return values.reshape(sizes) if sizes else values[0]


def normal(shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None) -> Any:
    """Draw numbers of a normal distribution.

    Args:
        shape: of the result.
        mean: a number or array.
        stddev: the deviation, a number or array.
        dtype: float16, bfloat16, float32 or float64.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        InvalidArgumentError: it is not a shape.
        TypeError: it is another type.

    >>> normal([2, 3], dtype="float64").shape
    (2, 3)
    """
    return _bell(shape, mean, stddev, dtype, seed, truncated=False)


def truncated_normal(
    shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = "float32", seed: Any = None
) -> Any:
    """Draw numbers of a normal distribution, none further than two deviations from the mean.

    Args:
        shape: of the result.
        mean: a number or array.
        stddev: the deviation, a number or array.
        dtype: float16, bfloat16, float32 or float64.
        seed: of this operation; see `tfrkit.set_seed`.

    Raises:
        InvalidArgumentError: it is not a shape.
        TypeError: it is another type.

    >>> bool(abs(truncated_normal([100], seed=5)).max() < 2)
    True
    """
    return _bell(shape, mean, stddev, dtype, seed, truncated=True)


def _bell(shape: Any, mean: Any, stddev: Any, dtype: Any, seed: Any, *, truncated: bool) -> Any:
    kind = as_dtype(dtype)
    sizes, type_name = tensor_shape(shape)

    def take() -> RandomStream:
        operation = "TruncatedNormal" if truncated else "RandomStandardNormal", dtype_name(kind), type_name
        return RandomStream(*_begin(seed).take(operation, _PER_NUMBER * math.prod(sizes)))

    return from_bell(take, sizes, mean, stddev, kind, truncated=truncated)


def from_bell(
    take: Callable[[], RandomStream],
    sizes: tuple[int, ...],
    mean: Any,
    stddev: Any,
    kind: np.dtype[Any],
    *,
    truncated: bool,
) -> Any:
    """Return normal numbers of a stream, which is taken when the arguments are found right."""
    centre, width = _bell_parts(mean, stddev, kind)
    draw = random_numbers.truncated_normal if truncated else random_numbers.normal
    return _shaped(draw(take(), math.prod(sizes), kind), sizes) * width + centre


def _bell_parts(mean: Any, stddev: Any, kind: np.dtype[Any]) -> tuple[Any, Any]:
    centre, width = as_type(mean, kind), as_type(stddev, kind)
    if dtype_name(kind) not in _FLOATS:
        raise InvalidArgumentError(
            f"Value for attr 'dtype' of {op_name(dtype_name(kind))} is not in the list of allowed values: "
            "half, bfloat16, float, double"
        )
    return centre[()], width[()]


def shuffle(value: Any, seed: Any = None) -> Any:
    """Return the rows of a tensor in random order.

    Args:
        value: numbers or strings.
        seed: of this operation; see `tfrkit.set_seed`.

    >>> sorted(shuffle([3, 1, 2]).tolist())
    [1, 2, 3]
    """
    call = _begin(seed)
    array = to_array(value)
    if array.ndim and len(array) > 1 and array.size > 1:
        stream = RandomStream(*call.take(("RandomShuffle", dtype_name(array.dtype)), (len(array) + 2) // 4))
        array = array[_permutation(stream.numbers(len(array) - 1))]
    return _as_value(array)


def _permutation(numbers: Any) -> list[int]:
    """Exchange each place with one of those after it or itself."""
    size = len(numbers) + 1
    order = list(range(size))
    for place, number in enumerate(numbers.tolist()):
        other = place + number % (size - place)
        order[place], order[other] = order[other], order[place]
    return order


def _as_value(array: Any) -> Any:
    if array.dtype == object and array.ndim:
        return BytesColumn.from_list(array)
    return array if array.ndim else array[()]


def stateless_uniform(
    shape: Any,
    seed: Any,
    minval: Any = 0,
    maxval: Any = None,
    dtype: Any = "float32",
    alg: Any = "auto_select",
) -> Any:
    """Draw numbers that are equally likely, the same ones for the same seeds.

    Args:
        shape: of the result.
        seed: two integers.
        minval: the smallest; for floats it may be an array. None for any integer.
        maxval: what they stay below; for floats 1 unless given. None for any integer.
        dtype: float16, bfloat16, float32, float64, int32 or int64; for any integer also uint32 or uint64.
        alg: "philox" or "auto_select", which is the same.

    Raises:
        ValueError: it is another type, or one bound of integers is missing.
        InvalidArgumentError: it is not a shape, there are not two seeds, or `minval` is not below `maxval`.

    >>> stateless_uniform([2], (1, 2)).tolist()
    [0.8440604209899902, 0.19204533100128174]
    """
    kind = as_dtype(dtype)
    check_accepted(kind, _STATELESS)
    if kind.kind in "iu":
        _check_stateless_bounds(kind, minval, maxval)
    elif maxval is None:
        maxval = 1
    sizes, _ = tensor_shape(shape, "Tshape")
    if maxval is None:
        stream = stateless_stream(seed, alg)
        return _shaped(random_numbers.full_integers(stream, math.prod(sizes), kind), sizes)
    low, high = as_type(minval, kind), as_type(maxval, kind)
    stream = stateless_stream(seed, alg)
    if kind.kind == "i":
        _check_bounds(low, high)
    return from_uniform(stream, sizes, low, high, kind)


def _check_stateless_bounds(kind: np.dtype[Any], minval: Any, maxval: Any) -> None:
    if (minval is None) != (maxval is None):
        raise ValueError(
            f"For integer `dtype` argument <dtype: '{kind.name}'>, argument `minval` and `maxval` must be both None "
            f"or not None. Got `minval`={minval} and `maxval`={maxval}."
        )
    if minval is not None and kind.kind == "u":
        raise ValueError(
            f"Argument `dtype` got invalid value <dtype: '{kind.name}'> when argument `minval` is not None. "
            "Please don't use unsigned integers in this case."
        )


def stateless_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    alg: Any = "auto_select",
) -> Any:
    """Draw numbers of a normal distribution, the same ones for the same seeds.

    Args:
        shape: of the result.
        seed: two integers.
        mean: a number or array.
        stddev: the deviation, a number or array.
        dtype: float16, bfloat16, float32 or float64.
        alg: "philox" or "auto_select", which is the same.

    Raises:
        InvalidArgumentError: it is not a shape, or there are not two seeds.
        TypeError: it is another type.

    >>> stateless_normal([2], (1, 2)).round(3).tolist()
    [0.5440000295639038, 0.2070000022649765]
    """
    return _stateless_bell(shape, seed, mean, stddev, dtype, alg, truncated=False)


def stateless_truncated_normal(
    shape: Any,
    seed: Any,
    mean: Any = 0.0,
    stddev: Any = 1.0,
    dtype: Any = "float32",
    alg: Any = "auto_select",
) -> Any:
    """Draw numbers of a normal distribution, none further than two deviations away; the same for the same seeds.

    Args:
        shape: of the result.
        seed: two integers.
        mean: a number or array.
        stddev: the deviation, a number or array.
        dtype: float16, bfloat16, float32 or float64.
        alg: "philox" or "auto_select", which is the same.

    Raises:
        InvalidArgumentError: it is not a shape, or there are not two seeds.
        TypeError: it is another type.

    >>> stateless_truncated_normal([2], (1, 2)).round(3).tolist()
    [0.5440000295639038, 0.2070000022649765]
    """
    return _stateless_bell(shape, seed, mean, stddev, dtype, alg, truncated=True)


def _stateless_bell(
    shape: Any, seed: Any, mean: Any, stddev: Any, dtype: Any, alg: Any, *, truncated: bool
) -> Any:
    kind = as_dtype(dtype)
    sizes, _ = tensor_shape(shape, "Tshape")
    return from_bell(lambda: stateless_stream(seed, alg), sizes, mean, stddev, kind, truncated=truncated)


def stateless_shuffle(value: Any, seed: Any, alg: Any = "auto_select") -> Any:
    """Return the rows of a tensor in an order that belongs to the seeds.

    Args:
        value: numbers or strings.
        seed: two integers.
        alg: "philox" or "auto_select", which is the same.

    Raises:
        InvalidArgumentError: there are not two seeds.
    """
    array = to_array(value)
    stream = stateless_stream(seed, alg)
    if array.ndim and len(array) > 1 and array.size > 1:
        array = array[_permutation(stream.numbers(len(array) - 1))]
    return _as_value(array)


def split(seed: Any, num: Any = 2, alg: Any = "auto_select") -> Any:
    """Make several pairs of seeds of one.

    Args:
        seed: two integers.
        num: how many pairs.
        alg: "philox" or "auto_select", which is the same.

    >>> split([1, 2]).shape
    (2, 2)
    """
    kind = to_array(seed).dtype
    return stateless_uniform([num, 2], seed, None, None, kind, alg)


def fold_in(seed: Any, data: Any, alg: Any = "auto_select") -> Any:
    """Make another pair of seeds of one and a number.

    Args:
        seed: two integers.
        data: an integer.
        alg: "philox" or "auto_select", which is the same.

    >>> fold_in([1, 2], 3).tolist()[1]
    3
    """
    number = to_array(data)
    return np.stack([stateless_uniform([], seed, None, None, number.dtype, alg), number[()]])
