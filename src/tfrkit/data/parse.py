"""parse: Examples to columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator
from tfrkit.model.policy import ReadPolicy
from tfrkit.model.specs import Spec


@dataclass(frozen=True, eq=False)
class ParseNode(Node):
    """Serialised Examples, one by one or in batches, as dicts."""

    input: Node
    features: Spec
    policy: ReadPolicy

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError
