"""TF1's readers of files, run at once: `tfrkit.tf.v1.record_reader` with Tensors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from tfrkit.model.bytes_column import BytesColumn
from tfrkit.tf.functions.lift import unwrap
from tfrkit.tf.tensors.tensor import Tensor
from tfrkit.tf.v1 import record_reader

__all__ = [
    "FixedLengthRecordReader",
    "IdentityReader",
    "ReaderBase",
    "TFRecordReader",
    "TextLineReader",
    "WholeFileReader",
]


class ReaderReadV2(NamedTuple):
    """One record."""

    key: Tensor
    value: Tensor


class ReaderReadUpToV2(NamedTuple):
    """Several records."""

    keys: Tensor
    values: Tensor


class ReaderBase:
    """What all readers have.

    Attributes:
        reader_ref: the reader itself.
        supports_serialize: whether its state can be saved: always.
    """

    supports_serialize = True

    def __init__(self, reader_ref: record_reader.ReaderBase) -> None:
        """Use one of the classes."""
        self.reader_ref = reader_ref

    def read(self, queue: Any, name: str | None = None) -> ReaderReadV2:
        """Give the next record, of the next file in the queue if the present one has ended.

        Raises:
            OutOfRangeError: the queue is closed and empty.
            OpError: a file cannot be opened (the next call goes on with the next one), or a record is damaged (the
                same comes on every call until `reset`).
        """
        found = self.reader_ref.read(queue.queue_ref)
        return ReaderReadV2(Tensor(found.key), Tensor(found.value))

    def read_up_to(self, queue: Any, num_records: Any, name: str | None = None) -> ReaderReadUpToV2:
        """Give the next records of one file, at most so many."""
        found = self.reader_ref.read_up_to(queue.queue_ref, int(unwrap(num_records)))
        return ReaderReadUpToV2(*(Tensor(BytesColumn.from_list(each)) for each in found))

    def num_records_produced(self, name: str | None = None) -> Tensor:
        """How many records were given."""
        return Tensor(np.int64(self.reader_ref.num_records_produced()))

    def num_work_units_completed(self, name: str | None = None) -> Tensor:
        """How many files have ended."""
        return Tensor(np.int64(self.reader_ref.num_work_units_completed()))

    num_records_units_completed = num_work_units_completed  # as it was once spelt

    def serialize_state(self, name: str | None = None) -> Tensor:
        """Say where the reader stands, in a string; what the queue still holds is not part of it."""
        return Tensor(self.reader_ref.serialize_state())

    def restore_state(self, state: Any, name: str | None = None) -> None:
        """Go on where another reader stood.

        Raises:
            InvalidArgumentError: it is no such state.
        """
        given = unwrap(state)
        self.reader_ref.restore_state(given.encode() if isinstance(given, str) else given)

    def reset(self, name: str | None = None) -> None:
        """Begin anew: the counts are zero, and what is left of the present file is not read."""
        self.reader_ref.reset()


class TFRecordReader(ReaderBase):
    """The records of TFRecord files; keys are `file:offset`."""

    def __init__(self, name: str | None = None, options: Any = None) -> None:
        super().__init__(record_reader.TFRecordReader(options))


class IdentityReader(ReaderBase):
    """What the queue gives, as key and as value."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(record_reader.IdentityReader())


class WholeFileReader(ReaderBase):
    """Whole files; keys are their names."""

    def __init__(self, name: str | None = None) -> None:
        super().__init__(record_reader.WholeFileReader())


class TextLineReader(ReaderBase):
    """The lines of text files; keys are `file:number`."""

    def __init__(self, skip_header_lines: int | None = None, name: str | None = None) -> None:
        super().__init__(record_reader.TextLineReader(skip_header_lines))


class FixedLengthRecordReader(ReaderBase):
    """Records of one length; keys are `file:number`."""

    def __init__(
        self,
        record_bytes: int,
        header_bytes: int | None = None,
        footer_bytes: int | None = None,
        hop_bytes: int | None = None,
        name: str | None = None,
        encoding: str | None = None,
    ) -> None:
        super().__init__(
            record_reader.FixedLengthRecordReader(
                record_bytes, header_bytes, footer_bytes, hop_bytes, encoding
            )
        )
