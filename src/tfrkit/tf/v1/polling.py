"""TensorFlow's two Python readers of old: `tf_record_iterator`, which may be polled, and the random reader.

They read one record at a time and keep their offset; `read_records` is the fast way.
"""

from __future__ import annotations

import operator

from tfrkit.codecs.inflate import Decoder, open_decoder
from tfrkit.errors import DataLossError, FailedPreconditionError
from tfrkit.model.block import Block
from tfrkit.model.policy import TENSORFLOW
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.frame_splitter import HEADER_BYTES, FrameCutter
from tfrkit.records.write.options import TFRecordOptions
from tfrkit.stores.paths import path_text
from tfrkit.stores.source import open_source

__all__ = ["RecordCursor", "tf_record_iterator", "tf_record_random_reader"]

_READ_BYTES = 1 << 18


class RecordCursor:
    """A place in a file of records, which may grow: it gives one record after another.

    Args:
        path: the file.
        compression: "", "ZLIB" or "GZIP".
        offset: of the frame to begin with, in the uncompressed stream.

    Attributes:
        offset: of the next frame.

    Raises:
        NotFoundError: there is no such file.
    """

    __slots__ = ("_path", "_ready", "_stream", "offset")

    def __init__(self, path: str, compression: str, offset: int = 0) -> None:
        self._path = path
        self._ready: list[bytes] = []  # read but not given yet, last first
        self._stream = _Stream(path, compression)
        self.offset = offset

    def read(self) -> bytes | None:
        """Give the next record, None at the present end.

        Raises:
            DataLossError: it is damaged or cut; the same comes again until it is mended.
        """
        if not self._ready:
            found = _first_frames(self._stream, self._path, self.offset)
            if found is None or (isinstance(found, Damage) and found.tail):
                return None
            if isinstance(found, Damage):
                raise found.to_error(self._path)
            self._ready = found.to_list()
            self._ready.reverse()
        record = self._ready.pop()
        self.offset += len(record) + 16
        return record


class tf_record_iterator:  # noqa: N801 - TensorFlow's name
    """Iterate over the records of one file; the end is not final if the file grows.

    A record that is cut raises DataLossError on every call until it is complete. `read_records` is the fast way.

    Args:
        path: the file.
        options: TFRecordOptions, or a compression by name or number.

    Raises:
        NotFoundError: there is no such file.
    """

    def __init__(self, path: str | bytes, options: TFRecordOptions | str | int | None = None) -> None:
        self._path = _text(path)
        self._compression = TFRecordOptions.get_compression_type_string(options)
        self._offset = 0  # where it was closed
        self._cursor: RecordCursor | None = RecordCursor(self._path, self._compression)

    def __iter__(self) -> tf_record_iterator:
        return self

    def __next__(self) -> bytes:
        record = None if self._cursor is None else self._cursor.read()
        if record is None:
            raise StopIteration
        return record

    def close(self) -> None:
        """Let go of the file; the iterator is then at its end, until reopen()."""
        if self._cursor is not None:
            self._offset, self._cursor = self._cursor.offset, None

    def reopen(self) -> None:
        """Open the path again and go on behind the last record that was given.

        Raises:
            FailedPreconditionError: it is not closed.
        """
        if self._cursor is not None:
            raise FailedPreconditionError("Reader is not closed.", path=self._path)
        self._cursor = RecordCursor(self._path, self._compression, self._offset)


class tf_record_random_reader:  # noqa: N801 - TensorFlow's name
    """Read single records of an uncompressed file by the offset of their frames.

    Args:
        path: the file.

    Raises:
        NotFoundError: there is no such file.
    """

    def __init__(self, path: str | bytes) -> None:
        self._path = _text(path)
        self._stream: _Stream | None = _Stream(self._path, "")

    def read(self, offset: int) -> tuple[bytes, int]:
        """Give the record whose frame begins at `offset`, and the offset behind it.

        Raises:
            IndexError: the file ends before.
            DataLossError: no intact frame begins there.
        """
        if self._stream is None:
            raise FailedPreconditionError("Random TFRecord Reader is closed.", path=self._path)
        if operator.index(offset) < 0:
            raise TypeError(f"read(): incompatible function arguments. Expected an offset but got {offset}")
        found = _first_frames(self._stream, self._path, offset, want=HEADER_BYTES)
        if found is None or (isinstance(found, Damage) and found.tail):
            raise IndexError(f"Out of range at reading offset {offset}")
        if isinstance(found, Damage):
            raise found.to_error(self._path)
        return found[0], offset + int(found.lengths[0]) + 16

    def close(self) -> None:
        """Let go of the file."""
        self._stream = None


def _text(path: str | bytes) -> str:
    if not isinstance(path, (str, bytes)):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    return path_text(path)


def _first_frames(stream: _Stream, path: str, offset: int, want: int = _READ_BYTES) -> Block | Damage | None:
    """Give the frames at `offset` that one read brings, the damage that stands there, or None at the end."""
    while True:
        data = stream.read_at(offset, want)
        cutter = FrameCutter(
            path,
            check=True,
            resync=False,
            max_record_bytes=TENSORFLOW.max_record_bytes,
            size=stream.size,
            short_text=stream.short_text,
        )
        cutter.position = offset
        events = cutter.feed(data, 0, len(data))
        if events:
            return events[0]
        if len(data) < want:
            events = cutter.gap(stream.error.message) if stream.error is not None else cutter.finish()
            return events[0] if events else None
        want = max(2 * want, cutter.need)  # the frame is longer than what was read


class _Stream:
    """The uncompressed stream of a file, read at rising offsets while the file may grow."""

    def __init__(self, path: str, compression: str) -> None:
        self._path = path
        self._compression = compression
        self._source = open_source(path, folders=True)
        self.short_text = "EOF reached" if compression else "Read less bytes than requested"
        self.error: DataLossError | None = None
        self._buffer = b""  # inflated and not yet used
        self._start = 0  # stream offset of its first byte
        self._restart()

    def size(self) -> int | None:
        """Give the stream's length if it can be known."""
        return None if self._compression else self._source.size()

    def read_at(self, offset: int, count: int) -> bytes:
        """Give up to `count` bytes from `offset` on; fewer only at the present end."""
        if not self._compression:
            return self._source.read_at(offset, count)
        if self._file_bytes != self._source.size() or offset < self._start:
            self._restart()  # the file has grown: inflate from its start, past what was given
        while self._start + len(self._buffer) < offset + count and (chunk := self._next_chunk()):
            drop = min(len(self._buffer), max(0, offset - self._start))
            self._buffer = self._buffer[drop:] + chunk
            self._start += drop
        return self._buffer[offset - self._start :][:count]

    def _restart(self) -> None:
        self._file_bytes = self._source.size()
        self._buffer = b""
        self._start = 0
        self.error = None
        self._source.position = 0
        self._decoder: Decoder = open_decoder(self._source, self._compression, tensorflow=True)

    def _next_chunk(self) -> bytes:
        try:
            return self._decoder.read()
        except DataLossError as error:
            self.error = error
            return b""
