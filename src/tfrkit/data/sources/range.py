"""range: numbers in even steps."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import ColumnChunk
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run
from tfrkit.model.element_spec import TensorSpec

__all__ = ["RangeNode"]


@dataclass(frozen=True, eq=False)
class RangeNode(Node):
    """Numbers from `first` on in steps of `step`; `count` of them, or -1 for no end."""

    first: int
    step: int
    count: int
    dtype: np.dtype[Any]

    @property
    def verb(self) -> str:
        return "counter" if self.count < 0 else "range"

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _RangeIterator(self, 0 if state is None else state)

    def element_spec(self) -> Any:
        return TensorSpec((), self.dtype)

    def cardinality(self) -> int:
        return self.count

    def _shown(self) -> str:
        if self.count < 0:
            return f"{self.first}, {self.step}"
        return f"{self.first}, {self.first + self.count * self.step}, {self.step}"


class _RangeIterator(NodeIterator):
    def __init__(self, node: RangeNode, done: int) -> None:
        self._node = node
        self._done = done

    def pull(self, n: int) -> Run | None:
        node = self._node
        if node.count >= 0:
            n = min(n, node.count - self._done)
        if n <= 0:
            return None
        numbers = node.first + node.step * np.arange(self._done, self._done + n, dtype=np.int64)
        self._done += n
        numbers = numbers.astype(node.dtype, copy=False)
        return Run(ColumnChunk(numbers, n))

    def save(self) -> int:
        return self._done
