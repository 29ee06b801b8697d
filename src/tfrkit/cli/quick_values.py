"""Values of arguments without typer's validation where there is nothing to validate.

typer reads values through pydantic, whose import takes nearly as long as numpy. Texts, lists of texts, flags and
defaults need none of it, and commands have nothing else (`tfrkit.options` reads the texts); everything else goes the
way of typer. A typer that has no such validation is left as it is.
"""

from __future__ import annotations

import functools
from typing import Any, Final

_LATER: Final = object()


def read_quickly(command: Any) -> None:
    """Let the parameters of a command take simple values as they are.

    Args:
        command: what `typer.main.get_command` gives.
    """
    all_of = command.get_params  # with `--help`, which is made for a context

    def get_params(ctx: Any) -> list[Any]:
        parameters: list[Any] = all_of(ctx)
        for parameter in parameters:
            real = getattr(parameter, "get_runtime_param", None)
            if real is not None and not isinstance(real, functools.partial):
                parameter.get_runtime_param = functools.partial(_Quick, real)
        return parameters

    command.get_params = get_params


class _Quick:
    """Stands in for the validation of a parameter; makes the real one when it is needed."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Return the value of a parameter, as typer's own does."""
        simple = _simple(value, param)
        return self._real().coerce(value, param=param, ctx=ctx) if simple is _LATER else simple


def _simple(value: Any, param: Any) -> Any:
    if value is None:
        return () if param.multiple or param.nargs == -1 else None
    descriptor = param.type_descriptor
    if descriptor.parameter_info.parser is not None:
        return _LATER  # defaults are read by it too
    if value is param.default:
        return value
    if descriptor.annotation in (str, bool) and isinstance(value, descriptor.annotation):
        return value
    if descriptor.annotation == list[str] and isinstance(value, (list, tuple)):
        return list(value)
    return _LATER
