"""shard: every n-th element, for a rank; and how it comes before the stages that make one element of each.

Where elements have numbers anyway (after a global shuffle), a shard asks for its own alone. Elsewhere the plan lets it
run before the stages right before it, as far as each of their elements is made of one, or of as many as a batch has:
`records.parse(spec).map(f).shard(n, i)` runs as `records.shard(n, i).parse(spec).map(f)`. Those stages then work for
this rank only. Its states stay those of a shard after them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk
from tfrkit.data.engine.cursor import place, read_place
from tfrkit.data.engine.fetch_node import NumberedNode
from tfrkit.data.engine.lookup import Found, Lookup, LookupOver, Renumbered
from tfrkit.data.engine.node import (
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

__all__ = ["EarlyShardNode", "ShardNode", "stages_to_pass"]


_BEGINNING: Final = {"at": None, "seen": 0, "between": 0}  # a state
_AT_ONCE: Final = 4096  # elements that are pulled at once to be dropped


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
        alone: elements of other shards need not be made: an element that fails is an error of its own shard only, and
            counts. Otherwise stages before it work for all shards, and what fails does not count, as in TensorFlow.
    """

    shards: int
    index: int
    tail: str = ""
    mask: str = ""
    epoch: int = field(default=0, metadata={"unsigned": True})
    beginning: Node | None = field(default=None, metadata={"unsigned": True})
    alone: bool = field(default=False, metadata={"unsigned": True})

    verb = "shard"
    unindexable = ""

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
        at = None if state is None else state["at"]
        return _ShardIterator(self, self.input.begin(context, at), state or _BEGINNING)

    def fused(self) -> Node | None:
        """Before the stages that make one element of each, if it may."""
        return super().fused() or (_moved(self) if self.alone and not (self.no_op or self.tail) else None)

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


def stages_to_pass(shard: ShardNode) -> list[Node]:
    """The stages that a shard may come before, the last one first."""
    found: list[Node] = []
    node = shard.input
    while node.takes or node.is_transparent:
        found.append(node)
        (node,) = node.inputs
    while found and not found[-1].takes:
        found.pop()
    return found


def _moved(shard: ShardNode) -> Node | None:
    stages = [each for each in stages_to_pass(shard) if each.takes]
    if not stages:
        return None
    (base,) = stages[-1].inputs
    units: list[int] = []
    block = 1
    for each in reversed(stages):
        units = [block * unit for unit in each.place_units] + units
        block *= each.takes
    names = ", ".join(each.label for each in reversed(stages))
    made: Node = EarlyShardNode(
        base, shard.shards, shard.index, epoch=shard.epoch, block=block, units=tuple(units), passed=names
    )
    early = made
    for each in reversed(stages):
        made = each.with_inputs((made,))
    return _OwnElementsNode(made, early, tuple(reversed(stages)))


@dataclass(frozen=True, eq=False)
class EarlyShardNode(ShardNode):
    """A shard that comes before stages which it was written after. Its states are those of a shard after them.

    Attributes:
        block: of how many elements these stages make one: so many neighbours are of one shard.
        units: of each place that the stages write in a state, the last stage's first: what one that is skipped counts.
        passed: the labels of the stages.
    """

    block: int = 1
    units: tuple[int, ...] = ()
    passed: str = ""

    def fused(self) -> None:
        """It is where it belongs."""

    def lookup(self, context: Context) -> Lookup:
        inner, block = self.input.lookup(context), self.block

        def number(numbers: IntArray) -> IntArray:
            return (numbers // block * self.shards + self.index) * block + numbers % block

        return Renumbered(inner, self._size(inner.size), number)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        state = state or _BEGINNING
        at, skip = state["at"], 0
        for unit in self.units:
            at, more = read_place(at)
            skip += unit * more
        return _EarlyShardIterator(self, self.input.begin(context, at), state, skip)

    def after(self, state: dict[str, Any], count: int) -> dict[str, Any]:
        """The state when so many elements of this shard have come after a state that it has written."""
        if not count:
            return state
        cycle = self.block * self.shards
        past = (
            (state["seen"] - self.index) * self.block + state.get("part", 0)
        ) % cycle  # since its block began
        wait, done = (0, past) if past < self.block else (cycle - past, 0)
        blocks, last = divmod(done + count - 1, self.block)
        at = state["at"]
        for _ in self.units:
            at, _skip = read_place(at)
        whole, part = divmod(last + 1, self.block)
        return self.state_of(
            place(at, wait + blocks * cycle + last + 1 - done), (self.index + whole) % self.shards, 0, part
        )

    def state_of(self, at: Any, seen: int, between: int, part: int) -> dict[str, Any]:
        """The state of a place in its input, as a shard after the stages would write it."""
        for _ in self.units[1:]:
            at = place(at)
        found = {"at": at, "seen": seen, "between": between}
        return {**found, "part": part} if part else found

    def _size(self, size: int) -> int:
        if size < 0:
            return size
        blocks, rest = divmod(size, self.block)
        return super()._size(blocks) * self.block + (rest if blocks % self.shards == self.index else 0)

    @property
    def label(self) -> str:
        return f"shard({self.shards}, {self.index}), moved before {self.passed}"


@dataclass(frozen=True, eq=False)
class _OwnElementsNode(UnaryNode):
    """What stages make of the elements of one shard.

    Attributes:
        input: the stages, over the shard.
        shard: the shard, which comes before them.
        passed: the stages, first to last; their own inputs do not count.
    """

    shard: Any
    passed: tuple[Node, ...]

    verb = ""
    unindexable = ""

    def lookup(self, context: Context) -> Lookup:
        return self.input.lookup(context)

    def before_batch(self) -> tuple[Node, tuple[Node, ...]]:
        if not all(each.chunkwise for each in self.passed):
            return super().before_batch()
        node = self.input
        stages: list[Node] = []
        for _ in self.passed:
            stages.append(node)
            (node,) = node.inputs
        return node, tuple(reversed(stages))

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        if state is not None:
            for _ in self.shard.units:
                state = place(state)
        return _OwnElementsIterator(self.shard, self.input.begin(context, state))

    @property
    def label(self) -> str:
        return f"elements of shard({self.shard.shards}, {self.shard.index})"


class _OwnElementsIterator(UnaryIterator):
    def __init__(self, shard: EarlyShardNode, input: NodeIterator) -> None:
        super().__init__(input)
        self._shard = shard

    def pull(self, n: int) -> Run | None:
        return self.input.pull(n)

    def save(self) -> Any:
        return _OwnState(self._shard, self.input.save())


class _OwnState:
    """The state of a shard after stages, made of theirs: how far they are is how far it is."""

    __slots__ = ("_shard", "_state")

    def __init__(self, shard: EarlyShardNode, state: Any) -> None:
        self._shard = shard
        self._state = state

    def to_json(self) -> Any:
        """Count what the stages have yet to drop as seen."""
        state, count = self._state, 0
        for unit in self._shard.units:
            state, skip = read_place(state)
            count += unit * skip
        return self._shard.after(state, count)


class _ShardIterator(UnaryIterator):
    def __init__(self, node: ShardNode, input: NodeIterator, state: Mapping[str, Any]) -> None:
        super().__init__(input, no_op=node.no_op)
        self._node = node
        self._seen = state["seen"]  # elements of the input, modulo the number of shards
        self._between = state["between"]  # of them, those since the last one that was given

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
            if run.error is not None:
                self._count_again()
            if len(run.chunk) or run.error is not None:
                return run

    def _count_again(self) -> None:
        """An error has come: the elements between two of this shard begin anew."""
        if self._seen != self._node.index:
            self._seen = (self._seen - self._between) % self._node.shards
            self._between = 0

    def save(self) -> Any:
        return {"at": self.input.save(), "seen": self._seen, "between": self._between}


class _EarlyShardIterator(_ShardIterator):
    """Gives runs of `block` elements. `skip`: elements that were seen, to be dropped first."""

    _node: EarlyShardNode

    def __init__(
        self, node: EarlyShardNode, input: NodeIterator, state: Mapping[str, Any], skip: int
    ) -> None:
        super().__init__(node, input, state)
        self._part = state.get("part", 0)  # elements of a block of which not all were seen
        self._due: Exception | None = None  # after those that were dropped
        while skip > 0 and (run := input.pull(min(skip, _AT_ONCE))) is not None:
            skip -= len(run.chunk)
            if run.error is not None and skip > 0:
                raise run.error
            self._due = run.error

    def pull(self, n: int) -> Run | None:
        if self._due is not None:
            error, self._due = self._due, None
            self._part = 0
            self._count_again()
            return Run(ObjectChunk([]), error)
        return super().pull(n) if self._node.block == 1 else self._pull_block(n)

    def _pull_block(self, n: int) -> Run | None:
        """Pull elements of one block of this shard."""
        node = self._node
        while True:
            blocks = (node.index - self._seen) % node.shards
            first = blocks * node.block - self._part if blocks else 0
            run, count = self.input.pull_every(min(n, node.block - (0 if blocks else self._part)), first, 1)
            if run is None:
                return None
            more, self._part = divmod(self._part + count, node.block)
            self._seen = (self._seen + more) % node.shards
            self._between = self._between + more if count <= first else 0
            if run.error is not None:  # the block so far is lost with it, as a batch is
                self._part = 0
                self._count_again()
            if len(run.chunk) or run.error is not None:
                return run

    def save(self) -> Any:
        return self._node.state_of(place(self.input.save()), self._seen, self._between, self._part)
