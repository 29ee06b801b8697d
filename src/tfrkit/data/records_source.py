"""Records of TFRecord files."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tfrkit.data.node import Context, Node, NodeIterator
from tfrkit.model.policy import ReadPolicy


@dataclass(frozen=True, eq=False)
class RecordsNode(Node):
    """Records of the files, one file after another."""

    files: tuple[str, ...] = field(metadata={"unsigned": True})  # told apart by what is in them, see state.py
    policy: ReadPolicy

    @property
    def paths(self) -> tuple[str, ...]:
        """The files that a state must find unchanged."""
        return self.files

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        raise NotImplementedError
