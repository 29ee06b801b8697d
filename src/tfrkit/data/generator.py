"""from_generator: what a Python generator yields."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator


@dataclass(frozen=True, eq=False)
class GeneratorNode(Node):
    """A function to be called for every pass."""

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
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


def make_generator_node(generator: Any, types: Any, shapes: Any, args: Any, signature: Any) -> Node:
    """Check the arguments as TensorFlow does."""
    raise NotImplementedError
