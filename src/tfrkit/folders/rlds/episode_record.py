"""One record of an episode: its values by key, found where they lie and picked out step by step.

Byte strings and floats stay in the record until some of them are picked, so that an episode with thousands of images
is in memory once, as it was read. A record of unusual form is parsed as a whole.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.data.elements.columns import Padded
from tfrkit.data.features.example_columns import BadRow, ExampleColumns
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.policy import TFRKIT
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import IntArray
from tfrkit.model.specs import FixedLenSequenceFeature
from tfrkit.parsing.serialized_input import SerializedInput

__all__ = ["EpisodeReader", "EpisodeRecord", "as_run", "pick_values"]

_KINDS: Final = {"bytes": 1, "float32": 2, "int64": 3}
_EMPTY: Final[dict[str, Any]] = {
    "bytes": BytesColumn.from_list([]),
    "float32": np.zeros(0, "f4"),
    "int64": np.zeros(0, "i8"),
}

# Numbers; or byte strings, which lie in their record or in a buffer.
Values: TypeAlias = "npt.NDArray[Any] | BytesColumn | Block"


@dataclass(frozen=True, slots=True)
class EpisodeRecord:
    """The values of one episode.

    Attributes:
        values: by key, all values of all steps one after another; nothing where the record has none.
        path: its file.
        record: its number there.
    """

    values: Mapping[str, Values]
    path: str | None
    record: int


class EpisodeReader:
    """The keys of values that are wanted, ready to be found in records. Any number of threads may use it."""

    def __init__(self, keys: Mapping[str, str]) -> None:
        """Take the keys, and the type of the values under each: "int64", "float32" or "bytes"."""
        self._keys = dict(keys)
        self._names = [key.encode() for key in keys]
        spec = {key: FixedLenSequenceFeature([], dtype, allow_missing=True) for key, dtype in keys.items()}
        self._parser = ExampleColumns(spec, TFRKIT) if spec else None

    def read(self, block: Block) -> EpisodeRecord:
        """Find the values in a block of one record, which the result keeps in memory.

        Raises:
            OpError: the record is damaged, or a feature is of another type.
        """
        found = _core.find_values([block.piece], self._names)
        values: dict[str, Values] | None = None
        if found is not None:
            values = {}
            for (key, dtype), (kind, first, second) in zip(self._keys.items(), found, strict=True):
                if kind not in (0, _KINDS[dtype]):
                    values = None
                    break
                values[key] = _values(block, kind, first, second) if kind else _EMPTY[dtype]
        return EpisodeRecord(
            self._parsed(block) if values is None else values, block.path, int(block.places()[0][0])
        )

    def _parsed(self, block: Block) -> dict[str, Values]:
        """Read a record of any form."""
        if self._parser is None:
            return {}
        records = SerializedInput([block.piece], [block], 1, scalar=True)
        try:
            columns = self._parser.parse(records, 1)
        except BadRow:
            raise self._parser.error_of(records) from None
        return {key: column.ragged.values for key, column in columns.items()}


def _values(block: Block, kind: int, first: Any, second: Any) -> Values:
    begin = int(block.offsets[0])
    if kind == _KINDS["bytes"]:
        return Block(block.data, begin + first, second)
    if kind == _KINDS["float32"]:
        return block.data[begin + first : begin + first + 4 * second].view("<f4")
    numbers: npt.NDArray[Any] = first
    return numbers


def pick_values(values: Values, numbers: IntArray) -> npt.NDArray[Any] | BytesColumn:
    """Return some of the values, by their numbers; a copy."""
    if isinstance(values, Block):
        return BytesColumn.unchecked(
            *_core.join_pieces([(values.data, values.offsets[numbers], values.lengths[numbers])])
        )
    if isinstance(values, BytesColumn):
        return values.take(numbers)
    return values[numbers].astype(values.dtype.newbyteorder("="), copy=False)


def as_run(values: Values, shape: tuple[int, ...]) -> Padded:
    """Return all values of an episode as a parsed column of one example, a sequence of arrays of a shape."""
    if isinstance(values, Block):
        values = pick_values(values, np.arange(len(values)))
    count = len(values) // max(1, int(np.prod(shape)))
    rows: Any = values.reshape((count, *shape))
    return Padded(Ragged.unchecked(rows, np.array([0, count])))
