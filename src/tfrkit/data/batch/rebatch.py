"""rebatch: batches of other sizes, without regard to where the old ones ended: `unbatch` and `batch` as one stage."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.arguments import integer
from tfrkit.data.batch.batch import PlainBatchIterator
from tfrkit.data.batch.batch_maker import BatchMaker
from tfrkit.data.batch.unbatch import UnbatchNode
from tfrkit.data.elements.structure import flatten
from tfrkit.data.elements.structure_specs import batched, unbatched
from tfrkit.data.engine.cursor import Cursor
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Context, Node, NodeIterator, Run, UnaryNode

__all__ = ["RebatchNode", "make_rebatch_node"]


@dataclass(frozen=True, eq=False)
class RebatchNode(UnaryNode):
    """Rows of the input in batches of these sizes, again and again."""

    sizes: tuple[int, ...]
    drop: bool

    verb = "rebatch"
    counts = True

    @property
    def unbatched(self) -> Node:
        """The rows of the input."""
        return UnbatchNode(self.input)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _RebatchIterator(self, context, state)

    def element_spec(self) -> Any:
        """The number of rows is known if there is only one size and no remainder."""
        size = self.sizes[0] if self.drop and len(set(self.sizes)) == 1 else None
        return batched(unbatched(self.input.element_spec()), size)

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def _shown(self) -> str:
        return str(self.sizes[0] if len(self.sizes) == 1 else list(self.sizes))


class _RebatchIterator(PlainBatchIterator):
    def __init__(self, node: RebatchNode, context: Context, state: Any) -> None:
        rows = Cursor(node.unbatched, context, None if state is None else state["rows"])
        self._sizes = node.sizes
        self._turn = 0 if state is None else state["turn"]  # the size of the next batch
        maker = BatchMaker(node.sizes[self._turn], node.drop, lambda chunk: chunk.batch())
        super().__init__(maker, rows)

    def pull(self, n: int) -> Run | None:
        """Return batches of the size whose turn it is; an error in place of a batch leaves it that size's turn."""
        run = super().pull(n if len(self._sizes) == 1 else 1)
        if run is not None and len(run.chunk):
            self._turn = (self._turn + 1) % len(self._sizes)
            self._maker.count = self._sizes[self._turn]
        return run

    def save(self) -> Any:
        """Where the rows stand, and whose turn it is."""
        return {"rows": super().save(), "turn": self._turn}


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
