"""Seeds: the global one, and what random operations make of it and of their own.

As in TensorFlow, number for number. Besides its seeds an operation has a place in its stream of numbers. For functions
that are called directly TensorFlow keeps one place for every kind of operation, types and seeds that it has met, and
forgets all of them when the global seed is set. Where it makes a graph of a function (`Dataset.map`, `tf.function`),
every operation in it has a place of its own, and those without a seed are numbered instead. A `SeedScope` is such a
graph.
"""

from __future__ import annotations

import random
import secrets
import threading
from collections.abc import Callable
from typing import Any, Final

__all__ = ["Operation", "SeedScope", "get_seeds", "in_scope", "run_outside", "set_seed"]

_LIMIT: Final = 2**31 - 1  # seeds count modulo this
_DEFAULT_GLOBAL: Final = 87654321  # TensorFlow's, for operations with a seed of their own only


class _GlobalSeed:
    """The seed of the whole process, the stream of seeds drawn from it, and the position of every operation."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.seed: int | None = None
        self.times_set = 0
        self.places: dict[Any, int] = {}
        self._stream = random.Random(0)  # noqa: S311 - not for secrets

    def set(self, seed: int | None) -> None:
        with self._lock:
            self.seed = seed
            self.times_set += 1
            self.places = {}
            self._stream = random.Random(seed)  # noqa: S311

    def next_seed(self) -> int:
        with self._lock:
            return self._stream.randint(0, _LIMIT)

    def reserve(self, key: Any, blocks: int) -> int:
        with self._lock:
            place = self.places.get(key, 0)
            self.places[key] = place + blocks
            return place


class _Call(threading.local):
    """The call of a scope's function that a thread is in, and how many random operations it met."""

    scope: SeedScope | None = None
    operations = 0
    unseeded = 0


_global = _GlobalSeed()
_call = _Call()


class SeedScope:
    """The random operations of one function of which TensorFlow would make a graph. Thread-safe.

    The global seed counts as it is when the scope is made. Operations are distinguished by their order in a call.

    Args:
        forgetful: whether setting the global seed begins the streams anew, as it does for `tf.function`.

    >>> set_seed(3)
    >>> scope = SeedScope()
    >>> [scope.run(lambda: (get_seeds(None), get_seeds(None))) for _ in range(2)]
    [((3, 0), (3, 1)), ((3, 0), (3, 1))]
    >>> set_seed(None)
    """

    def __init__(self, *, forgetful: bool = False) -> None:
        self.seed = _global.seed
        self._forgetful = forgetful
        self._times_set = _global.times_set
        self._places: dict[int, int] = {}
        self._lock = threading.Lock()

    def begin(self) -> SeedScope:
        """The same function from the beginning, as another iterator runs it."""
        scope = SeedScope(forgetful=self._forgetful)
        scope.seed = self.seed
        return scope

    def run(self, function: Callable[..., Any], *args: Any) -> Any:
        """Call the function."""
        before = _call.scope, _call.operations, _call.unseeded
        _call.scope, _call.operations, _call.unseeded = self, 0, 0
        try:
            return function(*args)
        finally:
            _call.scope, _call.operations, _call.unseeded = before

    def reserve(self, operation: int, blocks: int) -> int:
        """Pass over numbers of the operation with this number in a call."""
        with self._lock:
            if self._forgetful and self._times_set != _global.times_set:
                self._times_set, self._places = _global.times_set, {}
            place = self._places.get(operation, 0)
            self._places[operation] = place + blocks
            return place


def in_scope() -> bool:
    """Whether this thread runs a function of which TensorFlow would make a graph.

    >>> in_scope(), SeedScope().run(in_scope), SeedScope().run(run_outside, in_scope)
    (False, True, False)
    """
    return _call.scope is not None


def run_outside(function: Callable[..., Any], *args: Any) -> Any:
    """Call a function as if outside of any graph, as `tf.py_function` does."""
    before, _call.scope = _call.scope, None
    try:
        return function(*args)
    finally:
        _call.scope = before


def _find_seeds(op_seed: int | None) -> tuple[int, int] | None:
    """The two seeds of an operation; None if they are random."""
    scope = _call.scope
    shared = _global.seed if scope is None else scope.seed
    if shared is None:
        return None if op_seed is None else (_DEFAULT_GLOBAL, op_seed % _LIMIT)
    if op_seed is None and scope is None:
        op_seed = _global.next_seed()
    elif op_seed is None:
        op_seed, _call.unseeded = _call.unseeded, _call.unseeded + 1
    found = shared % _LIMIT, op_seed % _LIMIT
    return (0, _LIMIT) if found == (0, 0) else found  # two zeros would mean random seeds


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
    """Return the two seeds of an operation, as TensorFlow's `get_seed` does.

    Args:
        op_seed: the operation's own; None for the next one of the global seed's stream, or random ones if there is
            no global seed.

    >>> get_seeds(42)
    (87654321, 42)
    """
    found = _find_seeds(None if op_seed is None else int(op_seed))
    return random_seeds() if found is None else found


def random_seeds() -> tuple[int, int]:
    """Return two unpredictable seeds."""
    return secrets.randbits(63), secrets.randbits(63)


class Operation:
    """One call of a random operation with state. Its seeds are drawn even if it then fails or needs no numbers.

    Args:
        op_seed: its own, or None.
        seeds: both seeds, whatever the global one is; None for those that follow from it.

    >>> first, second = Operation(3), Operation(3)
    >>> first.take(("example", "float32"), 256), second.take(("example", "float32"), 256)
    ((87654321, 3, 0), (87654321, 3, 256))
    """

    def __init__(self, op_seed: int | None, seeds: tuple[int, int] | None = None) -> None:
        # Alone: no other call has its seeds.
        self._alone = op_seed is None and seeds is None and _call.scope is None
        self._seeds = get_seeds(op_seed) if seeds is None else seeds
        self._scope = _call.scope
        self._number = _call.operations
        _call.operations += 1

    def take(self, kind: tuple[str, ...], blocks: int) -> tuple[int, int, int]:
        """Take numbers, so that no other call has them.

        Args:
            kind: its name and types.
            blocks: how many blocks of four numbers.

        Returns:
            The two seeds, and the first of the blocks.
        """
        if self._scope is not None:
            return (*self._seeds, self._scope.reserve(self._number, blocks))
        return (*self._seeds, 0 if self._alone else _global.reserve((kind, self._seeds), blocks))
