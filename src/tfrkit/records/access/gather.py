"""gather: frames of one or many files side by side in one buffer, checked."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from tfrkit import _core
from tfrkit.model.block import Block, IntArray
from tfrkit.records.access.file_frames import SPLIT_BYTES, FileFrames, check_gathered
from tfrkit.records.read.frame_splitter import FOOTER_BYTES, HEADER_BYTES
from tfrkit.stores.ranges import fetch_ranges
from tfrkit.threads import default_threads, thread_pool

__all__ = ["FramePart", "gather"]

_SPLIT_RECORDS: Final = 256  # fewer reads by position are not worth a second thread


class FramePart(NamedTuple):
    """Some frames of one file: their numbers, and which place each has in the result."""

    frames: FileFrames
    numbers: IntArray
    places: IntArray


def gather(parts: Sequence[FramePart], count: int) -> tuple[_core.Buffer, IntArray, IntArray]:
    """Copy frames of several files into one buffer: of remote files by requests at once, of local ones on all cores.

    Args:
        parts: every place from 0 to `count` once.
        count: how many frames there are in all.

    Returns:
        The buffer, and where the payloads begin in it, and their lengths.

    Raises:
        DataLossError: a frame is damaged.
    """
    sizes = np.zeros(count, np.int64)
    for part in parts:
        frames = part.frames.index.frames
        sizes[part.places] = frames[part.numbers + 1] - frames[part.numbers]
    outs = np.cumsum(sizes) - sizes
    buffer = _core.Buffer(max(1, int(sizes.sum())))
    targets = [_Target(part.frames, part.numbers, outs[part.places]) for part in parts]
    local = [target for target in targets if not target.frames.remote]
    if local:
        _read_local(local, buffer)
    if len(local) < len(parts):
        remote = [target for target in targets if target.frames.remote]
        fetch_ranges([target.frames.wanted(target.numbers, buffer, target.outs) for target in remote])
    offsets, lengths = outs + HEADER_BYTES, sizes - (HEADER_BYTES + FOOTER_BYTES)
    unchecked = [part for part in parts if not part.frames.checks]
    if unchecked:
        bad = check_gathered(buffer, offsets, lengths, crc=unchecked[0].frames.crc)
        if bad >= 0:
            part = next(part for part in parts if bad in part.places)
            raise part.frames.error(int(part.numbers[part.places == bad][0]))
    return buffer, offsets, lengths


def block_of(frames: tuple[Any, IntArray, IntArray], numbers: IntArray, path: str | None = None) -> Block:
    """Return frames as `gather` has them as a Block of records with these numbers. Pure: no I/O."""
    first = int(numbers[0]) if len(numbers) else 0
    return Block(*frames, path=path, first_record=first, start=-1, numbers=numbers)


class _Target(NamedTuple):
    frames: FileFrames
    numbers: IntArray
    outs: IntArray


def _read_local(parts: Sequence[_Target], buffer: _core.Buffer) -> None:
    mapped = all(part.frames.frame_map is not None for part in parts)
    records = sum(len(part.numbers) for part in parts)
    worth = len(buffer) // SPLIT_BYTES if mapped else records // _SPLIT_RECORDS
    threads = max(1, min(default_threads(), worth))
    tasks = parts if len(parts) >= threads else [piece for part in parts for piece in _split(part, threads)]
    failures: dict[int, Exception] = {}

    def read(first: int) -> None:
        for number in range(first, len(tasks), threads):
            task = tasks[number]
            try:
                task.frames.read(task.numbers, buffer, task.outs)
            except Exception as error:  # noqa: BLE001  # it belongs to the caller, whichever thread met it
                failures[number] = error
                return

    others = [thread_pool().submit(read, first) for first in range(1, threads)]
    read(0)
    for other in others:
        other.result()
    if failures:
        raise failures[min(failures)]


def _split(part: _Target, count: int) -> list[_Target]:
    """Cut a part into pieces; those of a file in members have few members in common."""
    numbers, outs = part.numbers, part.outs
    if part.frames.members is not None:
        order = np.argsort(numbers, kind="stable")
        numbers, outs = numbers[order], outs[order]
    bounds = [len(numbers) * each // count for each in range(count + 1)]
    spans = [slice(*pair) for pair in pairwise(bounds)]
    return [_Target(part.frames, numbers[span], outs[span]) for span in spans]
