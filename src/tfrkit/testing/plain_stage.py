"""What the stages of the plain engine share: items that move, and which stage runs which node.

What moves from stage to stage is an Item: the value, and where it came from. Leaves of the value may be Rows: arrays
whose lengths are known to differ, so that a batch of them is ragged or padded and no error. The engine itself is
`plain_engine.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from tfrkit.data.elements import element_values as convert
from tfrkit.data.elements.structure import map_structure
from tfrkit.data.engine.node import Node

__all__ = ["Item", "Row", "Stage", "begin", "call", "converted", "opened", "runs"]


@dataclass(frozen=True, slots=True)
class Item:
    """One element on its way.

    Attributes:
        value: a structure of numpy scalars, bytes, arrays and so on, and of Rows.
        origin: file and record number, if it came from a record.
    """

    value: Any
    origin: tuple[str | None, int] | None = None

    def of(self, value: Any) -> Item:
        """Another value from the same place."""
        return replace(self, value=value)


@dataclass(frozen=True, slots=True, eq=False)
class Row:
    """A row of a ragged column.

    Attributes:
        value: the row.
        padded: a batch is an array, filled up with the default; otherwise it is a Ragged.
        default: what to fill up with.
        splits: type of the row splits of a Ragged.
    """

    value: Any
    padded: bool = False
    default: Any = 0
    splits: str = "int64"


class Stage(ABC):
    """An iterator over Items. Subclasses take the node."""

    def __iter__(self) -> Stage:
        return self

    @abstractmethod
    def __next__(self) -> Item: ...


_STAGES: dict[type[Node], Callable[[Any], Stage]] = {}


def runs(*kinds: type[Node]) -> Callable[[type[Stage]], type[Stage]]:
    """Say which nodes a stage runs."""

    def note(stage: type[Stage]) -> type[Stage]:
        for kind in kinds:
            _STAGES[kind] = stage
        return stage

    return note


def begin(node: Node) -> Stage:
    """Start a node.

    Raises:
        TypeError: there is no plain stage for it.
    """
    for kind in type(node).__mro__:
        if kind in _STAGES:
            return _STAGES[kind](node)
    raise TypeError(f"expected a node that the plain engine knows but got {type(node).__name__}")


def opened(value: Any) -> Any:
    """An element as users see it: rows of ragged columns are just arrays."""
    return map_structure(lambda leaf: leaf.value if isinstance(leaf, Row) else leaf, value)


def call(function: Callable[..., Any], item: Item) -> Any:
    """What a user's function gives for an element: the parts of a tuple are arguments."""
    value = opened(item.value)
    return function(*value) if isinstance(value, tuple) else function(value)


def converted(value: Any) -> Any:
    """What a user's function gave, as an element."""
    return convert.to_element(value)
