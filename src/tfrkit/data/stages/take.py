"""take, skip and slices: the first elements, all but the first, or those of some numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tfrkit.data.engine.fetch_node import CountingNode, NumberedNode
from tfrkit.data.engine.lookup import Lookup, Renumbered
from tfrkit.data.engine.node import (
    INFINITE_CARDINALITY,
    Context,
    NodeIterator,
    Run,
    UnaryIterator,
    UnaryNode,
)

__all__ = ["SkipNode", "SliceNode", "TakeNode"]


@dataclass(frozen=True, eq=False)
class TakeNode(CountingNode, UnaryNode):
    """At most `count` elements; a negative count takes all."""

    count: int

    verb = "take"
    selects = True
    unindexable = ""

    def lookup(self, context: Context) -> Lookup:
        inner = self.input.lookup(context)
        all_of_it = self.count < 0 or 0 <= inner.size < self.count
        return Renumbered(inner, inner.size if all_of_it else self.count, lambda numbers: numbers)

    @property
    def no_op(self) -> bool:
        return self.count == -1

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        left, at = (self.count, None) if state is None else (state["left"], state["at"])
        return _TakeIterator(self.input.begin(context, at), left) if left else _NothingIterator()

    def cardinality(self) -> int:
        size = self.input.cardinality()
        if self.count < 0 or size == 0:
            return size
        if size == INFINITE_CARDINALITY:
            return self.count
        return min(size, self.count) if size >= 0 else size


class _NothingIterator(NodeIterator):
    def pull(self, n: int) -> Run | None:
        return None

    def save(self) -> Any:
        return {"left": 0, "at": None}


class _TakeIterator(UnaryIterator):
    def __init__(self, input: NodeIterator, left: int) -> None:
        super().__init__(input, no_op=left < 0)
        self._left = left

    def pull(self, n: int) -> Run | None:
        """Pull no more than what is left."""
        if self._left == 0:
            return None
        run = self.input.pull(n if self._left < 0 else min(n, self._left))
        if run is None:
            self._left = 0
        elif self._left > 0:
            self._left -= len(run.chunk)
            if self._left == 0:
                self.input.close()
                return Run(run.chunk)  # an error after the last of them is never reached
        return run

    def save(self) -> Any:
        return {"left": self._left, "at": None if self._left == 0 else self.input.save()}


@dataclass(frozen=True, eq=False)
class SkipNode(CountingNode, UnaryNode):
    """All but the first `count` elements; a negative count skips everything.

    An error among those to be skipped comes out, and the count begins again after it, as in TensorFlow.
    """

    count: int

    verb = "skip"
    selects = True
    unindexable = ""

    def lookup(self, context: Context) -> Lookup:
        inner = self.input.lookup(context)
        left = inner.size if inner.size < 0 else max(0, inner.size - self.count)
        return Renumbered(inner, 0 if self.count < 0 else left, lambda numbers: numbers + self.count)

    @property
    def no_op(self) -> bool:
        return self.count == 0

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        if self.count < 0:
            return _NothingIterator()
        left, at = (self.count, None) if state is None else (state["left"], state["at"])
        return _SkipIterator(self, self.input.begin(context, at), left)

    def cardinality(self) -> int:
        size = self.input.cardinality()
        if size < 0:
            return size
        return 0 if self.count < 0 else max(0, size - self.count)


class _SkipIterator(UnaryIterator):
    def __init__(self, node: SkipNode, input: NodeIterator, left: int) -> None:
        super().__init__(input, no_op=node.no_op)
        self._count = node.count
        self._left = left

    def pull(self, n: int) -> Run | None:
        """Pull and forget what is to be skipped, then return what follows."""
        while self._left:
            run, past = self.input.pull_every(n, self._left, 1)
            if run is None:
                return None
            self._left = max(0, self._left - past)
            if run.error is not None and self._left:
                self._left = self._count
            if len(run.chunk) or run.error is not None:
                return run
        return self.input.pull(n)

    def save(self) -> Any:
        return {"left": self._left, "at": self.input.save()}


@dataclass(frozen=True, eq=False)
class SliceNode(NumberedNode):
    """The elements first, first + step, ..., `count` of them; `epoch`: of the pass."""

    first: int
    step: int
    count: int
    epoch: int = field(default=0, metadata={"unsigned": True})

    verb = "slice"
    unindexable = ""
    numbers_elements = True
    runs_by_number = True
    selects = True

    def lookup(self, context: Context) -> Lookup:
        inner = self.input.lookup(context)
        return Renumbered(inner, self.count, lambda numbers: self.first + self.step * numbers)

    def cardinality(self) -> int:
        return self.count
