"""Seeds of one epoch of a shuffle after another; the global seed is in `values.seeds`.

As in TensorFlow, number for number, so that a program with seeds sees its elements in the order that it knows.
"""

from __future__ import annotations

import dataclasses
import secrets
import threading
from collections.abc import Sequence
from typing import Any

from tfrkit.data.arguments import integer
from tfrkit.errors import InvalidArgumentError
from tfrkit.values.philox import make_philox
from tfrkit.values.seeds import get_seeds, set_seed

__all__ = [
    "GlobalSeed",
    "SeedGenerator",
    "adopt_seeds",
    "check_seeds",
    "find_seeds",
    "get_seeds",
    "restore_seeds",
    "save_seeds",
    "seeds_of",
    "set_seed",
]


class SeedGenerator:
    """The seeds of one epoch after another. All iterators of a dataset share it. Thread-safe.

    Args:
        seed: from `get_seeds`.
        seed2: the other of them.
        reshuffle: whether every epoch has other seeds.
        given: the seed that the user gave, by which the pipeline is known again.

    >>> seeds = SeedGenerator(1, 2, reshuffle=False)
    >>> seeds.draw(), seeds.draw()
    ((1, 2), (1, 2))
    """

    def __init__(self, seed: int, seed2: int, *, reshuffle: bool, given: int | None = None) -> None:
        self._pair = (seed, seed2)
        self._reshuffle = reshuffle
        self._given = given
        self._draws = 0
        self._lock = threading.Lock()

    @classmethod
    def of(cls, seed: int | None, reshuffle: bool) -> SeedGenerator:
        """Make the generator of an operation with this seed of its own, or none."""
        given = None if seed is None else integer(seed, "seed")
        return cls(*get_seeds(given), reshuffle=reshuffle, given=given)

    def draw(self) -> tuple[int, int]:
        """Return the seeds of the next epoch."""
        with self._lock:
            draws, self._draws = self._draws, self._draws + 1
            return self._epoch(draws)

    def _epoch(self, number: int) -> tuple[int, int]:
        if not self._reshuffle:
            return self._pair
        stream = make_philox(*self._pair)
        stream.skip(2 * number)
        seed, seed2 = stream.uint32(2).tolist()
        return seed, seed2

    @property
    def varies(self) -> bool:
        """Whether every epoch has other seeds."""
        return self._reshuffle

    def at_epoch(self, number: int) -> None:
        """Let the next draw be that of an epoch, for processes that cannot count them."""
        with self._lock:
            self._draws = number

    def save(self) -> list[int]:
        """Return the generator's position: its two seeds, and how often it was drawn from."""
        with self._lock:
            return [*self._pair, self._draws]

    def restore(self, state: list[int]) -> None:
        """Move to where another one stood."""
        seed, seed2, draws = map(int, state)
        with self._lock:
            self._pair, self._draws = (seed, seed2), draws

    def signature(self) -> tuple[Any, ...]:
        """What the pipeline that it belongs to is known by; random seeds are not."""
        return "seeds", self._given, self._reshuffle

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in vars(self).items() if name != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())


class GlobalSeed(SeedGenerator):
    """The seed of a global shuffle: given, or drawn once. It travels with the dataset, and with states."""

    _is_derived = False

    @classmethod
    def of_user(cls, seed: int | None) -> GlobalSeed:
        """Take a seed as it is, or draw one.

        Raises:
            InvalidArgumentError: it has more than 64 bits.
        """
        given = None if seed is None else integer(seed, "seed")
        if given is not None and not -(2**63) <= given < 2**64:
            raise InvalidArgumentError(
                f"Expected a seed of 64 bits, from -2**63 to 2**64 - 1, but got {given}."
            )
        value = secrets.randbits(63) if given is None else given
        return cls(value, 0, reshuffle=False, given=given)

    @classmethod
    def derived_from(cls, given: GlobalSeed) -> GlobalSeed:
        """Take the seed that the user gave to another stage; a state or a position may still say another one."""
        made = cls(given.value, 0, reshuffle=False)
        made._is_derived = True
        return made

    @property
    def value(self) -> int:
        """The seed."""
        return self._pair[0]

    @property
    def is_given(self) -> bool:
        """Whether the user gave it."""
        return self._given is not None

    @property
    def is_common(self) -> bool:
        """Whether every process that makes the pipeline has the same."""
        return self.is_given or self._is_derived

    def signature(self) -> tuple[Any, ...]:
        return "global seed", self._given


def find_seeds(node: Any) -> tuple[SeedGenerator, ...]:
    """The generators of all shuffles in a pipeline, in order; those of global shuffles stay where they are.

    A stage that begins its input anew keeps where they stand in its state: an input that is not running has no state
    of its own.
    """
    return tuple(each for each in _all_seeds(node) if not isinstance(each, GlobalSeed))


def _all_seeds(node: Any) -> tuple[SeedGenerator, ...]:
    values = (getattr(node, each.name) for each in dataclasses.fields(node))
    found = [value for value in values if isinstance(value, SeedGenerator)]
    for part in node.inputs:
        found.extend(_all_seeds(part))
    return tuple(dict.fromkeys(found))


def save_seeds(seeds: tuple[SeedGenerator, ...]) -> list[list[int]]:
    """Return the position of each."""
    return [each.save() for each in seeds]


def restore_seeds(seeds: tuple[SeedGenerator, ...], state: list[list[int]]) -> None:
    """Restore the position of each."""
    for each, at in zip(seeds, state, strict=True):
        each.restore(at)


def seeds_of(node: Any) -> list[int]:
    """The seeds of global shuffles and seeded functions, in the order of the stages."""
    return [each.value for each in _all_seeds(node) if isinstance(each, GlobalSeed)]


def check_seeds(node: Any, values: Sequence[int]) -> None:
    """Refuse seeds that cannot be taken over.

    Raises:
        InvalidArgumentError: other ones were given.
    """
    seeds = [each for each in _all_seeds(node) if isinstance(each, GlobalSeed)]
    if len(seeds) != len(values):
        stages = [
            _name_of(each) for each in node.stages() if isinstance(getattr(each, "seed", None), GlobalSeed)
        ]
        raise InvalidArgumentError(
            f"the position is of another order: expected {len(values)} seeds, {list(values)}, but the dataset has "
            f"{len(seeds)}, of {' and '.join(stages[::-1]) or 'no stage'}. Use the same global_shuffle() and "
            "map(seeded=True), or start the epoch over."
        )
    if any(each.is_given and each.value != value for each, value in zip(seeds, values, strict=True)):
        raise InvalidArgumentError(
            f"the position is of another order: expected the seeds {list(values)} but the dataset has "
            f"{[each.value for each in seeds]}. Give the same seeds, or start the epoch over."
        )


def _name_of(stage: Any) -> str:
    return "map(seeded=True)" if stage.verb == "seeded" else str(stage.label)


def adopt_seeds(node: Any, values: Sequence[int]) -> None:
    """Take over seeds that were drawn elsewhere, and that `check_seeds` has let pass."""
    seeds = [each for each in _all_seeds(node) if isinstance(each, GlobalSeed)]
    for each, value in zip(seeds, values, strict=True):
        each.restore([value, 0, 0])
