"""RecordFile: random access to the records of one file.

How frames are read is in `file_frames.py`: plain files are mapped, of a file in members those that are needed are
inflated, of a remote file the ranges that are needed are fetched. Any other compressed file is inflated once into a
temporary file.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any, Final, Self, overload

import numpy as np

from tfrkit import _core
from tfrkit.model.block import Block, IntArray
from tfrkit.model.row_selection import RowIndices, is_one_row, row_numbers
from tfrkit.records.access.file_frames import SPLIT_BYTES, FileFrames
from tfrkit.records.access.gather import FramePart, block_of, gather
from tfrkit.records.access.index import Index
from tfrkit.records.access.iterate import iterate_records
from tfrkit.stores.object_config import adopt_settings, settings_of
from tfrkit.stores.paths import PathLike, path_text

__all__ = ["SPILL_BYTES", "RecordFile"]

SPILL_BYTES: Final = 16 << 30


class RecordFile:
    """The records of one file, local or remote, as a sequence. Reading is thread-safe; a fork may share a local file.

    A remote file is read at the version that it had when it was opened. `take` joins what lies near each other and
    fetches all at once; a single record is one request.

    Args:
        path: the file, a path or URL.
        compression: "auto" finds out by the content.
        crc: check the CRC of every record read.
        index: "auto" uses an index kept beside the file if it is fresh, else builds one in memory, and of a remote
            file keeps it in the cache folder; "save" also keeps it beside the file, or in the cache folder if that
            cannot be done; "memory" looks at none; anything else is the path of an index file, binary or text.
        spill_bytes: how large the temporary file may become for a compressed file that is not in members.
        cache: keep what is read of a remote file in the cache folder; None: as `configure_store` says.

    Raises:
        DataLossError: the file is damaged; `repair` mends it.

    >>> import tempfile, os, tfrkit
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tfrkit.TFRecordWriter(path) as writer:
    ...     writer.write_many([b"zero", b"one", b"two", b"three"])
    >>> file = RecordFile(path)
    >>> len(file), file[-1], file[1:3].to_list(), file.take([2, 0]).to_list()
    (4, b'three', [b'one', b'two'], [b'two', b'zero'])
    """

    def __init__(
        self,
        path: PathLike,
        *,
        compression: str = "auto",
        crc: bool = True,
        index: str = "auto",
        spill_bytes: int = SPILL_BYTES,
        cache: bool | None = None,
    ) -> None:
        self.path = path_text(path)
        self._arguments: dict[str, Any] = {
            "compression": compression,
            "crc": crc,
            "index": index,
            "spill_bytes": spill_bytes,
            "cache": cache,
        }
        self._frames = FileFrames(self.path, **self._arguments)
        self._count = len(self._frames)
        self._short = self._frames.short

    @property
    def compression(self) -> str:
        """The file's compression; "" if it is plain."""
        return self._frames.compression

    @property
    def index(self) -> Index:
        """Where the frames are; of a file that was inflated into a temporary one, there."""
        return self._frames.index

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice | RowIndices) -> Block: ...
    def __getitem__(self, index: int | slice | RowIndices) -> bytes | Block:
        """One record as bytes, or some as a Block: those of a slice, or as `take` gives them."""
        record = self._short(index)
        if type(record) is bytes:
            return record
        return self._get(index)

    def _get(self, index: Any) -> bytes | Block:
        """Do the less usual: slices, negative numbers, files that are not mapped, errors."""
        if isinstance(index, slice):
            return self.take(np.arange(self._count)[index])
        if not is_one_row(index):
            return self.take(index)
        number = operator.index(index)
        if number < 0:
            number += self._count
        if not 0 <= number < self._count:
            raise self._no_such(index)
        return self._frames.record(number)

    def _no_such(self, index: Any) -> IndexError:
        return IndexError(f"record {index} is out of range: {self._frames.name!r} has {self._count} records")

    def __iter__(self) -> Iterator[bytes]:
        if self._frames.remote:
            yield from iterate_records([self._frames])
            return
        for first in range(0, self._count, 1024):
            yield from self[first : first + 1024].to_list()

    def __repr__(self) -> str:
        kind = f", {self.compression}" if self.compression else ""
        return f"<RecordFile {self._frames.name!r}: {self._count} records{kind}>"

    def take(self, indices: RowIndices) -> Block:
        """Return the records with these numbers, in this order, as one Block; on all cores if there are many.

        Args:
            indices: integers, negative ones count from the end; or a mask: a boolean for every record of the file.

        Raises:
            TypeError: neither integers nor booleans.
            IndexError: a number is out of range, or a mask has another length than the file has records.
            DataLossError: a record is damaged.
            FailedPreconditionError: a remote file has changed since it was opened.
        """
        wanted = row_numbers(indices, self._count, flat=True)  # a copy, which the block keeps
        frame_map = self._frames.frame_map
        layout = frame_map.lay_out(wanted) if frame_map is not None and len(wanted) else None
        if frame_map is not None and layout is not None and layout[3] < 2 * SPLIT_BYTES:
            outs, offsets, lengths, size = layout
            buffer = _core.Buffer(size)
            if frame_map.take(wanted, buffer, outs)[0] < 0:
                return block_of((buffer, offsets, lengths), wanted, self._frames.name)
        return self._take(wanted)

    def _take(self, wanted: IntArray) -> Block:
        """Do the less usual: negative numbers, many bytes, files that are not mapped, errors."""
        numbers = np.where(wanted < 0, wanted + self._count, wanted)
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < self._count):
            raise self._no_such(int(wanted[(numbers < 0) | (numbers >= self._count)][0]))
        frames = gather([FramePart(self._frames, numbers, np.arange(len(numbers)))], len(numbers))
        return block_of(frames, numbers, self._frames.name)

    def close(self) -> None:
        """Let go of the file; using it afterwards is an error. It also closes by itself."""
        self._frames.close()
        self._short = self._frames.short

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *raised: object) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        return _reopen, (self.path, self._arguments, settings_of([self.path]))


def _reopen(path: str, arguments: dict[str, Any], stores: dict[str, Any]) -> RecordFile:
    adopt_settings(stores)
    return RecordFile(path, **arguments)
