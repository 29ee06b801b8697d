"""cache: elements of a complete pass, kept in memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator


class CacheMemory:
    """What all iterators of one dataset share."""


@dataclass(frozen=True, eq=False)
class CacheNode(Node):
    """The input, or what was kept of it."""

    input: Node
    memory: CacheMemory

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError
