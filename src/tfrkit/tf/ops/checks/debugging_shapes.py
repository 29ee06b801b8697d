"""Assertions about ranks, shapes and types. What is wrong is a ValueError or TypeError, as in TensorFlow."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import as_dtype, dtype_name
from tfrkit.model.ragged import Ragged
from tfrkit.model.sparse import Sparse
from tfrkit.tf.ops.arguments import with_arguments
from tfrkit.values.to_array import to_array

__all__ = [
    "assert_integer", "assert_proper_iterable", "assert_rank", "assert_rank_at_least", "assert_rank_at_least_v1",
    "assert_rank_in", "assert_rank_in_v1", "assert_rank_v1", "assert_scalar", "assert_scalar_v1", "assert_shapes",
    "assert_type",
]  # fmt: skip


def assert_rank(x: Any, rank: Any, message: str | None = None) -> None:
    """Check the number of dimensions.

    Raises:
        ValueError: it is another one.

    >>> assert_rank([1, 2], 1)
    """
    _check_rank(x, _rank(rank), "", operator.eq, message)


def assert_rank_at_least(x: Any, rank: Any, message: str | None = None) -> None:
    """Check the least number of dimensions.

    Raises:
        ValueError: there are fewer.

    >>> assert_rank_at_least([1, 2], 1)
    """
    _check_rank(x, _rank(rank), "at least ", operator.ge, message)


def assert_rank_in(x: Any, ranks: Iterable[Any], message: str | None = None) -> None:
    """Check that the number of dimensions is one of some.

    Raises:
        ValueError: it is another one.

    >>> assert_rank_in([1, 2], (1, 2))
    """
    _check_rank(x, tuple(map(_rank, ranks)), "in ", lambda found, wanted: found in wanted, message)


assert_rank_v1 = with_arguments(assert_rank, "x rank data summarize message")
assert_rank_at_least_v1 = with_arguments(assert_rank_at_least, "x rank data summarize message")
assert_rank_in_v1 = with_arguments(assert_rank_in, "x ranks data summarize message")


def assert_scalar(tensor: Any, message: str | None = None) -> None:
    """Check that there is no dimension.

    Raises:
        ValueError: there is one.

    >>> assert_scalar(1)
    """
    shape = _shape(tensor)
    if shape:
        raise ValueError(f"{_start(message)}Expected scalar shape, saw shape: {shape}.")


def assert_scalar_v1(tensor: Any, message: str | None = None) -> Any:
    """`assert_scalar` that returns the tensor.

    >>> assert_scalar_v1(1)
    np.int32(1)
    """
    assert_scalar(tensor, message)
    return tensor if isinstance(tensor, bytes) else to_array(tensor)[()]


def assert_type(tensor: Any, tf_type: Any, message: str | None = None) -> None:
    """Check the type of the entries.

    Raises:
        TypeError: it is another one.

    >>> assert_type(1, "int32")
    """
    wanted, found = dtype_name(as_dtype(tf_type)), dtype_name(_dtype(tensor))
    if wanted != found:
        raise TypeError(f"{_start(message)}tensor must be of type tf.{wanted}; got tf.{found}")


def assert_integer(x: Any, message: str | None = None) -> None:
    """Check that the entries are integers.

    Raises:
        TypeError: they are not.

    >>> assert_integer([1, 2])
    """
    dtype = _dtype(x)
    if dtype.kind not in "iu":
        raise TypeError(
            f'{_start(message)}Expected "x" to be integer type.  Found: tensor of dtype '
            f"<dtype: '{dtype_name(dtype)}'>"
        )


def assert_proper_iterable(values: Any) -> None:
    """Check that something is iterable and is not a tensor, array or string.

    Raises:
        TypeError: it is one of these, or is not iterable.

    >>> assert_proper_iterable([1, 2])
    """
    if isinstance(values, (np.ndarray, np.generic, BytesColumn, Ragged, Sparse, bytes, str)):
        raise TypeError(f'Expected argument "values" to be a "proper" iterable.  Found: {type(values)}')
    if not hasattr(values, "__iter__"):
        raise TypeError(f'Expected argument "values" to be iterable.  Found: {type(values)}')


def assert_shapes(
    shapes: Any,
    data: Any = None,
    summarize: int | None = None,
    message: str | None = None,
) -> None:
    """Check shapes; symbols stand for sizes that must be the same everywhere.

    Args:
        shapes: pairs of a tensor and the sizes of its dimensions: a number, a symbol, or None for any size. A first or
            last "..." stands for any number of dimensions.
        data: not used; TensorFlow has it.
        summarize: not used; TensorFlow has it.
        message: put before the text of the error.

    Raises:
        ValueError: a shape is another one.

    >>> assert_shapes([(np.zeros((2, 3)), ("rows", "columns")), (np.zeros(3), ("columns",))])
    """
    pairs = list(shapes.items()) if isinstance(shapes, Mapping) else [tuple(pair) for pair in shapes]
    start = _start(message)
    known: dict[Any, tuple[int, str]] = {}
    for tensor, wanted in pairs:
        shape = _shape(tensor)
        text = f"shape={shape} dtype={dtype_name(_dtype(tensor))}"
        if not hasattr(wanted, "__iter__") and not hasattr(wanted, "__getitem__"):
            raise ValueError(
                f"{start}Tensor {text}.  Specified shape must be an iterable.  An iterable has the attribute "
                f"`__iter__` or `__getitem__`.  Received specified shape: {wanted}"
            )
        for axis, size, found in _matched(shape, list(wanted), start, text):
            _check_size(size, found, f"{text} dimension {axis}", shape, known, start)


def _check_rank(
    x: Any, wanted: Any, words: str, holds: Callable[[Any, Any], bool], message: str | None
) -> None:
    shape = _shape(x)
    if not holds(len(shape), wanted):
        raise ValueError(
            f"{_start(message)}Tensor  must have rank {words}{wanted}.  Received rank {len(shape)}, shape {shape}"
        )


def _matched(
    shape: tuple[int, ...], wanted: Sequence[Any], start: str, text: str
) -> Iterable[tuple[int, Any, int]]:
    """Dimension, what is wanted of it, and its size; a scalar counts as one entry, and no sizes as one."""
    for place, size in enumerate(wanted):
        if _is_rest(size) and place not in (0, len(wanted) - 1):
            raise ValueError(
                f"{start}Tensor {text} specified shape index {place}.  Symbol `...` or `*` for a variable number of "
                "unspecified dimensions is only allowed as the first or last entry"
            )
    front = bool(wanted) and _is_rest(wanted[0])
    back = bool(wanted) and _is_rest(wanted[-1]) and not front
    sizes = [size for size in wanted if not _is_rest(size)]
    if front or back:
        assert_rank_at_least(np.empty(shape), len(sizes), start.removesuffix(".  ") or None)
        first = len(shape) - len(sizes) if front else 0
        return [(first + place, size, shape[first + place]) for place, size in enumerate(sizes)]
    if len(sizes) <= 1 >= len(shape):  # TensorFlow lets (), (1,) and a scalar pass for each other
        return [(0, size, found) for size, found in zip(sizes or [1], shape or (1,), strict=True)]
    if len(sizes) != len(shape):
        if len(sizes) == 1:
            assert_rank_in(np.empty(shape), (0, 1), start.removesuffix(".  ") or None)
        assert_rank(np.empty(shape), len(sizes), start.removesuffix(".  ") or None)
    return [(place, size, found) for place, (size, found) in enumerate(zip(sizes, shape, strict=True))]


def _check_size(
    size: Any, found: int, where: str, shape: tuple[int, ...], known: dict[Any, tuple[int, str]], start: str
) -> None:
    if size is None or size == ".":
        return
    if isinstance(size, (int, np.integer)) or (isinstance(size, str) and size.isdigit()):
        wanted, by = int(size), "Specified explicitly"
    elif size in known:
        wanted, origin = known[size]
        by = f"Specified by tensor {origin}"
    else:
        known[size] = (found, where)
        return
    if wanted != found:
        raise ValueError(
            f"{start}{by}.  Tensor {where} must have size {wanted}.  Received size {found}, shape {shape}"
        )


def _is_rest(size: Any) -> bool:
    return size is Ellipsis or (isinstance(size, str) and size in ("...", "*"))


def _start(message: str | None) -> str:
    return f"{message}.  " if message else ""


def _rank(rank: Any) -> int:
    array: npt.NDArray[Any] = to_array(rank)
    if array.dtype not in (np.int32, np.int64):
        raise TypeError(f"tensor must be of type tf.int32; got tf.{dtype_name(array.dtype)}")
    if array.ndim:
        raise ValueError("Rank must be a scalar.")
    return int(array)


def _shape(value: Any) -> tuple[Any, ...]:
    if isinstance(value, (Ragged, Sparse, BytesColumn, np.ndarray)):
        return value.shape
    return () if isinstance(value, bytes) else to_array(value).shape


def _dtype(value: Any) -> np.dtype[Any]:
    if isinstance(value, (Ragged, Sparse, BytesColumn, np.ndarray)):
        return value.dtype
    return np.dtype(object) if isinstance(value, bytes) else to_array(value).dtype
