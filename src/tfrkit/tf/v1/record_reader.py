"""TensorFlow's readers of old: records one by one, from files whose names a queue gives.

A file is taken from the queue when the one before has ended, which is noticed by the next call. Counting, errors and
what follows them are TensorFlow's; other than there, every reader can be saved and restored. Any thread may call.
"""

from __future__ import annotations

import os
import threading
from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import NamedTuple, Protocol

from tfrkit.codecs.inflate import open_decoder
from tfrkit.errors import InvalidArgumentError, OutOfRangeError
from tfrkit.records.write.options import TFRecordOptions
from tfrkit.stores.source import ByteSource, open_source
from tfrkit.tf.v1.polling import RecordCursor
from tfrkit.tf.v1.reader_state import ReaderState

__all__ = [
    "FixedLengthRecordReader",
    "IdentityReader",
    "ReaderBase",
    "ReaderRead",
    "ReaderReadUpTo",
    "TFRecordReader",
    "TextLineReader",
    "WholeFileReader",
    "WorkQueue",
]


class WorkQueue(Protocol):
    """What a reader needs of a queue: names of files, one at a time."""

    def next_work(self) -> bytes: ...


class ReaderRead(NamedTuple):
    """One record: where it stands, and what it is."""

    key: bytes
    value: bytes


class ReaderReadUpTo(NamedTuple):
    """Several records."""

    keys: list[bytes]
    values: list[bytes]


class ReaderBase(ABC):
    """What all readers do; a kind of reader says how a file is read."""

    resumes = True  # whether a state can stand in the middle of a file

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._state = ReaderState()

    def read(self, queue: WorkQueue) -> ReaderRead:
        """Give the next record, of the next file in the queue if the present one has ended.

        Raises:
            OutOfRangeError: the queue is closed and empty.
            OpError: a file cannot be opened (the next call goes on with the next one), or a record is damaged (the
                same comes on every call until `reset`).
        """
        with self._lock:
            while True:
                self._start_work(queue)
                found = self._next_of_work()
                if found is not None:
                    return found

    def read_up_to(self, queue: WorkQueue, num_records: int) -> ReaderReadUpTo:
        """Give the next records of one file, at most so many; what was read before an error is lost."""
        if num_records < 0:
            raise InvalidArgumentError(f"expected num_records of at least 0 but got {num_records}")
        found: list[ReaderRead] = []
        with self._lock:
            while len(found) < num_records:
                self._start_work(queue)
                record = self._next_of_work()
                if record is not None:
                    found.append(record)
                if found and not self._state.in_progress:
                    break
        return ReaderReadUpTo([record.key for record in found], [record.value for record in found])

    def num_records_produced(self) -> int:
        """How many records were given."""
        return self._state.produced

    def num_work_units_completed(self) -> int:
        """How many files have ended."""
        return self._state.finished

    def reset(self) -> None:
        """Begin anew: the counts are zero, and what is left of the present file is not read."""
        with self._lock:
            self._finish()
            self._state = ReaderState()

    def serialize_state(self) -> bytes:
        """Say where the reader stands; what the queue still holds is not part of it."""
        with self._lock:
            return self._state.to_bytes(self._place() if self._state.in_progress else 0)

    def restore_state(self, state: bytes) -> None:
        """Go on where another reader stood.

        Raises:
            InvalidArgumentError: it is no such state.
            OpError: the file cannot be opened again. The reader is then as after `reset`.
        """
        with self._lock:
            self.reset()
            found, place = ReaderState.from_bytes(state, type(self).__name__)
            if found.in_progress and not self.resumes:
                found.refuse(type(self).__name__)
            if found.in_progress:
                self._open(os.fsdecode(found.work), place)
            self._state = found

    def _start_work(self, queue: WorkQueue) -> None:
        """Open the next file, unless one is open."""
        if not self._state.in_progress:
            self._state.work = queue.next_work()
            self._open(os.fsdecode(self._state.work), 0)
            self._state.started += 1

    def _next_of_work(self) -> ReaderRead | None:
        """Give a record of the present file, None if there is none; notice its end."""
        found, at_end = self._next()
        if at_end:
            self._finish()
            self._state.finished = self._state.started
        if found is not None:
            self._state.produced += 1
        return found

    @abstractmethod
    def _open(self, path: str, place: int) -> None:
        """Open a file, at the beginning or at a place that `_place` gave."""

    @abstractmethod
    def _next(self) -> tuple[ReaderRead | None, bool]:
        """Give the next record, and whether the file has ended; not necessarily with its last record."""

    @abstractmethod
    def _place(self) -> int:
        """Where in the file the next record stands."""

    def _finish(self) -> None:  # noqa: B027  # some hold nothing
        """Let go of the file."""

    def _key(self, number: int) -> bytes:
        return b"%s:%d" % (self._state.work, number)


