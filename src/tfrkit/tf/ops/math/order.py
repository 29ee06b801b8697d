"""The order of elements: sorting, the largest, distinct ones, insertion points."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.shapes import show_dims
from tfrkit.values.operands import alike_to_first, as_array, as_type, as_value, dtype_of, of_array, shape_of
from tfrkit.values.types import check_type

__all__ = [
    "TopKV2", "Unique", "UniqueWithCounts", "argsort", "in_top_k", "searchsorted", "sort", "top_k", "unique",
    "unique_with_counts",
]  # fmt: skip


class TopKV2(NamedTuple):
    """The largest elements and their indices."""

    values: Any
    indices: Any


class Unique(NamedTuple):
    """Distinct elements, and for each element its index among them."""

    y: Any
    idx: Any


class UniqueWithCounts(NamedTuple):
    """Like `unique`, with how often each element occurs."""

    y: Any
    idx: Any
    count: Any


def sort(values: Any, axis: Any = -1, direction: str = "ASCENDING") -> Any:
    """Sort along a dimension; NaN is larger than every number.

    >>> sort([3, 1, 2], direction="DESCENDING").tolist()
    [3, 2, 1]
    """
    value = as_value(values)
    place = _axis(value, axis, direction)
    found = np.sort(value, place)
    return np.flip(found, place) if direction == "DESCENDING" else found


def argsort(values: Any, axis: Any = -1, direction: str = "ASCENDING", stable: bool = False) -> Any:
    """Return the indices that sort a value; the sort is stable.

    >>> argsort([3, 1, 2]).tolist()
    [1, 2, 0]
    """
    value = as_value(values)
    place = _axis(value, axis, direction)
    if direction == "DESCENDING":
        last = value.shape[place] - 1
        turned = np.argsort(np.flip(value, place), place, kind="stable")
        return (last - np.flip(turned, place)).astype(np.int32)
    return np.argsort(value, place, kind="stable").astype(np.int32)


def top_k(input: Any, k: Any = 1, sorted: bool = True, index_type: Any = "int32") -> TopKV2:
    """Return the k largest along the last dimension, largest first, and their indices.

    >>> top_k([1, 3, 2], 2).values.tolist()
    [3, 2]
    """
    value = as_value(input)
    check_type("TopKV2", dtype_of(value))
    count = int(as_value(k))
    if not value.ndim:
        raise InvalidArgumentError(f"input must be >= 1-D, got shape {show_dims(value.shape)}")
    if count < 0:
        raise InvalidArgumentError(f"Need k >= 0, got {count}")
    if value.shape[-1] < count:
        raise InvalidArgumentError(
            f"input must have at least k columns. Had {value.shape[-1]}, needed {count}"
        )
    places = argsort(value, direction="DESCENDING")[..., :count]
    return TopKV2(np.take_along_axis(value, places, -1), places.astype(as_type(index_type)))


def in_top_k(targets: Any, predictions: Any, k: Any) -> Any:
    """Return whether the prediction for each target is among the k largest of its row; ties count."""
    rows, wanted = as_value(predictions), as_value(targets)
    inside = (wanted >= 0) & (wanted < rows.shape[1])
    chosen = np.take_along_axis(rows, np.where(inside, wanted, 0)[:, None], 1)
    larger = (rows > chosen).sum(1)
    return inside & np.isfinite(chosen[:, 0]) & (larger < int(as_value(k)))


def unique(x: Any, out_idx: Any = "int32") -> Unique:
    """Return distinct elements in order of their first occurrence, and each element's index among them.

    >>> unique(["b", "a", "b"]).y.to_list()
    [b'b', b'a']
    """
    found, which, _ = _distinct(x)
    return Unique(found, which.astype(as_type(out_idx)))


def unique_with_counts(x: Any, out_idx: Any = "int32") -> UniqueWithCounts:
    """Like `unique`, with how often each element occurs."""
    found, which, counts = _distinct(x)
    kind = as_type(out_idx)
    return UniqueWithCounts(found, which.astype(kind), counts.astype(kind))


def searchsorted(sorted_sequence: Any, values: Any, side: str = "left", out_type: Any = "int32") -> Any:
    """Return where values would be inserted into a sorted sequence, row by row.

    >>> searchsorted([1, 3, 5], [3, 6]).tolist()
    [1, 3]
    """
    if side not in ("left", "right"):
        raise ValueError(f"Argument `side` must be either 'right' or 'left'. Received: `side` = {side!r}.")
    op = "LowerBound" if side == "left" else "UpperBound"
    first, second = as_value(sorted_sequence), as_value(values)
    for value in (first, second):
        if not shape_of(value):
            raise InvalidArgumentError(
                "slice index -1 of dimension 0 out of bounds. searchsorted takes no scalars."
            )
    rows, wanted = alike_to_first(op, first, second)
    flat, found = rows.reshape(-1, rows.shape[-1]), wanted.reshape(-1, wanted.shape[-1])
    if len(flat) != len(found):
        raise InvalidArgumentError(
            f"Leading dim_size of both tensors must match. Got {len(flat)} and {len(found)}."
        )
    places = [np.searchsorted(row, items, side) for row, items in zip(flat, found, strict=True)]  # type: ignore[call-overload]
    return np.array(places, as_type(out_type)).reshape(wanted.shape)


def _axis(value: Any, axis: Any, direction: str) -> int:
    if direction not in ("ASCENDING", "DESCENDING"):
        raise ValueError(
            f"Argument `direction` should be one of ASCENDING, DESCENDING. Received: direction={direction}"
        )
    if dtype_of(value).kind not in "iufV" or not shape_of(value):
        check_type("Neg", dtype_of(value))
    place, count = int(as_value(axis)), len(shape_of(value))
    if not -count <= place < count:
        shown = place + count if place < 0 else place
        raise InvalidArgumentError(f"slice index {shown} of dimension 0 out of bounds. Got axis={place}.")
    return place


def _distinct(x: Any) -> tuple[Any, npt.NDArray[Any], npt.NDArray[Any]]:
    value = as_value(x)
    if len(shape_of(value)) != 1:
        raise InvalidArgumentError(f"unique expects a 1D vector. Got shape {show_dims(shape_of(value))}.")
    places: dict[Any, int] = {}
    which = np.empty(len(value), np.int64)
    firsts: list[int] = []
    for number, item in enumerate(as_array(value).tolist()):
        key = object() if item != item else item  # noqa: PLR0124, every NaN is another
        at = places.setdefault(key, len(firsts))
        if at == len(firsts):
            firsts.append(number)
        which[number] = at
    chosen = as_array(value)[np.array(firsts, np.int64)]
    return of_array(chosen), which, np.bincount(which, minlength=len(firsts))
