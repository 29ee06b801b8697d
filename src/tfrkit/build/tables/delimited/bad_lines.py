"""What is wrong with rows of delimited text, in words."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from tfrkit.build.job.progress import BadInput
from tfrkit.build.tables.delimited.row_layout import Dialect, split_row
from tfrkit.build.tables.table_format import TableColumn

__all__ = ["REFUSED", "bad_line"]

REFUSED: Final = 0  # pyarrow does not read it; the other numbers are the scanner's
_FIELDS, _VALUE, _LONG_FIELD, _LONG_ROW, _UNCLOSED, _UTF8, _NULL_ITEM, _NO_KEY = range(1, 9)
_SHOWN: Final = 40  # characters of a value


def bad_line(
    fault: tuple[int, int],
    where: tuple[str, int],
    text: bytes | bytearray | None,
    names: Sequence[str],
    kinds: dict[int, TableColumn],
    dialect: Dialect,
) -> BadInput:
    """Describe a bad row.

    Args:
        fault: the scanner's number and detail.
        where: file and line.
        text: the row, to show what it holds; None: leave that out.
        names: of the file's columns.
        kinds: the columns that are read, by position.
        dialect: how the file is written.
    """
    number, detail = fault
    reason, explained = _REASONS[number], ""
    if number == _FIELDS:
        explained = f"expected {len(names)} but got {detail}"
    elif number == _LONG_ROW:
        explained = f"its row has more than {dialect.max_row} bytes (--max-field)"
    elif number == _UTF8:
        reason = f"not valid {dialect.encoding}"
    elif number in (_VALUE, _LONG_FIELD, _NULL_ITEM, _NO_KEY):
        explained = _of_column(detail, names)
        if number == _LONG_FIELD:
            explained += f": more than {dialect.max_field} bytes (--max-field)"
        elif text is not None:
            explained += f": got {_shown(split_row(text, len(names), dialect)[detail])}"
        if number == _VALUE:
            reason = f"not {_KINDS[kinds[detail].kind]}"
    return BadInput(where[0], where[1], reason, explained)


_REASONS: Final = {
    REFUSED: "cannot be read",
    _FIELDS: "wrong number of fields",
    _VALUE: "not the kind of its column",
    _LONG_FIELD: "field too long",
    _LONG_ROW: "line too long",
    _UNCLOSED: "quote or escape without an end",
    _UTF8: "not valid utf-8",
    _NULL_ITEM: "null inside of a list",
    _NO_KEY: "map entry without a key",
}
_KINDS: Final = {"int64": "an int64", "float": "a number", "bytes": "a number"}


def _of_column(position: int, names: Sequence[str]) -> str:
    return f"column {names[position]!r}" if position < len(names) else f"field {position + 1}"


def _shown(field: bytes) -> str:
    text = field.decode("utf-8", "backslashreplace")
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "...")
