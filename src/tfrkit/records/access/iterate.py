"""iterate_records: all records of some files in order, fetched some megabytes at a time, ahead of who uses them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import Future
from itertools import pairwise
from typing import Final

import numpy as np

from tfrkit import _core
from tfrkit.records.access.file_frames import FileFrames
from tfrkit.records.access.gather import FramePart, gather
from tfrkit.records.access.index import Index
from tfrkit.threads import spawn

__all__ = ["chunk_bounds", "iterate_records"]

_CHUNK_BYTES: Final = 1 << 23
_AHEAD: Final = 4  # chunks that are fetched while one is used


def iterate_records(files: Sequence[FileFrames]) -> Iterator[bytes]:
    """Yield the records of files one after another."""
    fetching: deque[Future[list[bytes]]] = deque()
    try:
        for file in files:
            for first, last in pairwise(chunk_bounds(file.index)):
                fetching.append(spawn(_records, file, first, last))
                if len(fetching) > _AHEAD:
                    yield from fetching.popleft().result()
        while fetching:
            yield from fetching.popleft().result()
    finally:
        for future in fetching:
            future.cancel()


def _records(file: FileFrames, first: int, last: int) -> list[bytes]:
    numbers = np.arange(first, last)
    return _core.split_records(*gather([FramePart(file, numbers, numbers - first)], len(numbers)))


def chunk_bounds(index: Index) -> list[int]:
    """Cut a file into runs of records of about 8 MiB: the first record of each, and the end. Pure: no I/O.

    Of a file in members each run is some whole members, so that none is fetched twice.
    """
    frames, count = index.frames, len(index)
    if index.compression:
        places = np.unique(np.append(np.searchsorted(frames[:-1], index.member_stream), [0, count]))
    else:
        places = np.arange(count + 1)
    starts, at, bounds = frames[places], 0, [0]
    while bounds[-1] < count:
        reached = int(np.searchsorted(starts, starts[at] + _CHUNK_BYTES, side="right")) - 1
        at = max(at + 1, reached)  # one record or member may be larger
        bounds.append(int(places[at]))
    return bounds
