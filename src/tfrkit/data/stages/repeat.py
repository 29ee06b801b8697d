"""repeat: the elements again and again."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tfrkit.data.engine.node import (
    INFINITE_CARDINALITY,
    Context,
    Node,
    NodeIterator,
    Run,
    UnaryNode,
    last_active,
)
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds

__all__ = ["RepeatNode", "make_repeat_node", "repeated_count"]


@dataclass(frozen=True, eq=False)
class RepeatNode(UnaryNode):
    """The input `count` times; for ever if that is negative.

    `again`: begin the input once more after the last time, only for the seeds that it draws; see `make_repeat_node`.
    """

    count: int
    again: bool = field(default=False, metadata={"unsigned": True})  # follows from the stages

    verb = "repeat"
    selects = True

    @property
    def no_op(self) -> bool:
        return self.count == 1

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _RepeatIterator(self, context, state)

    def cardinality(self) -> int:
        return repeated_count(self.input.cardinality(), self.count)

    def _shown(self) -> str:
        return "" if self.count < 0 else str(self.count)


def repeated_count(size: int, count: int) -> int:
    """The number of elements when `size` of them come `count` times; without end if that is negative.

    >>> repeated_count(3, 2), repeated_count(0, -1), repeated_count(-2, -1)
    (6, 0, -1)
    """
    if count == 0 or size == 0:
        return 0
    if count < 0:
        return INFINITE_CARDINALITY
    return size if size < 0 else size * count


def make_repeat_node(input: Node, count: int) -> Node:
    """Repeat as TensorFlow does: its stage makes the iterators of its input once more than they are needed.

    The next pass through a shuffle before it therefore has the order of the epoch after the next. Not so if it repeats
    a shuffle directly, which is one stage, or only once, which TensorFlow leaves out.
    """
    return last_active(input).repeated(count) or RepeatNode(input, count, count > 1)


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
        if self._input is not None:
            self._input.close()
            self._input = None
