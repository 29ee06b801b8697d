"""take and skip: the first elements, or all but the first."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.engine.node import (
    INFINITE_CARDINALITY,
    Context,
    NodeIterator,
    Run,
    UnaryIterator,
    UnaryNode,
)

__all__ = ["SkipNode", "TakeNode"]


@dataclass(frozen=True, eq=False)
class TakeNode(UnaryNode):
    """At most `count` elements; a negative count takes all."""

    count: int

    verb = "take"
    selects = True

    @property
    def no_op(self) -> bool:
        return self.count == -1

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        left, at = (self.count, None) if state is None else (state["left"], state["at"])
        if left == 0:
            return _NothingIterator()
        return _TakeIterator(self.input.begin(context, at), left)

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
        super().__init__(input)
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

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        """Of take(-1), which TensorFlow takes out: that of the input."""
        return (
            super().pull_every(n, first, step) if self._left >= 0 else self.input.pull_every(n, first, step)
        )

    def save(self) -> Any:
        return {"left": self._left, "at": None if self._left == 0 else self.input.save()}


@dataclass(frozen=True, eq=False)
class SkipNode(UnaryNode):
    """All but the first `count` elements; a negative count skips everything.

    An error among those to be skipped comes out, and the count begins again after it, as in TensorFlow.
    """

    count: int

    verb = "skip"
    selects = True

    @property
    def no_op(self) -> bool:
        return self.count == 0

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        if self.count < 0:
            return _NothingIterator()
        left, at = (self.count, None) if state is None else (state["left"], state["at"])
        return _SkipIterator(self.count, self.input.begin(context, at), left)

    def cardinality(self) -> int:
        size = self.input.cardinality()
        if size < 0:
            return size
        return 0 if self.count < 0 else max(0, size - self.count)


class _SkipIterator(UnaryIterator):
    def __init__(self, count: int, input: NodeIterator, left: int) -> None:
        super().__init__(input)
        self._count = count
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

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        """Of skip(0), which TensorFlow takes out: that of the input."""
        return super().pull_every(n, first, step) if self._count else self.input.pull_every(n, first, step)

    def save(self) -> Any:
        return {"left": self._left, "at": self.input.save()}
