"""ScatteredBlock: records that lie all over memory, as a block.

What a shuffle draws stays where it is until somebody needs a buffer: parsers do not. Such a block keeps the memory of
many others alive, so it is for a stage that is about to use it; `contiguous` makes one to be kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.block import Block
from tfrkit.model.row_selection import IntArray

__all__ = ["ScatteredBlock", "ScatteredRecords"]


class ScatteredRecords:
    """Records where they lie, for the blocks that share them.

    Attributes:
        refs: the native references.
    """

    __slots__ = ("_joined", "refs")

    def __init__(self, refs: _core.RecordRefs) -> None:
        self.refs = refs
        self._joined: tuple[npt.NDArray[np.uint8], IntArray] | None = None

    def join(self) -> tuple[npt.NDArray[np.uint8], IntArray]:
        """The records one after another in one buffer, a copy that is made once, and where each begins and ends."""
        if self._joined is None:
            self._joined = _core.join_pieces([self.refs])
        return self._joined


class ScatteredBlock(Block):
    """Records that lie all over memory; `data` and `offsets` are of a copy, which is made when they are asked for."""

    __slots__ = ("_records",)
    scattered = True

    def __init__(
        self,
        records: ScatteredRecords,
        lengths: IntArray,
        path: str | None,
        numbers: IntArray,
        frames: IntArray | None,
    ) -> None:
        self._records = records
        self.lengths = lengths
        self.path = path
        self.first_record = 0
        self.start = -1
        self.numbers = numbers
        self.frames = frames

    @property
    def data(self) -> npt.NDArray[np.uint8]:  # type: ignore[override]
        """The buffer of the copy."""
        return self._records.join()[0]

    @property
    def offsets(self) -> IntArray:  # type: ignore[override]
        """Where each payload begins there."""
        return self._records.join()[1][:-1]

    @property
    def piece(self) -> Any:
        return self._records.refs

    def __len__(self) -> int:
        return len(self.lengths)

    def to_list(self) -> list[bytes]:
        return _core.cut_pieces([self._records.refs])

    def contiguous(self) -> Block:
        """The same records in a buffer of their own."""
        data, ends = self._records.join()
        where: Any = {"path": self.path, "start": -1, "numbers": self.numbers, "frames": self.frames}
        return Block(data, ends[:-1], self.lengths, **where)
