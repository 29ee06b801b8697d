"""Positions: places between two records of a list of files, and places of many single records."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

from tfrkit.model.block import Block, IntArray
from tfrkit.records.read.frame_splitter import FOOTER_BYTES

__all__ = ["BEGINNING", "Places", "Position"]


class Position(NamedTuple):
    """Where to begin in a list of files.

    Attributes:
        file: number of the file.
        offset: byte of its uncompressed stream at which a frame begins.
        record: number of that frame's record in the file.
    """

    file: int = 0
    offset: int = 0
    record: int = 0

    @staticmethod
    def after(file: int, block: Block) -> Position:
        """The place after the last record of a block, which must not be empty and not be gathered.

        >>> Position.after(2, Block.from_records([b"abc", b""]))
        Position(file=2, offset=35, record=2)
        """
        number, _ = block.place(len(block) - 1)
        end = block.start + int(block.offsets[-1] + block.lengths[-1]) + FOOTER_BYTES
        return Position(file, end, number + 1)


BEGINNING: Final = Position()


@dataclass(frozen=True, slots=True, eq=False)
class Places:
    """Where many records stand in a list of files; arrays of int64, one entry for each record.

    Attributes:
        files: numbers of the files. A file that is named twice may have either number.
        offsets: where the frames begin in the uncompressed streams.
        records: numbers of the records in their files.
    """

    files: IntArray
    offsets: IntArray
    records: IntArray

    def __len__(self) -> int:
        return len(self.files)
