"""shuffle: elements in TensorFlow's random order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator
from tfrkit.data.seeds import SeedGenerator


@dataclass(frozen=True, eq=False)
class ShuffleNode(Node):
    """A buffer of `size` elements, of which a random one is given."""

    input: Node
    size: int
    seeds: SeedGenerator

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError
