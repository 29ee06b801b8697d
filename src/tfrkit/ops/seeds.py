"""Seeds: the global one, and what random operations make of it and of their own.

As in TensorFlow, number for number. Besides its seeds an operation has a place in its stream of numbers: TensorFlow
keeps one for every kind of operation, types and seeds that it has met, and forgets all of them when the global seed is
set. So does this module.
"""

from __future__ import annotations

import random
import secrets
import threading
from typing import Any, Final

__all__ = ["get_seeds", "reserve", "set_seed"]

_LIMIT: Final = 2**31 - 1  # seeds count modulo this
_DEFAULT_GLOBAL: Final = 87654321  # TensorFlow's, for operations with a seed of their own only


class _GlobalSeed:
    """The seed of the whole process, the stream of seeds that it gives, and how far operations came in theirs."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._seed: int | None = None
        self._stream = random.Random(0)  # noqa: S311 - not for secrets
        self._places: dict[Any, int] = {}

    def set(self, seed: int | None) -> None:
        with self._lock:
            self._seed = seed
            self._stream = random.Random(seed)  # noqa: S311
            self._places.clear()

    def seeds(self, op_seed: int | None) -> tuple[int, int] | None:
        with self._lock:
            if self._seed is None:
                return None if op_seed is None else (_DEFAULT_GLOBAL, op_seed % _LIMIT)
            if op_seed is None:
                op_seed = self._stream.randint(0, _LIMIT)
            found = self._seed % _LIMIT, op_seed % _LIMIT
            return (0, _LIMIT) if found == (0, 0) else found  # two zeros would mean random seeds

    def reserve(self, operation: Any, seeds: tuple[int, int], blocks: int) -> int:
        with self._lock:
            place = self._places.get((operation, seeds), 0)
            self._places[operation, seeds] = place + blocks
            return place


_global = _GlobalSeed()


def _random_seeds() -> tuple[int, int]:
    return secrets.randbits(63), secrets.randbits(63)


def set_seed(seed: int | None) -> None:
    """Set the global seed: what shuffles and random operations do from now on is the same in every run.

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
    return _random_seeds() if found is None else found


def reserve(operation: Any, seeds: tuple[int, int], blocks: int) -> int:
    """Pass over numbers of an operation, so that nobody else has them.

    Args:
        operation: what tells it from others of the same seeds: its name and types.
        seeds: from `get_seeds`.
        blocks: how many blocks of four numbers.

    Returns:
        The first of the blocks.

    >>> reserve("example", (1, 2), 256), reserve("example", (1, 2), 256)
    (0, 256)
    """
    return _global.reserve(operation, seeds, blocks)
