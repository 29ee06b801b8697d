"""Users' functions as the stages of a pipeline call them: values in, values out, and Tensors for the user.

Between stages there are no Tensors. A wrapper stands for its function wherever that is named, pickled or looked at.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from tfrkit.tf.lift import unwrap, wrap

__all__ = ["OnTensors", "Yielding"]


class OnTensors:
    """A function that takes and gives Tensors, called with values.

    Attributes:
        function: the user's.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        functools.update_wrapper(self, function)

    def __call__(self, *values: Any) -> Any:
        """Call the function with Tensors of the values."""
        return unwrap(self.function(*map(wrap, values)))

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
