"""LineFormat: a table whose rows are the lines of text files. A subclass says what a line holds.

Everything else is here: compressed files, pieces that several workers read at once, what kinds of values columns have,
bad lines and values that do not fit. A subclass may also read blocks of lines at once, as JSON lines do.
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Final, NamedTuple, TypeAlias

import numpy as np

from tfrkit.build.job.column_report import ColumnCause
from tfrkit.build.job.progress import TaskReporter
from tfrkit.build.tables import line_runs
from tfrkit.build.tables.arrow.arrow_columns import MISFIT, array_of, steps_of
from tfrkit.build.tables.float_range import beyond_in_cell, note_beyond
from tfrkit.build.tables.line_runs import LineBlock, TextRun, blocks_of, text_chunks
from tfrkit.build.tables.table_format import (
    InputFile,
    Seen,
    Survey,
    TableColumn,
    TablePiece,
    ValueKinds,
    check_rows,
    open_input,
    shown_value,
)
from tfrkit.build.tables.table_inputs import refuse_foreign
from tfrkit.build.tables.table_values import MisfitError, fit_cell, seen_in
from tfrkit.build.tables.text_source import UTF8, ChecksummedSource, TextSource
from tfrkit.stores.source import ByteSource

__all__ = ["BadLine", "Cells", "LineFormat", "LinesSeen", "lines_of", "shown_cell"]

Cells: TypeAlias = dict[str, Any]
_NESTED: Final = (
    "lists of lists or of objects have no place in a feature. Make one list of numbers or texts of it"
)
_LONGEST: Final = 200  # values in a list that is shown


class BadLine(NamedTuple):
    """Why a line is not a row: the reason, by which bad lines are counted, and the detail."""

    reason: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class LineFormat(ABC):
    """Files with one row per line.

    Attributes:
        max_field: a line of more bytes is bad.
    """

    max_field: int = 64 << 20
    row_name: ClassVar[str] = "line"

    @abstractmethod
    def parse(self, line: bytes) -> Cells | BadLine | None:
        """Read one line, without its end, that is not blank and not too long.

        Returns:
            Its values by column: int, float, str, bytes, a list of them, or None for a null; why it is bad; or None
            if there is no row in it. A ValueError stands for a bad line, too.
        """

    def survey(self, file: InputFile, reporter: TaskReporter) -> Survey:
        checked = ChecksummedSource(open_input(file), 0, file.size)
        source = self._open(file, checked)
        seen, pieces = self.seen(), []
        row, line = 0, 1
        for run in self._runs(source, file.path, None):
            for block in blocks_of(run, range(run.rows), file.name, row, line) if run.data else ():
                seen.add_block(block)
                reporter.advance(len(block.data))
            pieces.append(TablePiece(file, run.begin, run.end, row, run.rows, line, run.end - run.begin))
            row, line = row + run.rows, line + run.lines
        if source.streams and row:
            pieces = [TablePiece(file, 0, source.size, 0, row, 1, file.size)]
        columns, refused = seen.columns()
        fingerprint = file.size, checked.finish()
        return Survey(file, columns, tuple(pieces), refused, kinds=seen.kinds, fingerprint=fingerprint)

    def read(
        self, piece: TablePiece, rows: range, columns: tuple[TableColumn, ...], reporter: TaskReporter
    ) -> Iterator[Mapping[str, Any]]:
        """Read some lines of a piece; a blank line counts, but is not a row. See `TableFormat`."""
        row, line = 0, piece.first_line
        whole = rows.stop == piece.rows  # then one row more would be found, too
        for run in self._runs(self._open(piece.file), piece.file.path, piece):
            chosen = range(max(rows.start - row, 0), min(rows.stop - row, run.rows))
            if chosen and run.long:
                [block] = blocks_of(run, chosen, piece.file.name, piece.first_row + row, line)
                reporter.bad(block.bad(0, *self._too_long(run.long)))
            elif chosen:
                for block in blocks_of(run, chosen, piece.file.name, piece.first_row + row, line):
                    yield self.columns(block, piece.file, columns, reporter)
            row, line = row + run.rows, line + run.lines
            if row >= rows.stop and not whole:
                return
        check_rows(piece, row)

    # -- what a subclass may do in another way -------------------------------------------------------------------------

    def seen(self) -> LinesSeen:
        """Return what counts the kinds of values of a file."""
        return LinesSeen(self)

    def runs(
        self, chunks: Iterator[bytes], begin: int, path: str, piece: TablePiece | None
    ) -> Iterator[TextRun]:
        """Find the rows of a text that begins at `begin`: a piece, or all of a file when it is surveyed."""
        return line_runs.line_runs(chunks, begin, self.max_field)

    def look(self, value: Any) -> Seen | None:
        """Return what kind of value a cell is; None if no feature can hold it."""
        return seen_in(value)

    def fit(self, value: Any, column: TableColumn) -> Any:
        """Make a value of the column's kind; MisfitError if that cannot be."""
        return fit_cell(value, column)

    def columns(
        self, block: LineBlock, file: InputFile, columns: tuple[TableColumn, ...], reporter: TaskReporter
    ) -> Mapping[str, Any]:
        """Read some lines into columns, one by one."""
        made: dict[str, list[Any]] = {column.key: [] for column in columns}
        for row, line in enumerate(lines_of(block.data)):
            cells = self.cells(line)
            if cells is None:
                continue
            if isinstance(cells, BadLine):
                reporter.bad(block.bad(row, *cells))
                continue
            try:
                fitted = [self._fitted(cells.get(column.name), column) for column in columns]
            except MisfitError as error:
                reporter.bad(block.bad(row, MISFIT, str(error)))
                continue
            for column, value in zip(columns, fitted, strict=True):
                made[column.key].append(value)
                if column.kind == "float" and (found := beyond_in_cell(value)) is not None:
                    note_beyond(reporter, column.name, found, file.name, int(block.lines[row]))
        return {
            column.key: (steps_of if column.steps else array_of)(made[column.key], column.kind)
            for column in columns
        }

    # -- inside --------------------------------------------------------------------------------------------------------

    def cells(self, line: bytes) -> Cells | BadLine | None:
        """Read any line."""
        if not line or line.isspace():
            return None
        if len(line) > self.max_field:
            return self._too_long(len(line))
        try:
            return self.parse(line)
        except ValueError as error:
            return BadLine("cannot be read", str(error))

    def _too_long(self, size: int) -> BadLine:
        return BadLine(f"{self.row_name} longer than max_field", f"{size} bytes")

    def _fitted(self, value: Any, column: TableColumn) -> Any:
        try:
            return self.fit(value, column)
        except MisfitError as error:
            raise MisfitError(f"column {column.name!r}: {error}") from None

    def _open(self, file: InputFile, opened: ByteSource | None = None) -> TextSource:
        return TextSource(file, UTF8, opened, "Write it as UTF-8 first (iconv -f utf-16 -t utf-8).")

    def _runs(self, source: TextSource, path: str, piece: TablePiece | None) -> Iterator[TextRun]:
        """The rows of a piece; of all of a file when it is surveyed, and of a stream always."""
        begin, end, size = 0, source.size, line_runs.PIECE_BYTES
        if not source.streams:
            begin = source.begin
            if piece is None:
                refuse_foreign(source.head, path)
                source.read(0, begin)  # the byte order mark, for the checksum
                source.read_ahead(begin)
            else:
                begin, end = piece.begin, piece.end
                size = max(size, min(2 * size, end - begin))
        return self.runs(
            text_chunks(source, begin, end, size), begin, path, None if source.streams else piece
        )


