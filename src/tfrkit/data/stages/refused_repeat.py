"""repeat(0) and repeat(-4) right behind a shuffle: TensorFlow runs the two as one stage, which refuses such counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.engine.node import Context, Node, NodeIterator
from tfrkit.errors import InvalidArgumentError

__all__ = ["RefusedRepeatNode"]


@dataclass(frozen=True, eq=False)
class RefusedRepeatNode(Node):
    """A repeat that cannot begin where shuffle and repeat are one stage."""

    input: Node

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin, if the two are not one."""
        self.check(context)
        return self.input.begin(context, state)

    def check(self, context: Context) -> None:
        """Refuse, before anything of the pipeline runs.

        Raises:
            InvalidArgumentError: the two are one.
        """
        if context.fuses_shuffle:
            raise InvalidArgumentError("count must be greater than zero or equal to -1.")

    def element_spec(self) -> Any:
        """As the input's."""
        return self.input.element_spec()

    def cardinality(self) -> int:
        """As the input's."""
        return self.input.cardinality()

    @property
    def label(self) -> str:
        """As written."""
        return "refused where shuffle and repeat are one stage"
