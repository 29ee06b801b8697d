"""Calling a user's function: with one element, or every element of a run; the parts of a tuple are its arguments."""

from __future__ import annotations

from collections.abc import Callable
from itertools import starmap
from typing import Any

from tfrkit.data.elements.element_values import to_result
from tfrkit.data.elements.owned import copies_for
from tfrkit.errors import InvalidArgumentError

__all__ = ["call_each", "call_with", "call_with_one", "name_of"]

_ENDED = "Function invocation produced OutOfRangeError: StopIteration: "


def name_of(function: Any) -> str:
    """A function's name, for people."""
    return str(getattr(function, "__name__", type(function).__name__))


def call_with(function: Callable[..., Any], element: Any) -> Any:
    """Call a function with a copy of an element."""
    (element,) = copies_for(function, [element])
    return function(*element) if type(element) is tuple else function(element)


def call_each(
    function: Callable[..., Any], elements: list[Any], *, owned: bool = False
) -> tuple[list[Any], Exception | None]:
    """Call a function with every element, until it fails.

    It gets copies, unless the elements are `owned` by the caller alone.

    Returns:
        What it made of them, and its error if it failed at the next one.

    >>> call_each(lambda x: 6 // x, [3, 2, 0, 1])
    ([np.int32(2), np.int32(3)], ZeroDivisionError('integer division or modulo by zero'))
    """
    if not owned:
        elements = copies_for(function, elements)
    made: list[Any] = []
    unpacked = len(elements) > 0 and type(elements[0]) is tuple
    try:
        if len(elements) == 1:  # the loop costs more than a call
            return [_call(function, elements[0])], None
        # The loop runs in C; what came before an error is kept.
        made.extend(map(to_result, (starmap if unpacked else map)(function, elements)))
    except Exception as error:
        return made, error
    if len(made) < len(elements):
        return made, InvalidArgumentError(_ENDED)
    return made, None


def call_with_one(function: Callable[..., Any], element: Any) -> Any:
    """Call a function with a copy of one element.

    Returns:
        What it made, as an element.

    Raises:
        Exception: that of the function.
    """
    (element,) = copies_for(function, [element])
    return _call(function, element)


def _call(function: Callable[..., Any], element: Any) -> Any:
    try:
        return to_result(function(*element) if type(element) is tuple else function(element))
    except StopIteration:
        raise InvalidArgumentError(_ENDED) from None
