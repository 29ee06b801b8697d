"""TensorFlow 1's TFRecordReader: records one by one, from files whose names a queue supplies.

A file is taken from the queue when the one before has ended, which is noticed by the next call. Counts, errors and what
follows them are TensorFlow's; unlike there, the reader can be saved and restored. Any thread may call.
"""

from __future__ import annotations

import os
import threading
from typing import Any, Final, NamedTuple

import numpy as np
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory
from google.protobuf.message import DecodeError

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.records.write.options import TFRecordOptions
from tfrkit.tf.functions.lift import unwrap
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.v1.polling import RecordCursor
from tfrkit.tf.v1.queues import QueueBase

__all__ = ["TFRecordReader"]


class ReaderReadV2(NamedTuple):
    """One record; the key is `file:offset`."""

    key: Tensor
    value: Tensor


class ReaderReadUpToV2(NamedTuple):
    """Several records."""

    keys: Tensor
    values: Tensor


def _state_class() -> Any:
    """TensorFlow's message ReaderBaseState, with a fifth field: the offset of the next record (see FORMAT.md)."""
    file = descriptor_pb2.FileDescriptorProto(
        name="tfrkit/tf/v1/readers.proto", package="tensorflow", syntax="proto3"
    )
    message = file.message_type.add(name="ReaderBaseState")
    counts = ["work_started", "work_finished", "num_records_produced", "current_work", "offset"]
    kinds = descriptor_pb2.FieldDescriptorProto
    for number, name in enumerate(counts, 1):
        kind = kinds.TYPE_BYTES if name == "current_work" else kinds.TYPE_INT64
        message.field.add(name=name, number=number, label=kinds.LABEL_OPTIONAL, type=kind)
    pool = descriptor_pool.DescriptorPool()
    pool.AddSerializedFile(file.SerializeToString())
    return message_factory.GetMessageClass(pool.FindMessageTypeByName("tensorflow.ReaderBaseState"))


_State: Final = _state_class()


class TFRecordReader:
    """The records of TFRecord files; keys are `file:offset`.

    Args:
        name: ignored.
        options: TFRecordOptions, or a compression by name or number.

    Attributes:
        supports_serialize: whether the state can be saved: always.
    """

    supports_serialize = True

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        self._compression = TFRecordOptions.get_compression_type_string(options)
        self._lock = threading.RLock()
        self._state = _State()
        self._cursor: RecordCursor | None = None  # None: no file is open

    @property
    def reader_ref(self) -> TFRecordReader:
        """The reader itself: there is no graph that refers to it."""
        return self

    def read(self, queue: Any, name: str | None = None) -> ReaderReadV2:
        """Return the next record, of the next file in the queue if the present one has ended.

        Raises:
            OutOfRangeError: the queue is closed and empty.
            OpError: a file cannot be opened (the next call continues with the next file), or a record is damaged
                (every call raises the same error until `reset`).
        """
        source: QueueBase = queue.queue_ref
        with self._lock:
            while (found := self._next(source)) is None:
                pass
        return ReaderReadV2(*map(Tensor, found))

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> ReaderReadUpToV2:
        """Return at most `num_records` records of one file; what was read before an error is lost."""
        source: QueueBase = queue.queue_ref
        count = int(unwrap(num_records))
        if count < 0:
            raise InvalidArgumentError(f"expected num_records of at least 0 but got {count}")
        found: list[tuple[bytes, bytes]] = []
        with self._lock:
            while len(found) < count:
                record = self._next(source)
                if record is not None:
                    found.append(record)
                elif found:
                    break
        return ReaderReadUpToV2(
            *(Tensor(BytesColumn.from_list([record[part] for record in found])) for part in (0, 1))
        )

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """Return the number of records read."""
        return Tensor(np.int64(self._state.num_records_produced))

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """Return the number of files that have ended."""
        return Tensor(np.int64(self._state.work_finished))

    num_records_units_completed = num_work_units_completed  # TensorFlow's earlier spelling

    def reset(self, name: str | None = None) -> None:
        """Start over: counts are zero, and the rest of the present file is not read."""
        with self._lock:
            self._cursor, self._state = None, _State()

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Return where the reader stands, in a string; what the queue still holds is not part of it."""
        with self._lock:
            self._state.offset = 0 if self._cursor is None else self._cursor.offset
            return Tensor(self._state.SerializeToString())

    def restore_state(self, state: Any, name: str | None = None) -> None:
        """Continue where another reader stood.

        Raises:
            InvalidArgumentError: it is not a state of this reader.
            OpError: the file cannot be opened again. The reader is then as after `reset`.
        """
        given = unwrap(state)
        with self._lock:
            self.reset()
            found = _parsed(given.encode() if isinstance(given, str) else given)
            if found.work_started > found.work_finished:
                self._cursor = RecordCursor(os.fsdecode(found.current_work), self._compression, found.offset)
            self._state = found

    def _next(self, queue: QueueBase) -> tuple[bytes, bytes] | None:
        """Return a record of the present file, or None at its end; open the next file if none is open."""
        if self._cursor is None:
            self._state.current_work = queue.next_work()
            self._cursor = RecordCursor(os.fsdecode(self._state.current_work), self._compression)
            self._state.work_started += 1
        key = b"%s:%d" % (self._state.current_work, self._cursor.offset)
        record = self._cursor.read()
        if record is None:
            self._cursor = None
            self._state.work_finished = self._state.work_started
            return None
        self._state.num_records_produced += 1
        return key, record


def _parsed(data: bytes) -> Any:
    try:
        state = _State.FromString(data)
    except DecodeError:
        shown = data.decode("ascii", "backslashreplace")
        raise InvalidArgumentError(
            f"Could not parse state for TFRecordReader 'TFRecordReaderV2': {shown}"
        ) from None
    if min(state.work_started, state.work_finished, state.num_records_produced, state.offset) < 0:
        raise InvalidArgumentError("Unexpected negative value when restoring in ReaderBase::RestoreBaseState")
    if not state.work_finished <= state.work_started <= state.work_finished + 1:
        raise InvalidArgumentError(
            f"Inconsistent work started vs. finished when restoring in TFRecordReader 'TFRecordReaderV2': {state}"
        )
    return state
