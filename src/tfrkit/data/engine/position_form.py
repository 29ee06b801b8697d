"""The form of positions: which keys and numbers they have. Pure: no I/O.

Whether a position belongs to a pipeline and its data is `position.py`'s to say.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from tfrkit.data.engine.node import INFINITE_CARDINALITY
from tfrkit.errors import InvalidArgumentError

__all__ = ["RANK_KEYS", "VERSION", "check_form", "is_of_one_rank", "is_position"]

VERSION: Final = 1
RANK_KEYS: Final = ("rank", "ranks", "used", "unit")  # of a position that needs those of the other ranks
_KEYS: Final = frozenset({"epoch", "samples", "size", "order", "seed", "files"})


def is_position(state: Any) -> bool:
    """Tell a position from the state of an iterator."""
    return isinstance(state, Mapping) and "position" in state


def is_of_one_rank(position: Mapping[str, Any]) -> bool:
    """Tell whether a position says only what one of several ranks has used."""
    return "rank" in position


def check_form(position: Any) -> None:
    """Refuse what `DatasetIterator.position` cannot have returned.

    Raises:
        InvalidArgumentError: it shows what there is instead.
    """
    if not is_position(position):
        got = f"{type(position).__name__}{' without that key' if isinstance(position, Mapping) else ''}"
        raise InvalidArgumentError(
            f"expected a position, a dict with the key 'position' as DatasetIterator.position() returns it, but got "
            f"{got}."
        )
    if position["position"] != VERSION or not set(position) >= _KEYS or not _can_be(position):
        raise InvalidArgumentError(
            f"expected a position of version {VERSION}, as DatasetIterator.position() returns it, but got "
            f"{dict(position)}"
        )


def _can_be(position: Mapping[str, Any]) -> bool:
    epoch, samples, size = (position[key] for key in ("epoch", "samples", "size"))
    seeds, left = position["seed"], position.get("left", [])
    return (
        _are_integers([epoch, samples, size])
        and 0 <= epoch < 2**64
        and (0 <= samples <= size or (samples >= 0 and size == INFINITE_CARDINALITY))
        and _are_integers(seeds)
        and all(-(2**63) <= each < 2**64 for each in seeds)
        and _are_integers(left)
        and all(0 <= each < samples for each in left)
        and len(set(left)) == len(left)
        and (not is_of_one_rank(position) or _can_be_of_a_rank(position))
    )


def _can_be_of_a_rank(position: Mapping[str, Any]) -> bool:
    numbers: list[Any] = [position.get(key) for key in RANK_KEYS]
    if not _are_integers(numbers):
        return False
    rank, ranks, used, unit = numbers
    return bool(0 <= rank < ranks and used >= 0 < unit)


def _are_integers(values: Any) -> bool:
    return isinstance(values, (list, tuple)) and all(isinstance(each, int) for each in values)
