"""take, skip, shard and slices: the first elements, all but the first, every n-th, or those of some numbers.

Where elements have numbers anyway (after a global shuffle), a shard asks for its own alone.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk
from tfrkit.data.engine.fetch_node import CountingNode, NumberedNode
from tfrkit.data.engine.lookup import Found, Lookup, LookupOver, Renumbered
from tfrkit.data.engine.node import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Context,
    Node,
    NodeIterator,
    Run,
    UnaryIterator,
    UnaryNode,
)
from tfrkit.data.stages.concatenate import JoinedLookup
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import TensorSpec
from tfrkit.model.row_selection import IntArray

__all__ = ["ShardNode", "SkipNode", "SliceNode", "TakeNode"]


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
class ShardNode(NumberedNode):
    """Elements index, index + shards, index + 2 * shards, ...

    An error among those in between comes out, and the elements in between are counted again after it, as in
    TensorFlow.

    Attributes:
        tail: "", the first shards may have one element more; "drop" leaves those out; "repeat" fills the others up with
            elements from the beginning.
        mask: name of a feature that says which elements are not such fillers; "" for none.
        epoch: of the pass.
        beginning: the input from the beginning of the epoch on, if `input` resumes from a position.
    """

    shards: int
    index: int
    tail: str = ""
    mask: str = ""
    epoch: int = field(default=0, metadata={"unsigned": True})
    beginning: Node | None = field(default=None, metadata={"unsigned": True})

    verb = "shard"
    unindexable = ""

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return dataclasses.replace(self, input=inputs[0])

    @property
    def selects(self) -> bool:  # type: ignore[override]  # not with a mask
        return not self.mask

    @property
    def numbers_elements(self) -> bool:  # type: ignore[override]  # only if it must know how many there are
        return bool(self.tail)

    @property
    def no_op(self) -> bool:
        return self.shards == 1 and not self.mask

    def used(self, count: int) -> int | None:
        return count * self.shards

    def lookup(self, context: Context) -> Lookup:
        inner = self.input.lookup(context)
        size = self._size(inner.size)
        if size == 0 and self.tail == "drop" and inner.size and not self.resumed:
            raise InvalidArgumentError(
                f"{self.label}: {inner.size} elements cannot be divided among {self.shards} shards without a rest: "
                'none would have any. Use fewer shards, or tail="repeat".'
            )
        total = inner.size
        fills = self.tail == "repeat" and total > 0
        first, whole = 0, total  # the number of the first filler, and how many there can be
        if fills and self.beginning is not None:
            beginning = self.beginning.lookup(context)
            inner, first, whole = JoinedLookup(inner, beginning), total, beginning.size

        def number(numbers: IntArray) -> IntArray:
            found = numbers * self.shards + self.index
            return np.where(found < total, found, first + (found - total) % whole) if fills else found

        made = Renumbered(inner, size, number)
        return _MaskedLookup(made, self, total) if self.mask else made

    @property
    def runs_by_number(self) -> bool:
        return self.by_number

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        if self.by_number:
            return super().start(context, state)
        at, seen, between = (None, 0, 0) if state is None else (state["at"], state["seen"], state["between"])
        return _ShardIterator(self, self.input.begin(context, at), seen, between)

    def cardinality(self) -> int:
        size = self.input.cardinality()
        found = self._size(size)
        # More shards than elements: `lookup` refuses them.
        return UNKNOWN_CARDINALITY if self.tail == "drop" and size > found == 0 else found

    def _size(self, size: int) -> int:
        if size < 0 or self.tail == "drop":
            return size if size < 0 else size // self.shards
        return (
            -(-size // self.shards)
            if self.tail
            else size // self.shards + int(self.index < size % self.shards)
        )

    def element_spec(self) -> Any:
        spec = self.input.element_spec()
        return _with_mask(spec, self, TensorSpec((), np.dtype(np.bool_))) if self.mask else spec


class _MaskedLookup(LookupOver):
    def __init__(self, inner: Lookup, node: ShardNode, total: int) -> None:
        super().__init__(inner)
        self._node, self._total = node, total

    def at(self, numbers: IntArray, epoch: int) -> Found:
        chunk, kept = self.inner.at(numbers, epoch)
        used = numbers if kept is None else numbers[kept]
        real = (used * self._node.shards + self._node.index < self._total) | (self._total < 0)
        return Found(_masked(chunk, self._node, real), kept)


def _masked(chunk: Chunk, node: ShardNode, real: Any) -> Chunk:
    if not len(chunk):
        return chunk
    if isinstance(chunk, ColumnChunk):
        return ColumnChunk(_with_mask(chunk.columns, node, real), len(chunk), chunk.origin)
    items = [_with_mask(item, node, each) for item, each in zip(chunk.objects(), real, strict=True)]
    return ObjectChunk.made_of(chunk, items)


def _with_mask(element: Any, node: ShardNode, value: Any) -> Any:
    if not isinstance(element, dict):
        raise InvalidArgumentError(
            f"{node.label}: expected elements that are dicts, for mask={node.mask!r} to be one of their features. Put "
            "shard() after parse(); a rank still reads and parses its own elements only."
        )
    if node.mask in element:
        raise InvalidArgumentError(f"{node.label}: the element has a feature {node.mask!r} already.")
    return {**element, node.mask: value}


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


class _ShardIterator(UnaryIterator):
    def __init__(self, node: ShardNode, input: NodeIterator, seen: int, between: int) -> None:
        super().__init__(input, no_op=node.no_op)
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

    def save(self) -> Any:
        return {"at": self.input.save(), "seen": self._seen, "between": self._between}
