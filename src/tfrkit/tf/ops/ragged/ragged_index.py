"""Indexing a Ragged as TensorFlow does: rows by number, slices in every dimension, new dimensions, an ellipsis."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of

__all__ = ["index_ragged", "slice_rows", "take_rows"]

_Ints = npt.NDArray[np.int64]


def index_ragged(ragged: Ragged, key: Any, uniform: tuple[int | None, ...] = ()) -> Any:
    """Return what `ragged[key]` is in TensorFlow.

    Args:
        ragged: rows.
        key: an integer, slice, None, Ellipsis, or a tuple or list of them.
        uniform: the length of all rows of each ragged dimension that has one.

    Raises:
        IndexError, InvalidArgumentError: there is no such row.
        ValueError: one entry is asked of every row, which may have none.
        TypeError: it is not an index.

    >>> index_ragged(Ragged.from_list([[1, 2], [], [3]]), (slice(None), slice(-1, None))).to_list()
    [[2], [], [3]]
    """
    keys = list(key) if isinstance(key, (tuple, list)) else [key]
    for place, one in enumerate(keys):
        _check_key(one, first=place == 0)
    if Ellipsis in keys and sum(one is not None and one is not Ellipsis for one in keys) > ragged.ndim:
        raise IndexError(f"Too many indices for RaggedTensor (rank {ragged.ndim})")
    return _outer(ragged, _spread(keys, ragged.ndim), uniform)


def slice_rows(ragged: Ragged, part: slice) -> Ragged:
    """Slice every row.

    >>> slice_rows(Ragged.from_list([[1, 2, 3], [4]]), slice(None, None, -2)).to_list()
    [[3, 1], [4]]
    """
    lengths = ragged.row_lengths().astype(np.int64)
    step = 1 if part.step is None else int(part.step)
    if not step:
        raise InvalidArgumentError("slice step must be non-zero")
    low, high = (np.zeros_like(lengths), lengths) if step > 0 else (np.full_like(lengths, -1), lengths - 1)
    first = _bound(part.start, lengths, low, high, low if step > 0 else high)
    last = _bound(part.stop, lengths, low, high, high if step > 0 else low)
    counts = np.maximum(0, -(-(last - first) // step))
    splits = splits_of(counts)
    within = np.arange(splits[-1]) - np.repeat(splits[:-1], counts)
    places = np.repeat(ragged.row_splits[:-1] + first, counts) + step * within
    return Ragged.unchecked(take_rows(ragged.values, places), splits.astype(ragged.row_splits.dtype))


def take_rows(values: Any, places: npt.NDArray[Any]) -> Any:
    """Return the rows of an array, BytesColumn or Ragged at some places."""
    return values[places] if isinstance(values, np.ndarray) else values.take(places)


def _bound(given: Any, lengths: _Ints, low: _Ints, high: _Ints, default: _Ints) -> _Ints:
    """Where a slice begins or ends in rows of these lengths, by Python's rules."""
    if given is None:
        return default
    return np.clip(int(given) + (lengths if int(given) < 0 else 0), low, high)


def _check_key(key: Any, *, first: bool) -> None:
    if key is None or key is Ellipsis or _is_index(key):
        return
    wrong = key
    if isinstance(key, slice):
        bounds = [part for part in (key.start, key.stop) if part is not None and not _is_index(part)]
        steps = [] if key.step is None or _is_index(key.step) else [key.step]
        if not bounds and not steps:
            return
        if not first:
            raise TypeError(f"slice {'offsets' if bounds else 'strides'} must be integers or None")
        wrong = [*bounds, *steps][0]
    raise TypeError(
        "Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 tensors are "
        f"valid indices, got {wrong!r}"
    )


def _is_index(value: Any) -> bool:
    return hasattr(value, "__index__") and not isinstance(value, (bool, np.bool_)) and not np.ndim(value)


