"""concatenate: one dataset after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator


@dataclass(frozen=True, eq=False)
class ConcatenateNode(Node):
    """Elements of the first, then those of the second."""

    first: Node
    second: Node

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError


def check_concatenate(first: Node, second: Node) -> None:
    """Refuse elements of different types."""
    raise NotImplementedError
