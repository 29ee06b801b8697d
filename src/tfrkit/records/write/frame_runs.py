"""The frames of blocks as runs of bytes that can be written: as they are where they lie, never made twice.

Does no I/O. Where a run ends depends on the frames alone, not on how they were split into blocks, so that GZIP members
made of the runs are the same for the same records.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from tfrkit import _core
from tfrkit.model.block import Block, IntArray

__all__ = ["FrameRun", "FrameRuns", "frames_of"]

_HEADER_BYTES = 12
_FRAME_BYTES = 16  # of a frame besides its payload, header and footer


class FrameRun(NamedTuple):
    """Whole frames one after the other, and the length of each payload."""

    frames: memoryview
    lengths: IntArray


def frames_of(block: Block, *, checked: bool) -> memoryview:
    """Return the frames of a block's records one after the other: a view where they are contiguous, else a copy.

    A block may have been made by hand, of bytes without frames or with others' checksums. Then frames are made.

    Args:
        block: of at least one record.
        checked: frames and their CRCs are known to be whole, because a reader or an encoder has just made the block:
            only the first is looked at.
    """
    offsets, lengths = block.offsets, block.lengths
    start, end = (
        int(offsets[0]) - _HEADER_BYTES,
        int(offsets[-1] + lengths[-1]) + _FRAME_BYTES - _HEADER_BYTES,
    )
    view = None
    if (offsets[1:] - offsets[:-1] == lengths[:-1] + _FRAME_BYTES).all():
        if start >= 0 and end <= len(block.data):
            view = memoryview(block.data)[start:end]
    elif int(offsets.min()) >= _HEADER_BYTES and int((offsets + lengths).max()) + 4 <= len(block.data):
        runs = offsets - _HEADER_BYTES, lengths + _FRAME_BYTES
        view = memoryview(_core.gather_runs([block.data], None, *runs))
    if view is not None:
        seen = 1 if checked else len(block)
        stop = int(lengths[0]) + _FRAME_BYTES if checked else len(view)
        scan = _core.scan_frames(view, 0, stop, not checked, 2**62)
        if np.array_equal(scan.lengths, lengths[:seen]):
            return view
    return memoryview(_core.frame_block(block.data, offsets, lengths))


class FrameRuns:
    """Splits the frames of block after block into runs of at most `room` bytes, or of one frame.

    A run ends before the frame that would not fit, so what is left of a block waits for the next one.
    """

    def __init__(self) -> None:
        self._held: list[memoryview] = []
        self._lengths: list[IntArray] = []
        self._bytes = 0

    def add(self, frames: memoryview, lengths: IntArray, room: int) -> Iterator[FrameRun]:
        """Take more frames; yield the runs that are full."""
        if self._bytes + len(frames) <= room:
            self._hold(frames, lengths)
            return
        ends = np.cumsum(lengths + _FRAME_BYTES)
        first = start = 0
        while first < len(lengths):
            after = int(np.searchsorted(ends, start + room - self._bytes, side="right"))
            if after <= first:
                if self._bytes:
                    yield self._take()
                    continue
                after = first + 1  # larger than the room: a run of its own
            end = int(ends[after - 1])
            self._hold(frames[start:end], lengths[first:after])
            first, start = after, end

    def _hold(self, frames: memoryview, lengths: IntArray) -> None:
        self._held.append(frames)
        self._lengths.append(lengths)
        self._bytes += len(frames)

    def rest(self) -> FrameRun | None:
        """Return what has not filled a run; afterwards nothing is held."""
        return self._take() if self._held else None

    def _take(self) -> FrameRun:
        held, lengths = self._held, self._lengths
        self._held, self._lengths, self._bytes = [], [], 0
        if len(held) == 1:
            return FrameRun(held[0], lengths[0])
        return FrameRun(memoryview(b"".join(held)), np.concatenate(lengths))
