"""What a command prints: data to standard output, everything else to standard error; how errors look.

Without a terminal there is no colour and no bar, and tables are plain columns. `rich` is imported only when it draws.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import IO, Any, Final

from tfrkit.errors import AlreadyExistsError, DataLossError, OpError

__all__ = [
    "BAD_DATA",
    "BAD_USAGE",
    "INTERRUPTED",
    "CommandError",
    "explain",
    "fancy",
    "out",
    "out_json",
    "say",
    "table",
]

BAD_DATA: Final = 1
BAD_USAGE: Final = 2
INTERRUPTED: Final = 130

_HINTS: Final[tuple[tuple[type[BaseException], str], ...]] = (
    (DataLossError, "`tfr verify FILE` lists all damage, `tfr repair FILE NEW` saves what is whole."),
    (AlreadyExistsError, "choose another output, or pass --overwrite."),
)


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


def explain(error: BaseException) -> str:
    """Give the text for an error: an `error:` line and, behind a blank line, a `hint:` line. Pure: no I/O.

    >>> print(explain(CommandError("no such thing", "ask again")), end="")
    error: no such thing
    <BLANKLINE>
    hint: ask again
    """
    message = error.message if isinstance(error, OpError) else str(error)
    hint = getattr(error, "hint", "") or next((text for kind, text in _HINTS if isinstance(error, kind)), "")
    text = f"error: {message or type(error).__name__}\n"
    return text + (f"\nhint: {hint}\n" if hint else "")


def fancy(stream: IO[str]) -> bool:
    """Whether colours and bars may be drawn there: a terminal, and nobody said NO_COLOR."""
    return stream.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"


def out(text: str = "") -> None:
    """Print a line of data."""
    sys.stdout.write(text + "\n")


def out_json(value: Any) -> None:
    """Print a value as one JSON document."""
    out(json.dumps(value, ensure_ascii=False, indent=1))


def say(text: str = "") -> None:
    """Tell the user something that is not data."""
    sys.stderr.write(text + "\n")


def table(head: Sequence[str], rows: Iterable[Sequence[object]], *, numbers: Iterable[int] = ()) -> None:
    """Print a table of data: with lines on a terminal, as plain aligned columns elsewhere.

    Args:
        head: names of the columns.
        rows: what is in them; shown with str().
        numbers: which columns are aligned to the right.
    """
    right = set(numbers)
    texts = [[str(cell) for cell in row] for row in rows]
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
    widths = [max(map(len, column)) for column in zip(head, *texts, strict=True)]
    for row in [list(head), *texts]:
        cells = (cell.rjust(width) if number in right else cell.ljust(width)
                 for number, (cell, width) in enumerate(zip(row, widths, strict=True)))  # fmt: skip
        out("  ".join(cells).rstrip())