class TFRecordReader(ReaderBase):
    """The records of TFRecord files; keys are `file:offset`.

    Args:
        options: TFRecordOptions, or a compression by name or number.
    """

    def __init__(self, options: TFRecordOptions | str | int | None = None) -> None:
        super().__init__()
        self._compression = TFRecordOptions.get_compression_type_string(options)
        self._cursor: RecordCursor | None = None

    def _open(self, path: str, place: int) -> None:
        self._cursor = RecordCursor(path, self._compression, place)

    def _next(self) -> tuple[ReaderRead | None, bool]:
        assert self._cursor is not None
        key = self._key(self._cursor.offset)
        record = self._cursor.read()
        return (None, True) if record is None else (ReaderRead(key, record), False)

    def _place(self) -> int:
        return 0 if self._cursor is None else self._cursor.offset

    def _finish(self) -> None:
        self._cursor = None


class IdentityReader(ReaderBase):
    """What the queue gives, as key and as value."""

    resumes = False

    def _open(self, path: str, place: int) -> None:
        pass

    def _next(self) -> tuple[ReaderRead | None, bool]:
        return ReaderRead(self._state.work, self._state.work), True

    def _place(self) -> int:
        return 0


class WholeFileReader(ReaderBase):
    """Whole files; keys are their names."""

    def _open(self, path: str, place: int) -> None:
        pass

    def _next(self) -> tuple[ReaderRead | None, bool]:
        source = open_source(os.fsdecode(self._state.work), folders=True)
        return ReaderRead(self._state.work, _content(source, "")), True

    def _place(self) -> int:
        return 0


class _ContentReader(ReaderBase):
    """A reader that takes a whole file and cuts it; the file is read at its first record."""

    def __init__(self, compression: str = "") -> None:
        super().__init__()
        self._compression = compression
        self._source: ByteSource | None = None
        self._records: Sequence[bytes] | None = None
        self._number = 0  # of the next one

    def _open(self, path: str, place: int) -> None:
        self._source = open_source(path, folders=True)
        self._records, self._number = None, place

    def _next(self) -> tuple[ReaderRead | None, bool]:
        if self._records is None:
            self._records = self._read()
        if self._number >= len(self._records):
            return None, True
        self._number += 1
        return ReaderRead(self._key(self._shown()), self._records[self._number - 1]), False

    def _read(self) -> Sequence[bytes]:
        assert self._source is not None
        return self._cut(_content(self._source, self._compression))

    @abstractmethod
    def _cut(self, data: bytes) -> Sequence[bytes]:
        """The records in what a file holds."""

    @abstractmethod
    def _shown(self) -> int:
        """The number of the record at hand in its key."""

    def _place(self) -> int:
        return self._number

    def _finish(self) -> None:
        self._source = self._records = None


class TextLineReader(_ContentReader):
    """The lines of text files; keys are `file:number`, counted from 1.

    Args:
        skip_header_lines: how many lines at the beginning of every file are left out.

    Raises:
        InvalidArgumentError: that is negative.
    """

    def __init__(self, skip_header_lines: int | None = None) -> None:
        super().__init__()
        self._skip = _not_negative(skip_header_lines, "skip_header_lines")

    def _open(self, path: str, place: int) -> None:
        super()._open(path, max(place, self._skip))

    def _cut(self, data: bytes) -> Sequence[bytes]:
        lines = [line.removesuffix(b"\r") for line in data.split(b"\n")]
        return lines if lines[-1] else lines[:-1]

    def _shown(self) -> int:
        return self._number


class FixedLengthRecordReader(_ContentReader):
    """Records of one length; keys are `file:number`, counted from 0.

    Args:
        record_bytes: their length.
        header_bytes: to be left out at the beginning of every file.
        footer_bytes: to be left out at its end.
        hop_bytes: from the beginning of one record to that of the next; None or 0 is `record_bytes`.
        encoding: "GZIP" or "ZLIB"; anything else is none.

    Raises:
        InvalidArgumentError: a number is negative, or there is no length.
    """

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        encoding: str | None = None,
    ) -> None:
        super().__init__(encoding if encoding in ("GZIP", "ZLIB") else "")
        self._size = _not_negative(record_bytes, "record_bytes")
        self._header = _not_negative(header_bytes, "header_bytes")
        self._footer = _not_negative(footer_bytes, "footer_bytes")
        self._hop = _not_negative(hop_bytes, "hop_bytes") or self._size
        if not self._hop:
            raise InvalidArgumentError("record_bytes must be > 0: there would be records without end.")

    def _open(self, path: str, place: int) -> None:
        super()._open(path, place)
        if self._header:  # which is passed over at once
            self._records = self._read()

    def _cut(self, data: bytes) -> Sequence[bytes]:
        if len(data) < self._header:
            raise OutOfRangeError("reached end of file")
        last = len(data) - self._footer - self._size
        return [data[at : at + self._size] for at in range(self._header, last + 1, self._hop)]

    def _shown(self) -> int:
        return self._number - 1


def _not_negative(value: int | None, name: str) -> int:
    number = int(value or 0)
    if number < 0:
        raise InvalidArgumentError(f"{name} must be >= 0 not {number}")
    return number


def _content(source: ByteSource, compression: str) -> bytes:
    if not compression:
        return source.read_at(0, source.size() or 1)
    source.position = 0
    decoder = open_decoder(source, compression, tensorflow=True)
    parts: list[bytes] = []
    while part := decoder.read():
        parts.append(part)
    return b"".join(parts)
