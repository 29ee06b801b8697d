"""Stages that only TensorFlow has: what it makes of a pipeline by default, before it runs it.

It calls a function without state for several elements at once, runs a map and the batch after it as one stage, and a
shuffle and the repeat after it as well. Elements come in the order of `tfrkit.data`; errors differ.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.batch.batch import BatchNode, PlainBatchIterator
from tfrkit.data.batch.batch_iterators import BatchIterator, BatchMaker
from tfrkit.data.batch.ragged_batch import RaggedBatchNode
from tfrkit.data.elements.chunk import Chunk
from tfrkit.data.engine.cursor import Cursor, Segment
from tfrkit.data.engine.node import AUTOTUNE, Context, NodeIterator, UnaryNode
from tfrkit.data.stages.map import MapNode
from tfrkit.data.stages.parallel_map import ParallelMapIterator
from tfrkit.errors import InvalidArgumentError
from tfrkit.tf.data.stack_like_first import stack_like_first

__all__ = ["AutoMapNode", "MapAndBatchNode", "MapAndRaggedBatchNode", "RefusedRepeatNode", "after_map"]

_MAP_AND_BATCH = "map_and_batch_fusion"


@dataclass(frozen=True, eq=False)
class AutoMapNode(MapNode):
    """A map without `num_parallel_calls`: runs in parallel when timing shows a gain and the function is stateless.

    Results keep their order.
    """

    takes = 0  # what a stateful function gives depends on all calls

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return ParallelMapIterator(
            self.input, context, state, self.function, AUTOTUNE, ordered=True, watched=True
        )


class _MapAndBatchErrors(BatchIterator):
    """Errors take places in their batch: the next one begins where it would have begun without the error."""

    def lose(self, segments: list[Segment]) -> None:
        taken = list(segments)
        try:
            while segments and (missing := self._maker.count - _places(taken)) > 0:
                segments = self._cursor.take_all(missing)
                taken += segments
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self._cursor.undo(taken)
            raise


def _places(segments: list[Segment]) -> int:
    return sum(len(segment.chunk) + (segment.error is not None) for segment in segments)


class _MapAndBatchIterator(_MapAndBatchErrors, PlainBatchIterator):
    pass


def _stacked(chunk: Chunk) -> Any:
    """Stack elements; those of other shapes are given that of the first."""
    try:
        return chunk.batch()
    except InvalidArgumentError:
        return stack_like_first(chunk.objects())


@dataclass(frozen=True, eq=False)
class MapAndBatchNode(BatchNode):
    """A batch right after a map."""

    takes = 0  # places of errors count

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        if _MAP_AND_BATCH in context.turned_off:
            return super().start(context, state)
        maker = BatchMaker(self.size, self.drop, _stacked)
        return _MapAndBatchIterator(maker, Cursor(self.input, context, state))

    def fused(self) -> None:
        """Errors are not those of another batch."""

    def arguments(self) -> tuple[Any, ...]:
        return *super().arguments(), "after map"


@dataclass(frozen=True, eq=False)
class MapAndRaggedBatchNode(RaggedBatchNode):
    """A ragged batch right after a map."""

    takes = 0  # places of errors count

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        kind = BatchIterator if _MAP_AND_BATCH in context.turned_off else _MapAndBatchErrors
        return kind(self.maker(), Cursor(self.input, context, state))

    def fused(self) -> None:
        """Errors are not those of another batch."""

    def arguments(self) -> tuple[Any, ...]:
        return *super().arguments(), "after map"


def after_map(node: Any) -> Any:
    """The node of a batch, as it runs after a map."""
    if node.verb == MapAndBatchNode.verb:
        return MapAndBatchNode(node.input, node.size, node.drop)
    return MapAndRaggedBatchNode(node.input, node.size, node.drop, node.splits)


@dataclass(frozen=True, eq=False)
class RefusedRepeatNode(UnaryNode):
    """repeat(0) and repeat(-4) right after a shuffle, which TensorFlow refuses if it runs the two as one stage."""

    verb = "repeat"

    def check(self, context: Context) -> None:
        """Refuse to run.

        Raises:
            InvalidArgumentError: the two are one stage.
        """
        if "shuffle_and_repeat_fusion" not in context.turned_off:
            raise InvalidArgumentError("count must be greater than zero or equal to -1.")

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        self.check(context)
        return self.input.begin(context, state)

    @property
    def label(self) -> str:
        return "refused where shuffle and repeat are one stage"
