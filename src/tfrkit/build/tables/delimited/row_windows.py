"""Windows on a text file: some MB of whole rows at a time, however long a row is.

What a row is, the caller's scan decides. A window in which no row ends is made larger; a row that is too long is passed
over without being kept. If its quotes turn out to have no end, reading resumes at its beginning, so that the scan can
leave out its first line alone.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from tfrkit.build.tables.text_source import TextSource

__all__ = ["WINDOW_BYTES", "Scanned", "Window", "windows"]

WINDOW_BYTES: Final = 4 << 20


class Scanned(Protocol):
    """What a scan of a text found."""

    @property
    def consumed(self) -> int:
        """Bytes of whole rows."""

    @property
    def long_row(self) -> int:
        """Not 0: the text ended inside of a row that is too long; this is for the scan of the next."""


_Found = TypeVar("_Found", bound=Scanned)
# Finds rows: (text, whether nothing follows, what the scan before has said of a long row, how many rows at most).
Scan: TypeAlias = Callable[[bytes | bytearray, bool, int, int], _Found]


@dataclass(frozen=True, slots=True)
class Window(Generic[_Found]):
    """Some rows.

    Attributes:
        end: just after their end: a byte of the file; in streams, of the text.
        text: the rows, and perhaps the beginning of the next.
        found: what the scan found.
    """

    end: int
    text: bytes | bytearray
    found: _Found


def windows(
    source: TextSource, begin: int, end: int, scan: Scan[_Found], max_row: int, limit: int | None = None
) -> Iterator[Window[_Found]]:
    """Return the rows of a range of a file.

    Args:
        source: the file.
        begin: where the first row begins; in streams, in the text.
        end: rows that begin here or later are left out; streams are read to their end.
        scan: finds the rows.
        max_row: how long a row may be; of longer ones the scan needs no more at once.
        limit: where the last row ends at the latest; `end` by default.
    """
    if source.streams:
        return _stream_windows(source, begin, scan)
    return _file_windows(source, begin, end, scan, max_row, end if limit is None else limit)


def _file_windows(
    source: TextSource, begin: int, end: int, scan: Scan[_Found], max_row: int, limit: int
) -> Iterator[Window[_Found]]:
    size = WINDOW_BYTES
    long_row, long_begin = 0, begin
    while begin < end or (long_row and begin < limit):
        usual = size == WINDOW_BYTES and begin < end
        data = source.read(begin, min(size, (end if usual else limit) - begin))
        if source.transcodes and begin + len(data) < limit:
            data = _whole_lines(source, data, keep=bool(long_row) or len(data) > max_row)
        text = source.text_of(data)
        last = begin + len(data) == limit
        # A window that had to grow is for the long row alone: what follows is read as usual.
        most = -1 if usual else 1 if begin < end else 0
        found = scan(text, last, long_row, most) if text else None
        if found is None or (found.consumed == 0 and not last):
            size *= 2
            continue
        long_begin, long_row, size = (long_begin if long_row else begin), found.long_row, WINDOW_BYTES
        if long_row and last:
            begin = long_begin
            continue
        behind = begin + source.size_of(data, text, found.consumed)
        made = [Window(behind, text, found)]
        begin = behind
        del data, text, found  # so that the consumer of the window can free the text
        yield made.pop()


def _whole_lines(source: TextSource, data: bytes, *, keep: bool) -> bytes:
    """Return what can be decoded alone. A line end at the very end may be half of one."""
    behind = data.rfind(b"\n") + 1 or data.rfind(b"\r", 0, -1) + 1
    return source.whole_characters(data) if keep and not behind else data[:behind]


def _stream_windows(source: TextSource, begin: int, scan: Scan[_Found]) -> Iterator[Window[_Found]]:
    long_row = 0
    while True:
        long_row, begin = yield from _stream_from(source, begin, scan, long_row)
        if not long_row:
            return


def _stream_from(
    source: TextSource, begin: int, scan: Scan[_Found], long_row: int
) -> Generator[Window[_Found], None, tuple[int, int]]:
    """Yield windows to the end; return what the scan said of a long row without an end, and where that begins."""
    text = bytearray()
    wanted = WINDOW_BYTES
    skip = long_begin = begin
    for chunk, last in _with_last(source.chunks()):
        skipped = min(skip, len(chunk))
        skip -= skipped
        text += memoryview(chunk)[skipped:]
        while text and (last or len(text) >= wanted):
            found = scan(text, last, long_row, -1)
            if not found.consumed and not last:
                wanted = len(text) + max(WINDOW_BYTES, len(text) // 8)
                break
            long_begin, long_row, wanted = (long_begin if long_row else begin), found.long_row, WINDOW_BYTES
            if long_row and last:
                return long_row, long_begin
            made = [Window(begin + found.consumed, text, found)]
            begin += found.consumed
            text = text[found.consumed :]
            del found
            yield made.pop()
    return 0, begin


def _with_last(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    before: bytes | None = None
    for chunk in chunks:
        if before is not None:
            yield before, False
        before = chunk
    if before is not None:
        yield before, True
