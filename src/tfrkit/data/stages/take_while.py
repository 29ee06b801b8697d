"""take_while: elements up to the first for which a function is false."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tfrkit.data.engine.function_spec import name_of
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Node
from tfrkit.data.engine.steps import Elements, Open, StepsNode
from tfrkit.data.stages.filter import accepts

__all__ = ["TakeWhileNode"]


@dataclass(frozen=True, eq=False)
class TakeWhileNode(StepsNode):
    """Keep elements as long as the predicate accepts them."""

    input: Node
    predicate: Callable[..., Any]

    def steps(self, begin: Open) -> Iterator[Any]:
        """Ask for each."""
        return _Steps(begin(self.input), self.predicate)

    def element_spec(self) -> Any:
        """As the input's."""
        return self.input.element_spec()

    def cardinality(self) -> int:
        """Nobody knows."""
        return UNKNOWN_CARDINALITY

    @property
    def label(self) -> str:
        """As written."""
        return f"take_while({name_of(self.predicate)})"


class _Steps:
    def __init__(self, elements: Elements, predicate: Callable[..., Any]) -> None:
        self._elements = elements
        self._predicate = predicate

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        element = next(self._elements)
        if not accepts(self._predicate, element):
            raise StopIteration
        return element
