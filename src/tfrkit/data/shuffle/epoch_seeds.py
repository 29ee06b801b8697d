"""Seeds of one epoch of a shuffle after another; the global seed is in `values.seeds`.

As in TensorFlow, number for number, so that a program with seeds sees its elements in the order that it knows.
"""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

from tfrkit.data.arguments import integer
from tfrkit.values.philox import make_philox
from tfrkit.values.seeds import get_seeds, set_seed

__all__ = ["SeedGenerator", "find_seeds", "get_seeds", "restore_seeds", "save_seeds", "set_seed"]


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


def find_seeds(node: Any) -> tuple[SeedGenerator, ...]:
    """The generators of all shuffles in a pipeline, in order.

    A stage that begins its input anew keeps where they stand in its state: an input that is not running has no state
    of its own.
    """
    values = (getattr(node, each.name) for each in dataclasses.fields(node))
    found = [value for value in values if isinstance(value, SeedGenerator)]
    for part in node.inputs:
        found.extend(find_seeds(part))
    return tuple(dict.fromkeys(found))


def save_seeds(seeds: tuple[SeedGenerator, ...]) -> list[list[int]]:
    """Return the position of each."""
    return [each.save() for each in seeds]


def restore_seeds(seeds: tuple[SeedGenerator, ...], state: list[list[int]]) -> None:
    """Restore the position of each."""
    for each, at in zip(seeds, state, strict=True):
        each.restore(at)
