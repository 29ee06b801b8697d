"""Records of one file that may grow, one at a time: `tf_record_iterator`, and what TFRecordReader reads with.

`read_records` is the fast way to read whole files.
"""

from __future__ import annotations

from tfrkit.codecs.codec import Decoder
from tfrkit.codecs.table import open_decoder
from tfrkit.errors import DataLossError, FailedPreconditionError
from tfrkit.model.block import Block
from tfrkit.model.policy import TENSORFLOW
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.frame_splitter import FrameSplitter
from tfrkit.records.write.options import TFRecordOptions
from tfrkit.stores.files import open_source
from tfrkit.stores.paths import path_text

__all__ = ["RecordCursor", "tf_record_iterator"]

_READ_BYTES = 1 << 18


class RecordCursor:
    """A position in a file of records, which may grow: returns one record after another.

    Args:
        path: the file.
        compression: "", "ZLIB" or "GZIP".
        offset: of the frame to begin with, in the uncompressed stream.

    Attributes:
        offset: of the next frame.

    Raises:
        NotFoundError: the file does not exist.
    """

    __slots__ = ("_path", "_ready", "_stream", "offset")

    def __init__(self, path: str, compression: str, offset: int = 0) -> None:
        self._path = path
        self._ready: list[bytes] = []  # read but not returned yet, last first
        self._stream = _Stream(path, compression)
        self.offset = offset

    def read(self) -> bytes | None:
        """Return the next record, None at the present end.

        Raises:
            DataLossError: it is damaged or cut; every call raises this until the file is mended.
        """
        if not self._ready:
            found = self._next_frames()
            if found is None or (isinstance(found, Damage) and found.tail):
                return None
            if isinstance(found, Damage):
                raise found.to_error(self._path)
            self._ready = found.to_list()
            self._ready.reverse()
        record = self._ready.pop()
        self.offset += len(record) + 16
        return record

    def _next_frames(self) -> Block | Damage | None:
        """Return the frames at the offset that one read brings, the damage there, or None at the end."""
        stream, want = self._stream, _READ_BYTES
        while True:
            data = stream.read_at(self.offset, want)
            splitter = FrameSplitter(
                self._path,
                check=True,
                resync=False,
                max_record_bytes=TENSORFLOW.max_record_bytes,
                size=stream.size,
                short_text=stream.short_text,
            )
            splitter.position = self.offset
            events = splitter.feed(data, 0, len(data))
            if not events and len(data) < want:
                events = splitter.gap(stream.error.message) if stream.error is not None else splitter.finish()
                return events[0] if events else None
            if events:
                return events[0]
            want = max(2 * want, splitter.need)  # the frame is longer than what was read


class tf_record_iterator:  # noqa: N801 - TensorFlow's name
    """Iterate over the records of one file; the end is not final if the file grows.

    A record that is cut raises DataLossError on every call until it is complete.

    Args:
        path: the file.
        options: TFRecordOptions, or a compression by name or number.

    Raises:
        NotFoundError: the file does not exist.
    """

    def __init__(self, path: str | bytes, options: TFRecordOptions | str | int | None = None) -> None:
        if not isinstance(path, (str, bytes)):
            raise TypeError(f"Expected binary or unicode string, got {path!r}")
        self._path = path_text(path)
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
        """Release the file; the iterator is then at its end, until reopen()."""
        if self._cursor is not None:
            self._offset, self._cursor = self._cursor.offset, None

    def reopen(self) -> None:
        """Open the path again and continue after the last record that was returned.

        Raises:
            FailedPreconditionError: it is not closed.
        """
        if self._cursor is not None:
            raise FailedPreconditionError("Reader is not closed.", path=self._path)
        self._cursor = RecordCursor(self._path, self._compression, self._offset)


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
        """Return the stream's length if it can be known."""
        return None if self._compression else self._source.size()

    def read_at(self, offset: int, count: int) -> bytes:
        """Return up to `count` bytes from `offset` on; fewer only at the present end."""
        if not self._compression:
            return self._source.read_at(offset, count)
        if self._file_bytes != self._source.size() or offset < self._start:
            self._restart()  # the file has grown: inflate from its start, past what was read
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
