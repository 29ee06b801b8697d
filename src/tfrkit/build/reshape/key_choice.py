"""Which records to take, by the hash of a feature: records of one key stay together."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from tfrkit.build.reshape.frame_choice import Uint64Array, in_range, mix64
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.near_names import near_names
from tfrkit.model.ragged import Ragged
from tfrkit.records.read.feature_columns import KIND_NAMES, UNSET, Group

__all__ = ["KeyChoice"]


@dataclass(frozen=True, slots=True)
class KeyChoice:
    """Records of which the hash of the feature `key` is at least `low` and under `high`; hashes go up to 2^64."""

    key: str
    seed: int
    low: int
    high: int

    def mask(self, first: int, block: Block) -> npt.NDArray[np.bool_]:
        """Say it for the records of a block.

        Raises:
            InvalidArgumentError: a record does not have the feature, or it is no key.
        """
        rows = _key_rows(block, self.key)
        return in_range(mix64(_hashes(rows), self.seed), self.low, self.high)


def _key_rows(block: Block, key: str) -> Ragged:
    """Give the values of the feature in every record."""
    group = Group.of([block], [key])
    if group.other >= 0:
        raise group.not_an_example()
    kinds = group.features.get(key, {})
    if "float" in (KIND_NAMES[kind] for kind in kinds) or len(kinds) > 1:
        names = " and ".join(sorted(KIND_NAMES[kind] for kind in kinds))
        index = min(kinds.values())
        raise group.error(
            index,
            f"expected a key of integers or of bytes but the feature {key!r} is {names}, first in "
            f"{group.where(index)}. Choose another feature.",
        )
    if not kinds:
        raise _missing(group, key, 0)
    rows, states = group.parse({key: next(iter(kinds))}, 0)[key]
    absent = np.flatnonzero(states <= UNSET)
    if len(absent):
        raise _missing(group, key, int(absent[0]))
    return rows


def _missing(group: Group, key: str, index: int) -> InvalidArgumentError:
    advice = "Choose another feature, or take such records out first with `tfr select --where`."
    if key not in group.features:
        advice = near_names(key, Group.of(group.blocks).features)
    return group.error(
        index,
        f"expected the feature {key!r} in every record but {group.where(index)} has none. {advice}",
    )


def _hashes(rows: Ragged) -> Uint64Array:
    """Give a number for the values of each row; the same on every machine."""
    values = _value_hashes(rows.values)
    lengths = rows.row_lengths()
    starts = np.asarray(rows.row_splits[:-1])
    if len(lengths) and int(lengths.min()) == int(lengths.max()) == 1:
        return values
    combined = np.zeros(len(lengths), np.uint64)
    for place in range(int(lengths.max(initial=0))):
        longer = np.flatnonzero(lengths > place)
        combined[longer] = mix64(combined[longer] + values[starts[longer] + place], place + 1)
    return combined


def _value_hashes(values: Any) -> Uint64Array:
    if not isinstance(values, BytesColumn):
        return np.ascontiguousarray(values, np.int64).view(np.uint64)
    hashed = b"".join(hashlib.blake2b(value, digest_size=8).digest() for value in values.to_list())
    return np.frombuffer(hashed, "<u8").astype(np.uint64)
