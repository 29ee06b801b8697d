"""Stages round a batch as one: elements are taken, parsed and put together in one go, without looking in between.

`parse` and verbs on features are fused with the batch before or after them, and so is a prefetch after it. If pulling
ahead cannot be observed, several batches are made at once, also without a prefetch. The state is that of the stages one
by one: it is valid with and without fusing.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from tfrkit.data.batch.batch_iterators import BackgroundBatches, BatchIterator
from tfrkit.data.batch.batch_maker import BatchMaker
from tfrkit.data.engine.cursor import Cursor, place, read_place
from tfrkit.data.engine.node import AUTOTUNE, Context, Node, NodeIterator, UnaryNode

__all__ = ["FusedBatchNode", "fused_batch"]


@dataclass(frozen=True, eq=False)
class FusedBatchNode(UnaryNode):
    """A batch with the stages before and after it.

    Attributes:
        input: what the first stage reads.
        before: stages for single elements, first to last; their own inputs do not count.
        batch: BatchNode or PaddedBatchNode.
        after: stages for batches.
        depth: of the prefetch after them; None if there is none.
    """

    before: tuple[Any, ...]
    batch: Any
    after: tuple[Any, ...]
    depth: int | None = None

    verb = "batch"

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return dataclasses.replace(self, input=inputs[0])

    @property
    def prefetches(self) -> bool:
        return self.depth is not None

    def fused_with(self, stage: Node) -> Node | None:
        return dataclasses.replace(self, after=(*self.after, stage)) if self.depth is None else None

    def fused_with_prefetch(self, depth: int) -> Node | None:
        return dataclasses.replace(self, depth=depth) if self.pure and self.depth is None else None

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        inner = self._read_state(state)
        if self.pure:
            return BackgroundBatches(self._maker, self.depth, self.input, context, inner)
        return BatchIterator(self._maker(context), Cursor(self.input, context, inner))

    def _maker(self, context: Context) -> BatchMaker:
        maker: BatchMaker = self.batch.maker()
        return maker.among(self.before, self.after, context)

    def _read_state(self, state: Any) -> Any:
        """Return the state of a cursor over the input.

        The stages write a state each, the last one the outermost: where its input stood, and what it used of a run.
        """
        seen = 0
        after = len(self.after) + self.prefetches
        for unit in [int(self.batch.size)] * after + [1] * len(self.before):
            state, skip = read_place(state)
            seen += unit * skip
        at, skip = read_place(state)
        return place(at, skip + seen)

    def element_spec(self) -> Any:
        return self._last.element_spec()

    def cardinality(self) -> int:
        return int(self._last.cardinality())

    @property
    def label(self) -> str:
        labels = [stage.label for stage in (*self.before, self.batch, *self.after)]
        if self.depth is not None:
            labels.append(f"prefetch({'AUTOTUNE' if self.depth == AUTOTUNE else self.depth})")
        return " + ".join(labels)

    @property
    def _last(self) -> Any:
        return (self.batch, *self.after)[-1]


def fused_batch(batch: Any) -> Node | None:
    """A batch with the chunkwise stages before it as one stage; None if there are none."""
    before: list[Node] = []
    source = batch.input
    while source.chunkwise:
        before.append(source)
        (source,) = source.inputs
    return FusedBatchNode(source, tuple(reversed(before)), batch, ()) if before else None
