"""Runs of whole rows of a text, one row a line: found in chunks of any size, cut into blocks, each row with its place.

Lines are rows here; a format whose rows are something else makes lines of them (`jsonl/json_array.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from tfrkit.build.job.progress import BadInput
from tfrkit.build.tables.text_source import TextSource

__all__ = ["LineBlock", "TextRun", "blocks_of", "line_runs", "text_chunks"]

PIECE_BYTES: Final = 4 << 20
BLOCK_BYTES: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class TextRun:
    """Some whole rows of a text, one after another.

    Attributes:
        begin: where they begin: a byte of the file; in streams, of the text.
        end: just after their end, where the next run begins.
        data: the rows, one a line; b"" if it is one row that is too long, which is not kept.
        rows: how many; blank lines count.
        lines: how many lines of the text end in it.
        numbers: the line of each row, from 0 on; None if each line is a row.
        begins: where each row begins, likewise.
        long: bytes of the row that is too long, else 0.
    """

    begin: int
    end: int
    data: bytes
    rows: int
    lines: int
    numbers: npt.NDArray[np.int64] | None = None
    begins: npt.NDArray[np.int64] | None = None
    long: int = 0


class LineBlock(NamedTuple):
    """Some lines, each with its end, and where they are.

    Attributes:
        data: the lines.
        file: for reports.
        lines: the number of each in the file.
        first_row: number of the first.
        begins: of elements of an array, where each begins in the file.
    """

    data: bytes
    file: str
    lines: npt.NDArray[np.int64]
    first_row: int = 0
    begins: npt.NDArray[np.int64] | None = None

    def bad(self, row: int, reason: str, detail: str = "") -> BadInput:
        """Make what is reported of a row; of an element of an array with its number and its byte."""
        if self.begins is not None:
            element = f"element {self.first_row + row + 1}, byte {self.begins[row]}"
            detail = f"{element}: {detail}" if detail else element
        return BadInput(self.file, int(self.lines[row]), reason, detail)

    def has_longer(self, size: int) -> bool:
        """Tell whether a line has more bytes than that. Pure: no I/O."""
        if len(self.data) <= size:
            return False
        ends = np.flatnonzero(np.frombuffer(self.data, np.uint8) == ord("\n"))
        return bool(np.diff(ends, prepend=-1).max() > size + 1)


def text_chunks(source: TextSource, begin: int, end: int, size: int) -> Iterator[bytes]:
    """Yield the bytes of a range of a file, some at a time; of a stream the whole text."""
    if source.streams:
        yield from source.chunks()
        return
    while begin < end:
        data = source.read(begin, min(size, end - begin))
        begin += len(data)
        yield data


def line_runs(chunks: Iterator[bytes], begin: int, max_row: int) -> Iterator[TextRun]:
    """Find the lines of a text that begins at `begin`, of which too long ones may be left out. Pure: no I/O."""
    held: list[bytes] = []  # the beginning of a line
    size = 0  # of it; more than there is in `held` if it is too long
    for data in chunks:
        end = data.rfind(b"\n") + 1
        if not end:
            size += len(data)
            held = [*held, data] if size <= max_row + 1 else []
            continue
        at = 0
        if size and not held:
            at = data.find(b"\n") + 1
            yield TextRun(begin, begin + size + at, b"", 1, 1, long=size + at)
            begin, size = begin + size + at, 0
        if at < end:
            text = b"".join([*held, data[at:end]])
            yield TextRun(begin, begin + len(text), text, rows := text.count(b"\n"), rows)
            begin += len(text)
        held, size = [data[end:]] if end < len(data) else [], len(data) - end
    if size:
        text = b"".join(held)
        yield TextRun(begin, begin + size, text, 1, 0, long=0 if held else size)


def blocks_of(run: TextRun, rows: range, file: str, first_row: int, first_line: int) -> Iterator[LineBlock]:
    """Yield some rows of a run, about a megabyte at a time; numbers of its first row and line are for reports."""
    data = run.data if run.data.endswith(b"\n") else run.data + b"\n"
    if len(rows) < run.rows:
        ends = np.flatnonzero(np.frombuffer(data, np.uint8) == ord("\n")) + 1
        data = data[int(ends[rows.start - 1]) if rows.start else 0 : int(ends[rows.stop - 1])]
    at, row = 0, rows.start
    while at < len(data):
        end = data.rfind(b"\n", at, at + BLOCK_BYTES) + 1 or data.find(b"\n", at) + 1
        stop = row + data.count(b"\n", at, end)
        lines = np.arange(row, stop) if run.numbers is None else run.numbers[row:stop]
        begins = None if run.begins is None else run.begins[row:stop]
        yield LineBlock(data[at:end], file, lines + first_line, first_row + row, begins)
        at, row = end, stop
