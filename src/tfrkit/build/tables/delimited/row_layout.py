"""How the rows of one delimited file are laid out: its columns, and where its first row begins.

Reads the first row only. What the rows hold is the survey's (`delimited.py`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.build.tables.delimited.row_windows import windows
from tfrkit.build.tables.text_source import BINARY, TextSource
from tfrkit.errors import InvalidArgumentError
from tfrkit.optional import lazy

__all__ = [
    "CheckedRows",
    "Dialect",
    "RowLayout",
    "SurveyedRows",
    "check_delimiter",
    "read_rows",
    "row_layout",
    "split_row",
]

pyarrow: Any = lazy("pyarrow", "Delimited text")
csv: Any = lazy("pyarrow.csv", "Delimited text")
MAX_COLUMNS: Final = 100_000
_ROW_BYTES: Final = 16 << 20  # what a row may have beside its longest field
_BAD_AT_ONCE: Final = 1000  # numbers of rows that are Python objects at a time
_WRONG_WIDTH: Final = 1  # the scanner's number for rows of another number of fields
_DELIMITERS: Final = ",;\t|\x01"  # that are looked for if another one separates nothing
_SAMPLE_ROWS: Final = 100


@dataclass(frozen=True, slots=True)
class Dialect:
    """How fields and rows are written.

    Attributes:
        separator: between fields, one ASCII character.
        quote: around fields that hold separators or line ends; "": none.
        escape: makes the next character a plain one; "": none.
        items: between the items of a list, where the format itself has lists; else "".
        pairs: between key and value of an item, likewise.
        encoding: as `canonical_encoding` gives it.
        nulls: texts that mean null.
        max_field: bytes that a field may have.
    """

    separator: str
    quote: str
    escape: str
    items: str
    pairs: str
    encoding: str
    nulls: tuple[str, ...]
    max_field: int

    @property
    def max_row(self) -> int:
        return self.max_field + _ROW_BYTES

    def blank_rows(self, columns: int) -> bool:
        """Whether a blank line is a row: so one column without quotes writes an empty value."""
        return columns == 1 and not self.quote

    def scanner(self, columns: int) -> _core.RowScanner:
        """Make the native scanner for rows of `columns` fields."""
        return _core.RowScanner(
            columns,
            _code(self.separator),
            _code(self.quote),
            _code(self.escape),
            (_code(self.items), _code(self.pairs)),
            (self.blank_rows(columns), self.encoding != BINARY),
            (self.max_field, self.max_row),
            [null.encode() for null in self.nulls],
        )


def _code(character: str) -> int:
    return ord(character) if character else -1


class SurveyedRows(NamedTuple):
    """What `RowScanner.survey` gives."""

    consumed: int
    rows: int
    lines: int
    long_row: int
    seen: bytes
    kinds: npt.NDArray[np.int64]
    firsts: list[tuple[int, int, int, bytes]]


class CheckedRows(NamedTuple):
    """What `RowScanner.check` gives."""

    consumed: int
    lines: int
    long_row: int
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    bad: npt.NDArray[np.int64]
    nulls: bytes

    def bad_rows(self) -> Iterator[list[int]]:
        """Yield the bad rows: row, line ends before it, the scanner's number for the fault, and a detail."""
        for begin in range(0, len(self.bad), 4 * _BAD_AT_ONCE):
            yield from self.bad[begin : begin + 4 * _BAD_AT_ONCE].reshape(-1, 4).tolist()


@dataclass(frozen=True, slots=True)
class RowLayout:
    """What is known of a file before its rows are looked at.

    Attributes:
        names: of the columns; none if the file is empty.
        begin: where the first row of values begins: a byte of the file; in streams, of the text.
        first_line: its line number.
    """

    names: tuple[str, ...]
    begin: int
    first_line: int


def row_layout(
    source: TextSource, path: str, dialect: Dialect, *, header: bool, names: tuple[str, ...] | None
) -> RowLayout:
    """Look at the first row of a file, which has the names of the columns with `header`.

    Without `names`, those of the header are taken, or `_c0`, `_c1` and so on.

    Raises:
        InvalidArgumentError: the first row cannot have the names of columns.
    """
    if names is not None and not header:
        return RowLayout(names, source.begin, 1)
    scanner = dialect.scanner(0)

    def scan(text: bytes | bytearray, last: bool, long_row: int, _max_rows: int) -> CheckedRows:
        return CheckedRows(*scanner.check(text, [], last, long_row, 1))

    line = 1
    for window in windows(source, source.begin, source.size, scan, dialect.max_row):
        found = window.found
        if not len(found.begins):
            line += found.lines
            continue
        _, before, fault, count = next(found.bad_rows())
        if fault != _WRONG_WIDTH or count > MAX_COLUMNS:
            raise _no_header(path, line + before, fault, count)
        if not header:
            return RowLayout(tuple(f"_c{i}" for i in range(count)), source.begin, 1)
        text = window.text[int(found.begins[0]) : int(found.ends[0])]
        read = _header_names(split_row(text, count, dialect), path, line + before)
        return RowLayout(read if names is None else names, window.end, line + found.lines)
    return RowLayout(names or (), source.begin, line)


