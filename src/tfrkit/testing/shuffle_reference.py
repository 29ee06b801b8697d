"""A slow and obvious model of tf.data's shuffle: its random numbers, its seeds, and the order of the elements.

With the standard library alone and none of tfrkit's code. Written down from what TensorFlow 2.21 does.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from typing import Any, Final

__all__ = ["PlainPhilox", "PlainSeeds", "plain_seeds_of", "plain_shuffle", "plain_shuffle_repeat"]

_WORD: Final = 2**32
_SEED_LIMIT: Final = 2**31 - 1
_DEFAULT_SEED: Final = 87654321
_MAX_EPOCHS: Final = 3  # that a fused shuffle and repeat lets into its buffer before it stops filling


class PlainPhilox:
    """Philox4x32-10, one number at a time.

    >>> hex(PlainPhilox(0, 0).next())
    '0x6627e8d5'
    """

    def __init__(self, key: int, high: int, low: int = 0) -> None:
        self._key = key % _WORD**2
        self._counter = low % _WORD**2 + high % _WORD**2 * _WORD**2
        self._left: list[int] = []

    @classmethod
    def scrambled(cls, seed: int, seed2: int) -> PlainPhilox:
        """The generator of stateless operations."""
        a, b, c, d = cls(0x02461E293EC8F720, seed2, seed).take(4)
        return cls(a + b * _WORD, c + d * _WORD)

    def take(self, count: int) -> list[int]:
        """The next numbers."""
        return [self.next() for _ in range(count)]

    def next(self) -> int:
        """The next number."""
        if not self._left:
            self._left = self._block()
        return self._left.pop(0)

    def _block(self) -> list[int]:
        a, b, c, d = (self._counter // _WORD**i % _WORD for i in range(4))
        key, key2 = self._key % _WORD, self._key // _WORD
        for _ in range(10):
            left, right = 0xD2511F53 * a, 0xCD9E8D57 * c
            a, b, c, d = right // _WORD ^ b ^ key, right % _WORD, left // _WORD ^ d ^ key2, left % _WORD
            key, key2 = (key + 0x9E3779B9) % _WORD, (key2 + 0xBB67AE85) % _WORD
        self._counter = (self._counter + 1) % _WORD**4
        return [a, b, c, d]


def plain_seeds_of(global_seed: int | None, op_seed: int | None, before: int = 0) -> tuple[int, int] | None:
    """The seeds that an operation gets; None if they are random.

    Args:
        global_seed: of tf.random.set_seed, if it was called.
        op_seed: the operation's own.
        before: how many operations without a seed of their own there were since then.

    >>> plain_seeds_of(None, 42), plain_seeds_of(0, 0)
    ((87654321, 42), (0, 2147483647))
    """
    if global_seed is None:
        if op_seed is None:
            return None
        return _DEFAULT_SEED, op_seed % _SEED_LIMIT
    if op_seed is None:
        stream = random.Random(global_seed)  # noqa: S311 - the one that TensorFlow uses
        op_seed = [stream.randint(0, _SEED_LIMIT) for _ in range(before + 1)][before]
    pair = global_seed % _SEED_LIMIT, op_seed % _SEED_LIMIT
    return (0, _SEED_LIMIT) if pair == (0, 0) else pair


class PlainSeeds:
    """The seeds of one epoch after another."""

    def __init__(self, seed: int, seed2: int, *, reshuffle: bool) -> None:
        self._pair = seed, seed2
        self._reshuffle = reshuffle
        self._random = PlainPhilox(seed, seed2)

    def draw(self) -> tuple[int, int]:
        """Those of the next epoch."""
        return (self._random.next(), self._random.next()) if self._reshuffle else self._pair


def plain_shuffle(items: Iterable[Any], size: int, seeds: PlainSeeds) -> Iterator[Any]:
    """One epoch; a size of -2 is all of it.

    >>> list(plain_shuffle(range(12), 5, PlainSeeds(87654321, 42, reshuffle=False)))
    [2, 5, 1, 7, 0, 8, 9, 10, 6, 3, 4, 11]
    """
    return plain_shuffle_repeat([items], size, seeds)


class _Buffer:
    """Elements of several epochs, of which those of the first are drawn."""

    def __init__(self, size: int) -> None:
        self.epochs: list[list[Any]] = []
        self._size = size
        self._whole = 0  # as many as there were when all of an epoch was in it

    def __len__(self) -> int:
        return sum(map(len, self.epochs))

    def wants_more(self, ended: bool) -> bool:
        """Whether it is to be filled before the next draw."""
        if len(self.epochs) > _MAX_EPOCHS and len(self):
            return False
        if self._size != -2:
            return len(self) < self._size
        if ended and self.epochs:
            self._whole = max(self._whole, len(self))
        if not ended and not any(self.epochs[:-1]):
            return True  # the epoch that is drawn from next is not complete
        return not self.epochs or len(self) < self._whole

    def draw(self, random_numbers: PlainPhilox) -> Any:
        """One of the first epoch; the oldest takes its place."""
        first = self.epochs[0]
        chosen = random_numbers.next() % len(first)
        item, first[chosen] = first[chosen], first[0]
        del first[0]
        return item


def plain_shuffle_repeat(epochs: Iterable[Iterable[Any]], size: int, seeds: PlainSeeds) -> Iterator[Any]:
    """Shuffle, then repeat, as one stage: epochs are not mixed, but one is pulled while the one before is given out.

    Exceptions among the items stand for errors: they come out at once, wherever they are met.
    """
    numbers = PlainPhilox(*seeds.draw())
    coming, buffer = iter(epochs), _Buffer(size)
    source: Iterator[Any] | None = None
    while True:
        while buffer.wants_more(ended=source is None):
            if source is None:
                following = next(coming, None)
                if following is None:
                    break
                source = iter(following)
                buffer.epochs.append([])
            item = next(source, StopIteration)
            if item is StopIteration:
                source = None
            elif isinstance(item, Exception):
                yield item
            else:
                buffer.epochs[-1].append(item)
        if not len(buffer):
            return
        while not buffer.epochs[0]:
            del buffer.epochs[0]
            numbers = PlainPhilox(*seeds.draw())
        yield buffer.draw(numbers)
