"""Zones of one shard as values: between which bounds the features of each run of records lie.

What a file of zones looks like is in `zone_bytes.py`, how they are made in `zone_maker.py`, where they are kept in
`zones.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit.model.block import IntArray
from tfrkit.model.bytes_column import BytesColumn

__all__ = ["FeatureOutline", "FeatureZones", "KindOutline", "ShardOutline", "Zones"]

BoolArray: TypeAlias = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class FeatureZones:
    """What is known of one feature in each run of records: an entry for each run.

    A run in which nothing is known of the feature has `known` False, and its other entries mean nothing: values of
    several kinds, of another kind than `kind`, or a feature list of the same name.

    Attributes:
        kind: of the values: `_core.INT64`, `_core.FLOAT` or `_core.BYTES`.
        known: whether the other entries say anything.
        present: records that have the feature with a kind; the list may be empty.
        values: how many values all of them have.
        least: a lower bound of the values. Numbers: the least itself, NaN apart; bytes: its first 16 bytes.
        greatest: an upper bound. Numbers: the greatest itself, NaN apart; bytes: at most 16 bytes which are not less
            than any value. Neither bound says anything of a run without values (but NaN).
        open_above: bytes: there is no upper bound of 16 bytes, as sixteen are 0xff and more follow.
        nans: how many of the values are NaN.
        single: every record that has the feature with a kind has exactly one value.
    """

    kind: int
    known: BoolArray
    present: IntArray
    values: IntArray
    least: npt.NDArray[Any] | BytesColumn
    greatest: npt.NDArray[Any] | BytesColumn
    open_above: BoolArray
    nans: IntArray
    single: BoolArray


@dataclass(frozen=True, slots=True)
class KindOutline:
    """One kind of value that a feature, or a feature list, has somewhere in the shard.

    Attributes:
        records: how many have it.
        values: how many values all of them have.
        first: the number of the first such record.
    """

    records: int
    values: int
    first: int


@dataclass(frozen=True, slots=True)
class FeatureOutline:
    """What a schema says of one feature, or of one feature list, over all records of the shard.

    Attributes:
        records: how many have it, with a kind or without.
        unset: how often it is there without a kind (of a feature list: steps).
        empty: how often it has a kind and no value (of a feature list: steps).
        least_values: the least number of values where it has a kind (of a feature list: in a step); 0 if it has none.
        most_values: the greatest.
        least_steps: of a feature list, the least number of steps; 0 if a record has the list without steps.
        most_steps: the greatest.
        kinds: by `_core.INT64`, `_core.FLOAT` and `_core.BYTES`, those that there are.
    """

    records: int
    unset: int
    empty: int
    least_values: int
    most_values: int
    least_steps: int
    most_steps: int
    kinds: Mapping[int, KindOutline]


@dataclass(frozen=True, slots=True)
class ShardOutline:
    """All features and feature lists of a shard by name, in order of the names."""

    features: Mapping[str, FeatureOutline]
    lists: Mapping[str, FeatureOutline]


@dataclass(frozen=True, slots=True, eq=False)
class Zones:
    """The zones of one shard. Runs of records follow each other without gaps.

    A feature that is not in `features` has no value of any kind in any record, if the zones are `complete` and there
    is no feature list of this name in `outline.lists`; else nothing is known of it.

    Attributes:
        shard_bytes: size of the shard when the zones were made.
        tail_crc: CRC-32C of its last 64 kB then.
        starts: number of the first record of each run.
        offsets: where the frame of that record begins in the uncompressed stream.
        records: of the shard; the last run ends there.
        stream_bytes: size of the uncompressed stream.
        sequences: how many records are SequenceExamples.
        other: how many are neither Examples nor SequenceExamples; they have no features.
        complete: all features and feature lists are noted, not only the first of too many.
        features: what is known of each feature that has a kind, by name.
        outline: the same over all runs, with what else a schema says.
    """

    shard_bytes: int
    tail_crc: int
    starts: IntArray
    offsets: IntArray
    records: int
    stream_bytes: int
    sequences: int
    other: int
    complete: bool
    features: Mapping[str, FeatureZones]
    outline: ShardOutline

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def ends(self) -> IntArray:
        """Number of the record after each run."""
        return np.append(self.starts[1:], np.int64(self.records))[: len(self)]
