"""Records of shards in an interleaved order: as a stream, or by number without reading what comes before.

A stream opens the shards when their turn comes and makes no index. Both ways hold the counts that the data set's
description has against what is there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tfrkit.cached_property import cached_property
from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.engine.lookup import Lookup, Renumbered
from tfrkit.data.engine.node import AUTOTUNE, Context, Node, NodeIterator, Run, UnaryNode
from tfrkit.data.sources.numbers import RangeNode
from tfrkit.data.sources.records_source import RecordsNode
from tfrkit.data.stages.interleave import InterleaveNode
from tfrkit.errors import DataLossError
from tfrkit.folders.shard_order import InterleavedOrder, ShardPart
from tfrkit.model.policy import TFRKIT, ReadPolicy
from tfrkit.stores.url import display_name

__all__ = ["ShardRecordsNode", "shard_records"]

_SMALL_BLOCK_BYTES: Final = 1 << 18  # as TFRecordDataset reads several files in turn


def shard_records(
    files: tuple[str, ...],
    parts: tuple[ShardPart, ...],
    *,
    cycle: int,
    block: int,
    policy: ReadPolicy = TFRKIT,
) -> ShardRecordsNode:
    """Return the stage that reads records of shards, indexable.

    Args:
        files: the shards.
        parts: which records of them, in the order in which tf.data would open them.
        cycle: how many are open at once.
        block: how many records come of one before the next.
        policy: how files are read.
    """
    return ShardRecordsNode(RecordsNode(files, policy), parts, min(cycle, max(1, len(parts))), block)


@dataclass(frozen=True, eq=False)
class ShardRecordsNode(UnaryNode):
    """Records of the files of `input`: those of the parts, in their interleaved order.

    Attributes:
        input: reads the files one after another.
        parts: the runs of records.
        cycle: how many are open at once.
        block: how many records come of one before the next.
    """

    input: RecordsNode
    parts: tuple[ShardPart, ...]
    cycle: int
    block: int

    verb = "shard_records"
    reorders = True
    unindexable = ""

    @property
    def record_source(self) -> RecordsNode:
        return self.input

    def cardinality(self) -> int:
        return sum(part.take for part in self.parts)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return self._stream.begin(context, state)

    @cached_property
    def _stream(self) -> Node:
        numbers = RangeNode(0, 1, len(self.parts), np.dtype(np.int64))
        opener = _OpenPart(self.input.files, self.parts, self.input.policy, alone=self.cycle == 1)
        parallel = None if self.cycle == 1 else AUTOTUNE
        return InterleaveNode(numbers, opener, self.cycle, self.block, parallel, None, "interleave")

    def lookup(self, context: Context) -> Lookup:
        """By the numbers of records in the files.

        Raises:
            DataLossError: a file has another number of records than the description says.
        """
        inner = self.input.lookup(context)
        self.check_counts(self.input.record_files.counts)
        return Renumbered(inner, self.order.size, self.order.numbers)

    @cached_property
    def order(self) -> InterleavedOrder:
        """Places to the numbers of records in the files."""
        sizes = {part.file: part.size for part in self.parts}  # every file has a part
        begins = np.cumsum([0, *(sizes[file] for file in range(len(self.input.files)))])[:-1].tolist()
        return InterleavedOrder(self.parts, begins, self.cycle, self.block)

    def check_counts(self, counts: Sequence[int]) -> None:
        """See that the files have as many records as the description says.

        Raises:
            DataLossError: one has not.
        """
        for part in self.parts:
            if counts[part.file] != part.size:
                raise _wrong_count(self.input.files[part.file], part.size, f"{counts[part.file]:,}")

    def _shown(self) -> str:
        return f"{len(self.parts)} parts of {len(self.input.files)} files"


@dataclass(frozen=True)
class _OpenPart:
    """The function of the stream's interleave: the number of a part to its records."""

    files: tuple[str, ...]
    parts: tuple[ShardPart, ...]
    policy: ReadPolicy
    alone: bool
    pure = True  # not a user's function: when it runs cannot be observed

    def __call__(self, number: Any) -> Dataset:
        part = self.parts[int(number)]
        files = (self.files[part.file],)
        # Reading ahead on all cores in every file would take memory without making anything faster.
        records = (
            RecordsNode(files, self.policy)
            if self.alone
            else RecordsNode(files, self.policy, threads=1, block_bytes=_SMALL_BLOCK_BYTES)
        )
        return Dataset(_PartNode(records, part))


@dataclass(frozen=True, eq=False)
class _PartNode(UnaryNode):
    """A run of records of one file."""

    input: RecordsNode
    part: ShardPart = field(metadata={"unsigned": True})

    verb = "part_of_shard"
    selects = True

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        at, seen = (None, 0) if state is None else (state["at"], state["seen"])
        return _PartIterator(self.input.begin(context, at), self.input.files[0], self.part, seen)

    def cardinality(self) -> int:
        return self.part.take


class _PartIterator(NodeIterator):
    def __init__(self, records: NodeIterator, path: str, part: ShardPart, seen: int) -> None:
        self._input = records
        self._path = path
        self._part = part
        self._seen = seen  # records of the file that were passed
        self._over = False

    def pull(self, n: int) -> Run | None:
        """Pull records of the run; at its end see that the file has as many as it should."""
        part = self._part
        while not self._over:
            before = max(0, part.skip - self._seen)
            left = part.skip + part.take - self._seen - before
            if left <= 0:
                return self._finish()
            run, passed = self._input.pull_every(min(n, left), before, 1)
            self._seen += passed
            if run is None and self._seen >= part.skip + part.take:
                continue
            if run is None:
                return self._fail(_wrong_count(self._path, part.size, f"{self._seen:,}"))
            self._over = run.error is not None  # damage, after which the rest of the file is left
            if len(run.chunk) or run.error is not None:
                return run
        return None

    def _finish(self) -> Run | None:
        part = self._part
        if part.skip + part.take < part.size:
            self._over = True
            return None
        more = self._input.pull(1)
        self._over = True
        if more is None:
            return None
        return self._fail(more.error or _wrong_count(self._path, part.size, "more"))

    def _fail(self, error: Exception) -> Run:
        self._over = True
        return Run(ObjectChunk([]), error)

    def save(self) -> Any:
        return {"at": self._input.save(), "seen": self._seen}

    def close(self) -> None:
        self._input.close()


def _wrong_count(path: str, expected: int, found: str) -> DataLossError:
    return DataLossError(
        f"expected {expected:,} records in {display_name(path)!r}, as the description of the data set says, but it has "
        f"{found}. Copy the file and the description again.",
        path=path,
    )
