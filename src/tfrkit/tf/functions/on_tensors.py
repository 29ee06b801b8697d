"""Users' functions as the stages of a pipeline call them: values in, values out, and Tensors for the user.

Between stages there are no Tensors. A wrapper has the name and attributes of its function, and pickles as it does.
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
    """A function on Tensors, called with values.

    Attributes:
        keeps_values: True, as a Tensor cannot be written to; see `copies_for`.
        function: the user's function.
        scope: position of its random operations in their streams; that of the newest iterator.
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
    """A function that returns an iterable, which may yield Tensors; its arguments are numpy's."""

    def __call__(self, *values: Any) -> Iterator[Any]:
        """Yield the items of the iterable as values."""
        given = iter(self.function(*values))
        try:
            yield from map(unwrap, given)
        finally:
            close = getattr(given, "close", None)
            if close is not None:
                close()


def begin_functions(node: Node) -> None:
    """Restart the random operations in all functions of a pipeline, as for a new iterator."""
    for field in dataclasses.fields(node):
        value = getattr(node, field.name)
        if isinstance(value, OnTensors):
            value.scope = value.scope.begin()
    for part in node.inputs:
        begin_functions(part)
