"""range, counter and random: numbers in even steps, or random ones, the same as TensorFlow's for a seed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import ColumnChunk
from tfrkit.data.engine.node import INFINITE_CARDINALITY, Context, Node, NodeIterator, Run
from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.sources.slices import RowsNode
from tfrkit.model.element_spec import TensorSpec
from tfrkit.model.row_selection import IntArray
from tfrkit.values.philox import make_philox

__all__ = ["RandomNode", "RangeNode"]


@dataclass(frozen=True, eq=False)
class RangeNode(RowsNode):
    """Numbers from `first` on in steps of `step`; `count` of them, or -1 for no end."""

    first: int
    step: int
    count: int
    dtype: np.dtype[Any]

    @property
    def verb(self) -> str:
        return "counter" if self.count < 0 else "range"

    def rows(self, start: int, stop: int) -> ColumnChunk:
        return self.rows_at(np.arange(start, stop, dtype=np.int64))

    def rows_at(self, numbers: IntArray) -> ColumnChunk:
        made = self.first + self.step * numbers
        return ColumnChunk(made.astype(self.dtype, copy=False), len(numbers))

    def element_spec(self) -> Any:
        return TensorSpec((), self.dtype)

    def cardinality(self) -> int:
        return self.count

    def _shown(self) -> str:
        if self.count < 0:
            return f"{self.first}, {self.step}"
        return f"{self.first}, {self.first + self.count * self.step}, {self.step}"


@dataclass(frozen=True, eq=False)
class RandomNode(Node):
    """Numbers of 32 bits as int64, without end."""

    seeds: SeedGenerator

    verb = "random"
    unindexable = "Draw random numbers in map(seeded=True), which gets a seed for each element."

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin an epoch, or resume one."""
        return _RandomIterator(*((self.seeds.draw(), 0) if state is None else state))

    def element_spec(self) -> Any:
        return TensorSpec((), np.int64)

    def cardinality(self) -> int:
        return INFINITE_CARDINALITY


class _RandomIterator(NodeIterator):
    def __init__(self, seeds: tuple[int, int], done: int) -> None:
        self._seeds = seeds
        self._done = done
        self._stream = make_philox(*seeds)
        self._stream.skip(done)

    def pull(self, n: int) -> Run:
        self._done += n
        return Run(ColumnChunk(self._stream.uint32(n).astype(np.int64), n))

    def save(self) -> Any:
        """The seeds of the epoch, and how many numbers were drawn."""
        return [list(self._seeds), self._done]
