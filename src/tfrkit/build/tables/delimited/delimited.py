"""Delimited text as a table: CSV, TSV, any separator, and Hive's text files.

A native scanner looks at every byte first: rows, bad ones, and what kinds of values each column has. pyarrow then reads
the rows that the scanner finds good for the settled types. Encodings and compression are in `text_source.py`, Arrow
columns in `delimited_columns.py`.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from tfrkit.build.job.input_stamp import InputStamp
from tfrkit.build.job.progress import MAX_LISTED_BAD, TaskReporter
from tfrkit.build.tables.delimited.bad_lines import REFUSED, bad_line
from tfrkit.build.tables.delimited.delimited_columns import (
    ColumnPlan,
    DelimitedRows,
    check_separator,
    read_columns,
)
from tfrkit.build.tables.delimited.row_layout import (
    CheckedRows,
    Dialect,
    RowLayout,
    check_delimiter,
    row_layout,
)
from tfrkit.build.tables.delimited.row_survey import survey_file
from tfrkit.build.tables.delimited.row_windows import WINDOW_BYTES, Window, windows
from tfrkit.build.tables.float_range import beyond_in_array, note_beyond
from tfrkit.build.tables.table_format import (
    InputFile,
    Survey,
    TableColumn,
    TablePiece,
    check_rows,
)
from tfrkit.build.tables.text_source import TextSource, canonical_encoding
from tfrkit.errors import InvalidArgumentError
from tfrkit.optional import require

__all__ = ["DelimitedFormat", "DelimitedKind"]

DelimitedKind = Literal["csv", "tsv", "hive"]
_SEPARATORS: Final = {"csv": ",", "tsv": "\t", "hive": "\x01"}
_QUOTES: Final = {"csv": '"', "tsv": "", "hive": ""}
_NULLS: Final[dict[str, tuple[str, ...]]] = {"csv": (), "tsv": (), "hive": ("\\N",)}
_BATCH_BYTES: Final = 2 * WINDOW_BYTES
_WINDOW_ROWS: Final = 1 << 18  # so that tiny rows take no more memory than others
_LARGE_BYTES: Final = 4 * WINDOW_BYTES
_large = threading.Lock()


@dataclass(frozen=True, slots=True, kw_only=True)
class DelimitedFormat:
    r"""Files of delimited text, all written alike. None stands for what is usual for the kind.

    Attributes:
        kind: "csv", "tsv" or "hive".
        delimiter: between fields; a comma, a tab, or \x01.
        quote: around fields that hold delimiters or line ends: '"' in CSV, "" (none) else.
        escape: makes the next character a plain one; none.
        header: whether the first row has the names of the columns: not if `names` are given, nor in Hive's files.
        names: of the columns; else those of the header, or `_c0`, `_c1` and so on.
        encoding: of the text; "binary" takes bytes as they are.
        nulls: texts that mean null; \N in Hive's files, none else.
        max_field: bytes that a field may have.
    """

    kind: DelimitedKind
    delimiter: str | None = None
    quote: str | None = None
    escape: str | None = None
    header: bool | None = None
    names: tuple[str, ...] | None = None
    encoding: str = "utf-8"
    nulls: tuple[str, ...] | None = None
    max_field: int = 64 << 20
    dialect: Dialect = field(init=False, repr=False)

    def __post_init__(self) -> None:
        hive = self.kind == "hive"
        dialect = Dialect(
            check_separator(_SEPARATORS[self.kind] if self.delimiter is None else self.delimiter),
            _character("quote", _QUOTES[self.kind] if self.quote is None else self.quote),
            _character("escape", self.escape or ""),
            "\x02" if hive else "",
            "\x03" if hive else "",
            canonical_encoding(self.encoding),
            _NULLS[self.kind] if self.nulls is None else self.nulls,
            self.max_field,
        )
        if len({dialect.separator, dialect.quote or "\r", dialect.escape or "\n"}) < 3:
            raise InvalidArgumentError(
                f"Expected delimiter, quote and escape to differ but got {dialect.separator!r}, {dialect.quote!r} and "
                f"{dialect.escape!r}."
            )
        if self.names is not None and len(set(self.names)) < len(self.names):
            raise InvalidArgumentError(
                f"Expected names (--names) that differ but got {', '.join(self.names)}."
            )
        if self.max_field < 1:
            raise InvalidArgumentError(f"Expected max_field of at least 1 but got {self.max_field}.")
        object.__setattr__(self, "dialect", dialect)

    def survey(self, file: InputFile, reporter: TaskReporter) -> Survey:
        """Look at all bytes of a file; see `TableFormat`.

        Raises:
            InvalidArgumentError: the file's first row cannot be a header, names are there twice, or another delimiter
                than the usual one separates the fields.
        """
        source, layout = self._open(file)
        found = survey_file(file, source, layout, self.dialect, reporter)
        unread = not any(found.columns.values()) if len(layout.names) > 1 else self.names is None
        if self.delimiter is None and unread:
            check_delimiter(source, file.path, self.dialect)
        return found

    def read(
        self, piece: TablePiece, rows: range, columns: tuple[TableColumn, ...], reporter: TaskReporter
    ) -> Iterator[Mapping[str, Any]]:
        """Read some rows of a piece; see `TableFormat`."""
        source, layout = self._open(piece.file)
        plan = ColumnPlan(self.dialect, layout.names, columns)
        scanner, checks = self.dialect.scanner(plan.width), plan.checks()

        cut = not source.streams and piece.end < source.size
        row, line = 0, piece.first_line
        whole = rows.stop == piece.rows  # then one row more would be found, too

        def scan(text: bytes | bytearray, last: bool, long_row: int, max_rows: int) -> CheckedRows:
            needed = min(rows.stop - row + whole, _WINDOW_ROWS) if max_rows < 0 else max_rows
            return CheckedRows(*scanner.check(text, checks, last, long_row, needed, last and cut))

        for window in windows(source, piece.begin, piece.end, scan, self.dialect.max_row):
            count, lines, large = (
                len(window.found.begins),
                window.found.lines,
                len(window.text) > _LARGE_BYTES,
            )
            chosen = range(max(rows.start - row, 0), min(rows.stop - row, count))
            batches = _batches(
                plan, window, chosen, _BadLines(self, piece.file, layout, plan, reporter, line)
            )
            del window
            if large:
                batches = _one_at_a_time(batches)
            yield from batches
            row += count
            line += lines
            if row > piece.rows or (row >= rows.stop and not whole):
                break
        if whole or row < rows.stop:
            check_rows(piece, row)

    def _open(self, file: InputFile) -> tuple[TextSource, RowLayout]:
        source = TextSource(file, self.dialect.encoding)
        return source, _layout(self, file.path, file.stamp, (source.size, source.version))


@lru_cache(maxsize=1024)
def _layout(
    form: DelimitedFormat, path: str, stamp: InputStamp | None, _changed: tuple[int, str]
) -> RowLayout:
    """Look at a file's first row, once for all of its pieces, and again if it has changed."""
    source = TextSource(InputFile(path, path, {}, 0, stamp), form.dialect.encoding)
    header = form.names is None and form.kind != "hive" if form.header is None else form.header
    return row_layout(source, path, form.dialect, header=header, names=form.names)


