"""RecordStore: records in a shuffle's buffer, copied into memory of their own.

A record that is drawn leaves its memory to the next that comes, so nothing is held but the records, and blocks go as
soon as they are read. Drawn records lie one after another, in the order in which they were drawn, which is how a parser
reads them best: shuffle + parse + batch is 1.2 times as fast as with records left in their blocks, from which survivors
are copied out (benchmarks/pipelines_shuffle.py), in two thirds of the memory.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.data.elements.chunk import Chunk, RecordChunk
from tfrkit.model.block import Block
from tfrkit.model.row_selection import IntArray

__all__ = ["RecordStore"]

_FRAME_BYTES: Final = 16  # round a record: header and footer
_NONE: Final = np.zeros(0, np.int64)


class RecordStore:
    """Records, drawn in TensorFlow's order.

    Attributes:
        paths: of the files that records came from, by the numbers of files.
    """

    def __init__(self) -> None:
        self._buffer = _core.RecordShuffle()
        self.paths: list[str | None] = []
        self._files: dict[str | None, int] = {}  # numbers of the paths
        self._waiting = RecordChunk([])  # to be added,
        self._about: list[
            IntArray
        ] = []  # where each stands (file, number, frame; -1 if not known), and its own number
        self._row = 0  # the next of them

    def __len__(self) -> int:
        return len(self._buffer)

    @property
    def live_bytes(self) -> int:
        """Bytes of the records in the buffer; each counts as its frame."""
        return self._buffer.live_bytes

    @property
    def held_bytes(self) -> int:
        """Bytes of the memory that is kept for records."""
        return self._buffer.held_bytes

    def reseed(self, seed: int, seed2: int, drawn: int = 0) -> None:
        """Begin another stream of random numbers, after its first `drawn`."""
        self._buffer.reseed(seed, seed2, drawn)

    # ---- records in

    def hold(self, chunk: Chunk, elements: IntArray) -> int:
        """Keep records, which have these numbers and will all be added before others are held; return bytes of one."""
        records = (
            chunk if isinstance(chunk, RecordChunk) else RecordChunk([Block.from_records(chunk.objects())])
        )
        files, numbers, frames = [_NONE], [_NONE], [_NONE]
        for block in records.blocks:
            number, frame = block.places()
            numbers.append(number)
            frames.append(np.full(len(block), -1) if frame is None else frame)
            files.append(np.full(len(block), self._file(block.path)))
        places = [np.concatenate(column) for column in (files, numbers, frames)]
        if records.rows is not None:
            which, rows = records.located()
            chosen = np.cumsum([0, *map(len, records.blocks)])[which] + rows
            places = [column[chosen] for column in places]
        self._waiting, self._about, self._row = records, [*places, elements], 0
        return int(records.lengths().mean()) + _FRAME_BYTES

    def _file(self, path: str | None) -> int:
        number = self._files.setdefault(path, len(self.paths))
        if number == len(self.paths):
            self.paths.append(path)
        return number

    def _next(self, count: int) -> tuple[Any, IntArray, IntArray, IntArray, IntArray]:
        """The next records that are held, as the native buffer takes them."""
        start, stop = self._row, self._row + count
        self._row = stop
        files, numbers, frames, elements = (column[start:stop] for column in self._about)
        return self._waiting.slice(start, stop).pieces(), files, numbers, frames, elements

    def append(self, count: int) -> None:
        """Add records that are held."""
        self._buffer.append(*self._next(count))

    # ---- records out

    def exchange(self, count: int, window: int = 0) -> RecordChunk:
        """Add records that are held, and draw one after each, from the oldest `window` or from all."""
        return self._chunk(*self._buffer.exchange(*self._next(count), window))

    def draw(self, count: int, window: int = 0) -> RecordChunk:
        """Draw records, from the oldest `window` or from all."""
        return self._chunk(*self._buffer.draw(count, window))

    def _chunk(
        self,
        data: npt.NDArray[np.uint8],
        offsets: IntArray,
        lengths: IntArray,
        files: IntArray,
        numbers: IntArray,
        frames: IntArray,
    ) -> RecordChunk:
        known = None if len(frames) and frames.min() < 0 else frames
        used = np.flatnonzero(np.bincount(files))
        # A block knows one file only. All of them have all records; each record is asked of its file's.
        blocks = [
            Block(data, offsets, lengths, path=self.paths[file], start=-1, numbers=numbers, frames=known)
            for file in used.tolist()
        ]
        if len(blocks) <= 1:
            return RecordChunk(blocks)
        return RecordChunk(blocks, np.searchsorted(used, files), np.arange(len(files)))

    def tidy(self) -> None:
        """There is nothing to do: what is drawn is gone."""

    # ---- all that is in it

    def places(self) -> tuple[IntArray, IntArray, IntArray]:
        """Where all records stand, in the buffer's order: number of the path, of the record, its frame."""
        return self._buffer.places()[:3]

    def numbers(self) -> IntArray:
        """The numbers of all records in the input, in the buffer's order."""
        return self._buffer.places()[3]
