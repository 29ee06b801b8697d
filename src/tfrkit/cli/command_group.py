"""A group of commands by name, each imported when it is called: `tfr count` does not pay for `tfr build`.

A command is a module with a function of the command's name, whose signature declares the options; a group of further
commands is a module with a Typer `app`. Completion belongs to the whole program.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import os
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import typer
import typer.core
import typer.main

from tfrkit.cli.console import UsageError
from tfrkit.cli.quick_values import read_quickly
from tfrkit.stores.url import is_url


class CommandGroup(typer.core.TyperGroup):
    """Commands by name; a subclass may say in which modules they are, in the order of the help."""

    modules: ClassVar[Mapping[str, str]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return list(self.modules) or super().list_commands(ctx)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        module = self.modules.get(cmd_name)
        return super().get_command(ctx, cmd_name) if module is None else _command(module, cmd_name)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """List the commands with the first line of what each says of itself, without importing them."""
        if not self.modules:
            super().format_commands(ctx, formatter)
            return
        rows = [(name, _summary(self.modules[name], name)) for name in self.list_commands(ctx)]
        with formatter.section("Commands"):
            formatter.write_dl(rows)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        text = (
            f"there is no command {name!r}"
            if ctx.parent is None
            else f"`{ctx.command_path}` has no command {name!r}"
        )
        raise UsageError(text, self._advice(ctx, name))

    def _advice(self, ctx: Any, name: str) -> str:
        import difflib

        path = ctx.command_path
        if near := difflib.get_close_matches(name, self.list_commands(ctx), 1, 0.5):
            return f"did you mean `{path} {near[0]}`? `{path} --help` lists all commands."
        if (is_url(name) or os.path.exists(name)) and ctx.parent is None:
            return f"`tfr head {name}` shows what is in it; `tfr --help` lists all commands."
        return f"`{path} --help` lists all commands."


def _summary(module: str, name: str) -> str:
    """Return the first line of the docstring of a command, or of a group's callback, from the source of its module."""
    spec = importlib.util.find_spec(module)
    text = Path(spec.origin).read_text(encoding="utf-8") if spec is not None and spec.origin else ""
    found = re.search(rf'^def _?{name}\(.*?^    """(.*?)$', text, re.DOTALL | re.MULTILINE)
    return found[1] if found is not None else ""


@functools.cache  # asked for twice by each call
def _command(module: str, name: str) -> Any:
    found: Any = importlib.import_module(module)
    app = getattr(found, "app", None)
    if app is None:
        app = typer.Typer(rich_markup_mode=None, add_completion=False)
        app.command()(getattr(found, name))
    command: Any = typer.main.get_command(app)
    command.name = name
    for part in (command, *getattr(command, "commands", {}).values()):
        read_quickly(part)
    return command