def _character(name: str, text: str) -> str:
    if len(text) > 1 or text in ("\r", "\n") or text > "\x7f":
        raise InvalidArgumentError(f"Expected one ASCII character or none for {name} but got {text!r}.")
    return text


class _BadLines:
    """Reports the bad rows of one window."""

    def __init__(
        self,
        form: DelimitedFormat,
        file: InputFile,
        layout: RowLayout,
        plan: ColumnPlan,
        reporter: TaskReporter,
        line: int,
    ) -> None:
        self._file, self._layout, self._watch, self._line = file, layout, reporter, line
        self._dialect = form.dialect
        self._kinds = {target.position: target.column for target in plan.targets}

    def report(self, fault: int, detail: int, lines: int, text: bytes | bytearray) -> None:
        """Report a bad row, which begins after `lines` lines of the window."""
        shown = text if len(self._watch.listed) < MAX_LISTED_BAD else None
        where = (self._file.name, self._line + lines)
        self._watch.bad(
            bad_line((fault, detail), where, shown, self._layout.names, self._kinds, self._dialect)
        )

    def note(
        self,
        columns: Mapping[str, Any],
        plan: ColumnPlan,
        window: Window[CheckedRows],
        numbers: npt.NDArray[np.int64],
    ) -> None:
        """Count numbers that become infinite, of rows that have these numbers in the window."""
        for column in (target.column for target in plan.targets if target.column.kind == "float"):
            found = beyond_in_array(columns[column.key])
            if found is not None:
                begin = int(window.found.begins[numbers[found.row]])
                line = self._line + _line_ends(window.text[:begin])
                note_beyond(self._watch, column.name, found, self._file.name, line)


