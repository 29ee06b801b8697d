"""Block: a run of whole frames in one buffer, and where each record lies in it.

Does no I/O and checks no CRC: what makes a block has done that. A block is immutable and may be shared by threads.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Sequence
from typing import Any, overload

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.row_selection import IntArray, RowIndices, is_one_row, row_numbers

__all__ = ["Block", "IntArray"]

_HEADER_BYTES = 12  # of a frame, before the payload


class Block:
    """Many records in one buffer.

    Attributes:
        data: the buffer, a read-only uint8 array; frames with their headers and footers, not only payloads.
        offsets: where each payload begins in `data`, int64.
        lengths: bytes of each payload, int64.
        path: the file it was read from, or None.
        first_record: number of the first record in that file.
        start: offset of `data[0]` in the file's uncompressed stream; -1 if the frames were gathered from all over it.
        numbers: number of each record in that file, int64; None if they run on from `first_record`.
        frames: where each frame begins in that stream, int64, if `start` does not say it; None if it is not known.

    >>> block = Block.from_records([b"hello", b"", b"xyz"])
    >>> len(block), block[0], block.lengths.tolist()
    (3, b'hello', [5, 0, 3])
    """

    __slots__ = ("data", "first_record", "frames", "lengths", "numbers", "offsets", "path", "start")
    scattered = False  # its records lie all over memory: a slice of it would copy them

    def __init__(
        self,
        data: Any,
        offsets: IntArray,
        lengths: IntArray,
        *,
        path: str | None = None,
        first_record: int = 0,
        start: int = 0,
        numbers: IntArray | None = None,
        frames: IntArray | None = None,
    ) -> None:
        """Wrap a buffer without copying; it must not change any more."""
        view = memoryview(data).toreadonly()
        self.data: npt.NDArray[np.uint8] = np.frombuffer(view, np.uint8)
        self.offsets = offsets
        self.lengths = lengths
        self.path = path
        self.first_record = first_record
        self.start = start
        self.numbers = numbers
        self.frames = frames

    @classmethod
    def from_records(cls, records: Sequence[bytes | bytearray | memoryview | str]) -> Block:
        """Make a block of records that are in memory already; they are copied."""
        items = records if isinstance(records, (list, tuple)) else list(records)
        if not items:
            empty = np.zeros(0, np.int64)
            return cls(b"", empty, empty)
        buffer, used, _ = _core.frame_records(items, 0, 2**62)
        scan = _core.scan_frames(buffer, 0, used, False, 2**62)
        return cls(memoryview(buffer)[:used], scan.offsets, scan.lengths)

    def __len__(self) -> int:
        return len(self.offsets)

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice | RowIndices) -> Block: ...
    def __getitem__(self, index: Any) -> bytes | Block:
        """One record as bytes (a copy), or a block of some (a view on the same buffer)."""
        if isinstance(index, slice):
            start, _, step = index.indices(len(self))
            if step != 1:
                return self.take(np.arange(len(self))[index])
            numbers = None if self.numbers is None else self.numbers[index]
            return self._with(index, self.first_record + start, numbers)
        if not is_one_row(index):
            return self.take(index)
        number = operator.index(index)
        begin = int(self.offsets[number])
        return self.data[begin : begin + int(self.lengths[number])].tobytes()

    def __iter__(self) -> Iterator[bytes]:
        return iter(self.to_list())

    def __eq__(self, other: object) -> bool:
        """Blocks are equal if they hold the same records in the same order."""
        if not isinstance(other, Block):
            return NotImplemented
        return np.array_equal(self.lengths, other.lengths) and self.to_list() == other.to_list()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        where = f" of {self.path!r} from record {self.first_record}" if self.path is not None else ""
        return f"<Block: {len(self)} records, {self.nbytes} bytes{where}>"

    def __reduce__(self) -> tuple[object, ...]:
        origin = (self.path, self.first_record, self.start, self.numbers, self.frames)
        return _rebuild, (self.data.tobytes(), self.offsets, self.lengths, *origin)

    @property
    def nbytes(self) -> int:
        """Bytes of all payloads together."""
        return int(self.lengths.sum())

    @property
    def piece(self) -> Any:
        """The records as the native functions take them; see `record_inputs.h`."""
        return self.data, self.offsets, self.lengths

    def to_list(self) -> list[bytes]:
        """All records as bytes objects, cut from the buffer in one native call."""
        return _core.split_records(self.data, self.offsets, self.lengths)

    def take(self, indices: RowIndices) -> Block:
        """The records at these positions (or where a mask is true), in this order; a view on the same buffer.

        Raises:
            TypeError: neither integers nor booleans.
            IndexError: a position is out of range, or a mask has another length than the block.
        """
        chosen = row_numbers(indices, len(self))
        numbers = self.places()[0][chosen]
        first = int(numbers[0]) if len(numbers) else self.first_record
        return self._with(chosen, first, numbers)

    def place(self, index: int) -> tuple[int, int | None]:
        """Where a record stands in the file: its number, and the byte at which its frame begins, if that is known.

        >>> Block.from_records([b"hello", b"xyz"]).take([1]).place(0)
        (1, 21)
        """
        number = self.first_record + index if self.numbers is None else int(self.numbers[index])
        if self.frames is not None:
            return number, int(self.frames[index])
        return number, None if self.start < 0 else self.start + int(self.offsets[index]) - _HEADER_BYTES

    def places(self) -> tuple[IntArray, IntArray | None]:
        """Where all records stand in the file: their numbers, and where their frames begin, if that is known."""
        numbers = self.first_record + np.arange(len(self)) if self.numbers is None else self.numbers
        if self.frames is not None:
            return numbers, self.frames
        return numbers, None if self.start < 0 else self.offsets + (self.start - _HEADER_BYTES)

    def _with(self, chosen: slice | IntArray, first_record: int, numbers: IntArray | None) -> Block:
        offsets = np.ascontiguousarray(self.offsets[chosen])
        lengths = np.ascontiguousarray(self.lengths[chosen])
        return Block(
            self.data,
            offsets,
            lengths,
            path=self.path,
            first_record=first_record,
            start=self.start,
            numbers=numbers,
            frames=None if self.frames is None else self.frames[chosen],
        )


def _rebuild(
    data: Any,
    offsets: IntArray,
    lengths: IntArray,
    path: str | None,
    first_record: int,
    start: int,
    numbers: IntArray | None,
    frames: IntArray | None,
) -> Block:
    origin: dict[str, Any] = {"path": path, "first_record": first_record, "start": start}
    return Block(data, offsets, lengths, **origin, numbers=numbers, frames=frames)
