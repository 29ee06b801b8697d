"""How many steps each episode has: one pass over the files that decodes nothing.

A feature that has as many values in every step is counted where it lies in the record. CRCs are left to whoever reads
a record for its values.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from typing import Final

import numpy as np

from tfrkit import _core
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.folders.rlds.episode_record import EpisodeReader
from tfrkit.folders.rlds.step_leaves import STEPS, StepLeaf
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT
from tfrkit.model.row_selection import IntArray
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.reader import BlockReader
from tfrkit.stores.url import display_name

__all__ = ["count_steps"]

_FIRST: Final = f"{STEPS}/is_first"  # which every step has


def count_steps(files: Sequence[str], leaves: Sequence[StepLeaf]) -> dict[str, IntArray]:
    """Return the number of steps of each episode, by file.

    Args:
        files: the shards.
        leaves: the features of a step.

    Raises:
        OpError: a file or a record is damaged.
        InvalidArgumentError: the features of a record say different numbers, or none has as many values in every step.
    """
    types = {key: dtype for leaf in leaves for key, dtype in leaf.keys.items() if key in leaf.each}
    each = {key: count for leaf in leaves for key, count in leaf.each.items() if count}
    if not each:
        raise InvalidArgumentError(
            "the steps of this data set cannot be counted: each of its features has sequences of its own, or no "
            "values. Use episodes() alone."
        )
    # Counting numbers that are one a step takes next to nothing; byte strings are walked.
    key = min(each, key=lambda key: (types[key] == "bytes", each[key], key != _FIRST))
    reader = EpisodeReader({key: types[key] for key in each})
    found: dict[str, list[IntArray]] = {file: [] for file in files}
    with closing(BlockReader(list(files), replace(TFRKIT, crc=False), None, BLOCK_BYTES)) as blocks:
        for block in blocks:
            counts = _core.count_values([block.piece], key.encode())
            unusual = (counts < 0) | (counts % each[key] != 0)
            counts //= each[key]
            for row in np.flatnonzero(unusual).tolist():
                counts[row] = _count(block[row : row + 1], reader, each)
            found[files[blocks.file]].append(counts)
    return {file: np.concatenate([np.zeros(0, np.int64), *parts]) for file, parts in found.items()}


def _count(block: Block, reader: EpisodeReader, each: Mapping[str, int]) -> int:
    """Count the steps of an episode by all of its features."""
    record = reader.read(block)
    counts = {key: len(values) / each[key] for key, values in record.values.items()}
    if len(set(counts.values())) == 1 and counts[_any(counts)].is_integer():
        return int(counts[_any(counts)])
    fewest, most = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
    raise DataLossError(
        f"expected as many values of all features of the steps of an episode but {fewest!r} has "
        f"{counts[fewest]:g} and {most!r} has {counts[most]:g}; in record {record.record} of "
        f"{display_name(record.path or '')!r}. Write the episode again, with all its features.",
        path=record.path,
        record=record.record,
    )


def _any(counts: Mapping[str, float]) -> str:
    return next(iter(counts))
