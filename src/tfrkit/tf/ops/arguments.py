"""Operations that take their arguments in another order or under other names, as TensorFlow 1 had them."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

__all__ = ["with_arguments"]


def with_arguments(function: Callable[..., Any], order: str, **renamed: str) -> Callable[..., Any]:
    """Make an operation that takes its arguments otherwise.

    Args:
        function: the operation.
        order: the names of the arguments, in order; those that the operation has not, such as "name", are dropped.
        renamed: the operation's names of arguments that are called otherwise, or also have an old name.

    >>> with_arguments(lambda x, axis=None: axis, "x axis name dim", dim="axis")([1], None, "sum", 0)
    0
    """
    own = inspect.signature(function).parameters
    names = order.split()
    dropped = [name for name in names if name not in own and name not in renamed]
    pairs = zip((renamed.get(name, name) for name in names), own, strict=False)
    leading = next((place for place, (one, two) in enumerate(pairs) if one != two), min(len(names), len(own)))
    plain = set(names) & set(own)

    @functools.wraps(function)
    def other(*args: Any, **options: Any) -> Any:
        if len(args) <= leading and (not options or plain.issuperset(options)):
            return function(*args, **options)
        for name in options:
            if name not in names[len(args) :]:
                what = "multiple values for" if name in names else "an unexpected keyword"
                raise TypeError(f"{other.__name__}() got {what} argument {name!r}")
        given = dict(zip(names, args, strict=False), **options)
        for name in dropped:
            given.pop(name, None)
        for name, new in renamed.items():
            value = given.pop(name, None)
            if given.get(new) is None and value is not None:
                given[new] = value
        return function(**given)

    kind, parameters = inspect.Parameter.POSITIONAL_OR_KEYWORD, list[inspect.Parameter]()
    for name in names:
        needed = name in own and all(before.default is before.empty for before in parameters)
        default = own[name].default if name in own else None
        made = None if default is inspect.Parameter.empty and not needed else default
        parameters.append(inspect.Parameter(name, kind, default=made))
    other.__dict__["__signature__"] = inspect.Signature(parameters)
    other.__dict__["remake"] = lambda changed: with_arguments(changed, order, **renamed)
    return other
