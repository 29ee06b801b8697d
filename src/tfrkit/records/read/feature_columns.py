"""The features of some blocks as columns, without a spec: find the keys and their kinds, then parse them all.

What kinds there are and where each is first met comes from the native scan, the values from the native parsers. What
to make of different kinds for one key is the caller's business. Records mean what protobuf says.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.near_names import near_names
from tfrkit.model.ragged import Ragged

__all__ = [
    "ABSENT",
    "KIND_NAMES",
    "PRESENT",
    "UNSET",
    "Cells",
    "Kinds",
    "ScannedBlocks",
    "block_pieces",
    "check_columns",
    "check_found",
    "gather_blocks",
    "ragged_of",
]

# States of a feature in a record.
ABSENT: Final = 0
UNSET: Final = 1
PRESENT: Final = 2
KIND_NAMES: Final = {_core.BYTES: "bytes", _core.FLOAT: "float", _core.INT64: "int64"}

Kinds: TypeAlias = dict[int, int]  # kind -> index of the first record that has it
_MAX_KEYS_TEXT: Final = "too many different features for one table or batch: choose some with columns="


class Cells(NamedTuple):
    """One feature of some records: values by row, and which rows have it."""

    rows: Ragged
    valid: npt.NDArray[np.bool_]
    single: bool = False  # every row has exactly one value: known, not only so by chance


@dataclass(frozen=True, slots=True)
class ScannedBlocks:
    """Some blocks, and what is in their records.

    Attributes:
        blocks: whose records run on from one to the next.
        rows: number of records.
        features: kinds of every feature, by key; none for a key that never has a kind.
        lists: the same for feature lists.
        sequences: how many records are SequenceExamples.
        other: index of the first record that is neither, or -1.
        all_keys: False if there were too many keys to note all that are wanted.
    """

    blocks: list[Block]
    rows: int
    features: dict[str, Kinds]
    lists: dict[str, Kinds]
    sequences: int
    other: int
    all_keys: bool

    @classmethod
    def of(cls, blocks: list[Block], columns: Collection[str] | None = None) -> ScannedBlocks:
        """Look into blocks; of the keys only `columns` are noted, unless it is None."""
        scan = _core.Statistics(None if columns is None else set(columns), outline_only=True)
        scan.add(block_pieces(blocks), 1)
        result = scan.outline()
        (_, (sequences, _), (_, other)) = result["records"]
        features, lists = _kinds(result["features"]), _kinds(result["lists"])
        rows = sum(len(block) for block in blocks)
        all_keys = columns is not None or not result["not_followed"]
        return cls(blocks, rows, features, lists, sequences, other, all_keys)

    def place(self, index: int) -> tuple[str | None, int]:
        """File of a record and its number there."""
        for block in self.blocks:
            if index < len(block):
                return block.path, block.place(index)[0]
            index -= len(block)
        raise IndexError(index)

    def where(self, index: int) -> str:
        """The same for a message."""
        path, record = self.place(index)
        return f"record {record}" if path is None else f"record {record} of {path!r}"

    def error(self, index: int, text: str) -> InvalidArgumentError:
        """An error about a record."""
        for block in self.blocks:
            if index < len(block):
                record, offset = block.place(index)
                return InvalidArgumentError(text, path=block.path, record=record, offset=offset)
            index -= len(block)
        raise IndexError(index)

    def not_an_example(self) -> InvalidArgumentError:
        """The error for the first record that is not an Example."""
        return self.error(
            self.other,
            f"expected an Example or a SequenceExample but {self.where(self.other)} is neither. "
            "inspect() says what it looks like, and read_records() returns it as bytes.",
        )

    def parse(self, kinds: dict[str, int], threads: int) -> dict[str, tuple[Ragged, npt.NDArray[np.uint8]]]:
        """Parse features, of which each has one kind: values by row, and the state of each row."""
        if not self.all_keys:
            raise InvalidArgumentError(_MAX_KEYS_TEXT)
        plan = _core.ExamplePlan([(key, kind, -1, 1, None) for key, kind in kinds.items()])
        columns, states, failure = plan.parse(block_pieces(self.blocks), _core.PROTOBUF, threads, True)
        if failure is not None or states is None:
            raise self._broken(0 if failure is None else failure.row)
        present = np.full(self.rows, PRESENT, np.uint8)
        return {
            key: (ragged_of(column), present if state is None else state)
            for key, column, state in zip(kinds, columns, states, strict=True)
        }

    def _broken(self, row: int) -> InvalidArgumentError:
        return self.error(row, f"could not parse the features of {self.where(row)}")


def check_columns(columns: Collection[str] | None) -> list[str] | None:
    """The chosen names as a list without repeats.

    Raises:
        TypeError: it is a single string, or holds something else than strings.
    """
    if columns is None:
        return None
    if isinstance(columns, (str, bytes)):
        raise TypeError(f"expected a list of names for columns but got {columns!r:.40}")
    names = list(dict.fromkeys(columns))
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"expected names of features as str but got {name!r:.40}")
    return names


def check_found(
    names: Iterable[str] | None, found: Collection[str], first: Block | None, option: str
) -> None:
    """Refuse chosen names that no record has.

    Args:
        names: what was chosen; None: everything.
        found: what records have of it.
        first: the first block, whose names are suggested; None: there were no records, and nothing is refused.
        option: what the names were given as.

    Raises:
        InvalidArgumentError: no record has one of them.
    """
    missing = [name for name in names or () if name not in found]
    if missing and first is not None:
        there = ScannedBlocks.of([first])
        near = near_names(missing[0], sorted({*there.features, *there.lists}))
        raise InvalidArgumentError(f"{option}: no record has a feature {missing[0]!r}. {near}")


def gather_blocks(blocks: Iterable[Block], size: int) -> Iterator[list[Block]]:
    """Return blocks in lists, of which each but the last has at least `size` bytes."""
    gathered: list[Block] = []
    held = 0
    for block in blocks:
        gathered.append(block)
        held += block.nbytes
        if held >= size:
            yield gathered
            gathered, held = [], 0
    if gathered:
        yield gathered


def block_pieces(blocks: list[Block]) -> list[tuple[Any, Any, Any]]:
    """Return blocks as kernels take them."""
    return [(block.data, block.offsets, block.lengths) for block in blocks]


def _kinds(table: dict[str, dict[str, Any]]) -> dict[str, Kinds]:
    return {
        key: {kind: table[key]["kinds"][kind][1] for kind in KIND_NAMES if table[key]["kinds"][kind][0]}
        for key in sorted(table)
    }


def ragged_of(column: tuple[Any, ...]) -> Ragged:
    """Values and splits as a kernel gives them."""
    *values, splits = column
    return Ragged.unchecked(values[0] if len(values) == 1 else BytesColumn.unchecked(*values), splits)
