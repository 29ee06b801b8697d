"""rebatch: batches of other sizes, without regard to where the old ones ended."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.arguments import integer
from tfrkit.data.batch.unbatch import UnbatchNode
from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.elements.structure import flatten
from tfrkit.data.elements.structure_specs import batched, unbatched
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Node, UnaryNode
from tfrkit.data.engine.steps import Open, Step, StepsNode

__all__ = ["RebatchNode", "make_rebatch_node"]


@dataclass(frozen=True, eq=False)
class RebatchNode(StepsNode, UnaryNode):
    """Rows of the input in batches of these sizes, again and again."""

    sizes: tuple[int, ...]
    drop: bool

    verb = "rebatch"

    def steps(self, begin: Open) -> Step:
        rows, sizes = begin(UnbatchNode(self.input)), itertools.cycle(self.sizes)

        def step() -> Any:
            size = next(sizes)
            batch = list(itertools.islice(rows, size))
            if not batch or (self.drop and len(batch) < size):
                raise StopIteration
            return ObjectChunk(batch).batch()

        return step

    def element_spec(self) -> Any:
        """The number of rows is known if there is only one size and no remainder."""
        size = self.sizes[0] if self.drop and len(set(self.sizes)) == 1 else None
        return batched(unbatched(self.input.element_spec()), size)

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def _shown(self) -> str:
        return str(self.sizes[0] if len(self.sizes) == 1 else list(self.sizes))


def make_rebatch_node(node: Node, batch_size: Any, drop: bool) -> Node:
    """Check the arguments.

    Raises:
        ValueError: elements have no rows, or there is no size or one below 1.
    """
    given = np.atleast_1d(np.asarray(getattr(batch_size, "numpy", lambda: batch_size)()))
    sizes = tuple(integer(size, "batch_size") for size in given.tolist())
    if not sizes or min(sizes) < 1:
        raise ValueError(f"expected sizes of at least 1 for rebatch but got {list(sizes)}")
    if not node.opaque and any(leaf.shape == () for leaf in flatten(node.element_spec())):
        raise ValueError(
            "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with scalar elements. "
            "Fix the issue by adding the `batch` transformation to the dataset."
        )
    return RebatchNode(node, sizes, drop)
