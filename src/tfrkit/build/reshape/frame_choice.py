"""Which records to take, by their number alone: every n-th, or a random share of exactly so many.

For a random choice every number has a place in a random order that the seed decides; a share is a range of places. So
each record can be judged by itself, whichever task meets it, and shares of one seed that do not overlap have no record
in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from tfrkit.model.block import Block

__all__ = ["EveryChoice", "RandomChoice", "in_range", "mix64", "random_edges"]

_MASK: Final = (1 << 64) - 1
_GOLDEN: Final = 0x9E3779B97F4A7C15  # the step of SplitMix64, which these numbers come from
_CHUNK: Final = 1 << 18
_BUCKET_BITS: Final = 16

Uint64Array = npt.NDArray[np.uint64]


def mix64(values: Uint64Array, seed: int) -> Uint64Array:
    """Give a random-looking number for each, other ones for another seed; different values never get the same.

    Pure: no I/O.

    >>> mix64(np.arange(2, dtype=np.uint64), seed=1).tolist()
    [13830413928045401970, 6869446166584666695]
    """
    start = np.uint64((_scramble(seed & _MASK) + _GOLDEN) & _MASK)
    mixed = values * np.uint64(_GOLDEN) + start
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _scramble(seed: int) -> int:
    """Make seeds that are near each other begin far apart. Seed 0 stays."""
    seed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    seed = (seed ^ seed >> 27) * 0x94D049BB133111EB & _MASK
    return seed ^ seed >> 31


def random_edges(counts: Sequence[int], total: int, seed: int) -> list[tuple[int, int]]:
    """Find ranges of `mix64` in which exactly so many of the numbers 0 .. total - 1 lie. Pure: no I/O.

    Takes two passes over the numbers and little memory, however many there are.

    Args:
        counts: how many each range must have; together at most `total`.
        total: how many numbers there are.
        seed: of the order.

    Returns:
        (lowest, highest + 1) of each range.
    """
    buckets = np.zeros(1 << _BUCKET_BITS, np.int64)
    shift = np.uint64(64 - _BUCKET_BITS)
    for mixed in _all_mixed(total, seed):
        buckets += np.bincount((mixed >> shift).astype(np.int64), minlength=len(buckets))
    ends = np.cumsum(buckets)
    ranks = np.cumsum([0, *counts])
    places = np.searchsorted(ends, ranks, side="right")
    wanted = np.unique(places[places < len(buckets)])
    found: dict[int, list[Uint64Array]] = {int(place): [] for place in wanted}
    for mixed in _all_mixed(total, seed):
        bucket = (mixed >> shift).astype(np.int64)
        inside = np.isin(bucket, wanted)
        for place in np.unique(bucket[inside]).tolist():
            found[place].append(mixed[bucket == place])
    edges = []
    for rank, place in zip(ranks.tolist(), places.tolist(), strict=True):
        if place == len(buckets):
            edges.append(1 << 64)
        else:
            within = rank - int(ends[place] - buckets[place])
            edges.append(int(np.sort(np.concatenate(found[place]))[within]))
    edges[0] = 0
    return list(pairwise(edges))


def _all_mixed(total: int, seed: int) -> Iterator[Uint64Array]:
    return (
        mix64(np.arange(first, min(total, first + _CHUNK), dtype=np.uint64), seed)
        for first in range(0, total, _CHUNK)
    )


@dataclass(frozen=True, slots=True)
class RandomChoice:
    """Records whose place in the order of `seed` is in a range, as `random_edges` gives it."""

    seed: int
    low: int
    high: int

    def mask(self, first: int, block: Block) -> npt.NDArray[np.bool_]:
        """Say it for the records of a block."""
        return in_range(
            mix64(np.arange(first, first + len(block), dtype=np.uint64), self.seed), self.low, self.high
        )


def in_range(values: Uint64Array, low: int, high: int) -> npt.NDArray[np.bool_]:
    """Tell which values are at least `low` and under `high`, which may be 2^64."""
    if low >= high:
        return np.zeros(len(values), np.bool_)
    return (values >= np.uint64(low)) & (values <= np.uint64(high - 1))


@dataclass(frozen=True, slots=True)
class EveryChoice:
    """Every n-th record: the numbers n - 1, 2n - 1 and so on; or all others."""

    every: int
    others: bool = False

    def mask(self, first: int, block: Block) -> npt.NDArray[np.bool_]:
        """Say it for the records of a block."""
        rest = np.arange(first + 1, first + len(block) + 1) % self.every
        return np.asarray(rest != 0 if self.others else rest == 0)
