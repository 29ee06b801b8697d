"""`tfr build`: what makes shards of other things. A command for each source, imported when it is called."""

from __future__ import annotations

from typing import Any

import typer
import typer.core
import typer.main

from tfrkit.cli.quick_values import read_quickly


class _Sources(typer.core.TyperGroup):
    """Commands by name, imported when one is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return ["images", "table"]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name == "images":
            from tfrkit.cli.build_images import app as found
        elif cmd_name == "table":
            from tfrkit.cli.build_table import app as found
        else:
            return None
        command = typer.main.get_command(found)
        command.name = cmd_name
        read_quickly(command)
        return command


app = typer.Typer(cls=_Sources, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def _build() -> None:
    """Build shards: from photos, or from tables.

    Example: tfr build images photos.zip out --split train=0.9,validation=0.1
    """
