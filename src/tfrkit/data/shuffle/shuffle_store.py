"""ShuffleStore: the elements in a shuffle's buffer, held as the chunks that they came in.

The native buffer knows numbers only: (slot, row). Here a slot is a block of records or another chunk, and drawn numbers
become a chunk again without a copy. A chunk can be let go of only as a whole, so what is still wanted of chunks that
are mostly drawn is copied out. When to fill and when to draw is the business of `shuffle.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.data.elements.chunk import Chunk, RecordChunk, gather
from tfrkit.model.block import Block
from tfrkit.model.record_rows import RecordRows
from tfrkit.model.row_selection import IntArray, splits_of

__all__ = ["ShuffleStore", "StoredElements"]

_FRAME_BYTES: Final = 16  # round a record in a block: header and footer

# Memory: never more than _MOST times the live elements, and this or what is on its way into the buffer; copying
# stops when it is down to _ENOUGH times.
_MOST: Final = 1.5
_ENOUGH: Final = 1.4
_SLACK_BYTES: Final = 1 << 20
# Survivors are copied in steps, so that old and new are not held at once: of this many bytes, or this part of all. They
# go into buffers of one size, which their memory serves again and again: new pages cost more than the copy.
_STEP_BYTES: Final = 1 << 22
_STEP_PART: Final = 8
_COPY_BYTES: Final = 1 << 22

# Chunks other than records are put together when there are more: a draw takes from each of them.
_MANY_SLOTS: Final = 32
_KEEP_SLOTS: Final = 8
_ARRIVED_PART: Final = 16  # but not before this part of the buffer is new: it takes a look at all entries

_NO_ROWS: Final = np.zeros(0, np.int64)
_EMPTY_BLOCK: Final = Block.from_records([])


@dataclass(frozen=True, slots=True, eq=False)
class StoredElements:
    """Elements that are held but not yet in the buffer: their slots, rows and bytes."""

    slots: IntArray
    rows: IntArray
    sizes: IntArray

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def each_bytes(self) -> int:
        """Bytes of one, on average; there must be one."""
        return int(self.sizes.mean())


@dataclass(slots=True, eq=False)
class _Slot:
    """A block, or another chunk."""

    held: Block | Chunk
    memory: Any  # the key of its memory
    waiting: bool = False  # it has elements that are not yet in the buffer


@dataclass(slots=True, eq=False)
class _Memory:
    """A piece of memory that slots share: it is held until all of them are let go."""

    size_bytes: int
    slots: set[int]


class ShuffleStore:
    """StoredElements, drawn in TensorFlow's order.

    Attributes:
        held_bytes: of the memory that is kept, live or not.
        copied_bytes: of all elements that were copied out so far.
    """

    def __init__(self) -> None:
        self._buffer = _core.ShuffleBuffer(0, 0)
        self._slots: list[_Slot | None] = []
        self._blocks: list[Block] = []  # the same, with an empty one where there is none
        self._free: list[int] = []
        self._table: tuple[list[Block], IntArray] | None = (
            None  # blocks without gaps, and their numbers by slot
        )
        self._known: dict[int, int] = {}  # slots of blocks, by identity
        self._memories: dict[Any, _Memory] = {}
        self._others = 0  # slots that are not blocks
        self._arrived = 0  # elements since chunks were last put together
        self._waiting: list[int] = []  # slots that are held, but not all added yet
        self.held_bytes = 0
        self.copied_bytes = 0

    def __len__(self) -> int:
        return len(self._buffer)

    @property
    def live_bytes(self) -> int:
        """Bytes of the elements in the buffer; a record counts as its frame."""
        return self._buffer.live_bytes

    @property
    def slot_count(self) -> int:
        """Number of blocks and chunks that are held."""
        return len(self._slots) - len(self._free)

    def reseed(self, seed: int, seed2: int, drawn: int = 0) -> None:
        """Begin another stream of random numbers, after its first `drawn`."""
        self._buffer.reseed(seed, seed2, drawn)

    # ---- elements in

    def hold(self, chunk: Chunk) -> StoredElements:
        """Keep a chunk, whose elements will be added. Only one is held before it is added, and then `settle` called."""
        if isinstance(chunk, RecordChunk):
            return self._hold_records(chunk)
        count = len(chunk)
        size = max(1, chunk.nbytes // max(1, count))
        slot = self._add(chunk, object(), size * count)
        self._waiting = [slot]
        self._at(slot).waiting = True
        return StoredElements(np.full(count, slot), np.arange(count), np.full(count, size))

    def _hold_records(self, records: RecordChunk) -> StoredElements:
        self._waiting = []
        if records.rows is None:
            parts = [(self._wait_for(block), len(block)) for block in records.blocks if len(block)]
            slots = np.repeat(*np.array(parts, np.int64).reshape(-1, 2).T)
            rows = np.concatenate([_NO_ROWS, *(np.arange(count) for _, count in parts)])
        else:
            which, rows = records.located()
            numbers = np.zeros(len(records.blocks), np.int64)
            for used in np.flatnonzero(np.bincount(which)).tolist():  # not blocks of which nothing comes
                numbers[used] = self._wait_for(records.blocks[used])
            slots = numbers[which]
        return StoredElements(slots, rows, records.lengths() + _FRAME_BYTES)

    def _wait_for(self, block: Block) -> int:
        """The slot of a block, old or new, from which elements are about to come."""
        number = self._known.get(id(block))
        if number is None:
            number = self._add_block(block)
        self._at(number).waiting = True
        self._waiting.append(number)
        return number

    def _add_block(self, block: Block) -> int:
        number = self._add(block, _memory_of(block), len(block.data))
        self._known[id(block)] = number
        return number

    def _add(self, held: Block | Chunk, memory: Any, size_bytes: int) -> int:
        self._table = None
        if self._free:
            number = self._free.pop()
        else:
            number = len(self._slots)
            self._slots.append(None)
            self._blocks.append(_EMPTY_BLOCK)
        self._slots[number] = _Slot(held, memory)
        if isinstance(held, Block):
            self._blocks[number] = held
        else:
            self._others += 1
        known = self._memories.get(memory)
        if known is None:
            known = self._memories[memory] = _Memory(size_bytes, set())
            self.held_bytes += size_bytes
        known.slots.add(number)
        return number

    def append(self, elements: StoredElements, start: int, stop: int) -> None:
        """Add the elements [start, stop)."""
        self._arrived += stop - start
        self._buffer.append(*_cut(elements, start, stop))

    def settle(self) -> None:
        """All elements of the chunk that was held last have been added: from now on it may be let go."""
        live, _ = self._buffer.live()
        for number in self._waiting:
            self._at(number).waiting = False
            if number >= len(live) or not live[number]:
                self._let_go(number)
        self._waiting = []

    # ---- elements out

    def exchange(self, elements: StoredElements, start: int, stop: int, window: int = 0) -> Chunk:
        """Add the elements [start, stop), and draw one after each, from the oldest `window` or from all."""
        self._arrived += stop - start
        return self._chunk(*self._buffer.exchange(*_cut(elements, start, stop), window))

    def draw(self, count: int, window: int = 0) -> Chunk:
        """Draw elements, from the oldest `window` or from all."""
        return self._chunk(*self._buffer.draw(count, window))

    def _chunk(self, which: IntArray, rows: IntArray) -> Chunk:
        if self._others == 0 and len(rows) * 4 > len(self._blocks):
            if self._table is None:
                taken = [number for number, slot in enumerate(self._slots) if slot is not None]
                self._table = [self._blocks[number] for number in taken], _dense(taken, len(self._slots))
            blocks, numbers = self._table
            return RecordChunk(blocks, numbers[which], rows)
        used, inner = np.unique(which, return_inverse=True)
        inner = inner.astype(np.int64, copy=False)
        slots = used.tolist()
        if self._others == 0:
            return RecordChunk([self._blocks[slot] for slot in slots], inner, rows)
        return gather([self._as_chunk(slot) for slot in slots], inner, rows)

    def _as_chunk(self, number: int) -> Chunk:
        held = self._at(number).held
        return RecordChunk([held]) if isinstance(held, Block) else held

    # ---- letting go

    def tidy(self) -> None:
        """Let go of chunks that are drawn completely, and copy survivors out of others if too much is held."""
        self._let_go_empty()
        waiting = self._waiting_bytes()
        if self.held_bytes > _MOST * self.live_bytes + max(_SLACK_BYTES, waiting):
            self._compact(int(_ENOUGH * self.live_bytes) + waiting)
        if self._others > _MANY_SLOTS and self._arrived * _ARRIVED_PART >= len(self._buffer):
            self._put_together()

    def _let_go_empty(self) -> None:
        for number in self._buffer.take_empty():
            slot = self._slots[number]
            if slot is not None and not slot.waiting:
                self._let_go(number)

    def _waiting_bytes(self) -> int:
        memories = {self._at(number).memory for number in self._waiting}
        return sum(self._memories[memory].size_bytes for memory in memories)

    def _let_go(self, number: int) -> None:
        slot = self._at(number)
        self._table = None
        self._slots[number] = None
        self._blocks[number] = _EMPTY_BLOCK
        self._free.append(number)
        if isinstance(slot.held, Block):
            del self._known[id(slot.held)]
        else:
            self._others -= 1
        memory = self._memories[slot.memory]
        memory.slots.discard(number)
        if not memory.slots:
            del self._memories[slot.memory]
            self.held_bytes -= memory.size_bytes

    def _compact(self, goal: int) -> None:
        """Copy survivors of what is least alive, until only `goal` bytes are held."""
        _, live_bytes = self._buffer.live()
        worth: list[tuple[float, int, _Memory]] = []
        for memory in self._memories.values():
            if not any(self._at(number).waiting for number in memory.slots):
                live = sum(int(live_bytes[number]) for number in memory.slots)
                worth.append((live / memory.size_bytes, live, memory))
        worth.sort(key=lambda found: found[0])
        step = max(_STEP_BYTES, self.live_bytes // _STEP_PART)
        chosen: list[int] = []
        copied, after = 0, self.held_bytes
        for part, live, memory in worth:
            if after <= goal or part >= 1:
                break
            chosen.extend(memory.slots)
            copied += live
            after += live - memory.size_bytes
            if copied >= step:
                self._move(chosen)
                chosen, copied = [], 0
        if chosen:
            self._move(chosen)

    def _put_together(self) -> None:
        """Make one chunk of many small ones."""
        live, _ = self._buffer.live()
        others = [
            number
            for number, slot in enumerate(self._slots)
            if slot is not None and not slot.waiting and not isinstance(slot.held, Block)
        ]
        others.sort(key=lambda number: int(live[number]))
        self._move(others[: max(0, len(others) - _KEEP_SLOTS)])
        self._arrived = 0

    def _move(self, numbers: list[int]) -> None:
        """Copy the live elements of some slots into new ones, and let the old ones go."""
        blocks = [number for number in numbers if isinstance(self._at(number).held, Block)]
        others = [number for number in numbers if not isinstance(self._at(number).held, Block)]
        if blocks:
            self._move_records(blocks)
        if others:
            self._move_others(others)
        self._let_go_empty()

    def _move_records(self, numbers: list[int]) -> None:
        which, rows, places = self._buffer.contents(self._marks(numbers))
        blocks = [self._blocks[number] for number in numbers]
        which = _dense(numbers, len(self._slots))[which]
        slots = np.empty(len(rows), np.int64)
        names = np.empty(len(rows), np.int64)
        for copy, found in _copies(blocks, which, rows):
            slots[found] = self._add_block(copy)
            names[found] = np.arange(len(found))
            self.copied_bytes += copy.nbytes
        self._buffer.relocate(places, slots, names)

    def _move_others(self, numbers: list[int]) -> None:
        which, rows, places = self._buffer.contents(self._marks(numbers))
        chunks = [self._as_chunk(number) for number in numbers]
        chunk = gather(chunks, _dense(numbers, len(self._slots))[which], rows)
        _, live_bytes = self._buffer.live()
        size = int(live_bytes[numbers].sum())
        slot = self._add(chunk, object(), size)
        self._buffer.relocate(places, np.full(len(rows), slot), np.arange(len(rows)))
        self.copied_bytes += size

    def _marks(self, numbers: list[int]) -> npt.NDArray[np.uint8]:
        marks = np.zeros(len(self._slots), np.uint8)
        marks[numbers] = 1
        return marks

    def _at(self, number: int) -> _Slot:
        slot = self._slots[number]
        assert slot is not None
        return slot

    # ---- all that is in it

    def contents(self) -> tuple[IntArray, IntArray, list[Block | Chunk | None]]:
        """Slots and rows of all elements, in the buffer's order; and what is in each slot."""
        which, rows, _ = self._buffer.contents(np.ones(len(self._slots), np.uint8))
        return which, rows, [None if slot is None else slot.held for slot in self._slots]