def _spread(keys: list[Any], rank: int) -> list[Any]:
    """Put slices of everything in the place of the first ellipsis; others are dropped."""
    if Ellipsis not in keys:
        return keys
    place = keys.index(Ellipsis)
    after = [key for key in keys[place + 1 :] if key is not Ellipsis]
    missing = rank - sum(key is not None for key in keys[:place] + after)
    return [*keys[:place], *[slice(None)] * missing, *after]


def _outer(value: Any, keys: list[Any], uniform: tuple[int | None, ...]) -> Any:
    """Apply keys to the first dimension and those below."""
    if not keys:
        return value
    if not isinstance(value, Ragged):
        return _dense(value, keys)
    key, rest = keys[0], keys[1:]
    if key is None:
        inner = _outer(value, rest, uniform)
        return (
            Ragged.unchecked(inner, np.array([0, len(inner)], inner.row_splits.dtype))
            if isinstance(inner, Ragged)
            else _dense(inner, [None])
        )
    if isinstance(key, slice):
        if key.step is not None and not int(key.step):
            raise InvalidArgumentError("strides[0] must be non-zero")
        return _inner(value[key], rest, uniform)
    number = int(key)
    if number >= len(value):
        raise IndexError(f"Row key {number} out of bounds")
    if number < -len(value):
        raise InvalidArgumentError(f"slice index {number + len(value)} of dimension 0 out of bounds.")
    return _outer(value[number], rest, uniform[1:])


def _inner(value: Ragged, keys: list[Any], uniform: tuple[int | None, ...]) -> Any:
    """Apply keys to the dimensions below the first."""
    if not keys:
        return value
    key, rest = keys[0], keys[1:]
    if key is None:
        rows = _inner(value, rest, uniform)
        return Ragged.unchecked(rows, np.arange(len(value) + 1, dtype=value.row_splits.dtype))
    if not isinstance(key, slice):
        return _column(value, int(key), rest, uniform)
    rows = value if key == slice(None) else slice_rows(value, key)
    if not rest:
        return rows
    inner = rows.values
    if isinstance(inner, Ragged):
        return Ragged.unchecked(_inner(inner, rest, uniform[1:]), rows.row_splits)
    return Ragged.unchecked(_dense(inner, [slice(None), *rest]), rows.row_splits)


def _column(value: Ragged, number: int, rest: list[Any], uniform: tuple[int | None, ...]) -> Any:
    """One entry of every row, if rows have one length."""
    length = uniform[0] if uniform else None
    if length is None:
        raise ValueError("Cannot index into an inner ragged dimension.")
    place = number + length if number < 0 else number
    if not 0 <= place < length:
        symbol, bound = (">=", -length) if number < 0 else ("<", length)
        raise InvalidArgumentError(
            f"Index out of bounds when indexing into a ragged tensor\nCondition x {symbol} y did not hold.\n"
            f"First 1 elements of x:\n[{number}]\nFirst 1 elements of y:\n[{bound}]"
        )
    chosen = take_rows(value.values, value.row_splits[:-1] + place)
    if isinstance(chosen, Ragged):
        return _inner(chosen, rest, uniform[1:])
    return _dense(chosen, [slice(None), *rest]) if rest else chosen


def _dense(value: Any, keys: list[Any]) -> Any:
    rank = 0 if isinstance(value, (bytes, np.generic)) else value.ndim
    used = [key for key in keys if key is not None]
    if len(used) > rank:
        raise InvalidArgumentError(f"Index out of range using input dim {rank}; input has only {rank} dims")
    for axis, key in enumerate(used):
        size = value.shape[axis]
        if not isinstance(key, slice) and not -size <= int(key) < size:
            shown = int(key) + size if int(key) < 0 else int(key)
            raise InvalidArgumentError(f"slice index {shown} of dimension {axis} out of bounds.")
    made = value[tuple(key if key is None or isinstance(key, slice) else int(key) for key in keys)]
    return made[()] if isinstance(made, np.ndarray) and not made.ndim else _listed(made)


def _listed(made: Any) -> Any:
    return made if not isinstance(made, BytesColumn) or made.shape else made.to_numpy().item()
