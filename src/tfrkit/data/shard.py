"""shard: every n-th element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.node import Context, Node, NodeIterator, Run, UnaryIterator

__all__ = ["ShardNode"]


@dataclass(frozen=True, eq=False)
class ShardNode(Node):
    """Elements index, index + shards, index + 2 * shards, ..."""

    input: Node
    shards: int
    index: int

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin at an element of the input."""
        at, seen = (None, 0) if state is None else (state["at"], state["seen"])
        return _ShardIterator(self, self.input.begin(context, at), seen)

    def element_spec(self) -> Any:
        """As the input's."""
        return self.input.element_spec()

    def cardinality(self) -> int:
        """The input's share."""
        size = self.input.cardinality()
        return size if size < 0 else size // self.shards + int(self.index < size % self.shards)

    @property
    def label(self) -> str:
        """As written."""
        return f"shard({self.shards}, {self.index})"


class _ShardIterator(UnaryIterator):
    def __init__(self, node: ShardNode, input: NodeIterator, seen: int) -> None:
        super().__init__(input)
        self._node = node
        self._seen = seen  # elements of the input, modulo the number of shards

    def pull(self, n: int) -> Run | None:
        """Pull up to the n-th element of this shard and keep only those."""
        shards, index = self._node.shards, self._node.index
        while True:
            first = (index - self._seen) % shards
            run = self.input.pull(first + 1 + (n - 1) * shards)
            if run is None:
                return None
            self._seen = (self._seen + len(run.chunk)) % shards
            if first < len(run.chunk):
                chunk = run.chunk if shards == 1 else run.chunk.take(np.arange(first, len(run.chunk), shards))
                return Run(chunk, run.error)
            if run.error is not None:
                return Run(run.chunk.slice(0, 0), run.error)

    def save(self) -> Any:
        """Where the input stands, and how many of its elements are past."""
        return {"at": self.input.save(), "seen": self._seen}
