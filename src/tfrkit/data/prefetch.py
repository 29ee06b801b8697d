"""prefetch: the next elements made ready in the background."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator


@dataclass(frozen=True, eq=False)
class PrefetchNode(Node):
    """At most `depth` elements ahead; -1 finds out."""

    input: Node
    depth: int

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError
