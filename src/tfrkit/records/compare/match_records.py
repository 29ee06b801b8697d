"""Which records of two data sets belong together, by digests of 96 bits. Pure: no I/O.

Everything is arrays of numpy: 12 bytes for a digest, 8 for the number of a partner. What is sorted is sorted in parts,
so that the memory for it does not grow with the data.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

__all__ = ["Digests", "Numbers", "align_rest", "count_moved", "pair_equal", "repeated", "unused"]

Numbers = npt.NDArray[np.int64]
_PART: Final = 1 << 22  # digests that are sorted at once, about
_AT_ONCE: Final = 1 << 16


class Digests(NamedTuple):
    """What stands for records: the high 64 bits of each, and the low 32."""

    high: npt.NDArray[np.uint64]
    low: npt.NDArray[np.uint32]

    @classmethod
    def of(cls, halves: Any) -> Digests:
        """Make them of what native code returns."""
        return cls(halves[0].view(np.uint64), halves[1].astype(np.uint32))

    @classmethod
    def join(cls, parts: list[Digests]) -> Digests:
        """Put digests one after the other."""
        if not parts:
            return cls(np.zeros(0, np.uint64), np.zeros(0, np.uint32))
        return cls(
            np.concatenate([part.high for part in parts]), np.concatenate([part.low for part in parts])
        )

    def take(self, chosen: Any) -> Digests:
        """Return some of them."""
        return Digests(self.high[chosen], self.low[chosen])

    def same(self, other: Digests) -> npt.NDArray[np.bool_]:
        """Compare digest by digest; both are as many."""
        return np.asarray((self.high == other.high) & (self.low == other.low))


def pair_equal(a: Digests, b: Digests, *, in_place: bool = True) -> Numbers:
    """Give every record of `a` an equal one of `b`, as far as there are any.

    Args:
        a: some records.
        b: others.
        in_place: where several are equal, those belong together that stand in the same place: at both ends, and as far
            from two that have no other equal. The rest, or else all, in order: the first to the first, and so on.

    Returns:
        For each record of `a` the number of its partner in `b`, or -1.

    >>> a, b = (Digests(np.array(x, np.uint64), np.zeros(len(x), np.uint32)) for x in ([5, 7, 7, 8], [7, 5, 7, 7]))
    >>> pair_equal(a, b).tolist(), pair_equal(a, b, in_place=False).tolist()
    ([1, 2, 3, -1], [1, 0, 2, -1])
    """
    partners = np.full(len(a.high), -1, np.int64)
    shorter = min(len(a.high), len(b.high))
    front = _run(a.take(slice(shorter)).same(b.take(slice(shorter))))
    partners[:front] = np.arange(front)
    rest = (shorter - front) * in_place
    back = _run(a.take(slice(len(a.high) - rest, None)).same(b.take(slice(len(b.high) - rest, None)))[::-1])
    end_a, end_b = len(a.high) - back, len(b.high) - back
    partners[end_a:] = np.arange(end_b, len(b.high))
    inner = _pair_inner(a.take(slice(front, end_a)), b.take(slice(front, end_b)), in_place)
    partners[front:end_a] = np.where(inner >= 0, inner + front, -1)
    return partners


def _pair_inner(a: Digests, b: Digests, in_place: bool) -> Numbers:
    partners = np.full(len(a.high), -1, np.int64)
    if in_place:
        _pair_parts(a, b, partners, once=True)
        for back in (False, True):
            rows, places = align_rest(partners, len(b.high), back=back)
            same = a.take(rows).same(b.take(places))
            partners[rows[same]] = places[same]
    _pair_parts(a, b, partners, once=False)
    return partners


def _pair_parts(a: Digests, b: Digests, partners: Numbers, *, once: bool) -> None:
    """Pair what has no partner yet, in order; with `once` only what has one equal."""
    left_a, left_b = np.flatnonzero(partners < 0), unused(len(b.high), partners[partners >= 0])
    a, b = a.take(left_a), b.take(left_b)
    for rows_a, rows_b in _parts(a, b):
        found = _pair_sorted(a.take(rows_a), b.take(rows_b), once)
        good = found >= 0
        partners[left_a[rows_a[good]]] = left_b[rows_b[found[good]]]


def unused(count: int, taken: Numbers) -> Numbers:
    """Return the numbers below `count` that are not taken."""
    free = np.ones(count, bool)
    free[taken] = False
    return np.flatnonzero(free)


def _run(same: npt.NDArray[np.bool_]) -> int:
    """Return how many are true at the front."""
    return len(same) if same.all() else int(same.argmin())


def _parts(a: Digests, b: Digests) -> Any:
    """Yield the rows of both whose digests begin with the same bits, so many bits that they are few."""
    bits = max(0, ((len(a.high) + len(b.high)) // _PART).bit_length())
    shift = np.uint64(64 - bits)
    for part in range(1 << bits):
        if bits:
            yield tuple(np.flatnonzero((each.high >> shift) == part) for each in (a, b))
        else:
            yield np.arange(len(a.high)), np.arange(len(b.high))


def _pair_sorted(a: Digests, b: Digests, once: bool) -> Numbers:
    partners = np.full(len(a.high), -1, np.int64)
    order, starts = _groups(Digests.join([a, b]))
    if not len(order):
        return partners
    of_a = order < len(a.high)  # in each group they come first, in their order
    sizes = np.diff(np.append(starts, len(order)))
    counts = np.add.reduceat(of_a, starts, dtype=np.int64)
    places = np.flatnonzero(of_a)
    groups = np.repeat(np.arange(len(starts)), counts)
    ranks = places - starts[groups]
    fits = (sizes == 2)[groups] & (counts == 1)[groups] if once else ranks < (sizes - counts)[groups]
    groups, ranks = groups[fits], ranks[fits]
    partners[order[places[fits]]] = order[starts[groups] + counts[groups] + ranks] - len(a.high)
    return partners


def _groups(digests: Digests) -> tuple[Numbers, Numbers]:
    """Return the order in which equal ones stand together, each group in the given order, and where groups begin."""
    high, low = digests
    order = np.argsort(high, kind="stable")
    same_high = high[order[1:]] == high[order[:-1]]
    same_low = low[order[1:]] == low[order[:-1]]
    if (same_high & ~same_low).any():  # hardly ever
        order = np.lexsort((low, high))
        same_high, same_low = high[order[1:]] == high[order[:-1]], low[order[1:]] == low[order[:-1]]
    starts = np.flatnonzero(np.append(np.ones(min(len(order), 1), bool), ~(same_high & same_low)))
    return order, starts


def repeated(digests: Digests) -> Numbers:
    """Return the records, in order, of which an equal one stands before."""
    found = []
    for rows, _ in _parts(digests, digests.take(slice(0))):
        order, starts = _groups(digests.take(rows))
        first = np.zeros(len(order), bool)
        first[starts] = True
        found.append(rows[order[~first]])
    return np.sort(np.concatenate(found))


def align_rest(partners: Numbers, count: int, *, back: bool = False) -> tuple[Numbers, Numbers]:
    """Pair records without a partner that stand in the same place: as far after two records that are partners.

    Args:
        partners: of the records of `a`; see `pair_equal`.
        count: how many records `b` has.
        back: as far before two such records.

    Returns:
        The numbers of such records in `a`, and in `b`.

    >>> align_rest(np.array([0, -1, 2, -1, -1]), 4)
    (array([1, 3]), array([1, 3]))
    """
    if back:
        turned = np.where(partners >= 0, count - 1 - partners, -1)[::-1]
        rows, places = align_rest(turned, count)
        return (len(partners) - 1 - rows)[::-1], (count - 1 - places)[::-1]
    rest = np.flatnonzero(partners < 0)
    anchors = np.maximum.accumulate(np.where(partners >= 0, np.arange(len(partners)), -1))[rest]
    before = np.where(anchors >= 0, partners[anchors], -1)
    places = before + rest - anchors
    taken = np.full(count, -1, np.int64)
    taken[partners[partners >= 0]] = partners[partners >= 0]
    taken = np.maximum.accumulate(taken) if count else taken
    inside = places < count
    rest, places, before = rest[inside], places[inside], before[inside]
    free = taken[places] == before  # no other partner lies between, nor there
    return rest[free], places[free]


def count_moved(partners: Numbers) -> int:
    """Return how many of these records have to be moved, at least, so that they stand in the order of their partners.

    >>> count_moved(np.array([1, 2, 3, 0]))
    1
    """
    if not (np.diff(partners) < 0).any():
        return 0
    ends = array("q")  # the least end of an ascending selection, by its length
    for start in range(0, len(partners), _AT_ONCE):
        for number in partners[start : start + _AT_ONCE].tolist():
            if not ends or number > ends[-1]:
                ends.append(number)
            else:
                ends[bisect_left(ends, number)] = number
    return len(partners) - len(ends)
