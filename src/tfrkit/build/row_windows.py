"""Windows on a text file: some MB of whole rows at a time, however long a row is.

What a row is, the caller's scan decides. A window in which no row ends is made larger; where a row is so long that the
scan gives it up, the rest of it is passed over without being kept.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Final, Generic, Protocol, TypeAlias, TypeVar

from tfrkit.build.text_source import TextSource

__all__ = ["WINDOW_BYTES", "Scanned", "Window", "windows"]

WINDOW_BYTES: Final = 4 << 20


class Scanned(Protocol):
    """What a scan of a text found."""

    @property
    def consumed(self) -> int:
        """Bytes of whole rows."""

    @property
    def in_long_row(self) -> bool:
        """The text ended inside of a row that was given up."""


_Found = TypeVar("_Found", bound=Scanned)
# Finds rows: (text, whether nothing follows, whether it begins in a row that was given up, how many rows at most).
Scan: TypeAlias = Callable[[bytes | bytearray, bool, bool, int], _Found]


@dataclass(frozen=True, slots=True)
class Window(Generic[_Found]):
    """Some rows.

    Attributes:
        begin: where they begin: a byte of the file; in streams, of the text.
        end: behind their end.
        text: the rows, and perhaps the beginning of the next.
        found: what the scan found.
    """

    begin: int
    end: int
    text: bytes | bytearray
    found: _Found


def windows(
    source: TextSource, begin: int, end: int, scan: Scan[_Found], max_row: int, limit: int | None = None
) -> Iterator[Window[_Found]]:
    """Give the rows of a range of a file.

    Args:
        source: the file.
        begin: where the first row begins; in streams, in the text.
        end: rows that begin here or later are left out; streams are read to their end.
        scan: finds the rows.
        max_row: how long a row may be, so that the scan gives up longer ones.
        limit: where the last row ends at the latest; `end` by default.
    """
    if source.streams:
        return _stream_windows(source, begin, scan)
    return _file_windows(source, begin, end, scan, max_row, end if limit is None else limit)


def _file_windows(
    source: TextSource, begin: int, end: int, scan: Scan[_Found], max_row: int, limit: int
) -> Iterator[Window[_Found]]:
    size = WINDOW_BYTES
    in_long_row = False
    while begin < end or (in_long_row and begin < limit):
        usual = size == WINDOW_BYTES and begin < end
        data = source.read(begin, min(size, (end if usual else limit) - begin))
        if source.transcodes and begin + len(data) < limit:
            data = _whole_lines(data, keep=in_long_row or len(data) > max_row)
        text = source.text_of(data)
        last = begin + len(data) == limit
        # A window that had to grow is for the long row alone: what follows is read as usual.
        most = -1 if usual else 1 if begin < end else 0
        found = scan(text, last, in_long_row, most) if text else None
        if found is None or (found.consumed == 0 and not last):
            size *= 2
            continue
        behind = begin + source.size_of(data, text, found.consumed)
        made = [Window(begin, behind, text, found)]
        begin, size, in_long_row = behind, WINDOW_BYTES, found.in_long_row
        del data, text, found  # so that whoever has the window can let go of the text
        yield made.pop()


def _whole_lines(data: bytes, *, keep: bool) -> bytes:
    """Give what can be decoded alone. A line end at the very end may be half of one."""
    behind = data.rfind(b"\n") + 1 or data.rfind(b"\r", 0, -1) + 1
    return data if keep and not behind else data[:behind]


def _stream_windows(source: TextSource, begin: int, scan: Scan[_Found]) -> Iterator[Window[_Found]]:
    text = bytearray()
    wanted = WINDOW_BYTES
    skip, in_long_row = begin, False
    for chunk, last in _with_last(source.chunks()):
        skipped = min(skip, len(chunk))
        skip -= skipped
        text += memoryview(chunk)[skipped:]
        while text and (last or len(text) >= wanted):
            found = scan(text, last, in_long_row, -1)
            if not found.consumed and not last:
                wanted = len(text) + max(WINDOW_BYTES, len(text) // 8)
                break
            made = [Window(begin, begin + found.consumed, text, found)]
            begin += found.consumed
            in_long_row, wanted = found.in_long_row, WINDOW_BYTES
            text = text[found.consumed :]
            del found
            yield made.pop()


def _with_last(chunks: Iterator[bytes]) -> Iterator[tuple[bytes, bool]]:
    before: bytes | None = None
    for chunk in chunks:
        if before is not None:
            yield before, False
        before = chunk
    if before is not None:
        yield before, True
