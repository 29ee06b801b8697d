"""What a command prints: data to standard output, everything else to standard error; how errors look.

Without a terminal there is no colour and no bar, and tables are plain columns. `rich` is imported only when it draws.
"""

from __future__ import annotations

import codecs
import contextlib
import json
import os
import re
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from typing import IO, Any, Final

from tfrkit.errors import (
    AlreadyExistsError,
    InvalidArgumentError,
    MissingExtraError,
    NotFoundError,
    OpError,
    UnimplementedError,
)
from tfrkit.redact import hide_secrets, redact

BAD_DATA: Final = 1
BAD_USAGE: Final = 2
INTERRUPTED: Final = 130
_LISTED: Final = 20  # damages of a file

_REPAIR: Final = "`tfr verify {path}` lists all damage, `tfr repair {path} NEW` saves what is whole."
# What messages of the library say for Python, and how the command line has it. The first says so itself.
_OPTIONS: Final = (
    (re.compile(r"\w+=\S* \((--[^)]+)\)"), r"\1"),
    (re.compile(r'\bon_corrupt="skip"'), "--on-corrupt skip"),
    (re.compile(r"\boverwrite=True"), "--overwrite"),
    (re.compile(r"\btfrkit\.repair\b"), "`tfr repair`"),
)
_ADVICE: Final = re.compile(r" ([A-Z])([^.]*--overwrite\.)$")  # as the last sentence of a message


class CommandError(Exception):
    """An error of a command: what happened, and what to do about it.

    Args:
        message: what and where.
        hint: what to do.
        exit_code: BAD_DATA or BAD_USAGE.
    """

    def __init__(self, message: str, hint: str = "", *, exit_code: int = BAD_DATA) -> None:
        super().__init__(message)
        self.hint = hint
        self.exit_code = exit_code


class UsageError(CommandError):
    """An error in the command line: exits with BAD_USAGE."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message, hint, exit_code=BAD_USAGE)


@contextlib.contextmanager
def bad_usage(command: str, hint: str = "") -> Iterator[None]:
    """Report wrong arguments as bad usage, not as bad data; the hint is to ask for help if there is no better one."""
    try:
        yield
    except InvalidArgumentError as error:
        raise UsageError(error.message, hint or f"`tfr {command} --help` explains it.") from error


def explain(error: BaseException) -> str:
    """Return the text for an error: an `error:` line and, after a blank line, a `hint:` line. Pure: no I/O.

    >>> print(explain(CommandError("no such thing", "ask again")), end="")
    error: no such thing
    <BLANKLINE>
    hint: ask again
    """
    message = error.message if isinstance(error, OpError) else str(error)
    message = with_options(message)
    hint = getattr(error, "hint", "")
    if isinstance(error, OpError) and error.repairable:
        hint = _REPAIR
    elif isinstance(error, AlreadyExistsError):
        hint = "choose another output, or pass --overwrite."
    if advice := _ADVICE.search(message):
        message, hint = message[: advice.start()], advice[1].lower() + advice[2]
    if "{path}" in hint:
        path = getattr(error, "path", None)
        hint = hint.replace("{path}", shlex.quote(path) if path else "FILE")
    text = f"error: {message or type(error).__name__}\n"
    return text + (f"\nhint: {hint}\n" if hint else "")


def with_options(text: str) -> str:
    """Return a message of the library with the command line's options for Python's arguments. Pure: no I/O.

    >>> with_options("Pass overwrite=True (--overwrite).")
    'Pass --overwrite.'
    """
    for python, option in _OPTIONS:
        text = python.sub(option, text)
    return text


def exit_code(error: BaseException) -> int:
    """Return the exit code for an error.

    Names that are missing, taken, or that no store can serve are bad usage, and so is what needs an extra that is not
    installed: none of it says anything about the data.
    """
    usage = isinstance(error, (NotFoundError, AlreadyExistsError, UnimplementedError, MissingExtraError))
    return int(getattr(error, "exit_code", BAD_USAGE if usage else BAD_DATA))


def usage_error(error: Any) -> CommandError:
    """Return an error of the command line in the form of all other errors.

    Args:
        error: a UsageError of click's.
    """
    context = getattr(error, "ctx", None)
    command = context.command_path if context is not None else "tfr"
    text = str(error.format_message()).strip()
    if not text or "\n" in text:  # without any arguments click gives the whole help
        return UsageError("expected a command or arguments", f"`{command} --help` lists them.")
    text = (text[0].lower() + text[1:].rstrip(".")).replace(": Value error, ", ": ")
    return UsageError(text, f"`{command} --help` shows how it is used.")


def prepare_output() -> None:
    """Let standard output accept every text: file names that are not UTF-8, and what its encoding lacks."""
    codecs.register_error("tfr", _encode_anyhow)
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="tfr")


def _encode_anyhow(error: UnicodeError) -> tuple[str | bytes, int]:
    """Encode surrogate escapes as the bytes they stand for, and other characters as escapes.

    A program that runs a command may read back what it wrote to a stream of its own, with bytes of others in it.
    """
    if not isinstance(error, UnicodeEncodeError):
        return codecs.lookup_error("replace")(error)
    try:
        return codecs.lookup_error("surrogateescape")(error)
    except UnicodeError:
        return codecs.lookup_error("backslashreplace")(error)


def number_of(count: int, what: str) -> str:
    """Return a count with its noun.

    >>> number_of(1, "record"), number_of(12000, "byte")
    ('1 record', '12,000 bytes')
    """
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def silence_output() -> None:
    """Send what is still to be written to standard output nowhere: its reader is gone, or its disk is full."""
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except (OSError, ValueError):
        return  # no file at all


def fancy(stream: IO[str]) -> bool:
    """Whether colours and bars may be drawn there: a terminal, and NO_COLOR is not set."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def out(text: str = "") -> None:
    """Print a line of data; what is secret, such as the query of a signed URL, is not shown."""
    sys.stdout.write(hide_secrets(text) + "\n")


