"""The command `tfr`: its commands, and how it exits.

What a command prints goes through `console.py`, what it takes is declared in `arguments.py`.
"""

from __future__ import annotations

import contextlib
import functools
import os
import signal
import sys
import threading
from collections.abc import Iterator, Sequence
from typing import Any, Final

import typer
import typer.main

from tfrkit.cli.command_group import CommandGroup
from tfrkit.cli.console import (
    BAD_USAGE,
    INTERRUPTED,
    CommandError,
    exit_code,
    explain,
    prepare_output,
    silence_output,
    usage_error,
)
from tfrkit.cli.quick_values import read_quickly
from tfrkit.redact import redact

_SHARED: Final = {  # files that have several commands
    "cat": "head",
    **dict.fromkeys(("merge", "reshard", "sample", "select", "shuffle", "split"), "reshape"),
}
# In the order in which the help lists them.
COMMANDS: Final = {
    name: f"tfrkit.cli.commands.{_SHARED.get(name, name)}"
    for name in (
        "build", "head", "cat", "count", "schema", "stats", "diff", "verify", "repair", "index", "reshard", "merge",
        "split", "sample", "shuffle", "select", "compress", "export", "sql", "folder", "view", "cache", "demo",
    )
}  # fmt: skip
# Click's exceptions, whether typer brings its own copy of click or uses the package.
_UsageError: Final[type[Exception]] = typer.BadParameter.__mro__[1]


class _Commands(CommandGroup):
    modules = COMMANDS


app = typer.Typer(
    cls=_Commands,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"tfrkit {version('tfrkit')}")
        raise typer.Exit


@app.callback()
def _tfr(
    verbose: bool = typer.Option(
        False, "-v", "--verbose", help="Show where in the program an error came from (TFR_DEBUG=1 does too)."
    ),
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Make, check and look into TFRecord data, without TensorFlow.

    Example: tfr head 'train-*.tfrecord'
    """


def main() -> None:
    """Run the command line and exit: 0 done, 1 bad data or a failure, 2 bad usage, 130 interrupted."""
    if "_TFR_COMPLETE" in os.environ:  # the shell asks what could come next
        app(prog_name="tfr")
    # numpy's algebra starts a thread for each core, which spins for 70 ms of CPU; no command has work for them.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    # Arrow's own allocator gives memory back between batches, and the system clears it for the next: with malloc a
    # Parquet build takes about a tenth less CPU time (benchmarks/build_table.py).
    os.environ.setdefault("ARROW_DEFAULT_MEMORY_POOL", "system")
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return the exit code.

    Args:
        arguments: what follows `tfr`.
    """
    prepare_output()
    verbose = [bool(os.environ.get("TFR_DEBUG"))]
    try:
        with terminated_like_interrupted():
            code = _invoke(arguments, verbose)
        sys.stdout.flush()
    except BrokenPipeError:  # `tfr cat | head`: the reader has what it wanted
        silence_output()
        return 0
    except (KeyboardInterrupt, typer.Abort) as error:
        _complain("\ninterrupted" + (f": {error}" if str(error) else "") + "\n")
        return _end(INTERRUPTED)
    except _UsageError as error:
        if type(error).__name__ == "NoArgsIsHelpError":  # a lone `tfr` or `tfr build`
            sys.stdout.write(str(error) + "\n")
            return _end(0)
        _complain(explain(usage_error(error)))
        return _end(BAD_USAGE)
    except (CommandError, OSError, ValueError, TypeError, RuntimeError, ImportError, IndexError) as error:
        if verbose[0]:
            import traceback

            sys.stderr.write(redact(traceback.format_exc()))
        _complain(explain(error))
        return _end(exit_code(error))
    return code


@contextlib.contextmanager
def terminated_like_interrupted() -> Iterator[None]:
    """Let SIGTERM end a command as Ctrl-C does; only in the main thread, and a signal that is ignored stays so."""
    ignored = signal.getsignal(signal.SIGTERM) is signal.SIG_IGN
    if ignored or threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, signal.default_int_handler)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)


def _invoke(arguments: Sequence[str], verbose: list[bool]) -> int:
    command = _command()
    try:
        with command.make_context("tfr", list(arguments)) as context:
            verbose[0] |= bool(context.params["verbose"])
            command.invoke(context)
    except typer.Exit as done:
        return done.exit_code
    return 0


@functools.cache
def _command() -> Any:
    command = typer.main.get_command(app)
    read_quickly(command)
    return command


def _complain(text: str) -> None:
    """Write to standard error, after the data, where both go to the same place."""
    with contextlib.suppress(OSError):  # what cannot be written is reported at the end
        sys.stdout.flush()
    sys.stderr.write(redact(text))


def _end(code: int) -> int:
    """Flush what was printed before an error, if there still is a reader; returns the exit code."""
    try:
        sys.stdout.flush()
    except OSError:
        silence_output()
    return code
