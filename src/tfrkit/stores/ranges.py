"""Ranges of many files at once: neighbours are joined into one request, and each is used as soon as it is there.

Knows no store and no file: the caller says how ranges are fetched, and what is to be done with them. Requests
run in threads, a bounded number with a bounded number of bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final, TypeAlias

from tfrkit.threads import spawn_all

__all__ = ["MOST_BYTES", "Pieces", "WantedRanges", "fetch_ranges", "join_ranges"]

Pieces: TypeAlias = "list[bytes | memoryview]"

# Ranges that are this near are fetched as one. At 20 ms a request, 1,024 random records of A take 0.44 s, as they do
# with 128 kB; 0.53 s if nothing is joined, 0.62 s with 512 kB (benchmarks/remote_take.py).
_JOIN_BYTES: Final = 1 << 18
MOST_BYTES: Final = 1 << 23  # of joined ranges; a range of its own may be larger
_AT_ONCE: Final = 64  # requests of one call
_BYTES_AT_ONCE: Final = 1 << 27


@dataclass(frozen=True, slots=True)
class WantedRanges:
    """Ranges of one file, and what becomes of them.

    Attributes:
        fetch: returns the bytes from a start to a stop.
        starts: where each range begins, ascending.
        stops: where each ends; none is empty.
        use: called once for each request, in the thread that made it: with the numbers of the ranges that lie in it,
            where it begins, and its bytes.
    """

    fetch: Callable[[int, int], Pieces]
    starts: Sequence[int]
    stops: Sequence[int]
    use: Callable[[range, int, memoryview], object]


@dataclass(frozen=True, slots=True)
class _Request:
    wanted: WantedRanges
    begin: int
    end: int
    numbers: range

    def run(self) -> None:
        pieces = self.wanted.fetch(self.begin, self.end)
        whole = memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))
        self.wanted.use(self.numbers, self.begin, whole)


def fetch_ranges(wanted: Sequence[WantedRanges]) -> None:
    """Fetch all ranges and use them, in any order; return when that is done.

    Raises:
        Exception: what the first request that failed raised; no further ones are begun.
    """
    requests = [_Request(each, *joined) for each in wanted for joined in join_ranges(each.starts, each.stops)]
    if not requests:
        return
    largest = max(request.end - request.begin for request in requests)
    workers = min(len(requests), _AT_ONCE, max(2, _BYTES_AT_ONCE // max(largest, 1)))
    spawn_all(_Request.run, requests, workers)


def join_ranges(starts: Sequence[int], stops: Sequence[int]) -> Iterator[tuple[int, int, range]]:
    """Join ranges that are near each other: where each begins and ends, and the numbers of those in it. Pure: no I/O.

    Args:
        starts: ascending.
        stops: of each.

    >>> list(join_ranges([0, 100, 1 << 20], [50, 200, 1 << 21]))
    [(0, 200, range(0, 2)), (1048576, 2097152, range(2, 3))]
    """
    if not len(starts):
        return
    first, begin, end = 0, starts[0], stops[0]
    for number, (start, stop) in enumerate(zip(starts, stops, strict=True)):
        if start - end > _JOIN_BYTES or max(stop, end) - begin > max(MOST_BYTES, end - begin):
            yield begin, end, range(first, number)
            first, begin, end = number, start, stop
        end = max(stop, end)
    yield begin, end, range(first, len(starts))
