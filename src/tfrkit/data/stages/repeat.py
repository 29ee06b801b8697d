"""repeat: the elements again and again."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfrkit.data.engine.lookup import Found, Lookup, LookupOver, Windowed, by_epoch
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
from tfrkit.data.stages.concatenate import JoinedLookup
from tfrkit.model.row_selection import IntArray

__all__ = ["RepeatNode", "make_repeat_node", "repeated_count"]


@dataclass(frozen=True, eq=False)
class RepeatNode(UnaryNode):
    """The input `count` times; for ever if that is negative.

    Attributes:
        again: begin the input once more after the last time, only for the seeds that it draws; see `make_repeat_node`.
        epoch: of the pass; every time through the input is an epoch of its own there.
        first: what runs the first time instead, if that resumes from a position, and
        done: how many times were over by then.
    """

    count: int
    again: bool = field(default=False, metadata={"unsigned": True})  # follows from the stages
    epoch: int = field(default=0, metadata={"unsigned": True})
    done: int = field(default=0, metadata={"unsigned": True})
    first: Node | None = field(default=None, metadata={"unsigned": True})

    verb = "repeat"
    selects = True
    unindexable = ""

    def at_epoch(self, epoch: int) -> Node:
        return dataclasses.replace(self, epoch=epoch) if self.varies else self

    @property
    def resumed(self) -> bool:
        return self.first is not None or self.input.resumed

    @property
    def runs_again(self) -> bool:  # type: ignore[override]  # not if it does nothing
        return self.count != 1

    @property
    def input_passes(self) -> int:
        return max(1, self.count + self.again)

    def used(self, count: int) -> int | None:
        return count

    def times_of(self, epoch: int) -> tuple[int, int]:
        """The epoch of a pass, and how often the input was through, by an epoch of the input: undoes `epoch_of`."""
        return divmod(epoch, max(1, self.count)) if self.count >= 0 else (0, epoch)

    def epoch_of(self, time: Any, epoch: int) -> Any:
        """The epoch of the input when it runs for this time."""
        return epoch * max(1, self.count) + time

    def lookup(self, context: Context) -> Lookup:
        done = self.done + (self.first is not None)
        times = max(0, self.count - done) if self.count >= 0 else -1
        again = _RepeatLookup(self, self.input.lookup(context), done, times)
        if self.first is None or not self.count:
            return again
        return JoinedLookup(_RepeatLookup(self, self.first.lookup(context), self.done, 1), again)

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
    a shuffle directly, which is one stage, or only once, which TensorFlow leaves out. What differs from epoch to epoch
    is run anew for each.
    """
    made = None if input.varies else last_active(input).repeated(count)
    return made or RepeatNode(input, count, count > 1)


class _RepeatLookup(LookupOver):
    """The elements so many times, when the stage was through `done` times."""

    def __init__(self, node: RepeatNode, inner: Lookup, done: int, times: int) -> None:
        super().__init__(inner, repeated_count(inner.size, times))
        self._node, self._done = node, done

    def at(self, numbers: IntArray, epoch: int) -> Found:
        if self.inner.size < 0:
            return self.inner.at(numbers, self._node.epoch_of(self._done, epoch))
        times, rows = np.divmod(numbers, self.inner.size)
        return by_epoch(self.inner, rows, self._node.epoch_of(times + self._done, epoch))

    def windowed(self, numbers: IntArray, epoch: int) -> Iterator[Windowed]:
        if self.inner.size < 0 or not len(numbers):
            yield from self.inner.windowed(numbers, self._node.epoch_of(self._done, epoch))
            return
        times, rows = np.divmod(numbers, self.inner.size)
        for time in np.unique(times).tolist():
            chosen = np.flatnonzero(times == time)
            asked = self.inner.windowed(rows[chosen], self._node.epoch_of(time + self._done, epoch))
            yield from (each.among(chosen) for each in asked)


class _RepeatIterator(NodeIterator):
    def __init__(self, node: RepeatNode, context: Context, state: Any) -> None:
        self._node = node
        self._context = context
        self._varies = node.input.varies
        self._done = node.done if state is None else state["done"]  # times through
        self._empty = True if state is None else state["empty"]  # nothing has come this time
        self._given = 0  # elements and errors, since it began or resumed
        self._seeds = find_seeds(node.input)
        self._input: NodeIterator | None = None
        if state is not None:
            restore_seeds(self._seeds, state["seeds"])
        if state is None or state["at"] is not None:
            self._begin(None if state is None else state["at"][0])

    def _begin(self, state: Any = None) -> None:
        node = self._node
        self._context.checked.clear()
        if self._done != node.count:
            resumed = node.first is not None and self._done == node.done
            stage = node.first if resumed and node.first is not None else node.input
            if self._varies:
                stage = stage.at_epoch(node.epoch_of(self._done, node.epoch))
            self._input = stage.begin(self._context, state)

    def pull(self, n: int) -> Run | None:
        while self._input is not None:
            run = self._input.pull(n)
            if run is not None:
                self._empty = self._empty and not len(run.chunk)  # errors alone are nothing
                self._given += len(run.chunk) + (run.error is not None)
                return run
            self._input.close()
            self._input = None
            self._done += 1
            rest = self._node.first is not None and self._done == self._node.done + 1  # which may be nothing
            if self._empty and self._node.count < 0 and not rest:
                return None
            self._empty = True
            if self._context.times is not None:
                self._context.times.append((self._done, self._given))
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
