"""The order in which records of several shards come: some shards are open, a block of each in turn. Pure: no I/O.

That is the order of tf.data's interleave, and of `tfds.load` without shuffling. It follows from the numbers of records
alone, so that the record at any place can be computed: the order is a few segments, each of whole rounds over the
open shards, or of one visit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from tfrkit.model.row_selection import IntArray

__all__ = ["InterleavedOrder", "ShardPart"]


class ShardPart(NamedTuple):
    """A run of records of one shard.

    Attributes:
        file: the number of the shard among the files.
        skip: how many records come before the run.
        take: how many the run has.
        size: how many the whole shard has.
    """

    file: int
    skip: int
    take: int
    size: int

    @property
    def is_whole(self) -> bool:
        """True if it is the whole shard."""
        return self.skip == 0 and self.take == self.size


@dataclass(slots=True)
class _Segment:
    """Rounds over some runs: where the first block of each begins, and how many records come in all."""

    bases: list[int]
    count: int


class InterleavedOrder:
    """Places in the order to numbers of records, counted through all files.

    Args:
        parts: the runs, in the order in which they are opened.
        begins: the number of the first record of each file.
        cycle: how many runs are open at once.
        block: how many records come of one before the next.

    >>> parts = [ShardPart(0, 0, 3, 3), ShardPart(1, 0, 4, 4)]
    >>> InterleavedOrder(parts, [0, 3], cycle=2, block=2).numbers(np.arange(7)).tolist()
    [0, 1, 3, 4, 2, 5, 6]
    """

    def __init__(self, parts: Sequence[ShardPart], begins: Sequence[int], cycle: int, block: int) -> None:
        runs = [(begins[part.file] + part.skip, part.take) for part in parts]
        segments = _Rounds(runs, cycle, block).segments()
        self.size = sum(part.take for part in parts)
        self._block = block
        self._starts = np.cumsum([0, *(each.count for each in segments)])[:-1]
        self._widths = np.array([len(each.bases) for each in segments], np.int64)
        self._firsts = np.cumsum([0, *self._widths])[:-1]
        self._bases = np.array([base for each in segments for base in each.bases], np.int64)

    def numbers(self, places: IntArray) -> IntArray:
        """Return the numbers of the records at some places, which must exist."""
        if not len(places):
            return places
        segment = np.searchsorted(self._starts, places, side="right") - 1
        inside = places - self._starts[segment]
        turn, rest = np.divmod(inside, self._widths[segment] * self._block)
        run, offset = np.divmod(rest, self._block)
        found: IntArray = self._bases[self._firsts[segment] + run] + turn * self._block + offset
        return found


class _Rounds:
    """The visits of the open runs, as tf.data makes them: one that has ended is replaced at the next visit."""

    def __init__(self, runs: list[tuple[int, int]], cycle: int, block: int) -> None:
        self._waiting = runs[::-1]
        self._slots: list[list[int] | None] = [None] * max(1, min(cycle, len(runs)))
        self._at = 0
        self._block = block
        self._segments: list[_Segment] = []

    def segments(self) -> list[_Segment]:
        """Visit until nothing is left."""
        while self._waiting or any(slot is not None for slot in self._slots):
            if not self._whole_rounds():
                self._visit()
        return [each for each in self._segments if each.count]

    def _whole_rounds(self) -> bool:
        """Take as many rounds as all open runs have blocks for; False if there is none."""
        turned = [*self._slots[self._at :], *self._slots[: self._at]]
        slots = [slot for slot in turned if slot is not None]
        if not slots or (self._waiting and len(slots) < len(self._slots)):
            return False
        rounds = min(left for _, left in slots) // self._block
        if not rounds:
            return False
        taken = rounds * self._block
        self._segments.append(_Segment([base for base, _ in slots], taken * len(slots)))
        for slot in slots:
            slot[0] += taken
            slot[1] -= taken
        return True

    def _visit(self) -> None:
        slot = self._slots[self._at]
        if slot is None and self._waiting:
            slot = list(self._waiting.pop())
        if slot is not None:
            base, left = slot
            taken = min(left, self._block)
            self._segments.append(_Segment([base], taken))
            # One that ends with a block is found to have ended at the next visit.
            self._slots[self._at] = None if taken < self._block else [base + taken, left - taken]
        self._at = (self._at + 1) % len(self._slots)
