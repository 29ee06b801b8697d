"""padded_batch: consecutive elements put together, padded to equal shapes.

What is padded to which shape and with what is a PadPlan, made when the stage is described; if a user's function stands
before it, nothing is known yet, and the plan is made for each batch by its first element.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfrkit.data.batch.batch import BatchingNode
from tfrkit.data.batch.pad import pad_column, pad_values
from tfrkit.data.batch.pad_plan import PadPlan, make_pad_plan
from tfrkit.data.elements.chunk import Chunk, ColumnChunk, RecordChunk
from tfrkit.data.elements.structure import flatten, map_structure, pack
from tfrkit.data.elements.structure_specs import spec_of
from tfrkit.data.engine.node import Node
from tfrkit.model.element_spec import ElementSpec, NoneTensorSpec

__all__ = ["PaddedBatchNode", "make_padded_batch_node"]


@dataclass(frozen=True, eq=False)
class PaddedBatchNode(BatchingNode):
    """Padded batches; shapes and values as the user gave them, or None."""

    shapes: Any
    values: Any

    verb = "padded_batch"

    def make_function(self) -> Callable[[Chunk], Any]:
        return _Padder(self).make

    def plan(self) -> PadPlan | None:
        """What to pad, None if it is not known without running functions."""
        if self.input.opaque:
            return None
        return make_pad_plan(self.input.element_spec(), self.shapes, self.values)

    def element_spec(self) -> Any:
        """The padded shapes with one dimension more."""
        spec = self.input.element_spec()
        plan = make_pad_plan(spec, self.shapes, self.values)
        return plan.batch_spec(spec, self.rows)


def make_padded_batch_node(input: Node, size: int, shapes: Any, values: Any, drop: bool) -> PaddedBatchNode:
    """Check the arguments as TensorFlow does, as far as the elements are known.

    Raises:
        TypeError: elements cannot be padded, or a padding value is of another type.
        ValueError: shapes or values do not fit the elements.
    """
    node = PaddedBatchNode(input, size, drop, shapes, values)
    node.plan()
    return node


class _Padder:
    """Makes batches, also several at once."""

    def __init__(self, node: PaddedBatchNode) -> None:
        self._node = node
        self._plan = node.plan()

    def make(self, chunk: Chunk) -> Any:
        """Pad columns as they are, and objects leaf by leaf."""
        if isinstance(chunk, RecordChunk):
            chunk = ColumnChunk(chunk.batch(), len(chunk))
        if isinstance(chunk, ColumnChunk):
            plan = self._plan or self._plan_of(chunk.slice(0, 1).objects()[0])
            return _pad_leaves(chunk.columns, flatten(chunk.columns), plan, pad_column)
        items = chunk.objects()
        plan = self._plan or self._plan_of(items[0])
        return _pad_leaves(items[0], list(zip(*map(flatten, items), strict=True)), plan, pad_values)

    def _plan_of(self, element: Any) -> PadPlan:
        return make_pad_plan(_without_sizes(spec_of(element)), self._node.shapes, self._node.values)


def _pad_leaves(structure: Any, leaves: list[Any], plan: PadPlan, pad: Callable[..., Any]) -> Any:
    jobs = zip(leaves, plan.shapes, plan.values, strict=True)
    return pack(structure, [pad(leaf, shape, value, i) for i, (leaf, shape, value) in enumerate(jobs)])


def _without_sizes(spec: Any) -> Any:
    """The spec of elements of which only one is known: the next may have other sizes."""
    return map_structure(_any_sizes, spec)


def _any_sizes(leaf: ElementSpec) -> ElementSpec:
    if isinstance(leaf, NoneTensorSpec) or not leaf.shape:
        return leaf
    return leaf.with_shape(tuple(None for _ in leaf.shape))
