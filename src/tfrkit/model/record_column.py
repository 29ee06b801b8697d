"""RecordColumn: a batch of raw records that still lie in their blocks.

To everybody it is a BytesColumn of one dimension; who can read records where they lie (the parsers do) asks for
`records` and spares the copy. The copy is made when `data` or `offsets` is first asked for.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.record_rows import RecordRows
from tfrkit.model.row_selection import IntArray

__all__ = ["RecordColumn"]

_set = object.__setattr__


class RecordColumn(BytesColumn):
    """A BytesColumn made of references to records.

    Attributes:
        records: which records of which blocks, from which an error can tell file and place.

    >>> from tfrkit.model.block import Block
    >>> column = RecordColumn(RecordRows([Block.from_records([b"ab", b"c"])]))
    >>> column[1], column.offsets.tolist(), column
    (b'c', [0, 2, 3], BytesColumn(shape=(2,), [b'ab', b'c']))
    """

    __slots__ = ("_copy", "records")

    records: RecordRows
    _copy: tuple[npt.NDArray[np.uint8], IntArray] | None

    def __init__(self, records: RecordRows) -> None:
        _set(self, "records", records)
        _set(self, "_copy", None)
        _set(self, "shape", (len(records),))

    @property
    def data(self) -> npt.NDArray[np.uint8]:  # type: ignore[override]
        """The buffer, a copy that is made on first use."""
        return self._joined()[0]

    @property
    def offsets(self) -> IntArray:  # type: ignore[override]
        """Where the entries begin and end in `data`."""
        return self._joined()[1]

    @property
    def lengths(self) -> IntArray:
        """Bytes of each entry, int64."""
        return self.records.lengths()

    @property
    def size(self) -> int:
        """Number of entries."""
        return len(self.records)

    @property
    def nbytes(self) -> int:
        """Bytes of all entries together."""
        return self.records.nbytes

    def to_list(self) -> list[Any]:
        """All entries as bytes objects."""
        return self.records.to_list()

    def to_numpy(self) -> npt.NDArray[np.object_]:
        """All entries as an array of bytes objects."""
        return self._objects(self.records.to_list())

    def _joined(self) -> tuple[npt.NDArray[np.uint8], IntArray]:
        if self._copy is None:
            _set(self, "_copy", self.records.join())
        copy = self._copy
        assert copy is not None
        return copy

    def _rows(self, start: int, stop: int) -> BytesColumn:
        return RecordColumn(self.records.slice(start, stop))

    def _entries(self, chosen: IntArray, shape: tuple[int, ...]) -> BytesColumn:
        if len(shape) != 1:
            return super()._entries(chosen, shape)
        return RecordColumn(self.records.take(chosen))
