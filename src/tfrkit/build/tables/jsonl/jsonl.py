"""Lines of JSON as a table: one object per line, its keys are the columns.

The survey looks at every line. Blocks of lines are parsed by pyarrow; a block that it refuses, or would read
inexactly, is read line by line (`jsonl_lines.py`), which also finds the bad lines.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tfrkit.build.job.input_stamp import InputChangedError
from tfrkit.build.job.job import BadInput, TaskReporter
from tfrkit.build.tables.arrow.arrow_columns import MISFIT, array_of, fit_arrays, steps_of
from tfrkit.build.tables.float_range import beyond_in_cell, note_beyond
from tfrkit.build.tables.json_notation import FEATURE_LISTS
from tfrkit.build.tables.jsonl.jsonl_block import SchemaHint, parse_block, wanted_arrays
from tfrkit.build.tables.jsonl.jsonl_lines import BadLine, Broken, Steps, lines_of, parse_line
from tfrkit.build.tables.jsonl.jsonl_survey import LinesSeen
from tfrkit.build.tables.table_format import (
    InputFile,
    Survey,
    TableColumn,
    TablePiece,
    check_rows,
    open_input,
)
from tfrkit.build.tables.table_inputs import refuse_packed
from tfrkit.build.tables.table_values import MisfitError, fit_cell
from tfrkit.build.tables.text_source import RangeChecksum

__all__ = ["JsonlFormat"]

MAX_FIELD: Final = 64 << 20
_PIECE_BYTES: Final = 4 << 20
_BLOCK_BYTES: Final = 1 << 20
_HEAD_BYTES: Final = 8
_BOM: Final = b"\xef\xbb\xbf"


@dataclass(frozen=True, slots=True)
class JsonlFormat:
    """Files with one JSON object per line.

    Attributes:
        max_field: a line of more bytes is bad.
        hints: what blocks of each file have shown, so that it need not be found out again; changes no value.
    """

    max_field: int = MAX_FIELD
    hints: dict[str, SchemaHint] = field(default_factory=dict, compare=False, repr=False)

    def survey(self, file: InputFile, reporter: TaskReporter) -> Survey:
        """Look at every line."""
        found = LinesSeen(file.name, self.max_field)
        pieces = []
        checksum = RangeChecksum(0, file.size)
        for piece, data in _pieces(file, self.max_field, checksum):
            pieces.append(piece)
            line = piece.first_line
            for block in _blocks(data):
                found.add_block(block, line)
                line += block.count(b"\n")
                reporter.advance()
        columns, refused = found.columns()
        begin = f"{FEATURE_LISTS}/"
        lists = {name: name.removeprefix(begin) for name in columns if name.startswith(begin)}
        return Survey(
            file, columns, tuple(pieces), refused, lists, found.kinds, (checksum.size, checksum.value)
        )

    def read(
        self, piece: TablePiece, rows: range, columns: tuple[TableColumn, ...], reporter: TaskReporter
    ) -> Iterator[Mapping[str, Any]]:
        """Read lines of a piece; an empty line counts, but is not a row."""
        if piece.end - piece.begin > self.max_field + 1 and piece.rows == 1:  # with its end
            detail = f"{piece.end - piece.begin} bytes"
            reporter.bad(BadInput(piece.file.name, piece.first_line, "line longer than max_field", detail))
            return
        lines = _cut(_read_range(piece), rows, piece)
        first = piece.first_line + rows.start
        hint = self.hints.setdefault(piece.file.path, SchemaHint())
        for block in _blocks(lines):
            read = _Block(block, piece.file, first, self.max_field, reporter)
            yield read.fast(columns, hint) or read.slow(columns)
            first += block.count(b"\n")


@dataclass(frozen=True, slots=True)
class _Block:
    """Some lines that are read into columns."""

    data: bytes
    file: InputFile
    first_line: int
    max_field: int
    reporter: TaskReporter

    def fast(self, columns: tuple[TableColumn, ...], hint: SchemaHint) -> Mapping[str, Any] | None:
        """All at once; None if that cannot be exact."""
        before = hint.schema
        parsed = parse_block(self.data, hint)
        arrays = None if parsed is None else wanted_arrays(parsed, columns, hint)
        if arrays is None and hint.schema is not before:  # now it is known which texts look like times
            parsed = parse_block(self.data, hint)
            arrays = None if parsed is None else wanted_arrays(parsed, columns, hint)
        if parsed is None or arrays is None:
            return None
        numbers = parsed.lines

        def bad(row: int, text: str) -> BadInput:
            return BadInput(self.file.name, self.first_line + int(numbers[row]), MISFIT, text)

        return fit_arrays(arrays, columns, self.reporter, bad)

    def slow(self, columns: tuple[TableColumn, ...]) -> Mapping[str, Any]:
        """Line by line."""
        made: dict[str, list[Any]] = {column.key: [] for column in columns}
        for number, line in enumerate(lines_of(self.data), self.first_line):
            cells = parse_line(line, self.max_field)
            if cells is None:
                continue
            if isinstance(cells, BadLine):
                self.reporter.bad(BadInput(self.file.name, number, cells.reason, cells.detail))
                continue
            try:
                row = [_cell(cells.get(column.name), column) for column in columns]
            except MisfitError as error:
                self.reporter.bad(BadInput(self.file.name, number, MISFIT, str(error)))
                continue
            for column, value in zip(columns, row, strict=True):
                made[column.key].append(value)
                if column.kind == "float" and (found := beyond_in_cell(value)) is not None:
                    note_beyond(self.reporter, column.name, found, self.file.name, number)
        return {
            column.key: (steps_of if column.steps else array_of)(made[column.key], column.kind)
            for column in columns
        }


def _cell(value: Any, column: TableColumn) -> Any:
    try:
        if isinstance(value, Steps):
            return [_whole(step, column) for step in value]
        return _whole(value, column)
    except MisfitError as error:
        raise MisfitError(f"column {column.name!r}: {error}") from None


def _whole(value: Any, column: TableColumn) -> Any:
    if isinstance(value, Broken):
        raise MisfitError(value.text)
    return fit_cell(value, column)


# -- lines and pieces --------------------------------------------------------------------------------------------------


def _pieces(file: InputFile, max_field: int, checksum: RangeChecksum) -> Iterator[tuple[TablePiece, bytes]]:
    """Cut a file at ends of lines, some MB each, with the bytes; a line that is too long is alone, and without them."""
    line, row = 1, 0
    for begin, data, skipped in _runs(file, max_field, checksum):
        rows = 1 if skipped else data.count(b"\n") + (not data.endswith(b"\n"))
        size = skipped or len(data)
        yield TablePiece(file, begin, begin + size, row, rows, line, size), data
        line, row = line + rows, row + rows


def _runs(file: InputFile, max_field: int, checksum: RangeChecksum) -> Iterator[tuple[int, bytes, int]]:
    """Whole lines of a file: where they begin, their bytes, and how many bytes were left out if it is one too long."""
    source = open_input(file)

    def read(size: int) -> bytes:
        data = source.read(size)
        checksum.add(source.position - len(data), data)
        return data

    head = source.peek(_HEAD_BYTES)
    checksum.add(0, head)
    refuse_packed(head, file.path)
    begin = len(_BOM) if head.startswith(_BOM) else 0
    source.seek(begin)
    held = b""
    while data := read(_PIECE_BYTES):
        held += data
        end = held.rfind(b"\n") + 1
        if end:
            yield begin, held[:end], 0
            begin, held = begin + end, held[end:]
        elif len(held) > max_field + 1:
            length = len(held)
            while data and not (end := data.find(b"\n") + 1):
                data = read(_PIECE_BYTES)
                length += len(data)
            held = data[end:] if data else b""
            length -= len(held)
            yield begin, b"", length
            begin += length
    if held:
        yield begin, held, 0


def _read_range(piece: TablePiece) -> bytes:
    source = open_input(piece.file)
    parts = []
    at, missing = piece.begin, piece.end - piece.begin
    while missing and (data := source.read_at(at, missing)):
        parts.append(data)
        at, missing = at + len(data), missing - len(data)
    if missing:
        size = piece.end - piece.begin
        raise InputChangedError(
            piece.file.path,
            f"expected {size:,} bytes from byte {piece.begin:,} on but got {size - missing:,}",
        )
    return b"".join(parts)


def _cut(data: bytes, rows: range, piece: TablePiece) -> bytes:
    """Some of the lines of a piece."""
    if not data.endswith(b"\n"):
        data += b"\n"
    ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
    check_rows(piece, len(ends))
    begin = int(ends[rows.start - 1]) if rows.start else 0
    return data[begin : int(ends[rows.stop - 1])] if rows.stop > rows.start else b""


def _blocks(data: bytes) -> Iterator[bytes]:
    """Runs of whole lines of about a block."""
    at = 0
    while at < len(data):
        end = data.rfind(b"\n", at, at + _BLOCK_BYTES) + 1 or data.find(b"\n", at) + 1 or len(data)
        yield data[at:end]
        at = end
