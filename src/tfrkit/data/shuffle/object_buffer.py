"""ObjectBuffer: single objects in a shuffle's buffer, such as a function made them.

They come a few at a time, and each is a Python object, so Python's own list is the quickest buffer: 2 us an element,
where the numbers of a native buffer cost 70 (benchmarks/images_seed.py). What `ChunkStore` is for columns.
"""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from tfrkit import _core
from tfrkit.data.elements.chunk import Chunk, ObjectChunk
from tfrkit.data.elements.origin import Origin
from tfrkit.model.row_selection import IntArray

__all__ = ["ObjectBuffer"]

_NUMBERS: Final = 256  # that are drawn at once
_GAP: Final = 1024  # places of drawn elements at the front of the list, before it is moved

Place = tuple[str | None, int]


class ObjectBuffer:
    """ObjectChunk, drawn in TensorFlow's order."""

    def __init__(self) -> None:
        self._entries: list[Any] = []  # each with its origin, or None, and its number
        self._waiting: list[Any] = []  # to be added, the next one last
        self._begin = 0  # of the buffer in the list
        self._random = _core.Philox(0, 0)
        self._numbers: list[int] = []  # the next ones, last first
        self._each_bytes = 1

    def __len__(self) -> int:
        return len(self._entries) - self._begin

    @property
    def live_bytes(self) -> int:
        """Bytes of the elements in the buffer, about."""
        return len(self) * self._each_bytes

    def reseed(self, seed: int, seed2: int, drawn: int = 0) -> None:
        """Begin another stream of random numbers, after its first `drawn`."""
        self._random = _core.Philox(seed, seed2)
        self._random.skip(drawn)
        self._numbers = []

    def hold(self, chunk: Chunk, numbers: IntArray) -> int:
        """Keep elements, which have these numbers and will all be added before others are held; return bytes of one."""
        items, origin = chunk.objects(), chunk.origin
        places = [None] * len(items) if origin is None else origin.places()
        if items:
            self._each_bytes = max(1, ObjectChunk(items[:1]).nbytes)
        self._waiting = list(zip(items, places, numbers.tolist(), strict=True))[::-1]
        return self._each_bytes

    def append(self, count: int) -> None:
        """Add elements that are held."""
        self._entries += [self._waiting.pop() for _ in range(count)]

    def numbers(self) -> IntArray:
        """The numbers of all elements in the buffer, in its order."""
        return np.array([number for _, _, number in self._entries[self._begin :]], np.int64)

    def tidy(self) -> None:
        """Let go of what was drawn."""
        if self._begin > max(_GAP, len(self)):
            del self._entries[: self._begin]
            self._begin = 0

    def draw(self, count: int, window: int = 0, *, exchange: bool = False) -> Chunk:
        """Draw elements, from the oldest `window` or from all; `exchange`: add one that is held before each."""
        drawn = []
        for done in range(count):
            if exchange:
                self._entries.append(self._waiting.pop())
            drawn.append(self._draw(window - done if window else len(self)))
        self.tidy()
        return _chunk(drawn)

    def _draw(self, window: int) -> Any:
        if not self._numbers:
            self._numbers = self._random.uint32(_NUMBERS)[::-1].tolist()
        entries, begin = self._entries, self._begin
        chosen = begin + self._numbers.pop() % window
        entry = entries[chosen]
        entries[chosen] = entries[begin]
        entries[begin] = None
        self._begin = begin + 1
        return entry


def _chunk(entries: list[tuple[Any, Place | None, int]]) -> ObjectChunk:
    places = [place for _, place, _ in entries if place is not None]
    items = [item for item, _, _ in entries]
    if not items or len(places) < len(items):
        return ObjectChunk(items)
    numbers: dict[str | None, int] = {}
    files = [numbers.setdefault(path, len(numbers)) for path, _ in places]
    records = np.array([record for _, record in places], np.int64)
    return ObjectChunk(items, Origin(tuple(numbers), np.array(files, np.int32), records))
