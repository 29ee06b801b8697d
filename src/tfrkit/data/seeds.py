"""Seeds: the global one, what operations make of it, and those of one epoch of a shuffle after another.

As in TensorFlow, number for number, so that a program with seeds sees its elements in the order that it knows.
"""

from __future__ import annotations

import dataclasses
import random
import secrets
import threading
from typing import Any, Final

from tfrkit.data.arguments import integer
from tfrkit.ops.philox import make_philox

__all__ = ["SeedGenerator", "find_seeds", "get_seeds", "restore_seeds", "save_seeds", "set_seed"]

_LIMIT: Final = 2**31 - 1  # seeds count modulo this
_DEFAULT_GLOBAL: Final = 87654321  # TensorFlow's, for operations with a seed of their own only


class _GlobalSeed:
    """The seed of the whole process, and the stream of seeds that it gives to operations without one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seed: int | None = None
        self._stream = random.Random(0)  # noqa: S311 - not for secrets

    def set(self, seed: int | None) -> None:
        with self._lock:
            self._seed = seed
            self._stream = random.Random(seed)  # noqa: S311

    def seeds(self, op_seed: int | None) -> tuple[int, int] | None:
        with self._lock:
            if self._seed is None:
                return None if op_seed is None else (_DEFAULT_GLOBAL, op_seed % _LIMIT)
            if op_seed is None:
                op_seed = self._stream.randint(0, _LIMIT)
            found = self._seed % _LIMIT, op_seed % _LIMIT
            return (0, _LIMIT) if found == (0, 0) else found  # two zeros would mean random seeds


_global = _GlobalSeed()


def set_seed(seed: int | None) -> None:
    """Set the global seed: what shuffles without a seed of their own do from now on is the same in every run.

    Like `tf.random.set_seed`. Datasets that exist already keep their seeds. Thread-safe.

    Args:
        seed: any integer; None for random seeds again.

    >>> set_seed(1)
    >>> first = get_seeds(None), get_seeds(None)
    >>> set_seed(1)
    >>> first == (get_seeds(None), get_seeds(None))
    True
    >>> set_seed(None)
    """
    _global.set(None if seed is None else int(seed))


def get_seeds(op_seed: int | None) -> tuple[int, int]:
    """Give the two seeds of an operation, as TensorFlow's `get_seed` does.

    Args:
        op_seed: the operation's own; None for the next one of the global seed's stream, or random ones if there is
            no global seed.

    >>> get_seeds(42)
    (87654321, 42)
    """
    found = _global.seeds(None if op_seed is None else int(op_seed))
    return (secrets.randbits(63), secrets.randbits(63)) if found is None else found


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
        """Give the seeds of the next epoch."""
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
        """Say where the generator stands: its two seeds, and how often it was drawn from."""
        with self._lock:
            return [*self._pair, self._draws]

    def restore(self, state: list[int]) -> None:
        """Go to where another one stood."""
        seed, seed2, draws = map(int, state)
        with self._lock:
            self._pair, self._draws = (seed, seed2), draws

    def signature(self) -> tuple[Any, ...]:
        """What the pipeline that it belongs to is known by; random seeds are not."""
        return "seeds", self._given, self._reshuffle

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (self.save(), self._reshuffle, self._given)


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
    """Say where each of them stands."""
    return [each.save() for each in seeds]


def restore_seeds(seeds: tuple[SeedGenerator, ...], state: list[list[int]]) -> None:
    """Let each of them go to where it stood."""
    for each, at in zip(seeds, state, strict=True):
        each.restore(at)


def _rebuild(state: list[int], reshuffle: bool, given: int | None) -> SeedGenerator:
    seed, seed2, draws = state
    generator = SeedGenerator(seed, seed2, reshuffle=reshuffle, given=given)
    generator.restore([seed, seed2, draws])
    return generator