def _no_header(path: str, line: int, fault: int, count: int) -> InvalidArgumentError:
    if fault == _WRONG_WIDTH:
        text = f"expected at most {MAX_COLUMNS:,} columns but got {count:,}"
    else:
        text = "the first row has no end: a quote that is not closed, or a line that is too long"
    return InvalidArgumentError(
        f"{path}, line {line}: {text}. Check separator and quote (--delimiter, --quote).", path=path
    )


def _header_names(fields: list[bytes], path: str, line: int) -> tuple[str, ...]:
    try:
        names = [field.decode() or f"_c{i}" for i, field in enumerate(fields)]
    except UnicodeDecodeError:
        raise InvalidArgumentError(
            f"{path}, line {line}: the names of the columns are not of the file's encoding. "
            "Name the encoding (--encoding), or give the names (--names).",
            path=path,
        ) from None
    if len(set(names)) < len(names):
        twice = next(name for i, name in enumerate(names) if name in names[:i])
        raise InvalidArgumentError(
            f"{path}, line {line}: expected names of columns that differ but got {twice!r} twice. "
            "Give the names (--names), or say that there is no header (--no-header).",
            path=path,
        )
    return tuple(names)


def check_delimiter(source: TextSource, path: str, dialect: Dialect) -> None:
    """Look for another delimiter in a file whose own one separates nothing.

    Raises:
        InvalidArgumentError: there is one that cuts all of the first rows, the header included, into as many fields.
    """
    taken = (dialect.separator, dialect.quote, dialect.escape)
    scanners = {
        other: replace(dialect, separator=other, items="", pairs="").scanner(0)
        for other in (dialect.separator, *_DELIMITERS)
        if other == dialect.separator or other not in taken
    }
    widths: dict[str, list[int]] = {}

    def scan(text: bytes | bytearray, last: bool, long_row: int, _max_rows: int) -> CheckedRows:
        found = {
            other: CheckedRows(*scanner.check(text, [], last, long_row, _SAMPLE_ROWS))
            for other, scanner in scanners.items()
        }
        for other, rows in found.items():
            widths[other] = [count if fault == _WRONG_WIDTH else 0 for _, _, fault, count in rows.bad_rows()]
        return found[dialect.separator]

    first = windows(source, source.begin, source.size, scan, dialect.max_row)
    any(len(window.found.begins) for window in first)
    own = widths.pop(dialect.separator, [])
    width, other = max(
        ((rows[0], other) for other, rows in widths.items() if len(rows) > 1 and len(set(rows)) == 1),
        default=(0, ""),
    )
    if own[:1] == [1] and width > 1:
        raise InvalidArgumentError(
            f"{path}: {dialect.separator!r} does not separate the first row, but {other!r} cuts each of the first "
            f"{len(widths[other])} rows into {width} fields. Pass delimiter={other!r} (--delimiter {other!r}), or "
            f"delimiter={dialect.separator!r} (--delimiter {dialect.separator!r}) if it is one column.",
            path=path,
        )


def split_row(text: bytes | bytearray, columns: int, dialect: Dialect) -> list[bytes]:
    """Return the fields of one row, without quotes and escapes."""
    table = read_rows(text, columns, dialect, {str(i): pyarrow.binary() for i in range(columns)})
    return [table.column(i)[0].as_py() for i in range(columns)]


def read_rows(
    text: bytes | bytearray | memoryview,
    columns: int,
    dialect: Dialect,
    types: Mapping[str, Any],
    nulls: Iterable[str] = (),
) -> Any:
    """Read rows of `columns` fields with pyarrow: a table of those that have a type, by their numbers.

    Raises:
        ArrowInvalid: pyarrow does not read them.
    """
    return csv.read_csv(
        pyarrow.BufferReader(text),
        read_options=csv.ReadOptions(
            use_threads=False,
            block_size=max(len(text) + 1, 1 << 16),
            column_names=[str(i) for i in range(columns)],
        ),
        parse_options=csv.ParseOptions(
            delimiter=dialect.separator,
            quote_char=dialect.quote or False,
            escape_char=dialect.escape or False,
            double_quote=True,
            newlines_in_values=bool(dialect.quote or dialect.escape),
            ignore_empty_lines=not dialect.blank_rows(columns),
        ),
        convert_options=csv.ConvertOptions(
            column_types=types,
            include_columns=list(types),
            null_values=sorted(nulls),
            strings_can_be_null=False,
            check_utf8=False,
        ),
    )
