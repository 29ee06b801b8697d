"""`tfr build`: shards from other data. A command for each source, imported when it is called."""

from __future__ import annotations

from typing import ClassVar

import typer

from tfrkit.cli.command_group import CommandGroup


class _Sources(CommandGroup):
    modules: ClassVar = {
        "images": "tfrkit.cli.commands.build_images",
        "table": "tfrkit.cli.commands.build_table",
    }


app = typer.Typer(cls=_Sources, no_args_is_help=True, rich_markup_mode=None, add_completion=False)


@app.callback()
def _build() -> None:
    """Build shards: from photos, or from tables.

    Example: tfr build images photos.zip out --split train=0.9,validation=0.1
    """
