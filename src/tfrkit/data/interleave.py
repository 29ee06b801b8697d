"""interleave and flat_map: elements of datasets that a function makes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator


@dataclass(frozen=True, eq=False)
class InterleaveNode(Node):
    """`cycle` datasets are open; `block` elements of each in turn. `verb` is what the user wrote."""

    input: Node
    function: Callable[..., Any]
    cycle: int
    block: int
    parallel: int | None
    deterministic: bool | None
    verb: str

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError


def resolve_cycle(cycle: int | None, block: int | None, parallel: int | None) -> tuple[int, int]:
    """Check the arguments as TensorFlow does, and choose what is left open."""
    raise NotImplementedError