def out_json(value: Any) -> None:
    """Print a value as one JSON document."""
    out(to_json(value, indent=1))


def out_damages(lines: Sequence[str], more: int) -> None:
    """Print the damages of a file, the first of many; `more` are known only by their number."""
    for line in lines[:_LISTED]:
        out(f"  {line}")
    if (rest := len(lines) + more - _LISTED) > 0:
        out(f"  ... and {rest:,} more; --json lists {len(lines) if more else 'all'}")


def to_json(value: Any, *, indent: int | None = None) -> str:
    """Return a value as JSON; names that are no UTF-8 stand in it as escapes of lone surrogates. Pure: no I/O."""
    text = json.dumps(value, ensure_ascii=False, indent=indent)
    try:
        text.encode()
    except UnicodeEncodeError:
        return json.dumps(value, indent=indent)
    return text


def plain(text: str) -> str:
    r"""Return a text with its control characters escaped, so that it stays on its line and commands no terminal.

    >>> plain("a\x1b[2Jb") == r"a\x1b[2Jb", plain("名字 1")
    (True, '名字 1')
    """
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() or "\udc80" <= c <= "\udcff" else repr(c)[1:-1] for c in text)


def style(text: str, **how: Any) -> str:
    """Return a text in a colour if standard output is a terminal.

    Args:
        text: the text.
        how: as for `typer.style`: fg="cyan", bold=True, dim=True.
    """
    if not fancy(sys.stdout):
        return text
    import typer

    return typer.style(text, **how)


def say(text: str = "") -> None:
    """Print something that is not data; after the data, where both go to the same place."""
    sys.stdout.flush()
    sys.stderr.write(redact(text) + "\n")


def say_skipped(damages: int) -> None:
    """Say how many damages a reader has passed over, if any."""
    if damages:
        verb = "was" if damages == 1 else "were"
        say(f"{number_of(damages, 'damage')} {verb} skipped: `tfr verify` lists all damage")


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Iterable[int] = ()) -> None:
    """Print a table of data: with lines on a terminal, as plain aligned columns elsewhere.

    Args:
        head: names of the columns.
        rows: what is in them; shown with str().
        numbers: which columns are aligned to the right.
    """
    right = set(numbers)
    texts = [[hide_secrets(str(cell)) for cell in row] for row in rows]
    if fancy(sys.stdout):
        from rich import box
        from rich.console import Console
        from rich.table import Table
        from rich.text import Text

        drawn = Table(box=box.SIMPLE_HEAD, pad_edge=False)
        for number, name in enumerate(head):
            drawn.add_column(Text(name), justify="right" if number in right else "left", overflow="fold")
        for row in texts:
            drawn.add_row(*(Text(cell) for cell in row))
        Console().print(drawn)
        return
    widths = [max(map(width_of, column)) for column in zip(head, *texts, strict=True)]
    for row in [list(head), *texts]:
        cells = (pad(cell, width, right=number in right)
                 for number, (cell, width) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        out("  ".join(cells).rstrip())


def width_of(text: str) -> int:
    """Return how many columns of a terminal a text takes: Chinese and the like take two each.

    >>> width_of("abc"), width_of("名字")
    (3, 4)
    """
    if text.isascii():
        return len(text)
    from unicodedata import combining, east_asian_width

    return sum(0 if combining(c) else 1 + (east_asian_width(c) in "WF") for c in text)


def pad(text: str, width: int, *, right: bool = False) -> str:
    """Fill a text with blanks to a number of columns; `right` aligns it to the right."""
    blanks = " " * (width - width_of(text))
    return blanks + text if right else text + blanks
