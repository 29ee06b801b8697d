"""gather_pieces: frames for one pass, in the order in which it uses them; what is used up can be let go.

Many frames at once are read in the order of the files. Of a local file that is mapped, one stretch after another is
copied from and unmapped, so that next to nothing of it stays resident, however large it is. Where the frames are far
apart they are read by position: a page fault brings 64 kB in, which takes as long as five reads of a record in the page
cache. Of remote files, what lies side by side is one request, whose frames go to their places when it arrives.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Final, NamedTuple, TypeAlias

import numpy as np

from tfrkit import _core
from tfrkit.model.block import IntArray
from tfrkit.records.access.file_frames import FileFrames
from tfrkit.records.access.gather import FramePart
from tfrkit.stores.ranges import MOST_BYTES, WantedRanges, fetch_ranges
from tfrkit.threads import default_threads, spawn_all

__all__ = ["Piece", "gather_pieces", "sorted_order"]

Piece: TypeAlias = "tuple[_core.Buffer, IntArray, IntArray]"

_STRETCH_BYTES: Final = 1 << 21  # of a map that each thread has at a time
_FAR_BYTES: Final = 1 << 13  # frames that are further apart, on average, are read by position
_AT_ONCE: Final = 1 << 12  # frames of a task that reads by position
_DIGIT: Final = 16  # bits: numpy sorts such numbers by their digits


def gather_pieces(parts: Sequence[FramePart], count: int, each: int) -> list[Piece]:
    """Read frames into buffers of `each` frames.

    Args:
        parts: every place from 0 to `count` once; the numbers of a part ascend. No file has members.
        count: how many frames there are in all.
        each: how many a buffer has.

    Returns:
        For each buffer where the payloads begin in it, and their lengths, in the order of the places.

    Raises:
        DataLossError: a frame is damaged.
    """
    sizes = np.empty(count, np.int64)
    runs = [_Run(part.frames, part.numbers, part.places, *_spans(part)) for part in parts]
    for run in runs:
        sizes[run.places] = run.sizes
    pieces = _core.FramePieces(sizes, each)
    tasks = [task for run in runs if not run.frames.remote for task in _tasks(run)]
    if tasks:
        spawn_all(lambda task: _read(task, pieces), tasks, default_threads())
        for file in {id(run.frames): run.frames for run, mapped in tasks if mapped}.values():
            if (frame_map := file.frame_map) is not None:
                frame_map.let_go()  # what the system has mapped round the stretches
    if remote := [run for run in runs if run.frames.remote]:
        fetch_ranges([_wanted(run, pieces) for run in remote])
    return pieces.pieces()


def sorted_order(numbers: IntArray) -> IntArray:
    """The order that sorts numbers, at least 0. Pure: no I/O.

    Digit by digit: 0.034 s of CPU for a million of them, where argsort takes 0.08 s.

    >>> sorted_order(np.array([70000, 3, 65536, 4])).tolist()
    [1, 3, 2, 0]
    """
    order: IntArray = np.argsort(numbers.astype(np.uint16), kind="stable")
    largest = int(numbers.max(initial=0))
    for shift in range(_DIGIT, largest.bit_length(), _DIGIT):
        order = order[np.argsort((numbers[order] >> shift).astype(np.uint16), kind="stable")]
    return order


class _Run(NamedTuple):
    """Frames of one file, ascending: their numbers, their places in the result, where they begin, and their sizes."""

    frames: FileFrames
    numbers: IntArray
    places: IntArray
    starts: IntArray
    sizes: IntArray

    def cut(self, begin: int, end: int) -> _Run:
        return _Run(self.frames, *(each[begin:end] for each in self[1:]))


def _spans(part: FramePart) -> tuple[IntArray, IntArray]:
    frames = part.frames.index.frames
    starts = frames[part.numbers]
    return starts, frames[part.numbers + 1] - starts


def _tasks(run: _Run) -> list[tuple[_Run, bool]]:
    """Cut a run into what one thread does at a time, and say whether by the map."""
    span = int(run.starts[-1] + run.sizes[-1] - run.starts[0])
    mapped = run.frames.frame_map is not None
    dense = mapped and span <= _FAR_BYTES * len(run.numbers)
    if dense:
        first = int(run.starts[0]) // _STRETCH_BYTES * _STRETCH_BYTES
        steps = np.arange(first, run.starts[-1] + 1, _STRETCH_BYTES)
        bounds = [*np.searchsorted(run.starts, steps).tolist(), len(run.numbers)]
    else:
        bounds = [*range(0, len(run.numbers), _AT_ONCE), len(run.numbers)]
    return [(run.cut(begin, end), dense) for begin, end in pairwise(bounds) if begin < end]


def _read(task: tuple[_Run, bool], pieces: _core.FramePieces) -> None:
    run, mapped = task
    frame_map = run.frames.frame_map
    if mapped and frame_map is not None and frame_map.sweep(run.numbers, pieces, run.places)[0] < 0:
        return
    run.frames.read_pieces(run.numbers, pieces, run.places)


def _wanted(run: _Run, pieces: _core.FramePieces) -> WantedRanges:
    """Say which ranges to fetch: frames side by side are one, up to about MOST_BYTES."""
    ends = run.starts + run.sizes
    apart = np.append(True, run.starts[1:] != ends[:-1])
    begins = run.starts[apart][np.cumsum(apart) - 1]  # of the neighbours that each frame is among
    part = (run.starts - begins) // MOST_BYTES
    firsts = np.flatnonzero(apart | np.append(True, part[1:] != part[:-1]))
    bounds = [*firsts.tolist(), len(run.starts)]

    def use(ranges: range, begin: int, data: memoryview) -> None:
        chosen = run.cut(bounds[ranges.start], bounds[ranges.stop])
        bad, _ = pieces.fill(data, chosen.starts - begin, chosen.places, run.frames.crc)
        if bad >= 0:
            raise run.frames.error(int(chosen.numbers[bad]))

    stops = np.append(ends[firsts[1:] - 1], ends[-1])
    return WantedRanges(run.frames.range_source.fetch, run.starts[firsts].tolist(), stops.tolist(), use)
