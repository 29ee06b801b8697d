"""Text files as UTF-8: compression, encodings and byte order marks.

Knows no rows: those are in `row_windows.py`. Most encodings leave line ends as they are in ASCII, so that a file can be
read from any line on. Compressed files, UTF-16 and the like can only be read from their beginning: they are streams.
"""

from __future__ import annotations

import codecs
from collections.abc import Iterator
from functools import lru_cache
from typing import Final

import numpy as np

from tfrkit.build.job.input_stamp import InputStamp
from tfrkit.build.tables.table_format import InputFile, open_input
from tfrkit.codecs.checksum import crc32
from tfrkit.codecs.table import sniff
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.stores.source import ByteSource
from tfrkit.stores.url import is_url

__all__ = ["BINARY", "UTF8", "ChecksummedSource", "TextSource", "canonical_encoding"]

UTF8: Final = "utf-8"
BINARY: Final = "binary"  # bytes as they are
_BOM: Final = "\ufeff"
_STATEFUL: Final = ("iso2022", "hz", "utf-7")
_WRONG_BYTE: Final = "\udcff"  # what stands for bytes that are not of the encoding: a byte that no UTF-8 has
_STREAM_BYTES: Final = 1 << 20
_HEAD_BYTES: Final = 16


def _wrong(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeDecodeError)
    return _WRONG_BYTE, error.end


codecs.register_error("tfrkit.wrong", _wrong)


def canonical_encoding(name: str) -> str:
    """Return the name of an encoding as Python has it; "binary" takes bytes as they are.

    Raises:
        InvalidArgumentError: there is no such encoding.

    >>> canonical_encoding("UTF8"), canonical_encoding("GBK")
    ('utf-8', 'gbk')
    """
    if name.lower() in (BINARY, "bytes"):
        return BINARY
    try:
        found = codecs.lookup(name)
        "".encode(name)  # LookupError for codecs that are no encodings of text
    except (LookupError, ValueError):
        raise InvalidArgumentError(
            f"Expected the name of a text encoding, such as utf-8, gbk, latin-1 or utf-16, or binary, but got {name!r}."
        ) from None
    return UTF8 if found.name in (UTF8, "utf-8-sig") else found.name


def _keeps_line_ends(encoding: str) -> bool:
    if encoding in (UTF8, BINARY):
        return True
    return "\n".encode(encoding) == b"\n" and not encoding.startswith(_STATEFUL)


class ChecksummedSource(ByteSource):
    """A file of which the CRC-32 of a range is taken while it is read for something else, in order or by position.

    Reads may overlap and go beyond the range. What they leave out is read by `finish`.
    """

    __slots__ = ("_at", "_crc", "_end", "_inner", "checked_bytes")

    def __init__(self, source: ByteSource, begin: int, end: int) -> None:
        super().__init__(source.name, None, None, owned=False)
        self.regular = source.regular
        self._inner = source
        self.checked_bytes = end - begin
        self._at, self._end, self._crc = begin, end, 0

    def finish(self) -> int:
        """Return the CRC-32 of the whole range, or of what the file has of it."""
        while left := min(self._end - self._at, _STREAM_BYTES):
            if not self.read_at(self._at, left):
                break
        return self._crc

    @property
    def version(self) -> str:
        return self._inner.version

    def size(self) -> int | None:
        return self._inner.size()

    def read(self, count: int) -> bytes:
        self._inner.read_ahead(self.position)  # all that follows
        return super().read(count)

    def read_at(self, position: int, count: int) -> bytes:
        data = self._inner.read_at(position, count)
        if position <= self._at < min(position + len(data), self._end):
            with memoryview(data)[self._at - position : self._end - position] as part:
                self._crc = crc32(part, self._crc)
                self._at += len(part)
        return data

    def read_ahead(self, position: int, *, slowly: bool = False, stop: int | None = None) -> bool:
        return self._inner.read_ahead(position, slowly=slowly, stop=stop)

    def look_at(self, position: int, count: int) -> bytes:
        return self._inner.look_at(position, count)

    def peek(self, count: int) -> bytes:
        return self.look_at(self.position, count)


@lru_cache(maxsize=1024)
def _head_of(stamp: InputStamp) -> bytes:
    """The first bytes of what is behind a URL, which all its pieces begin with looking at."""
    return stamp.open().peek(_HEAD_BYTES)


