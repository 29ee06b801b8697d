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
from tfrkit.build.job.progress import MAX_LISTED_BAD, BadInput, TaskReporter
from tfrkit.build.tables.delimited.delimited_columns import (
    REFUSED,
    ColumnPlan,
    DelimitedRows,
    check_separator,
    fault_text,
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
from tfrkit.build.tables.table_format import InputFile, Survey, TableColumn, TablePiece, check_rows
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
            count, lines = len(window.found.begins), window.found.lines
            large = len(window.text) > _LARGE_BYTES
            chosen = range(max(rows.start - row, 0), min(rows.stop - row, count))
            batches = _WindowRows(window, line, piece.file, plan, reporter).batches(chosen)
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


@dataclass(frozen=True, slots=True)
class _WindowRows:
    """The rows of a window: good ones are read, others reported.

    Attributes:
        window: the rows.
        first_line: number of its first line.
        file: the input.
        plan: what is read of each row.
        reporter: takes the bad ones.
    """

    window: Window[CheckedRows]
    first_line: int
    file: InputFile
    plan: ColumnPlan
    reporter: TaskReporter

    def batches(self, chosen: range) -> Iterator[Mapping[str, Any]]:
        """Read the chosen rows that are good, and report the others of them."""
        good = np.ones(len(self.window.found.begins), np.bool_)
        for row, lines, fault, detail in self.window.found.bad_rows():
            good[row] = False
            if row in chosen:
                self._bad(row, fault, detail, self.first_line + lines)
        kept = np.flatnonzero(good[chosen.start : chosen.stop]) + chosen.start
        for numbers, rows in self._parts(kept):
            done = 0
            for read in read_columns(self.plan, rows):
                if isinstance(read, int):
                    self._bad(int(numbers[read]), REFUSED, 0, self._line(int(numbers[read])))
                    done += 1
                else:
                    self._note(read, numbers[done:])
                    done += len(next(iter(read.values())))
                    yield read

    def _bad(self, row: int, fault: int, detail: int, line: int) -> None:
        found, text = self.window.found, None
        if len(self.reporter.listed) < MAX_LISTED_BAD:
            text = self.window.text[int(found.begins[row]) : int(found.ends[row])]
        reason, explained = fault_text(fault, detail, self.plan, text)
        self.reporter.bad(BadInput(self.file.name, line, reason, explained))

    def _note(self, columns: Mapping[str, Any], numbers: npt.NDArray[np.int64]) -> None:
        """Count numbers that become infinite, of rows that have these numbers in the window."""
        for column in (target.column for target in self.plan.targets if target.column.kind == "float"):
            found = beyond_in_array(columns[column.key])
            if found is not None:
                line = self._line(int(numbers[found.row]))
                note_beyond(self.reporter, column.name, found, self.file.name, line)

    def _line(self, row: int) -> int:
        text = self.window.text[: int(self.window.found.begins[row])]
        return self.first_line + text.count(b"\n") + text.count(b"\r") - text.count(b"\r\n")

    def _parts(self, kept: npt.NDArray[np.int64]) -> Iterator[tuple[npt.NDArray[np.int64], DelimitedRows]]:
        """Put rows together, some MB at a time: their numbers in the window, and the rows."""
        found = self.window.found
        sizes = np.cumsum(found.ends[kept] - found.begins[kept])
        begin = 0
        while begin < len(kept):
            before = int(sizes[begin - 1]) if begin else 0
            end = max(begin + 1, int(np.searchsorted(sizes, before + _BATCH_BYTES, "right")))
            yield kept[begin:end], self._joined(kept[begin:end])
            begin = end

    def _joined(self, numbers: npt.NDArray[np.int64]) -> DelimitedRows:
        found, text = self.window.found, memoryview(self.window.text)
        nulls = (
            np.frombuffer(found.nulls, np.bool_).reshape(-1, self.plan.width)[numbers]
            if found.nulls
            else None
        )
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


def _one_at_a_time(batches: Iterator[Mapping[str, Any]]) -> Iterator[Mapping[str, Any]]:
    """Read rows of many MB, of which several copies are made on the way, in one thread at a time."""
    with _large:
        found = list(batches)
        require("pyarrow", "Delimited text").default_memory_pool().release_unused()
    while found:
        yield found.pop(0)
