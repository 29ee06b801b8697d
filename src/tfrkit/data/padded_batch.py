"""padded_batch: consecutive elements put together, padded to equal shapes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator


@dataclass(frozen=True, eq=False)
class PaddedBatchNode(Node):
    """Batches of `size`; shapes and values in the structure of an element, or None."""

    input: Node
    size: int
    shapes: Any
    values: Any
    drop: bool

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError


def make_padded_batch_node(input: Node, size: int, shapes: Any, values: Any, drop: bool) -> Node:
    """Check the arguments as TensorFlow does."""
    raise NotImplementedError
