"""repeat: the elements again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.engine.node import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Context,
    Node,
    NodeIterator,
    Run,
)
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds

__all__ = ["RepeatNode"]


@dataclass(frozen=True, eq=False)
class RepeatNode(Node):
    """The input `count` times; for ever if that is negative.

    `again`: begin the input once more after the last time, for nothing but the seeds that it draws; see `make_repeat`.
    """

    input: Node
    count: int
    again: bool = False

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin the first time, or in the middle of one."""
        return _RepeatIterator(self, context, state)

    def element_spec(self) -> Any:
        """As the input's."""
        return self.input.element_spec()

    def cardinality(self) -> int:
        """The product, where it is known."""
        size = self.input.cardinality()
        if self.count < 0:
            return 0 if size == 0 else INFINITE_CARDINALITY
        if self.count == 0 or size == 0:
            return 0
        if size == UNKNOWN_CARDINALITY:
            return size
        return size if size < 0 else size * self.count

    @property
    def label(self) -> str:
        """As written."""
        return f"repeat({'' if self.count < 0 else self.count})"


class _RepeatIterator(NodeIterator):
    def __init__(self, node: RepeatNode, context: Context, state: Any) -> None:
        self._node = node
        self._context = context
        self._done = 0 if state is None else state["done"]  # times through
        self._empty = True if state is None else state["empty"]  # nothing has come this time
        self._seeds = find_seeds(node.input)
        self._input: NodeIterator | None = None
        if state is not None:
            restore_seeds(self._seeds, state["seeds"])
        if state is None or state["at"] is not None:
            self._begin(None if state is None else state["at"][0])

    def _begin(self, state: Any = None) -> None:
        if self._done != self._node.count:
            self._input = self._node.input.begin(self._context, state)

    def pull(self, n: int) -> Run | None:
        """Pull from the input; at its end, begin again."""
        while self._input is not None:
            run = self._input.pull(n)
            if run is not None:
                self._empty = self._empty and not len(run.chunk)  # errors alone are nothing
                return run
            self._input.close()
            self._input = None
            self._done += 1
            if self._empty and self._node.count < 0:
                return None
            self._empty = True
            self._begin()
            if self._done == self._node.count and self._node.again:
                self._node.input.begin(self._context).close()
        return None

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        """Of repeat(1), which TensorFlow takes out: that of the input."""
        if self._node.count != 1 or self._input is None:
            return super().pull_every(n, first, step)
        run, past = self._input.pull_every(n, first, step)
        return self.pull(1) if run is None else run, past

    def save(self) -> Any:
        """How many times are done, where the input stands, and how it will be shuffled the next time."""
        at = None if self._input is None else [self._input.save()]
        return {"done": self._done, "empty": self._empty, "at": at, "seeds": save_seeds(self._seeds)}

    def close(self) -> None:
        """Close the input."""
        if self._input is not None:
            self._input.close()
            self._input = None
