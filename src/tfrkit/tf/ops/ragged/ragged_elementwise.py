"""Elementwise functions of Ragged values: all have the same rows, or one is broadcast to the rows of another."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.tf.ops.checks.debugging import assert_equal
from tfrkit.tf.ops.strings.string_values import with_flat
from tfrkit.values.to_array import to_array

__all__ = ["map_flat"]


def map_flat(function: Callable[..., Any], *args: Any, **options: Any) -> Any:
    """Apply a function to the flat values of Ragged arguments, and put the result into their rows.

    Args:
        function: works entry by entry.
        args: Ragged values with the same rows, and values that can be broadcast to them.
        options: passed on; Ragged ones are treated as arguments are.

    Raises:
        InvalidArgumentError: rows differ, or a value cannot be broadcast to them.

    >>> map_flat(np.add, Ragged.from_list([[1, 2], [3]]), np.array([[10], [20]])).to_list()
    [[11, 12], [23]]
    """
    ragged = [value for value in (*args, *options.values()) if isinstance(value, Ragged)]
    if not ragged:
        return function(*args, **options)
    frame = max(ragged, key=lambda value: value.ragged_rank)
    made = function(
        *[_fitted(value, frame) for value in args],
        **{
            key: _fitted(value, frame) if isinstance(value, Ragged) else value
            for key, value in options.items()
        },
    )
    return with_flat(frame, made)


def _fitted(value: Any, frame: Ragged) -> Any:
    """The flat values of a Ragged with the rows of another; anything else as it has to be to go with them."""
    if isinstance(value, Ragged):
        if value.ragged_rank == frame.ragged_rank:
            for one, other in zip(frame.nested_row_splits, value.nested_row_splits, strict=True):
                if one is not other and not np.array_equal(one, other):
                    assert_equal(one.astype(np.int64), other.astype(np.int64))
            return value.flat_values
        return _spread(value, frame)
    shape = np.shape(value) if isinstance(value, (np.ndarray, list, tuple)) else getattr(value, "shape", ())
    if isinstance(value, (bytes, str)) or len(shape) <= frame.flat_values.ndim - 1:
        return value
    return _broadcast(value if isinstance(value, (np.ndarray, BytesColumn)) else to_array(value), frame)


def _spread(value: Ragged, frame: Ragged) -> Any:
    """Values of fewer ragged dimensions, repeated for the rows below them; their last dimension has size 1."""
    depth = value.ragged_rank
    if [s.tolist() for s in value.nested_row_splits[:-1]] != [
        s.tolist() for s in frame.nested_row_splits[: depth - 1]
    ]:
        raise InvalidArgumentError("Unable to broadcast: rows of the two ragged tensors differ")
    return _broadcast(value.to_padded(), frame)


def _broadcast(value: Any, frame: Ragged) -> Any:
    """An array as flat values in the rows of a Ragged, by TensorFlow's rules of broadcasting."""
    rank = frame.ndim
    if value.ndim > rank:
        raise InvalidArgumentError(
            f"Unable to broadcast: the array has {value.ndim} dimensions, the rows have {rank}"
        )
    whole = value.reshape((1,) * (rank - value.ndim) + tuple(value.shape))
    levels = frame.ragged_rank + 1
    places = _coordinates(frame)
    _check_sizes(whole.shape, frame)
    index = tuple(
        np.zeros_like(place) if size == 1 else place
        for place, size in zip(places, whole.shape[:levels], strict=True)
    )
    return whole[index]


def _check_sizes(shape: tuple[int, ...], frame: Ragged) -> None:
    if shape[0] not in (1, len(frame)):
        assert_equal(np.int64(shape[0]), np.int64(len(frame)))
    for size, splits in zip(shape[1:], frame.nested_row_splits, strict=False):
        if size != 1 and bool((np.diff(splits) != size).any()):
            assert_equal(np.arange(len(splits), dtype=np.int64) * size, splits.astype(np.int64))


def _coordinates(frame: Ragged) -> list[npt.NDArray[Any]]:
    """For each ragged dimension and the first one, where in it each of the flat values stands."""
    places: list[npt.NDArray[Any]] = [np.arange(len(frame))]
    for splits in frame.nested_row_splits:
        lengths = np.diff(splits)
        within = np.arange(splits[-1]) - np.repeat(splits[:-1], lengths)
        places = [*(np.repeat(place, lengths) for place in places), within]
    return places
