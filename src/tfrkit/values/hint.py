"""The type of an argument that is no tensor, noted at an operation for who knows which arguments are tensors.

An operation takes values, and a tensor is a numpy array to it as much as a user's own array. TensorFlow makes a
difference between the two in a few places.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, TypeVar

__all__ = ["Hint", "takes_hinted"]

_Function = TypeVar("_Function", bound=Callable[..., Any])


class Hint(NamedTuple):
    """The type of one argument of an operation.

    Attributes:
        name: of the argument.
        dtype: what numpy's and Python's values become, if they can.
        refusal: what is wrong with tensors of other types; then other values stay as they are.
    """

    name: str
    dtype: str
    refusal: str = ""


def takes_hinted(name: str, dtype: str, refusal: str = "") -> Callable[[_Function], _Function]:
    """Note of an operation which type an argument has that is no tensor."""

    def mark(function: _Function) -> _Function:
        function.__dict__["hint"] = Hint(name, dtype, refusal)
        return function

    return mark
