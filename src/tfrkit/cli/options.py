"""Commands made from classes of options: `command` turns a parameter of such a class into the options of the command.

The texts of the command line are read and checked by `tfrkit.options`, so that a wrong value is refused with the same
words as in Python. typer sees texts, lists of texts and flags only.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import Field
from typing import Annotated, Any, Final, Literal, TypeVar, get_args, get_origin, get_type_hints

import typer

from tfrkit.cli.console import bad_usage
from tfrkit.options import OptionSet, choices_of, flag_of, info_of, option_fields, value_of

__all__ = ["command"]

_R = TypeVar("_R")
_NAMES: Final = {int: "int", float: "float", str: "str"}


def command(name: str) -> Callable[[Callable[..., _R]], Callable[..., _R]]:
    """Make a command of a function: each parameter of a class of options stands for all its options.

    Args:
        name: of the command, without `tfr`.
    """

    def finish(function: Callable[..., _R]) -> Callable[..., _R]:
        signature = inspect.signature(function)
        hints = get_type_hints(function, include_extras=True)
        classes = {each: hint for each, hint in hints.items() if _is_options(hint)}
        parameters: list[inspect.Parameter] = []
        for parameter in signature.parameters.values():
            if parameter.name in classes:
                parameters += [_parameter(*each) for each in _shell_fields(classes[parameter.name])]
            else:
                parameters.append(
                    parameter.replace(annotation=hints[parameter.name], kind=inspect.Parameter.KEYWORD_ONLY)
                )

        @functools.wraps(function)
        def run(**given: Any) -> _R:
            with bad_usage(name):
                made = {each: _make(kind, given) for each, kind in classes.items()}
            return function(**given, **made)

        run.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]  # typer reads it
        run.__annotations__ = {each.name: each.annotation for each in parameters}
        run.option_classes = tuple(classes.values())  # type: ignore[attr-defined]  # for tests of all commands
        return run

    return finish


def _is_options(hint: Any) -> bool:
    return isinstance(hint, type) and issubclass(hint, OptionSet)


def _shell_fields(kind: type[OptionSet]) -> list[tuple[Field[Any], Any]]:
    return [(each, hint) for each, hint in option_fields(kind) if info_of(each).shell]


def _make(kind: type[OptionSet], given: dict[str, Any]) -> OptionSet:
    """Take the texts of a class's options out of what was given, and make an object of their values."""
    values = {}
    for each, hint in _shell_fields(kind):
        text = given.pop(each.name)
        if text not in (None, (), [], _default_text(each)):
            values[each.name] = value_of(each, hint, text)
    return kind(**values)


def _default_text(each: Field[Any]) -> Any:
    return each.default if each.default is None or isinstance(each.default, bool) else str(each.default)


def _parameter(each: Field[Any], hint: Any) -> inspect.Parameter:
    info = info_of(each)
    flags = info.flags or (flag_of(each),)
    kinds = get_args(hint) if get_origin(hint) is not Literal else (hint,)
    default = _default_text(each)
    if bool in (hint, *kinds):
        how = typer.Option(*flags, help=info.help, show_default=default is not None)
        kind: Any = bool if default is not None else bool | None
    elif info.several:
        how = typer.Option(*flags, metavar=info.metavar or None, help=info.help, show_default=False)
        kind, default = list[str] | None, None
    else:
        choices = [str(choice) for choice in (info.choices() if info.choices else choices_of(hint))]
        how = typer.Option(
            *flags,
            metavar=info.metavar or _metavar(hint, choices, limited=_limits(each) != ""),
            help=f"{info.help}{_limits(each)}",
            show_default=default is not None,
            autocompletion=(lambda: choices) if choices else None,
        )
        kind = str if default is not None else str | None
    return inspect.Parameter(
        each.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=Annotated[kind, how]
    )


def _metavar(hint: Any, choices: list[str], *, limited: bool) -> str:
    if choices:
        return f"<{'|'.join(choices)}>"
    kinds = (hint, *get_args(hint))
    name = next((name for kind, name in _NAMES.items() if kind in kinds), "str")
    return f"<{name}{' range' if limited else ''}>"


def _limits(each: Field[Any]) -> str:
    """Return the limits of a number as the help shows them."""
    info = info_of(each)
    if info.metavar or (info.least is None and info.most is None):
        return ""
    least = "" if info.least is None else f"{info.least:g}<="
    if info.most is None:
        return f"  [x>={info.least:g}]"
    return f"  [{least}x<={info.most:g}]"