class TextSource:
    """One file, as text in UTF-8.

    Attributes:
        streams: it can only be read from its beginning; else by position.
        begin: where the text begins, after a byte order mark; 0 in streams.
        size: bytes of the file.
        head: its first bytes.
        version: changes whenever the content does, as far as can be told.
    """

    def __init__(
        self, file: InputFile, encoding: str, source: ByteSource | None = None, remedy: str = ""
    ) -> None:
        """Open a file.

        Args:
            file: which.
            encoding: as `canonical_encoding` gives it.
            source: the file, if it is open already.
            remedy: what to do about another encoding, where it cannot be named.

        Raises:
            InvalidArgumentError: the file says of itself that it has another encoding.
        """
        self._source = source = open_input(file) if source is None else source
        self._path = file.path
        self._remedy = remedy
        self.encoding = encoding
        head = _head_of(file.stamp) if file.stamp and is_url(file.path) else source.peek(_HEAD_BYTES)
        self.head = head
        self._codec = sniff(head)
        self.streams = bool(self._codec.name) or not _keeps_line_ends(encoding) or not self._source.regular
        self.size = self._source.size() or 0
        self.version = source.version
        self.begin = 0
        if not self.streams:
            self._check_encoding(head)
            mark = self._mark()
            self.begin = len(mark) if mark and head.startswith(mark) else 0

    @property
    def transcodes(self) -> bool:
        """Whether the text has other bytes than the file."""
        return self.encoding not in (UTF8, BINARY)

    def read(self, begin: int, size: int) -> bytes:
        """Return bytes of the file as they are; not for streams.

        Raises:
            DataLossError: the file has become shorter.
        """
        data = self._source.read_at(begin, size)
        while 0 < len(data) < size and (more := self._source.read_at(begin + len(data), size - len(data))):
            data += more
        if len(data) < size:
            raise DataLossError(
                f"{self._path}: expected {size} bytes at byte {begin} but got {len(data)}: the file has become shorter "
                "while it was read. Run the job again.",
                path=self._path,
            )
        return data

    def read_ahead(self, begin: int) -> None:
        """Say that everything from a position on is about to be read."""
        if not self.streams:
            self._source.read_ahead(begin)

    def text_of(self, data: bytes) -> bytes:
        """Return some whole lines in UTF-8; what is not of the encoding becomes a byte that is not UTF-8."""
        if not self.transcodes:
            return data
        return data.decode(self.encoding, "tfrkit.wrong").encode(UTF8, "surrogateescape")

    def whole_characters(self, data: bytes) -> bytes:
        """Return bytes of the file without the beginning of a character at their end."""
        decoder = codecs.getincrementaldecoder(self.encoding)("tfrkit.wrong")
        decoder.decode(data)
        return data[: len(data) - len(decoder.getstate()[0])]

    def size_of(self, data: bytes, text: bytes, used: int) -> int:
        """Return how many of the bytes `data` are the first `used` bytes of its text.

        They end with a line, or what follows them is only a quote, an escape, or half of a line end.
        """
        if used == len(text):
            return len(data)
        if not self.transcodes:
            return used
        if text[used - 1] not in b"\r\n":
            return len(data) - (len(text) - used)
        line_end = text[used - 1]
        nth = text.count(line_end, 0, used)
        places = np.flatnonzero(np.frombuffer(data, np.uint8) == line_end)
        if len(places) != text.count(line_end):
            raise InvalidArgumentError(
                f"{self._path}: line ends inside of characters: the file is not {self.encoding}. "
                "Name its encoding (--encoding).",
                path=self._path,
            )
        return int(places[nth - 1]) + 1

    def chunks(self) -> Iterator[bytes]:
        """Yield the whole text, in order."""
        decoder = codecs.getincrementaldecoder(self.encoding)("tfrkit.wrong") if self.transcodes else None
        first = True
        for data in self._raw_chunks():
            if first:
                self._check_encoding(data)
            text = data if decoder is None else decoder.decode(data).encode(UTF8, "surrogateescape")
            if text and first:
                first = False
                text = text.removeprefix(b"" if self.encoding == BINARY else codecs.BOM_UTF8)
            if text:
                yield text
        rest = b"" if decoder is None else decoder.decode(b"", True).encode(UTF8, "surrogateescape")
        if rest:
            yield rest

    def _raw_chunks(self) -> Iterator[bytes]:
        decoder = self._codec.open(self._source)
        parts: list[bytes] = []
        while data := decoder.read():
            parts.append(data)
            if sum(map(len, parts)) >= _STREAM_BYTES:
                yield b"".join(parts)
                parts = []
        if decoder.truncated:
            raise DataLossError(
                f"{self._path}: the compressed data ends too early. Copy the file again.", path=self._path
            )
        yield b"".join(parts)

    def _mark(self) -> bytes:
        if self.encoding == BINARY:
            return b""
        try:
            return _BOM.encode(self.encoding)
        except UnicodeEncodeError:
            return b""

    def _check_encoding(self, head: bytes) -> None:
        if self.encoding == UTF8 and head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            remedy = self._remedy or "Pass encoding='utf-16' (--encoding utf-16)."
            raise InvalidArgumentError(
                f"{self._path}: the file begins with the byte order mark of utf-16, which is not utf-8. {remedy}",
                path=self._path,
            )
