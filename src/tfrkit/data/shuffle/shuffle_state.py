"""Where a shuffle stands: its seeds and epochs, and what is in its buffer as places in files.

A buffer of records is written as where each of them stands, and read again from there. Everything else is filled again
from the beginning of the epoch. Both are a `Base`; a state is a base and how much has come out since.
"""

from __future__ import annotations

import base64
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.shuffle.record_store import RecordStore
from tfrkit.data.sources.records_source import RecordsNode
from tfrkit.model.row_selection import IntArray
from tfrkit.records.read.position import Places

__all__ = ["Base", "Epoch", "Saved", "list_places", "pack", "unpack"]


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


@dataclass(frozen=True, slots=True, eq=False)
class BufferPlaces:
    """What was in a buffer, in its order: where each record stands."""

    places: Places

    def to_json(self) -> dict[str, Any]:
        columns = (self.places.files, self.places.offsets, self.places.records)
        return {"count": len(self.places), "columns": [pack(column) for column in columns]}


@dataclass(frozen=True, slots=True, eq=False)
class Base:
    """A point from which a shuffle can resume.

    Attributes:
        seeds: of the present epoch.
        drawn: random numbers used in it.
        generator: what gives the seeds of the next.
        epochs: those in the buffer, as `Epoch.save` gives them, the present one first.
        input: where the input stands, and how many elements to drop there; None between two epochs.
        elements: what is in the buffer; None if that is nothing.
        capacity: of a buffer that takes a whole epoch, once that is known.
    """

    seeds: tuple[int, int]
    drawn: int
    generator: list[int]
    epochs: list[list[Any]]
    input: dict[str, Any] | None
    elements: BufferPlaces | None = None
    capacity: int | None = None

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it; the caller makes inner states JSON."""
        return {
            "seeds": list(self.seeds),
            "drawn": self.drawn,
            "generator": self.generator,
            "epochs": self.epochs,
            "input": self.input,
            "elements": self.elements,
            "capacity": self.capacity,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Saved:
    """A state: a base, and the elements and errors that have come out since."""

    base: Base
    outputs: int
    errors: int

    def to_json(self) -> dict[str, Any]:
        """As JSON can hold it."""
        return {"base": self.base, "outputs": self.outputs, "errors": self.errors}


def list_places(store: RecordStore, source: RecordsNode) -> BufferPlaces | None:
    """Where the records of a buffer stand in their files, in its order; None if that is not known of all."""
    files, numbers, frames, paths = store.places()
    known = np.array([source.number_of(path) for path in paths], np.int64)
    found = known[files]
    if len(files) and min(found.min(), frames.min()) < 0:
        return None
    return BufferPlaces(Places(found, frames, numbers))


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
