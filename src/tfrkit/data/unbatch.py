"""unbatch: rows of every element, one by one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator


@dataclass(frozen=True, eq=False)
class UnbatchNode(Node):
    """Rows of the input's elements."""

    input: Node

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError


def check_unbatch(node: Node) -> None:
    """Refuse what is known to have no rows."""
    raise NotImplementedError
