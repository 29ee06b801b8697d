"""from_tensor_slices and from_tensors: elements that are in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator


@dataclass(frozen=True, eq=False)
class SlicesNode(Node):
    """Rows of columns."""

    columns: Any
    count: int
    spec: Any

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError


def make_slices_node(tensors: Any) -> Node:
    """Check and convert."""
    raise NotImplementedError


def make_tensors_node(tensors: Any) -> Node:
    """Check and convert."""
    raise NotImplementedError
