"""zip: elements of several datasets side by side."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator


@dataclass(frozen=True, eq=False)
class ZipNode(Node):
    """Parts in a structure; `packing` is that structure with numbers of the parts as leaves."""

    parts: tuple[Node, ...]
    packing: Any

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError


def make_zip_node(args: tuple[Any, ...], datasets: Any) -> Node:
    """Check the arguments as TensorFlow does; each leaf is a Dataset, whose `.node` counts."""
    raise NotImplementedError
