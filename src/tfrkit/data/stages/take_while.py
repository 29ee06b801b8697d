"""take_while: elements up to the first for which a function is false."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, UnaryNode
from tfrkit.data.engine.steps import Open, Save, Step, StepsNode
from tfrkit.data.stages.filter import accepts

__all__ = ["TakeWhileNode"]


@dataclass(frozen=True, eq=False)
class TakeWhileNode(StepsNode, UnaryNode):
    """Keep elements as long as the predicate accepts them."""

    predicate: Callable[..., Any]

    verb = "take_while"

    def steps(self, begin: Open, state: Any) -> tuple[Step, Save]:
        elements = begin(self.input, state)

        def step() -> Any:
            element = next(elements)
            if not accepts(self.predicate, element):
                raise StopIteration
            return element

        return step, elements.save

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY
