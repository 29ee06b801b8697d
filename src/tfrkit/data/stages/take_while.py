"""take_while: elements up to the first for which a function is false."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, UnaryNode
from tfrkit.data.engine.steps import Open, StepInput, StepsNode
from tfrkit.data.stages.filter import accepts

__all__ = ["TakeWhileNode"]


@dataclass(frozen=True, eq=False)
class TakeWhileNode(StepsNode, UnaryNode):
    """Keep elements as long as the predicate accepts them."""

    predicate: Callable[..., Any]

    verb = "take_while"

    def steps(self, begin: Open) -> Iterator[Any]:
        """Ask for each."""
        return _Steps(begin(self.input), self.predicate)

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY


class _Steps:
    def __init__(self, elements: StepInput, predicate: Callable[..., Any]) -> None:
        self._elements = elements
        self._predicate = predicate

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        element = next(self._elements)
        if not accepts(self._predicate, element):
            raise StopIteration
        return element
