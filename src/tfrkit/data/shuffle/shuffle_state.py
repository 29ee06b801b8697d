"""Where a shuffle stands: its seeds and epochs, and what is in its buffer as places in files.

A buffer of records of files is written as where each of them stands, and read again from there. Other elements are
written as how far each came after a position of the input, from which the input is then read again. Before there is
such a list, the buffer is filled from the beginning of the epoch. A state is one of the three, its base, and how much
has come out since.
"""

from __future__ import annotations

import base64
from collections import deque
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np

from tfrkit.data.elements.chunk import Chunk, concat
from tfrkit.data.engine.node import Context, Node
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds
from tfrkit.data.shuffle.record_store import RecordStore
from tfrkit.data.sources.records_source import RecordsNode
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.row_selection import IntArray

__all__ = [
    "Epoch",
    "Mark",
    "Marks",
    "columns_of",
    "list_numbers",
    "list_places",
    "pack",
    "read_again",
    "unpack",
]

_APART: Final = 256  # elements at least between two marks
_READ_AT_ONCE: Final = 4096  # elements


@dataclass(slots=True)
class Epoch:
    """One time through the input, as far as it is in the buffer.

    Attributes:
        number: counts from 0.
        start: what the input said at its beginning.
        count: its elements in the buffer.
        pulled: its elements that ever were.
        errors: that came from it and were given out.
    """

    number: int
    start: Any
    count: int = 0
    pulled: int = 0
    errors: int = 0

    def save(self) -> list[Any]:
        """As a list, to be made an Epoch again."""
        return [self.number, self.start, self.count, self.pulled, self.errors]


class Mark(NamedTuple):
    """Where the input stood: the number of the element that came next, the number of the epoch, the input's state."""

    element: int
    epoch: int
    state: Any


class Marks:
    """Positions of the input, some elements apart, from the one of the oldest element in the buffer on."""

    def __init__(self) -> None:
        self._marks: deque[Mark] = deque()

    def add(self, mark: Mark) -> None:
        """Note a position, unless the last one is near."""
        last = self._marks[-1] if self._marks else None
        if last is None or last.epoch != mark.epoch or mark.element - last.element >= _APART:
            self._marks.append(mark)

    def oldest(self, element: int) -> Mark | None:
        """The last position that is not after an element; those before it are forgotten."""
        while len(self._marks) > 1 and self._marks[1].element <= element:
            self._marks.popleft()
        return self._marks[0] if self._marks else None


@dataclass(frozen=True, slots=True, eq=False)
class Packed:
    """Columns of numbers in a state, and what is said beside them; see `pack`."""

    columns: tuple[IntArray, ...]
    beside: dict[str, Any]

    def to_json(self) -> dict[str, Any]:
        columns = [pack(column) for column in self.columns]
        return {"count": len(self.columns[0]), "columns": columns, **self.beside}


def list_places(store: RecordStore, source: RecordsNode) -> Packed | None:
    """Where the records of a buffer stand in their files, in its order; None if that is not known of all."""
    files, numbers, frames = store.places()
    known = np.array([source.number_of(path) for path in store.paths], np.int64)
    found = known[files]
    if len(files) and min(found.min(), frames.min()) < 0:
        return None
    return Packed((found, frames, numbers), {})


def list_numbers(numbers: IntArray, marks: Marks, count: int, input: Node) -> Packed:
    """How far after a position of the input the elements of a buffer came, in its order.

    Args:
        numbers: of the elements; there must be one.
        marks: positions of the input.
        count: of all elements that have come.
        input: of the shuffle.
    """
    mark = marks.oldest(int(numbers.min()))
    assert mark is not None
    seeds = save_seeds(find_seeds(input))
    beside = {"from": mark.state, "epoch": mark.epoch, "read": count - mark.element, "seeds": seeds}
    return Packed((numbers - mark.element,), beside)


def read_again(elements: dict[str, Any], input: Node, context: Context, starts: dict[int, Any]) -> Chunk:
    """Read the elements of a buffer again from the input, in the buffer's order.

    Args:
        elements: what `list_numbers` wrote.
        input: of the shuffle.
        context: of the pass.
        starts: where each epoch of the input begins.

    Raises:
        InvalidArgumentError: the input has fewer elements than before.
    """
    (numbers,) = columns_of(elements)
    left, epoch = elements["read"], elements["epoch"]
    wanted = np.zeros(left, np.bool_)
    wanted[numbers] = True
    found: list[Chunk] = []
    iterator = input.begin(context, elements["from"])
    while left:
        run = iterator.pull(min(left, _READ_AT_ONCE))
        if run is None:
            iterator.close()
            epoch += 1
            if epoch not in starts:
                raise InvalidArgumentError(
                    "the input of shuffle ended before the elements that a state names"
                )
            iterator = input.begin(context, starts[epoch])
            continue
        begin = len(wanted) - left
        rows = np.flatnonzero(wanted[begin : begin + len(run.chunk)])
        found.append(run.chunk.take(rows))
        left -= len(run.chunk)
    iterator.close()
    restore_seeds(find_seeds(input), elements["seeds"])
    return concat(found).take(np.argsort(np.argsort(numbers)))


def columns_of(elements: dict[str, Any]) -> list[IntArray]:
    """The columns that `Packed` wrote."""
    return [unpack(column, elements["count"]) for column in elements["columns"]]


def pack(numbers: IntArray) -> list[Any]:
    """Write numbers with as few bytes each as the largest takes.

    Returns:
        The least of them, the bytes of each, and the differences from it, little-endian, in base64.

    >>> pack(np.array([1000, 1001, 1256]))
    [1000, 2, 'AAABAAAB']
    """
    if not len(numbers):
        return [0, 0, ""]
    least = int(numbers.min())
    width = (int(numbers.max() - least).bit_length() + 7) // 8
    raw = (numbers - least).astype("<u8").view(np.uint8).reshape(-1, 8)[:, :width]
    return [least, width, base64.b64encode(raw.tobytes()).decode()]


def unpack(packed: list[Any], count: int) -> IntArray:
    """Read what `pack` wrote.

    >>> unpack(pack(np.array([3, 2**40, 7])), 3).tolist()
    [3, 1099511627776, 7]
    """
    least, width, text = packed
    raw = np.zeros((count, 8), np.uint8)
    raw[:, :width] = np.frombuffer(base64.b64decode(text), np.uint8).reshape(count, width)
    numbers: IntArray = raw.view("<u8").reshape(-1).astype(np.int64) + least
    return numbers