def _batches(
    plan: ColumnPlan, window: Window[CheckedRows], chosen: range, bad: _BadLines
) -> Iterator[Mapping[str, Any]]:
    """Read the chosen rows of a window that are good, and report the others."""
    found = window.found
    good = np.ones(len(found.begins), np.bool_)
    for row, lines, fault, detail in found.bad_rows():
        good[row] = False
        if row in chosen:
            text = window.text[int(found.begins[row]) : int(found.ends[row])]
            bad.report(fault, detail, lines, text)
    kept = np.flatnonzero(good[chosen.start : chosen.stop]) + chosen.start
    for part in _parts(window, kept, plan.width):
        numbers, rows = part
        done = 0
        for read in read_columns(plan, rows):
            if isinstance(read, dict):
                bad.note(read, plan, window, numbers[done:])
            done += 1 if isinstance(read, int) else len(next(iter(read.values())))
            if isinstance(read, int):
                begin = int(found.begins[numbers[read]])
                text = window.text[begin : int(found.ends[numbers[read]])]
                bad.report(REFUSED, 0, _line_ends(window.text[:begin]), text)
            else:
                yield read


def _one_at_a_time(batches: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Read rows of many MB, of which several copies are made on the way, in one thread at a time."""
    with _large:
        found = list(batches)
        require("pyarrow", "Delimited text").default_memory_pool().release_unused()
    while found:
        yield found.pop(0)


def _line_ends(text: bytes | bytearray) -> int:
    return text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")


def _parts(
    window: Window[CheckedRows], kept: npt.NDArray[np.int64], width: int
) -> Iterator[tuple[npt.NDArray[np.int64], DelimitedRows]]:
    """Put rows together, some MB at a time: their numbers in the window, and the rows."""
    found = window.found
    nulls = np.frombuffer(found.nulls, np.bool_).reshape(-1, width) if found.nulls else None
    sizes = np.cumsum(found.ends[kept] - found.begins[kept])
    begin = 0
    while begin < len(kept):
        before = int(sizes[begin - 1]) if begin else 0
        end = max(begin + 1, int(np.searchsorted(sizes, before + _BATCH_BYTES, "right")))
        numbers = kept[begin:end]
        yield numbers, _joined(window, numbers, None if nulls is None else nulls[numbers])
        begin = end


def _joined(
    window: Window[CheckedRows], numbers: npt.NDArray[np.int64], nulls: npt.NDArray[np.bool_] | None
) -> DelimitedRows:
    found = window.found
    text = memoryview(window.text)
    begins, ends = found.begins[numbers], found.ends[numbers]
    if int(numbers[-1]) - int(numbers[0]) + 1 == len(numbers):
        first = int(begins[0])
        return DelimitedRows(text[first : int(ends[-1])], begins - first, ends - first, nulls)
    breaks = np.flatnonzero(np.diff(numbers) != 1) + 1
    starts = np.concatenate([[0], breaks])
    stops = np.concatenate([breaks, [len(numbers)]]) - 1
    runs = zip(begins[starts].tolist(), ends[stops].tolist(), strict=True)
    joined = b"".join([text[begin:end] for begin, end in runs])
    sizes = ends - begins
    after = np.cumsum(sizes)
    return DelimitedRows(joined, after - sizes, after, nulls)
