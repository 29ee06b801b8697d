"""The command `tfr`: which commands there are, and how it ends.

A command is a module with a Typer `app`, imported when it is called: `tfr count` does not pay for `tfr build`. What a
command prints goes through `console.py`.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
from typing import Any, Final

import typer
import typer.core
import typer.main

from tfrkit.cli.console import BAD_DATA, INTERRUPTED, CommandError, explain

__all__ = ["main"]

# In the order in which the help lists them.
COMMANDS: Final = {
    name: f"tfrkit.cli.{name}"
    for name in (
        "build", "head", "cat", "count", "schema", "stats", "verify", "repair", "index", "reshard", "merge", "split",
        "sample", "shuffle", "select", "compress", "export", "demo",
    )
}  # fmt: skip


class _Commands(typer.core.TyperGroup):
    """Commands by name, imported when one is asked for."""

    def list_commands(self, ctx: Any) -> list[str]:
        return [name for name, module in COMMANDS.items() if importlib.util.find_spec(module)]

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in self.list_commands(ctx):
            return None
        command = typer.main.get_command(importlib.import_module(COMMANDS[cmd_name]).app)
        command.name = cmd_name
        return command


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tfrkit {version('tfrkit')}")
        raise typer.Exit


@app.callback()
def _tfr(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Make, check and look into TFRecord data, without TensorFlow."""


def main() -> None:
    """Run the command line and exit: 0 done, 1 bad data or a failure, 2 bad usage, 130 interrupted."""
    try:
        app()
    except KeyboardInterrupt:
        sys.stderr.write("\ninterrupted\n")
        code = INTERRUPTED
    except BrokenPipeError:  # `tfr cat | head`: the reader has what it wanted
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except (CommandError, OSError, ValueError, TypeError, RuntimeError, ImportError, IndexError) as error:
        if os.environ.get("TFR_DEBUG"):
            raise
        sys.stderr.write(explain(error))
        code = getattr(error, "exit_code", BAD_DATA)
    else:
        return
    sys.exit(code)
