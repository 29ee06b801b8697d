"""Verbs on the features of dict elements: select, rename, cast, decode_raw. One node, one small operation each.

An operation works on whole columns where the elements are columns, else on single elements; both give the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from tfrkit.data.node import Context, Node, NodeIterator

__all__ = ["CastOp", "ColumnsNode", "DecodeRawOp", "RenameOp", "SelectOp"]


class ColumnOp(Protocol):
    """What is done to the features."""


@dataclass(frozen=True)
class SelectOp:
    """Keep some features."""

    keys: tuple[str, ...]


@dataclass(frozen=True)
class RenameOp:
    """Give features other names."""

    names: dict[str, str]


@dataclass(frozen=True)
class CastOp:
    """Change types."""

    dtypes: dict[str, np.dtype[Any]]


@dataclass(frozen=True)
class DecodeRawOp:
    """Bytes to numbers."""

    key: str
    dtype: np.dtype[Any]
    shape: Any
    little_endian: bool


@dataclass(frozen=True, eq=False)
class ColumnsNode(Node):
    """One operation on every element."""

    input: Node
    op: ColumnOp

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin."""
        raise NotImplementedError

    def element_spec(self) -> Any:
        """What its elements are."""
        raise NotImplementedError

    def cardinality(self) -> int:
        """How many there are."""
        return self.input.cardinality()
