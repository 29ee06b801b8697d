"""A group of commands by name, each imported when it is called: `tfr count` does not pay for `tfr build`.

A command is a module with a Typer `app`. It knows nothing of its name, nor of completion, which is the whole program's.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
from collections.abc import Mapping
from typing import Any, ClassVar, Final

import typer.core
import typer.main

from tfrkit.cli.console import BAD_USAGE, CommandError
from tfrkit.cli.quick_values import read_quickly

__all__ = ["CommandGroup"]

_COMPLETION: Final = frozenset({"install_completion", "show_completion"})


class CommandGroup(typer.core.TyperGroup):
    """Commands by name; a subclass says in which modules they are, in the order of the help."""

    modules: ClassVar[Mapping[str, str]] = {}

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name, module in self.modules.items() if importlib.util.find_spec(module)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        module = self.modules.get(cmd_name)
        if module is None or importlib.util.find_spec(module) is None:
            return None
        command: Any = typer.main.get_command(importlib.import_module(module).app)
        command.name = cmd_name
        command.params = [option for option in command.params if option.name not in _COMPLETION]
        for part in (command, *getattr(command, "commands", {}).values()):
            read_quickly(part)
        return command

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name = args[0]
        if name.startswith("-") or self.get_command(ctx, name) is not None:
            return super().resolve_command(ctx, args)
        text = (
            f"there is no command {name!r}"
            if ctx.parent is None
            else f"`{ctx.command_path}` has no command {name!r}"
        )
        raise CommandError(text, self._advice(ctx, name), exit_code=BAD_USAGE)

    def _advice(self, ctx: Any, name: str) -> str:
        import difflib

        path = ctx.command_path
        if near := difflib.get_close_matches(name, self.list_commands(ctx), 1, 0.5):
            return f"did you mean `{path} {near[0]}`? `{path} --help` lists all commands."
        if os.path.exists(name) and ctx.parent is None:
            return f"`tfr head {name}` shows what is in it; `tfr --help` lists all commands."
        return f"`{path} --help` lists all commands."
