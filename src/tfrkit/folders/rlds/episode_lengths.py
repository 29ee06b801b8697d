"""How many steps each episode has: one pass over the files that decodes nothing.

A feature that has as many values in every step is counted where it lies in the record; of large records little else is
read. CRCs are checked when a record is read for its values.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from functools import partial
from typing import Final

import numpy as np

from tfrkit import _core
from tfrkit.errors import DataLossError, InvalidArgumentError, os_errors
from tfrkit.folders.rlds.episode_record import EpisodeReader, EpisodeRecord
from tfrkit.folders.rlds.step_leaves import STEPS, StepLeaf
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT
from tfrkit.model.row_selection import IntArray
from tfrkit.records.access.record_file import RecordFile
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.frame_splitter import FOOTER_BYTES, HEADER_BYTES
from tfrkit.records.read.reader import BlockReader
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, starts_with_frame
from tfrkit.stores.files import is_local
from tfrkit.stores.url import display_name, local_path
from tfrkit.threads import thread_pool

__all__ = ["count_steps"]

_LEAP_BYTES: Final = 1 << 17  # of a record on average: from there on leaping is faster than reading all
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
    counter = _Counter(key, each, EpisodeReader({key: types[key] for key in each}))
    found = dict(zip(files, thread_pool().map(counter.leap, files), strict=True))
    streamed = counter.stream([file for file, counts in found.items() if counts is None])
    return {file: streamed[file] if counts is None else counts for file, counts in found.items()}


@dataclass(frozen=True, slots=True)
class _Counter:
    """Counts steps by one key.

    Attributes:
        key: the feature that is counted.
        each: by key how many values a step has.
        reader: finds all keys, for records of unusual form.
    """

    key: str
    each: Mapping[str, int]
    reader: EpisodeReader

    def leap(self, file: str) -> IntArray | None:
        """Count those of a file of large records: from feature to feature, reading the beginning of each.

        Returns:
            None if it is remote, compressed or of small records, which are sooner read as a stream.
        """
        if not is_local(file):
            return None
        with os_errors(file), open(local_path(file), "rb", buffering=0) as source:
            if not starts_with_frame(source.read(HEAD_BYTES)):
                return None
            records = RecordFile(file, index="save", crc=False)
            frames = records.index.frames
            if frames[-1] < _LEAP_BYTES * len(records):
                return None
            if hasattr(os, "posix_fadvise"):  # not on macOS
                os.posix_fadvise(source.fileno(), 0, 0, os.POSIX_FADV_RANDOM)
            counts = _core.count_values_at(
                source.fileno(),
                frames[:-1] + HEADER_BYTES,
                np.diff(frames) - HEADER_BYTES - FOOTER_BYTES,
                self.key.encode(),
            )
        return self._steps(counts, lambda row: records.take([row]))

    def stream(self, files: Sequence[str]) -> dict[str, IntArray]:
        """Count those of files that are read as a whole."""
        found: dict[str, list[IntArray]] = {file: [np.zeros(0, np.int64)] for file in files}
        with closing(BlockReader(list(files), replace(TFRKIT, crc=False), None, BLOCK_BYTES)) as blocks:
            for block in blocks:
                counts = _core.count_values([block.piece], self.key.encode())
                found[files[blocks.file]].append(self._steps(counts, partial(_row, block)))
        return {file: np.concatenate(parts) for file, parts in found.items()}

    def _steps(self, counts: IntArray, row_of: Callable[[int], Block]) -> IntArray:
        """Return the numbers of steps by those of values; records that they do not say are looked into."""
        each = self.each[self.key]
        unusual = np.flatnonzero((counts < 0) | (counts % each != 0))
        counts //= each
        for row in unusual.tolist():
            counts[row] = _count(row_of(row), self.reader, self.each)
        return counts


def _row(block: Block, row: int) -> Block:
    return block[row : row + 1]


def _count(block: Block, reader: EpisodeReader, each: Mapping[str, int]) -> int:
    """Count the steps of an episode by all of its features."""
    record = reader.read(block)
    counts = {key: len(values) / each[key] for key, values in record.values.items()}
    if len(set(counts.values())) == 1 and counts[_any(counts)].is_integer():
        return int(counts[_any(counts)])
    fewest, most = min(counts, key=counts.__getitem__), max(counts, key=counts.__getitem__)
    found = " and ".join(_said(key, record, each) for key in dict.fromkeys((fewest, most)))
    raise DataLossError(
        "expected as many values of all features of the steps of an episode but "
        f"{found}; in record {record.record} of "
        f"{display_name(record.path or '')!r}. Write the episode again, with all its features.",
        path=record.path,
        record=record.record,
    )


def _said(key: str, record: EpisodeRecord, each: Mapping[str, int]) -> str:
    return f"{key!r} has {len(record.values[key]):,} values, where a step has {each[key]:,}"


def _any(counts: Mapping[str, float]) -> str:
    return next(iter(counts))
