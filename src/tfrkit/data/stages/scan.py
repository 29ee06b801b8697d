"""scan: a function of a running state and the element gives the next state and what comes out."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfrkit.data.elements.element_values import to_result
from tfrkit.data.elements.owned import copies_for
from tfrkit.data.elements.structure import map_structure
from tfrkit.data.elements.structure_specs import shown_types, spec_of
from tfrkit.data.engine.call_each import name_of
from tfrkit.data.engine.function_spec import result_spec
from tfrkit.data.engine.node import UnaryNode
from tfrkit.data.engine.steps import Open, Save, Step, StepsNode
from tfrkit.model.element_spec import spec_of_value

__all__ = ["ScanNode"]


@dataclass(frozen=True, eq=False)
class ScanNode(StepsNode, UnaryNode):
    """From `state` on, `function(state, element)` returns a pair."""

    state: Any
    function: Callable[..., Any]

    verb = "scan"
    unindexable = "Put scan() after what needs the numbers: each element depends on those before it."
    seeks = False  # its running state is made of the user's values
    opaque = True

    def steps(self, begin: Open, state: Any) -> tuple[Step, Save]:
        elements, total = begin(self.input), self.state

        def step() -> Any:
            nonlocal total
            total, made = take_step(self.function, total, next(elements))
            return made

        return step, elements.save

    def element_spec(self) -> Any:
        """That of what the function gives for an element and the first state."""
        return result_spec(
            self.input,
            lambda element: map_structure(spec_of_value, take_step(self.function, self.state, element)[1]),
        )

    def _shown(self) -> str:
        return name_of(self.function)


def take_step(function: Callable[..., Any], state: Any, element: Any) -> tuple[Any, Any]:
    """The next state, and what comes out.

    Raises:
        TypeError: the function does not return a pair, or a state of another type.
    """
    made = to_result(function(*copies_for(function, [state, element])))
    if not isinstance(made, tuple) or len(made) != 2:
        raise TypeError(
            "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output value "
            f"but its return type is {map_structure(spec_of_value, made)}."
        )
    expected, got = shown_types(spec_of(state)), shown_types(spec_of(made[0]))
    if expected != got:
        raise TypeError(
            "Invalid `scan_func`. The element types for the new state must match the initial state. "
            f"Expected {expected}, got {got}."
        )
    return made
