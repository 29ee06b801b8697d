"""FetchNode: a stage that runs by number, as two: the numbers of its elements, and what looks them up.

The second does the work, for whole runs of numbers. It is chunkwise, so that a batch after it takes it in: several
batches are then read, parsed and put together at once.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, concat
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode
from tfrkit.data.engine.lookup import Lookup, LookupIterator
from tfrkit.data.engine.node import INFINITE_CARDINALITY, Context, Node, NodeIterator, Run, UnaryNode
from tfrkit.data.engine.read_ahead import NumbersChunk, ReadAhead

__all__ = ["CountingNode", "FetchNode", "NumberedNode", "fetched"]


def fetched(node: Node) -> Node:
    """The two stages that run a node by number, in the epoch of the pass, which the last stage knows that varies."""
    epoch = next((each.epoch for each in _varying(node) if hasattr(each, "epoch")), 0)
    return FetchNode(_NumbersNode(node, epoch), node, epoch)


def _varying(node: Node) -> Iterator[Node]:
    """The node and the stages before it that vary: others, and those of a chosen epoch, are not told the epoch."""
    yield node
    for each in node.inputs:
        if each.varies:
            yield from _varying(each)


class CountingNode(Node):
    """A stage to which the numbers of elements matter.

    Where its input has numbers, those that are left out of it count too: the others keep their numbers.
    """

    @property
    def runs_by_number(self) -> bool:
        return self.by_number and any(each.leaves_out for each in self.stages())

    def fused(self) -> Node | None:
        return fetched(self) if self.runs_by_number else None


class NumberedNode(CountingNode, UnaryNode):
    """A stage that runs by the numbers of its elements, or may: those of its lookup, in the epoch of the pass."""

    epoch: int  # a field of each

    def at_epoch(self, epoch: int) -> Node:
        changed: dict[str, Any] = {"input": self.input.at_epoch(epoch), "epoch": epoch}
        return dataclasses.replace(self, **changed)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return LookupIterator(self.lookup(context), self.epoch, state)


@dataclass(frozen=True, eq=False)
class _NumbersNode(Node):
    """The numbers of the elements of a node, in order; `epoch`: of the pass."""

    node: Node = field(metadata={"unsigned": True})
    epoch: int = field(metadata={"unsigned": True})

    verb = ""
    unindexable = ""
    numbers_elements = True

    @property
    def inputs(self) -> tuple[Node, ...]:
        return ()

    @property
    def resumed(self) -> bool:
        return self.node.resumed

    @property
    def runs_for(self) -> Node:
        return self.node

    def lookup(self, context: Context) -> Lookup:
        return self.node.lookup(context)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _NumbersIterator(self.node.lookup(context), self.epoch, 0 if state is None else state)

    def at_epoch(self, epoch: int) -> Node:
        return _NumbersNode(self.node, epoch)

    def element_spec(self) -> Any:
        return self.node.element_spec()

    def cardinality(self) -> int:
        return self.node.cardinality()

    @property
    def label(self) -> str:
        return f"numbers of {self.node.label}"


class _NumbersIterator(NodeIterator):
    """Begins to read what the numbers that it gives will be asked for, if that is of windows."""

    def __init__(self, lookup: Lookup, epoch: int, done: int) -> None:
        self._size = lookup.size
        self._done = done
        self._ahead = ReadAhead(lookup, epoch, done)

    def pull(self, n: int) -> Run | None:
        start = self._done
        stop = start + n if self._size == INFINITE_CARDINALITY else min(start + n, self._size)
        if start >= stop:
            return None
        readings = self._ahead.reach(start, stop)
        self._done = stop
        return Run(NumbersChunk(np.arange(start, stop), readings))

    def save(self) -> int:
        return self._done

    def close(self) -> None:
        self._ahead.close()


@dataclass(frozen=True, eq=False)
class FetchNode(ChunkNode):
    """The elements of a node by their numbers.

    Attributes:
        input: the numbers.
        node: whose elements.
        epoch: of the pass.
    """

    node: Node = field(metadata={"unsigned": True})
    epoch: int

    verb = ""
    numbers_elements = True
    takes = 0  # its states are its own

    @property
    def varies(self) -> bool:
        return self.node.varies

    @property
    def reorders(self) -> bool:  # type: ignore[override]  # the node's
        return self.node.reorders

    @property
    def pure(self) -> bool:
        return all(each.pure for each in self.node.stages())

    @property
    def leaves_out(self) -> bool:  # type: ignore[override]  # the node's
        return any(each.leaves_out for each in self.node.stages())

    @property
    def keeps_count(self) -> bool:
        return not self.leaves_out

    def at_epoch(self, epoch: int) -> Node:
        return FetchNode(self.input.at_epoch(epoch), self.node, epoch)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        if self.keeps_count:
            return super().start(context, state)
        return LookupIterator(self.node.lookup(context), self.epoch, state, context.tally(0))

    def lookup_over(self, inner: Lookup, context: Context) -> Lookup:
        """Those of the node, whose numbers are what they are."""
        return self.node.lookup(context)

    def chunk_function(self, context: Context) -> ChunkFunction:
        return partial(_fetch, self.node.lookup(context), self.epoch)

    @property
    def label(self) -> str:
        return f"{self.node.label} by number"


def _fetch(lookup: Lookup, epoch: int, chunk: Chunk) -> tuple[Chunk, Exception | None]:
    """Look numbers up. Not a closure: one that calls itself would keep the files of its pass until it is collected."""
    assert isinstance(chunk, ColumnChunk)
    try:
        return lookup.at(chunk.columns, epoch).chunk, None
    except Exception as error:
        if len(chunk) == 1:
            return ObjectChunk([]), error
    # One of them fails: halve what was asked for until it is found.
    middle = len(chunk) // 2
    first, failure = _fetch(lookup, epoch, chunk.slice(0, middle))
    if failure is not None:
        return first, failure
    second, failure = _fetch(lookup, epoch, chunk.slice(middle, len(chunk)))
    return concat([first, second]), failure
