"""The survey of a delimited file: its rows, its pieces, and what kinds of values each column has.

Looks at every byte, once. A large file is cut into sections that several threads look at. Where one begins, there is a
line end, but perhaps inside of quotes: what was found from there on counts only if the section before it has ended
there; else that part is looked at again from the true beginning of a row.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.build.job.column_report import KIND_NAMES, ColumnCause
from tfrkit.build.job.progress import TaskReporter
from tfrkit.build.tables.delimited.row_layout import Dialect, RowLayout, SurveyedRows
from tfrkit.build.tables.delimited.row_windows import windows
from tfrkit.build.tables.table_format import (
    MAP_KEY,
    MAP_VALUE,
    InputFile,
    Seen,
    Survey,
    TablePiece,
    ValueKinds,
    open_input,
    shown_value,
)
from tfrkit.build.tables.text_source import ChecksummedSource, TextSource
from tfrkit.codecs.checksum import crc32_combine
from tfrkit.threads import in_threads

__all__ = ["survey_file"]

SECTION_BYTES: Final = 64 << 20
_LOOK_BYTES: Final = 1 << 16  # in which a section looks for a line to begin with
_MAP: Final = 32  # the scanner's flag for fields with keys and values


def survey_file(
    file: InputFile, source: TextSource, layout: RowLayout, dialect: Dialect, reporter: TaskReporter
) -> Survey:
    """Look at all rows of a file."""
    places = 2 * len(layout.names)
    seen, counts = np.zeros(places, np.uint8), np.zeros((places, 4), np.int64)
    firsts: dict[tuple[int, int], ColumnCause] = {}
    pieces: list[TablePiece] = []
    begin, row, line = layout.begin, 0, layout.first_line  # of the next piece
    rows = lines = 0  # that it has so far
    sections = _Sections(file, source, dialect, dialect.scanner(len(layout.names)), reporter)
    for end, found in sections.rows(layout.begin):
        seen |= np.frombuffer(found.seen, np.uint8)
        counts += found.kinds.reshape(-1, 4)
        for column, kind, before, text in found.firsts:
            if (column, kind) not in firsts:
                firsts[column, kind] = ColumnCause(file.name, line + lines + before, shown_value(text))
        rows, lines = rows + found.rows, lines + found.lines
        if not source.streams and not found.long_row:
            if rows:
                pieces.append(TablePiece(file, begin, end, row, rows, line, end - begin))
            begin, row, line, rows, lines = end, row + rows, line + lines, 0, 0
    if source.streams and rows:
        pieces.append(TablePiece(file, begin, source.size, row, rows, line, file.size))
    columns = _seen_columns(layout.names, seen)
    kinds = _kinds(layout.names, columns, counts, firsts)
    return Survey(file, columns, tuple(pieces), kinds=kinds, fingerprint=sections.fingerprint())


@dataclass(frozen=True, slots=True)
class _Sections:
    """The rows of a file, section by section, and the checksum of all its bytes, taken as they are read."""

    file: InputFile
    source: TextSource
    dialect: Dialect
    scanner: _core.RowScanner
    reporter: TaskReporter
    checked: list[ChecksummedSource] = field(default_factory=list)

    def rows(self, begin: int) -> Iterator[tuple[int, SurveyedRows]]:
        """Yield what windows hold, in order, each with its end in the file."""
        size = self.source.size
        if self.source.streams:
            yield from self._look(self._checked(0, size), begin, size)
            return
        starts = self._starts(begin)
        self.checked.append(ChecksummedSource(open_input(self.file), 0, begin))  # the header, read before
        parts = [(self._checked(*part), *part) for part in zip(starts, [*starts[1:], size], strict=True)]
        with in_threads([partial(self._list, *part) for part in parts]) as looks:
            for (source, start, end), look in zip(parts, looks, strict=True):
                found = look() if start == begin else self._list(source, begin, end)
                yield from found
                begin = found[-1][0] if found else begin

    def fingerprint(self) -> tuple[int, int]:
        """Return the size and the CRC-32 of the file, when all rows were looked at."""
        value = 0
        for part in self.checked:
            value = crc32_combine(value, part.finish(), part.checked_bytes)
        return self.source.size, value

    def _checked(self, begin: int, end: int) -> TextSource:
        """Open the file once more, for a part of it that is added to the checksum."""
        self.checked.append(ChecksummedSource(open_input(self.file), begin, end))
        source = TextSource(self.file, self.dialect.encoding, self.checked[-1])
        if end == self.source.size:
            source.read_ahead(begin)
        return source

    def _list(self, source: TextSource, begin: int, end: int) -> list[tuple[int, SurveyedRows]]:
        return list(self._look(source, begin, end))

    def _look(self, source: TextSource, begin: int, end: int) -> Iterator[tuple[int, SurveyedRows]]:
        """Look at the rows that begin in a part of the file."""

        def scan(text: bytes | bytearray, last: bool, long_row: int, max_rows: int) -> SurveyedRows:
            return SurveyedRows(*self.scanner.survey(text, last, long_row, max_rows))

        for window in windows(source, begin, end, scan, self.dialect.max_row, source.size):
            self.reporter.advance(window.end - begin)
            begin = window.end
            yield window.end, window.found

    def _starts(self, begin: int) -> list[int]:
        """Cut the file at line ends."""
        starts = [begin]
        for place in range(begin + SECTION_BYTES, self.source.size, SECTION_BYTES):
            data = self.source.read(place, min(_LOOK_BYTES, self.source.size - place))
            behind = data.find(b"\n") + 1
            if behind and place + behind < self.source.size:
                starts.append(place + behind)
        return starts


def _kinds(
    names: tuple[str, ...],
    columns: Mapping[str, Seen],
    counts: npt.NDArray[np.int64],
    firsts: Mapping[tuple[int, int], ColumnCause],
) -> dict[str, ValueKinds]:
    """What the values of each column look like; those of a map are two columns."""
    found: dict[str, ValueKinds] = {}
    for place, row in enumerate(counts.tolist()):
        name = names[place % len(names)]
        if name not in columns:
            name += MAP_KEY if place < len(names) else MAP_VALUE
        elif place >= len(names):
            continue
        found[name] = ValueKinds(
            {kind: row[number] for number, kind in enumerate(KIND_NAMES) if row[number]},
            {kind: firsts[place, number] for number, kind in enumerate(KIND_NAMES) if row[number]},
        )
    return found


def _seen_columns(names: tuple[str, ...], seen: npt.NDArray[np.uint8]) -> dict[str, Seen]:
    columns: dict[str, Seen] = {}
    for position, name in enumerate(names):
        bits = int(seen[position])
        if bits & _MAP:
            both = Seen.LIST.value | bits & Seen.NULL.value
            columns[name + MAP_KEY] = _seen(bits | both)
            columns[name + MAP_VALUE] = _seen(int(seen[len(names) + position]) | both)
        else:
            columns[name] = _seen(bits)
    return columns


def _seen(bits: int) -> Seen:
    found = Seen(bits & ~_MAP)
    if Seen.TEXT in found:  # a column of texts is not looked at closer
        found &= ~(Seen.INT | Seen.FLOAT)
    return found
