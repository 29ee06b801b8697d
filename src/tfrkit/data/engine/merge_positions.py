"""merge_positions: one position of those of all ranks, where each has used another number of samples.

Pure: no I/O. A rank that has taken every n-th part of the rest of an order, up to some number of them, leaves gaps
where other ranks are behind. The samples in them come first when the epoch goes on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from tfrkit.data.engine.position_form import RANK_KEYS, check_form, is_of_one_rank
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.row_selection import IntArray

__all__ = ["merge_positions", "moved_on", "numbers_after"]


def merge_positions(positions: Iterable[Mapping[str, Any]]) -> dict[str, Any]:
    """Make one position of those of all ranks, for `Dataset.iter_from` on any number of ranks.

    Needed where ranks use different numbers of samples for equally many batches: after `filter`, and with
    `on_corrupt="skip"`. Samples that slower ranks have left come first, then the rest.

    Args:
        positions: what `DatasetIterator.position` returned, of every rank once, in any order. All must have begun or
            resumed the epoch at the same place.

    Raises:
        InvalidArgumentError: one is missing, comes twice, is of another epoch or pipeline, or is no position.

    >>> import tfrkit as tfr
    >>> ds = tfr.Dataset.range(10).global_shuffle(seed=1)
    >>> ranks = [iter(ds.shard(2, rank).filter(lambda x: x % 3 > 0).batch(2)) for rank in range(2)]
    >>> taken = [next(rank).tolist() for rank in ranks]
    >>> position = merge_positions([rank.position() for rank in ranks])
    >>> rest = [int(x) for x in ds.filter(lambda x: x % 3 > 0).iter_from(position)]
    >>> sorted(sum(taken, []) + rest)
    [1, 2, 4, 5, 7, 8]
    """
    positions = _checked(positions)
    common = [_without(each, RANK_KEYS) for each in positions]
    for each in common:
        if each != common[0]:
            key = next(key for key in {**common[0], **each} if common[0].get(key) != each.get(key))
            raise InvalidArgumentError(
                f"merge_positions: expected positions of one epoch and one pipeline, but {key} is {common[0].get(key)} "
                f"of the first and {each.get(key)} of another."
            )
    if not any(map(is_of_one_rank, positions)):
        return dict(common[0])  # all ranks have used as much
    ranks, unit = _one(positions, "ranks"), _one(positions, "unit")
    used = {each["rank"]: each["used"] for each in positions}
    if sorted(used) != list(range(ranks)) or len(positions) != ranks:
        raise InvalidArgumentError(
            f"merge_positions: expected a position of each of {ranks} ranks but got those of the ranks "
            f"{[each.get('rank') for each in positions]}."
        )
    return _merged(common[0], [used[rank] for rank in range(ranks)], unit)


def _checked(positions: Any) -> list[Mapping[str, Any]]:
    if isinstance(positions, Mapping) or not isinstance(positions, Iterable):
        raise InvalidArgumentError(
            f"merge_positions: expected a list of positions, one of every rank, but got {type(positions).__name__}."
        )
    found = list(positions)
    if not found:
        raise InvalidArgumentError("merge_positions: expected a position of every rank but got none.")
    for each in found:
        try:
            check_form(each)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"merge_positions: {error.message}") from None
    return found


def _merged(start: dict[str, Any], used: list[int], unit: int) -> dict[str, Any]:
    """The position when each rank has used so many units of its part of what came after another position."""
    ranks = len(used)
    begun = np.array(used, np.int64)
    seen = int(max((rank + (count - 1) * ranks + 1 for rank, count in enumerate(used) if count), default=0))
    units = np.arange(int(begun.min()) * ranks, seen)  # those before were used by all
    gaps = units[units // ranks >= begun[units % ranks]]
    places = (gaps[:, None] * unit + np.arange(unit)).ravel()
    return moved_on(start, seen * unit, places)


def moved_on(start: Mapping[str, Any], count: int, gaps: Sequence[int] | Any = ()) -> dict[str, Any]:
    """The position after so many samples of the order from another position on, except those in some gaps of them."""
    left = np.array(start.get("left", ()), np.int64)
    first, size = int(start["samples"]), int(start["size"])
    if size >= 0:
        count = min(count, len(left) + size - first)
    places = np.array(gaps, np.int64)
    numbers = numbers_after(left, first, places[places < count])
    still = [*numbers.tolist(), *left[count:].tolist()]
    made = {**_without(start, ("left",)), "samples": first + max(0, count - len(left))}
    return {**made, "left": still} if still else made


def numbers_after(left: IntArray, first: int, places: IntArray) -> IntArray:
    """Which samples stand at some places of an order that begins with some that were left, and then goes on."""
    return np.where(
        places < len(left), np.append(left, 0)[np.minimum(places, len(left))], places - len(left) + first
    )


def _without(position: Mapping[str, Any], keys: Sequence[str]) -> dict[str, Any]:
    return {key: value for key, value in position.items() if key not in keys}


def _one(positions: Sequence[Mapping[str, Any]], key: str) -> int:
    """What all of them say."""
    found = {each.get(key) for each in positions}
    if len(found) != 1 or None in found:
        raise InvalidArgumentError(
            f"merge_positions: expected one number of {key} but got {sorted(map(str, found))}."
        )
    return int(positions[0][key])
