"""RecordStore: records in a shuffle's buffer.

Records stay in their blocks until a third of these is of records that were drawn; then the survivors of the oldest
runs are copied together, and their blocks go. Drawn records are not copied: a parser reads them where they lie.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit import _core
from tfrkit.data.elements.chunk import Chunk, RecordChunk
from tfrkit.model.block import Block
from tfrkit.model.row_selection import IntArray
from tfrkit.model.scattered_block import ScatteredBlock, ScatteredRecords

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

    def __len__(self) -> int:
        return len(self._buffer)

    @property
    def live_bytes(self) -> int:
        """Bytes of the records in the buffer; each counts as its frame."""
        return self._buffer.live_bytes

    @property
    def copied_bytes(self) -> int:
        """Bytes of all records that were copied from their blocks, some more than once."""
        return self._buffer.copied_bytes

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
        size, span = records.nbytes + _FRAME_BYTES * len(records), 0
        stay = records.rows is None and not any(block.scattered for block in records.blocks)
        for block in records.blocks:
            record, frame_at = block.places()
            numbers.append(record)
            frames.append(np.full(len(block), -1) if frame_at is None else frame_at)
            file = self._files.setdefault(block.path, len(self.paths))
            if file == len(self.paths):
                self.paths.append(block.path)
            files.append(np.full(len(block), file))
            if stay and len(block):
                span += int(block.offsets[-1] + block.lengths[-1] - block.offsets[0])
        rows: Any = slice(None)
        if records.rows is not None:
            which, chosen = records.located()
            rows = np.cumsum([0, *map(len, records.blocks)])[which] + chosen
        file_of, number_of, frame_of = (np.concatenate(each)[rows] for each in (files, numbers, frames))
        # They stay if they fill the memory that they span; others of their blocks may come with the next run.
        stay = stay and 9 * span <= 10 * size
        self._buffer.hold(records.pieces(), file_of, number_of, frame_of, elements, stay)
        return size // len(records)

    def append(self, count: int) -> None:
        """Add records that are held."""
        self._buffer.append(count)

    # ---- records out

    def draw(self, count: int, window: int = 0, *, exchange: bool = False) -> RecordChunk:
        """Draw records, from the oldest `window` or from all; `exchange`: add one that is held before each."""
        native = self._buffer.exchange if exchange else self._buffer.draw
        refs, lengths, files, numbers, frames = native(count, window)
        if not len(files):
            return RecordChunk([])
        known = None if frames.min() < 0 else frames
        used = np.flatnonzero(np.bincount(files))
        records = ScatteredRecords(refs)
        # A block knows one file only. All of them have all records; each record is asked of its file's.
        blocks = [
            ScatteredBlock(records, lengths, self.paths[file], numbers, known) for file in used.tolist()
        ]
        if len(blocks) == 1:
            return RecordChunk(blocks)
        first = used[0]
        near = used[-1] - first < len(used)  # all between are used: 1 us instead of 9
        which = files - first if near else np.searchsorted(used, files)
        return RecordChunk(blocks, which, np.arange(len(files)))

    # ---- all that is in it

    def places(self) -> tuple[IntArray, IntArray, IntArray]:
        """Where all records stand, in the buffer's order: number of the path, of the record, its frame."""
        return self._buffer.places()[:3]

    def numbers(self) -> IntArray:
        """The numbers of all records in the input, in the buffer's order."""
        return self._buffer.places()[3]