def _cut(elements: StoredElements, start: int, stop: int) -> tuple[IntArray, IntArray, IntArray]:
    return elements.slots[start:stop], elements.rows[start:stop], elements.sizes[start:stop]


def _memory_of(block: Block) -> tuple[int, int]:
    """What blocks have in common that are cut from one."""
    address: int = block.data.__array_interface__["data"][0]
    return address, len(block.data)


def _dense(numbers: list[int], size: int) -> IntArray:
    """For each slot its place in `numbers`."""
    places = np.zeros(size, np.int64)
    places[numbers] = np.arange(len(numbers))
    return places


def _copies(blocks: list[Block], which: IntArray, rows: IntArray) -> Iterator[tuple[Block, IntArray]]:
    """Copy records into buffers of about one size: blocks, each of one file, and which of the records are in it."""
    numbers: dict[str | None, int] = {}
    files = np.array([numbers.setdefault(block.path, len(numbers)) for block in blocks], np.int64)
    if len(numbers) <= 1 << 15:
        files = files.astype(np.int16)  # which numpy sorts four times as fast
    order = np.argsort(files[which], kind="stable") if len(numbers) > 1 else np.arange(len(which))
    firsts = splits_of(np.array([*map(len, blocks)], np.int64))
    places = [block.places() for block in blocks]
    records = np.concatenate([number for number, _ in places])
    known = [frame for _, frame in places if frame is not None]
    frames = np.concatenate(known) if len(known) == len(blocks) else None
    paths = list(numbers)
    for found in _of_one_size(blocks, which, rows, order):
        data, ends = RecordRows(blocks, which[found], rows[found]).join()
        rest = files[which[found]]
        for file in range(int(rest[0]), int(rest[-1]) + 1):
            begin, end = np.searchsorted(rest, [file, file + 1]).tolist()
            if begin == end:
                continue
            those = firsts[which[found[begin:end]]] + rows[found[begin:end]]
            copy = Block(
                data,
                ends[begin:end],
                np.diff(ends[begin : end + 1]),
                path=paths[file],
                start=-1,
                numbers=records[those],
                frames=None if frames is None else frames[those],
            )
            yield copy, found[begin:end]


def _of_one_size(blocks: list[Block], which: IntArray, rows: IntArray, order: IntArray) -> Iterator[IntArray]:
    """Cut a list of records where they have enough bytes together."""
    ends = np.cumsum(RecordRows(blocks, which[order], rows[order]).lengths())
    begin = 0
    while begin < len(order):
        done = int(ends[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(ends, done + _COPY_BYTES, side="right")))
        yield order[begin:end]
        begin = end
