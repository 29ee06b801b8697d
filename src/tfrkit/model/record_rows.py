"""RecordRows: some records of some blocks, referred to and not copied.

Says which records and in which order, for a kernel that reads them where they lie. What stands in them, and how
blocks are read, is not its business. It never changes, and may be shared by threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.block import Block
from tfrkit.model.row_selection import IntArray, splits_of

__all__ = ["RecordRows"]

_NO_ROWS = np.zeros(0, np.int64)


class RecordRows:
    """References to records: record `rows[i]` of `blocks[which[i]]`.

    Attributes:
        blocks: where the records lie.
        which: int64, the block of each record; None if all are of the first, or if `rows` is None.
        rows: int64, the record within the block; None for all records of all blocks in order.

    >>> rows = RecordRows([Block.from_records([b"a", b"b"]), Block.from_records([b"c"])])
    >>> rows.to_list(), rows.take(np.array([2, 0])).to_list()
    ([b'a', b'b', b'c'], [b'c', b'a'])
    """

    __slots__ = ("_count", "blocks", "rows", "which")

    def __init__(
        self, blocks: Sequence[Block], which: IntArray | None = None, rows: IntArray | None = None
    ) -> None:
        self.blocks = blocks
        self.which = which
        self.rows = rows
        self._count = sum(map(len, blocks)) if rows is None else len(rows)

    def __len__(self) -> int:
        return self._count

    @property
    def nbytes(self) -> int:
        """Bytes of the records, each counted as often as it is referred to."""
        return int(self.lengths().sum())

    def pieces(self) -> list[Any]:
        """The records as the native functions take them; see `record_inputs.h`."""
        blocks: list[Any] = [block.piece for block in self.blocks]
        return blocks if self.rows is None else [(blocks, self.which, self.rows)]

    def lengths(self) -> IntArray:
        """Bytes of each record."""
        if self.rows is None:
            parts = [block.lengths for block in self.blocks]
            return parts[0] if len(parts) == 1 else np.concatenate([_NO_ROWS, *parts])
        return _core.measure_pieces(self.pieces())

    def to_list(self) -> list[bytes]:
        """The records as bytes objects, cut from their blocks in one native call."""
        return _core.cut_pieces(self.pieces())

    def join(self) -> tuple[npt.NDArray[np.uint8], IntArray]:
        """The records one after another in one buffer, a copy, and where each begins and ends."""
        return _core.join_pieces(self.pieces())

    def find(self, row: int) -> tuple[Block, int]:
        """The block of a record, and its place there."""
        if self.rows is not None:
            return self.blocks[0 if self.which is None else int(self.which[row])], int(self.rows[row])
        for block in self.blocks:
            if row < len(block):
                return block, row
            row -= len(block)
        raise IndexError(f"expected one of {len(self)} records but got {row + len(self)}")

    def located(self) -> tuple[IntArray, IntArray]:
        """`which` and `rows`, also where they are not spelled out."""
        if self.rows is not None:
            return np.zeros(len(self), np.int64) if self.which is None else self.which, self.rows
        sizes = [len(block) for block in self.blocks]
        which = np.repeat(np.arange(len(sizes)), sizes)
        return which, np.concatenate([_NO_ROWS, *(np.arange(size) for size in sizes)])

    def slice(self, start: int, stop: int) -> Self:
        """The records [start, stop), within the bounds."""
        if not start and stop == len(self):
            return self
        if self.rows is not None:
            which = None if self.which is None else self.which[start:stop]
            return type(self)(self.blocks, which, self.rows[start:stop])
        if any(block.scattered for block in self.blocks):
            return self.take(np.arange(start, stop))
        chosen = []
        for block in self.blocks:
            size = len(block)
            begin, end = max(start, 0), min(stop, size)
            if begin < end:
                chosen.append(block if end - begin == size else block[begin:end])
            start -= size
            stop -= size
        return type(self)(chosen)

    def take(self, chosen: IntArray) -> Self:
        """The records at these positions, all at least 0, in this order."""
        if self.rows is not None:
            which = None if self.which is None else self.which[chosen]
            return type(self)(self.blocks, which, self.rows[chosen])
        if len(self.blocks) == 1:
            return type(self)(self.blocks, None, np.asarray(chosen, np.int64))
        begins = splits_of(np.array([len(block) for block in self.blocks], np.int64))
        which = (
            np.searchsorted(begins, chosen, side="right") - 1
        )  # never an empty block: the last that begins there
        return type(self)(self.blocks, which, chosen - begins[which])

    @classmethod
    def concat(cls, parts: Sequence[RecordRows]) -> Self:
        """The records of several, one after another."""
        if all(part.rows is None for part in parts):
            return cls([block for part in parts for block in part.blocks])
        blocks, whichs, rows = _tables(parts)
        return cls(blocks, np.concatenate([_NO_ROWS, *whichs]), np.concatenate([_NO_ROWS, *rows]))

    @classmethod
    def gather(cls, parts: Sequence[RecordRows], which: IntArray, rows: IntArray) -> Self:
        """Record `rows[i]` of `parts[which[i]]`, for every i."""
        if all(part.rows is None and len(part.blocks) == 1 for part in parts):
            return cls([part.blocks[0] for part in parts], which, rows)
        blocks, whichs, inner = _tables(parts)
        places = splits_of(np.array([*map(len, parts)], np.int64))[which] + rows
        return cls(
            blocks, np.concatenate([_NO_ROWS, *whichs])[places], np.concatenate([_NO_ROWS, *inner])[places]
        )


def _tables(parts: Sequence[RecordRows]) -> tuple[list[Block], list[IntArray], list[IntArray]]:
    """All blocks, each once, and for each part the blocks' numbers and the rows of its records."""
    numbers: dict[int, int] = {}
    blocks: list[Block] = []
    whichs, rows = [], []
    for part in parts:
        for block in part.blocks:
            if id(block) not in numbers:
                numbers[id(block)] = len(blocks)
                blocks.append(block)
        which, inner = part.located()
        known = np.array([numbers[id(block)] for block in part.blocks], np.int64)
        whichs.append(known[which])
        rows.append(inner)
    return blocks, whichs, rows
