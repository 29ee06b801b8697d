"""Which records to take: every n-th, a random share of exactly n, or all records of some keys.

For a random choice every number has a place in a random order that the seed decides; a share is a range of places. So
each record can be judged by itself, whichever task meets it, and shares of one seed that do not overlap have no record
in common. For keys it is the hash of a feature that has a place, so that records of one key stay together.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.near_names import near_names
from tfrkit.model.ragged import Ragged
from tfrkit.records.read.feature_columns import KIND_NAMES, UNSET, ScannedBlocks

__all__ = ["EveryChoice", "KeyChoice", "RandomChoice", "in_range", "mix64", "random_edges"]

_MASK: Final = (1 << 64) - 1
_GOLDEN: Final = 0x9E3779B97F4A7C15  # the step of SplitMix64, which these numbers come from
_CHUNK: Final = 1 << 18
_BUCKET_BITS: Final = 16

Uint64Array = npt.NDArray[np.uint64]


def mix64(values: Uint64Array, seed: int) -> Uint64Array:
    """Return a pseudorandom number for each value, by seed; different values never get the same.

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
    """Spread seeds that are near each other. Seed 0 stays."""
    seed = (seed ^ seed >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    seed = (seed ^ seed >> 27) * 0x94D049BB133111EB & _MASK
    return seed ^ seed >> 31


def random_edges(counts: Sequence[int], total: int, seed: int) -> list[tuple[int, int]]:
    """Find ranges of `mix64` that hold exactly `counts` of the numbers 0 .. total - 1. Pure: no I/O.

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
        """Return which records of a block are taken."""
        return in_range(
            mix64(np.arange(first, first + len(block), dtype=np.uint64), self.seed), self.low, self.high
        )


def in_range(values: Uint64Array, low: int, high: int) -> npt.NDArray[np.bool_]:
    """Return which values are at least `low` and under `high`, which may be 2^64."""
    if low >= high:
        return np.zeros(len(values), np.bool_)
    return (values >= np.uint64(low)) & (values <= np.uint64(high - 1))


@dataclass(frozen=True, slots=True)
class EveryChoice:
    """Every n-th record: the numbers n - 1, 2n - 1 and so on; or all others."""

    every: int
    others: bool = False

    def mask(self, first: int, block: Block) -> npt.NDArray[np.bool_]:
        """Return which records of a block are taken."""
        rest = np.arange(first + 1, first + len(block) + 1) % self.every
        return np.asarray(rest != 0 if self.others else rest == 0)


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """Records of which the hash of the feature `key` is at least `low` and under `high`; hashes go up to 2^64."""

    key: str
    seed: int
    low: int
    high: int

    def mask(self, first: int, block: Block) -> npt.NDArray[np.bool_]:
        """Return which records of a block are taken.

        Raises:
            InvalidArgumentError: a record does not have the feature, or it is no key.
        """
        rows = _key_rows(block, self.key)
        return in_range(mix64(_hashes(rows), self.seed), self.low, self.high)


def _key_rows(block: Block, key: str) -> Ragged:
    """Return the values of the feature in every record."""
    group = ScannedBlocks.of([block], [key])
    if group.other >= 0:
        raise group.not_an_example()
    kinds = group.features.get(key, {})
    if "float" in (KIND_NAMES[kind] for kind in kinds) or len(kinds) > 1:
        names = " and ".join(sorted(KIND_NAMES[kind] for kind in kinds))
        index = min(kinds.values())
        raise group.error(
            index,
            f"expected a key of integers or of bytes but the feature {key!r} is {names}, first in "
            f"{group.where(index)}. Choose another feature.",
        )
    if not kinds:
        raise _missing(group, key, 0)
    rows, states = group.parse({key: next(iter(kinds))}, 0)[key]
    absent = np.flatnonzero(states <= UNSET)
    if len(absent):
        raise _missing(group, key, int(absent[0]))
    return rows


def _missing(group: ScannedBlocks, key: str, index: int) -> InvalidArgumentError:
    advice = "Choose another feature, or take such records out first with `tfr select --where`."
    if key not in group.features:
        advice = near_names(key, ScannedBlocks.of(group.blocks).features)
    return group.error(
        index,
        f"expected the feature {key!r} in every record but {group.where(index)} has none. {advice}",
    )


def _hashes(rows: Ragged) -> Uint64Array:
    """Return a number for the values of each row; the same on every machine."""
    values = _value_hashes(rows.values)
    lengths = rows.row_lengths()
    starts = np.asarray(rows.row_splits[:-1])
    if len(lengths) and int(lengths.min()) == int(lengths.max()) == 1:
        return values
    combined = np.zeros(len(lengths), np.uint64)
    for place in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        combined[longer] = mix64(combined[longer] + values[starts[longer] + place], place + 1)
    return combined


def _value_hashes(values: Any) -> Uint64Array:
    if not isinstance(values, BytesColumn):
        return np.ascontiguousarray(values, np.int64).view(np.uint64)
    hashed = b"".join(hashlib.blake2b(value, digest_size=8).digest() for value in values.to_list())
    return np.frombuffer(hashed, "<u8").astype(np.uint64)
