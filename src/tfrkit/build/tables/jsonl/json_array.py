"""A JSON array as a table: `[{...}, {...}]`, on one line or on many; each element is a row.

Finds where elements begin and end, by quotes, brackets and commas, in chunks of any size, and makes a line of each.
What is in an element, the readers of JSON lines see: a fault inside is its own if its quotes and brackets are closed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit.build.tables.jsonl.jsonl import LIST_ALONE, JsonlFormat
from tfrkit.build.tables.line_runs import TextRun
from tfrkit.build.tables.table_format import TablePiece
from tfrkit.errors import DataLossError, InvalidArgumentError

__all__ = ["JsonArrayFormat"]

_SPACE: Final = b" \t\r\n"
_ESCAPED: Final = re.compile(rb"\\.", re.DOTALL)
_QUOTE, _COMMA, _OPEN, _CLOSE = 1, 2, 3, 4
_MARKS: Final = np.zeros(256, np.uint8)
for _mark, _characters in ((_QUOTE, b'"'), (_COMMA, b","), (_OPEN, b"[{"), (_CLOSE, b"]}")):
    _MARKS[list(_characters)] = _mark
_STEPS: Final = np.array([0, 0, 0, 1, -1])  # what each does to the depth
_SHOWN: Final = 20  # bytes of what is not expected


@dataclass(frozen=True, slots=True)
class JsonArrayFormat(JsonlFormat):
    """Files with one JSON array of objects."""

    row_name: ClassVar[str] = "element"

    def runs(
        self, chunks: Iterator[bytes], begin: int, path: str, piece: TablePiece | None
    ) -> Iterator[TextRun]:
        """Find the elements; a piece begins with the bracket of the array, or just after a comma."""
        inside = piece is not None and piece.first_row > 0
        elements = _Elements(path, begin, self.max_field, inside=inside)
        for chunk in chunks:
            yield from elements.add(chunk)
        if piece is None:
            elements.check_end()


class _LongElement(NamedTuple):
    """What is known of an element that is not kept: bytes and lines so far, and those before it."""

    size: int
    lines: int
    blank: int
    blank_lines: int


class _Separators:
    """Finds the commas between elements, and the bracket at the end, in chunks that follow each other."""

    def __init__(self) -> None:
        self.closed = False
        self._depth = 1
        self._in_text = self._escape = False

    def find(self, chunk: bytes) -> npt.NDArray[np.int64]:
        """Return where they are; nothing that follows the end of the array."""
        if self._escape:
            chunk = b"\0" + chunk[1:]
        if b"\\" in chunk:
            chunk = _ESCAPED.sub(b"\0\0", chunk)
        self._escape = chunk.endswith(b"\\")
        marks = _MARKS[np.frombuffer(chunk, np.uint8)]
        places = np.flatnonzero(marks)
        marks = marks[places]
        quotes = marks == _QUOTE
        in_text = (np.cumsum(quotes) + self._in_text) & 1
        outside = np.flatnonzero(~quotes & (in_text == 0))
        places, marks = places[outside], marks[outside]
        depth = self._depth + np.cumsum(_STEPS[marks])
        ends = np.flatnonzero(((marks == _COMMA) & (depth == 1)) | (depth == 0))
        last = np.flatnonzero(depth[ends] == 0)
        self.closed = bool(len(last))
        self._in_text = bool(in_text[-1]) if len(in_text) else self._in_text
        self._depth = int(depth[-1]) if len(depth) else self._depth
        return places[ends[: int(last[0]) + 1 if len(last) else None]]


class _Elements:
    """The elements of an array, of which chunks of text come one after another. Lines count from 1 on."""

    def __init__(self, path: str, begin: int, max_row: int, *, inside: bool) -> None:
        self._path, self._max_row, self._inside = path, max_row, inside
        self._separators = _Separators()
        self._text = b""  # what is in no run yet
        self._skip = 0  # bytes of it before an element may begin
        self._long: _LongElement | None = None  # what was before `_text`
        self._begin, self._line, self._row = begin, 1, 0  # that of the next run

    def add(self, chunk: bytes) -> Iterator[TextRun]:
        """Take a chunk; yield the elements that end in it."""
        if not self._inside:
            chunk = self._open(chunk)
        if not self._separators.closed:
            ends = self._separators.find(chunk) + len(self._text)
            self._text += chunk
            if self._long is not None and len(ends):
                yield self._long_run(self._long, int(ends[0]))
                ends = ends[1:] - ends[0] - 1
            if len(ends):
                run = self._run(ends.tolist())
                yield from [run] if run.rows else []
            elif self._long is not None or len(self._text) > self._max_row + 1:
                self._drop()
            chunk = self._text
        if self._separators.closed:
            if rest := chunk.lstrip(_SPACE):
                raise self._unexpected("nothing after the end of the array", chunk, rest)
            self._move(len(chunk), chunk.count(b"\n"), 0)

    def check_end(self) -> None:
        """Raise if the array has no end; a file of blanks has no array."""
        if self._separators.closed or not self._inside:
            return
        where = f"after element {self._row}" if self._row else "before its first element"
        if self._long is not None or self._text[self._skip :].strip(_SPACE):
            long = self._long or self._blanks()
            line, byte = self._line + long.blank_lines, self._begin + long.blank
            where = f"inside element {self._row + 1}, which begins in line {line} at byte {byte}"
        raise DataLossError(
            f"{self._path}: the array is cut: the file ends {where}. Copy the file again, or close the quote or "
            "bracket that is open there.",
            path=self._path,
        )

    def _open(self, chunk: bytes) -> bytes:
        """Look for the first bracket; return what follows it."""
        self._text += chunk
        rest = self._text.lstrip(_SPACE)
        if rest.startswith(b"{"):
            raise InvalidArgumentError(
                f"{self._path}: expected a JSON array but got a JSON object. If every line is an object, pass "
                f"format='jsonl' (--format jsonl); {LIST_ALONE}",
                path=self._path,
            )
        if rest and not rest.startswith(b"["):
            raise self._unexpected("a JSON array, which begins with '[',", self._text, rest)
        if not rest:
            return b""
        self._inside, self._skip = True, len(self._text) - len(rest) + 1
        self._text, chunk = self._text[: self._skip], self._text[self._skip :]
        return chunk

    def _run(self, ends: list[int]) -> TextRun:
        """Make lines of the elements that end at some places of the text."""
        text, at = self._text, self._skip
        if self._separators.closed and text[ends[-1]] != ord("]"):
            raise self._unexpected(
                f"',' or ']' after element {self._row + len(ends)}", text, text[ends[-1] :]
            )
        plain = text.replace(b"\n", b"\r")  # which is a blank, too, and not allowed inside of texts either
        items, begins = [], []
        for end in ends:
            rest = plain[at:end].lstrip(_SPACE)
            items.append(rest.rstrip(_SPACE))
            begins.append(end - len(rest))
            at = end + 1
        if self._skip and items == [b""] and self._separators.closed:
            items, begins = [], []  # an array without elements
        if b"" in items:
            number = items.index(b"")
            what = f"a value as element {self._row + number + 1}, and no comma too many,"
            raise self._unexpected(what, text, text[begins[number] :])
        line_ends = np.flatnonzero(np.frombuffer(text, np.uint8) == ord("\n"))
        places = np.array(begins, np.int64)
        run = TextRun(
            self._begin,
            self._begin + at,
            b"\n".join(items) + b"\n",
            len(items),
            int(np.searchsorted(line_ends, at)),
            np.searchsorted(line_ends, places),
            self._begin + places,
        )
        self._move(at, run.lines, run.rows)
        return run

    def _drop(self) -> None:
        """Leave out text of an element that is too long."""
        before = self._long or self._blanks()
        lines = before.lines + self._text.count(b"\n")
        self._long = before._replace(size=before.size + len(self._text), lines=lines)
        self._text, self._skip = b"", 0

    def _blanks(self) -> _LongElement:
        """What is before the element that the text begins with."""
        blank = len(self._text) - len(self._text[self._skip :].lstrip(_SPACE))
        return _LongElement(0, 0, blank, self._text.count(b"\n", 0, blank))

    def _long_run(self, long: _LongElement, end: int) -> TextRun:
        """The run of an element that was not kept."""
        lines, size = long.lines + self._text.count(b"\n", 0, end), long.size + end
        number, begins = np.array([long.blank_lines]), np.array([self._begin + long.blank])
        stop = self._begin + size + 1
        run = TextRun(self._begin, stop, b"", 1, lines, number, begins, size - long.blank)
        self._begin += long.size
        self._long = None
        self._move(end + 1, lines, 1)
        return run

    def _move(self, size: int, lines: int, rows: int) -> None:
        self._text, self._skip = self._text[size:], 0
        self._begin, self._line, self._row = self._begin + size, self._line + lines, self._row + rows

    def _unexpected(self, what: str, text: bytes, rest: bytes) -> InvalidArgumentError:
        """The error for the end of a text that begins where the next run does."""
        at = len(text) - len(rest)
        line = self._line + text.count(b"\n", 0, at)
        shown = repr(rest[:_SHOWN].decode("utf-8", "replace"))
        return InvalidArgumentError(
            f"{self._path}, line {line}, byte {self._begin + at}: expected {what} but got {shown}. Fix the file, or "
            "write one object a line (JSON lines), of which only bad lines are left out.",
            path=self._path,
        )
