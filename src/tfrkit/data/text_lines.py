"""Lines of text files."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator


@dataclass(frozen=True, eq=False)
class TextLinesNode(Node):
    """Lines of the files, one file after another."""

    files: tuple[str, ...]
    compression: str

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError
