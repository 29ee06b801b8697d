"""ragged_batch: consecutive elements put together, Ragged where lengths differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.node import Context, Node, NodeIterator


@dataclass(frozen=True, eq=False)
class RaggedBatchNode(Node):
    """Batches of `size`."""

    input: Node
    size: int
    drop: bool
    splits: np.dtype[Any]

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError
