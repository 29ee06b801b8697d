"""Records of two data sets that belong together, read again side by side.

Both are read from the beginning at the same pace, and what comes first waits for its partner. Where the order is about
the same little waits; else what would take too much memory is left for another round.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np

from tfrkit.model.block import Block
from tfrkit.records.compare.data_set import DataSet
from tfrkit.records.compare.match_records import Numbers

__all__ = ["Pairs", "read_pairs"]

_WAITING_BYTES: Final = 1 << 28
_BATCH_BYTES: Final = 1 << 22  # compared at once


class Pairs(NamedTuple):
    """Some pairs of records.

    Attributes:
        numbers: which pairs.
        old: the records of the first data set.
        new: those of the second.
    """

    numbers: list[int]
    old: list[bytes]
    new: list[bytes]


def read_pairs(
    a: DataSet, b: DataSet, in_a: Numbers, in_b: Numbers, waiting_bytes: int = _WAITING_BYTES
) -> Iterator[Pairs]:
    """Read pairs of records, all of them, in any order.

    Args:
        a: the first data set.
        b: the second.
        in_a: the numbers of the records in the first.
        in_b: in the second.
        waiting_bytes: of records that may wait for their partners; one always may.
    """
    left = np.arange(len(in_a))
    while len(left):
        later = np.zeros(len(in_a), bool)
        yield from _round(a, b, in_a, in_b, left, later, waiting_bytes)
        left = np.flatnonzero(later)


def _round(
    a: DataSet, b: DataSet, in_a: Numbers, in_b: Numbers, wanted: Numbers, later: np.ndarray, limit: int
) -> Iterator[Pairs]:
    orders = [wanted[np.argsort(numbers[wanted], kind="stable")] for numbers in (in_a, in_b)]
    sides = [a.chosen(in_a[orders[0]]), b.chosen(in_b[orders[1]])]
    waiting: list[dict[int, bytes]] = [{}, {}]
    read = [0, 0]
    held = size = 0
    ready: Pairs = Pairs([], [], [])
    while read != [len(wanted)] * 2:
        side = 0 if read[1] == len(wanted) or (read[0] <= read[1] and read[0] < len(wanted)) else 1
        first, block = _next(sides[side])
        pairs = orders[side][first : first + len(block)].tolist()
        read[side] = first + len(block)
        for pair, record in zip(pairs, block.to_list(), strict=True):
            partner = waiting[1 - side].pop(pair, None)
            if partner is not None:
                held -= len(partner)
                size += len(partner) + len(record)
                ready.numbers.append(pair)
                ready.old.append(record if side == 0 else partner)
                ready.new.append(partner if side == 0 else record)
            elif later[pair] or (held and held + len(record) > limit):
                later[pair] = True  # its partner does not wait either
            else:
                waiting[side][pair] = record
                held += len(record)
        if size >= _BATCH_BYTES:
            yield ready
            ready, size = Pairs([], [], []), 0
    for rest in sides:  # they check that nothing has changed
        for _ in rest:
            pass
    if ready.numbers:
        yield ready


def _next(side: Iterator[tuple[int, Block]]) -> tuple[int, Block]:
    """Return the next records; at the end the reader has found out that there are fewer than before."""
    for found in side:
        return found
    raise RuntimeError("a data set ended before all of its records were read again")
