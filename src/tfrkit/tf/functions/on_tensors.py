"""Users' functions as the stages of a pipeline call them: values in, values out, and Tensors for the user.

Between stages there are no Tensors. A wrapper stands for its function wherever that is named, pickled or looked at.
Random operations in it draw the numbers that TensorFlow's would draw in a graph; see `values.seeds`.
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

from tfrkit.data.engine.node import Node
from tfrkit.tf.functions.lift import unwrap, wrap
from tfrkit.values.seeds import SeedScope

__all__ = ["OnTensors", "Yielding", "begin_functions"]


class OnTensors:
    """A function that takes and gives Tensors, called with values.

    Attributes:
        keeps_values: nobody can write to a Tensor; see `copies_for`.
        function: the user's.
        scope: where its random operations stand in their streams; that of the youngest iterator.
    """

    keeps_values: ClassVar = True

    def __init__(self, function: Callable[..., Any]) -> None:
        functools.update_wrapper(self, function, updated=())  # its name, not its attributes
        self.function = function
        self.scope = SeedScope()

    def __call__(self, *values: Any) -> Any:
        """Call the function with Tensors of the values."""
        return unwrap(self.scope.run(self.function, *map(wrap, values)))

    def signature(self) -> Callable[..., Any]:
        """What counts for the name of a pipeline."""
        return self.function

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.function,)


class Yielding(OnTensors):
    """A function that gives an iterable, in which there may be Tensors; its arguments are numpy's."""

    def __call__(self, *values: Any) -> Iterator[Any]:
        """Give what the iterable gives, as values."""
        given = iter(self.function(*values))
        try:
            yield from map(unwrap, given)
        finally:
            close = getattr(given, "close", None)
            if close is not None:
                close()


def begin_functions(node: Node) -> None:
    """Let the random operations in all functions of a pipeline begin anew, as another iterator does."""
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if isinstance(value, OnTensors):
            value.scope = value.scope.begin()
    for part in node.inputs:
        begin_functions(part)
