"""LineFormat: a table whose rows are the lines of text files. A subclass says what a line holds.

Everything else is here: compressed files, pieces that several workers read at once, what kinds of values columns have,
bad lines and values that do not fit. A subclass may also read blocks of lines at once, as JSON lines do.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from tfrkit.build.job.progress import TaskReporter
from tfrkit.build.tables import line_runs
from tfrkit.build.tables.arrow.arrow_columns import MISFIT, array_of, steps_of
from tfrkit.build.tables.float_range import beyond_in_cell, note_beyond
from tfrkit.build.tables.line_runs import LineBlock, TextRun, blocks_of, text_chunks
from tfrkit.build.tables.lines_seen import BadLine, Cells, LinesSeen, lines_of
from tfrkit.build.tables.table_format import (
    InputFile,
    Survey,
    TableColumn,
    TablePiece,
    check_rows,
    open_input,
)
from tfrkit.build.tables.table_inputs import refuse_foreign
from tfrkit.build.tables.table_values import MisfitError, fit_cell
from tfrkit.build.tables.text_source import UTF8, RangeChecksum, TextSource

__all__ = ["BadLine", "Cells", "LineFormat"]


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
        checksum = RangeChecksum(0, file.size)
        source = self._open(file, checksum)
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
        fingerprint = checksum.size, checksum.finish(open_input(file))
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
                reporter.bad(block.places.bad(0, *self._too_long(run.long)))
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
        return LinesSeen(self.cells)

    def runs(
        self, chunks: Iterator[bytes], begin: int, path: str, piece: TablePiece | None
    ) -> Iterator[TextRun]:
        """Find the rows of a text that begins at `begin`: a piece, or all of a file when it is surveyed."""
        return line_runs.line_runs(chunks, begin, self.max_field)

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
                reporter.bad(block.places.bad(row, *cells))
                continue
            try:
                fitted = [self._fitted(cells.get(column.name), column) for column in columns]
            except MisfitError as error:
                reporter.bad(block.places.bad(row, MISFIT, str(error)))
                continue
            for column, value in zip(columns, fitted, strict=True):
                made[column.key].append(value)
                if column.kind == "float" and (found := beyond_in_cell(value)) is not None:
                    note_beyond(reporter, column.name, found, file.name, int(block.places.lines[row]))
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

    def _open(self, file: InputFile, checksum: RangeChecksum | None = None) -> TextSource:
        return TextSource(file, UTF8, checksum, "Write it as UTF-8 first (iconv -f utf-16 -t utf-8).")

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
