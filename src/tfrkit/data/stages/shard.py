"""shard: every n-th element."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.engine.node import Context, NodeIterator, Run, UnaryIterator, UnaryNode

__all__ = ["ShardNode"]


@dataclass(frozen=True, eq=False)
class ShardNode(UnaryNode):
    """Elements index, index + shards, index + 2 * shards, ...

    An error among those in between comes out, and the elements in between are counted again after it, as in
    TensorFlow.
    """

    shards: int
    index: int

    verb = "shard"
    selects = True

    @property
    def no_op(self) -> bool:
        return self.shards == 1

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        at, seen, between = (None, 0, 0) if state is None else (state["at"], state["seen"], state["between"])
        return _ShardIterator(self, self.input.begin(context, at), seen, between)

    def cardinality(self) -> int:
        size = self.input.cardinality()
        return size if size < 0 else size // self.shards + int(self.index < size % self.shards)


class _ShardIterator(UnaryIterator):
    def __init__(self, node: ShardNode, input: NodeIterator, seen: int, between: int) -> None:
        super().__init__(input)
        self._node = node
        self._seen = seen  # elements of the input, modulo the number of shards
        self._between = between  # of them, those since the last one that was given

    def pull(self, n: int) -> Run | None:
        """Pull up to the n-th element of this shard and keep only those."""
        shards, index = self._node.shards, self._node.index
        while True:
            first = (index - self._seen) % shards
            run, count = self.input.pull_every(n, first, shards)
            if run is None:
                return None
            self._seen = (self._seen + count) % shards
            self._between = self._between + count if count <= first else (count - 1 - first) % shards
            if run.error is not None and self._seen != index:
                self._seen = (self._seen - self._between) % shards
                self._between = 0
            if len(run.chunk) or run.error is not None:
                return run

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        """Of shard(1, 0), which TensorFlow takes out: that of the input."""
        alone = self._node.shards == 1
        return self.input.pull_every(n, first, step) if alone else super().pull_every(n, first, step)

    def save(self) -> Any:
        return {"at": self.input.save(), "seen": self._seen, "between": self._between}
