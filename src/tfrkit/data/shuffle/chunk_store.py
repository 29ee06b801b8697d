"""ChunkStore: columns in a shuffle's buffer, held as the chunks that they came in.

The native buffer knows numbers only: (slot, row). A slot is a chunk, and drawn numbers become a chunk again. A chunk
can be let go of only as a whole, so what is still wanted of chunks that are mostly drawn is copied out. When to fill
and when to draw is the business of `shuffle.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tfrkit import _core
from tfrkit.data.elements.chunk import Chunk, gather
from tfrkit.model.row_selection import IntArray, splits_of

__all__ = ["ChunkStore"]

# Memory: never more than _MOST times the live elements, and this or what is on its way into the buffer; copying
# stops when it is down to _ENOUGH times.
_MOST: Final = 1.5
_ENOUGH: Final = 1.4
_SLACK_BYTES: Final = 1 << 20

# Chunks are put together when there are more: a draw takes from each of them.
_MANY_SLOTS: Final = 32
_KEEP_SLOTS: Final = 8
_NONE: Final = np.zeros(0, np.int64)
_ARRIVED_PART: Final = 16  # but not before this part of the buffer is new: it takes a look at all entries


@dataclass(frozen=True, slots=True, eq=False)
class _Slot:
    chunk: Chunk
    size_bytes: int
    numbers: IntArray  # of the elements


class ChunkStore:
    """Elements of any kind, drawn in TensorFlow's order.

    Attributes:
        held_bytes: of the memory that is kept, live or not.
        copied_bytes: of all elements that were copied out so far.
    """

    def __init__(self) -> None:
        self._buffer = _core.ShuffleBuffer(0, 0)
        self._slots: dict[int, _Slot] = {}
        self._free: list[int] = []
        self._waiting: int | None = None  # the slot that is held, but not all added yet,
        self._row = 0  # and its next row
        self._arrived = 0  # elements since chunks were last put together
        self.held_bytes = 0
        self.copied_bytes = 0

    def __len__(self) -> int:
        return len(self._buffer)

    @property
    def live_bytes(self) -> int:
        """Bytes of the elements in the buffer."""
        return self._buffer.live_bytes

    def reseed(self, seed: int, seed2: int, drawn: int = 0) -> None:
        """Begin another stream of random numbers, after its first `drawn`."""
        self._buffer.reseed(seed, seed2, drawn)

    # ---- elements in

    def hold(self, chunk: Chunk, numbers: IntArray) -> int:
        """Keep elements, which have these numbers and will all be added before others are held; return bytes of one."""
        each = max(1, chunk.nbytes // max(1, len(chunk)))
        self._waiting, self._row = self._add(chunk, each * len(chunk), numbers), 0
        return each

    def _add(self, chunk: Chunk, size_bytes: int, numbers: IntArray) -> int:
        number = self._free.pop() if self._free else len(self._slots)
        self._slots[number] = _Slot(chunk, size_bytes, numbers)
        self.held_bytes += size_bytes
        return number

    def _next(self, count: int) -> tuple[IntArray, IntArray, IntArray]:
        """The next elements that are held, as the native buffer takes them; with the last, the chunk may be let go."""
        assert self._waiting is not None
        number, slot = self._waiting, self._slots[self._waiting]
        rows = np.arange(self._row, self._row + count)
        self._row += count
        self._arrived += count
        if self._row == len(slot.numbers):
            self._waiting = None
        return np.full(count, number), rows, np.full(count, slot.size_bytes // len(slot.numbers))

    def append(self, count: int) -> None:
        """Add elements that are held."""
        self._buffer.append(*self._next(count))

    # ---- elements out

    def draw(self, count: int, window: int = 0, *, exchange: bool = False) -> Chunk:
        """Draw elements, from the oldest `window` or from all; `exchange`: add one that is held before each."""
        if exchange:
            which, rows = self._buffer.exchange(*self._next(count), window)
        else:
            which, rows = self._buffer.draw(count, window)
        used, inner = np.unique(which, return_inverse=True)
        chunks = [self._slots[slot].chunk for slot in used.tolist()]
        drawn = gather(chunks, inner.astype(np.int64, copy=False), rows)
        self.tidy()
        return drawn

    # ---- letting go

    def tidy(self) -> None:
        """Let go of chunks that are drawn completely, and copy survivors out of others if too much is held."""
        self._let_go_empty()
        waiting = 0 if self._waiting is None else self._slots[self._waiting].size_bytes
        if self.held_bytes > _MOST * self.live_bytes + max(_SLACK_BYTES, waiting):
            self._compact(int(_ENOUGH * self.live_bytes) + waiting)
        if len(self._slots) > _MANY_SLOTS and self._arrived * _ARRIVED_PART >= len(self._buffer):
            self._put_together()

    def _let_go_empty(self) -> None:
        for number in self._buffer.take_empty():
            if number in self._slots and number != self._waiting:
                self.held_bytes -= self._slots.pop(number).size_bytes
                self._free.append(number)

    def _settled(self) -> list[int]:
        return [number for number in self._slots if number != self._waiting]

    def _compact(self, goal: int) -> None:
        """Copy survivors of what is least alive, until only `goal` bytes are held."""
        _, live_bytes = self._buffer.live()
        worth = sorted(
            (live_bytes[number] / self._slots[number].size_bytes, number) for number in self._settled()
        )
        chosen: list[int] = []
        after = self.held_bytes
        for part, number in worth:
            if after <= goal or part >= 1:
                break
            chosen.append(number)
            after += int(live_bytes[number]) - self._slots[number].size_bytes
        if chosen:
            self._move(chosen)

    def _put_together(self) -> None:
        """Make one chunk of many small ones."""
        live, _ = self._buffer.live()
        numbers = sorted(self._settled(), key=lambda number: int(live[number]))
        self._move(numbers[: max(0, len(numbers) - _KEEP_SLOTS)])
        self._arrived = 0

    def _move(self, numbers: list[int]) -> None:
        """Copy the live elements of some slots into a new one, and let the old ones go."""
        slots, where, rows, places = self._contents(numbers)
        chunk = gather([slot.chunk for slot in slots], where, rows)
        _, live_bytes = self._buffer.live()
        size = int(live_bytes[numbers].sum())
        number = self._add(chunk, size, _numbers(slots, where, rows))
        self._buffer.relocate(places, np.full(len(rows), number), np.arange(len(rows)))
        self.copied_bytes += size
        self._let_go_empty()

    def _contents(self, numbers: list[int]) -> tuple[list[_Slot], IntArray, IntArray, IntArray]:
        """Some slots; and of each of their elements in the buffer which of them, the row, and the place."""
        marks, order = (
            np.zeros(max(numbers, default=0) + 1, np.uint8),
            np.zeros(max(numbers, default=0) + 1, np.int64),
        )
        marks[numbers] = 1
        order[numbers] = np.arange(len(numbers))
        which, rows, places = self._buffer.contents(marks)
        return [self._slots[number] for number in numbers], order[which], rows, places

    def numbers(self) -> IntArray:
        """The numbers of all elements in the buffer, in its order."""
        return _numbers(*self._contents(list(self._slots))[:3])


def _numbers(slots: list[_Slot], which: IntArray, rows: IntArray) -> IntArray:
    firsts = splits_of(np.array([len(slot.numbers) for slot in slots], np.int64))
    found: IntArray = np.concatenate([_NONE, *(slot.numbers for slot in slots)])[firsts[which] + rows]
    return found
