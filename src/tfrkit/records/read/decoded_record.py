"""DecodedRecord: what is in single records, as commands and the viewer show it.

Blocks of Examples are parsed at once by native code; what is anything else is taken one by one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.model.block import Block
from tfrkit.records.read.feature_columns import ScannedBlocks
from tfrkit.records.read.read_examples import rows_of

__all__ = ["DecodedRecord", "decode_records", "place_in"]

_UNNAMED: Final = "-"  # standard input


@dataclass(frozen=True, slots=True)
class DecodedRecord:
    """One record.

    Attributes:
        path: its file.
        number: its number there.
        size: bytes of the record.
        features: of an Example, or the context of a SequenceExample, by name: arrays, lists of bytes, or None.
        lists: of a SequenceExample, by name, the same for each step; else None.
        data: the record itself if it is neither, else None.
        message: the full name of the type of messages that it was read as, if one was asked for; see `MessageType`.
    """

    path: str
    number: int
    size: int
    features: dict[str, Any]
    lists: dict[str, list[Any]] | None = None
    data: bytes | None = None
    message: str = ""

    @property
    def names(self) -> set[str]:
        """Names of all features and feature lists."""
        return {*self.features, *(self.lists or ())}


def decode_records(block: Block, keys: Collection[str] | None) -> Iterator[DecodedRecord]:
    """Yield the records of a block; with `keys` only these features."""
    group = ScannedBlocks.of([block], keys)
    one_kind = all(len(kinds) <= 1 for kinds in group.features.values())
    if group.sequences or group.other >= 0 or not one_kind or not group.all_keys:
        for index in range(len(block)):
            yield _decode_one(block[index : index + 1], keys)
        return
    for index, features in enumerate(rows_of(group, 1)):
        yield DecodedRecord(*place_in(block, index), features)


def place_in(block: Block, index: int) -> tuple[str, int, int]:
    """Return the file of a record of a block, its number there and its size."""
    return block.path or _UNNAMED, block.place(index)[0], int(block.lengths[index])


def _decode_one(single: Block, keys: Collection[str] | None) -> DecodedRecord:
    from tfrkit.parsing.example_values import to_dict  # brings protobuf, which blocks of Examples do without

    group = ScannedBlocks.of([single])
    record = single[0]
    place = place_in(single, 0)
    if group.other >= 0:
        return DecodedRecord(*place, {}, data=record)
    if not group.sequences:
        return DecodedRecord(*place, _chosen(to_dict(record), keys))
    found = to_dict(record, sequence=True)
    return DecodedRecord(*place, _chosen(found["context"], keys), _chosen(found["feature_lists"], keys))


def _chosen(found: dict[str, Any], keys: Collection[str] | None) -> dict[str, Any]:
    return found if keys is None else {name: value for name, value in found.items() if name in keys}