@dataclass(slots=True)
class LinesSeen:
    """What was seen so far of a file.

    Attributes:
        form: reads its lines.
        kinds: what values look like, by column.
        total: how many rows there were.
    """

    form: LineFormat
    kinds: dict[str, ValueKinds] = field(default_factory=dict)
    total: int = 0
    _seen: dict[str, Seen] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)  # in which a column was there
    _nested: set[str] = field(default_factory=set)

    def add_block(self, block: LineBlock) -> None:
        for row, line in enumerate(lines_of(block.data)):
            cells = self.form.cells(line)
            if isinstance(cells, dict):
                self.total += 1
                for name, value in cells.items():
                    seen = self.form.look(value)
                    self._add(name, seen, int(value is not None))
                    self._count_cell(name, seen, value, block, row)

    def _add(self, name: str, seen: Seen | None, rows: int) -> None:
        if seen is None:
            self._nested.add(name)
            seen = Seen.NOTHING
        self._seen[name] = self._seen.get(name, Seen.NOTHING) | seen
        self._rows[name] = self._rows.get(name, 0) + rows

    def columns(self) -> tuple[dict[str, Seen], dict[str, str]]:
        """What every column is, and which of them have nothing that fits."""
        columns = {
            name: seen if self._rows[name] == self.total else seen | Seen.NULL
            for name, seen in self._seen.items()
        }
        return columns, {name: _NESTED for name in self._nested if columns[name].kind is None}

    def _count_cell(self, name: str, seen: Seen | None, value: Any, block: LineBlock, row: int) -> None:
        kind = None if seen is None else seen.kind
        if kind is not None:
            self.kinds.setdefault(name, ValueKinds()).add(
                kind, 1, lambda: ColumnCause(block.file, int(block.lines[row]), shown_cell(value))
            )


def shown_cell(value: Any) -> str:
    """Return a cell as reports have it. Pure: no I/O."""
    if isinstance(value, (str, bytes)):
        return shown_value(value)
    if isinstance(value, (list, np.ndarray)):
        value = list(value)[:_LONGEST]
    try:
        return shown_value(json.dumps(value))
    except (TypeError, ValueError):
        return shown_value(str(value))


def lines_of(data: bytes) -> list[bytes]:
    """Cut a block into lines, without their ends."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines
