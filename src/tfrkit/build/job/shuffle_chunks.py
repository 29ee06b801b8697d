"""Chunks of a shuffle: the records of one part in a temporary file, by the first bits of their keys.

The file is a run of chunks. A chunk is `records, bytes` before each bucket and at the end (2 x (buckets + 1) i64), the
keys (u64 each), the frames; keys and frames stand by bucket, and within one in the order in which they came.
"""

from __future__ import annotations

import hashlib
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.build.job.progress import TaskReporter
from tfrkit.build.job.report import Finished
from tfrkit.model.block import Block
from tfrkit.stores.output import FileOutput

__all__ = ["KEY_BITS", "RECORD_BYTES", "ChunkWriter", "KeyStream", "Keys"]

KEY_BITS: Final = 64
RECORD_BYTES: Final = 64  # that a record costs beside its frame: key, place, rank
_HEADER_BYTES: Final = 12
_FRAMING_BYTES: Final = 16

Keys: TypeAlias = npt.NDArray[np.uint64]


class KeyStream:
    """The keys of a recipe's records: numpy's Philox, whose raw numbers are fixed for ever."""

    def __init__(self, seed: int, recipe: int) -> None:
        digest = hashlib.blake2b(f"tfrkit mix {seed} {recipe}".encode(), digest_size=16).digest()
        self._bits = np.random.Philox(key=int.from_bytes(digest, "little"))

    def next(self, count: int) -> Keys:
        return np.asarray(self._bits.random_raw(count), np.uint64)


class ChunkWriter:
    """One temporary file in the making: gathers a chunk, orders it by bucket, writes it."""

    def __init__(self, name: str, output: FileOutput, shift: int, bits: int, chunk_bytes: int) -> None:
        self._name = name
        self._output = output
        self._shift = shift
        self._bits = bits
        self._chunk_bytes = chunk_bytes
        self._blocks: list[Block] = []
        self._keys: list[Keys] = []
        self._pending = 0
        self._chunks: list[int] = []
        self._totals = np.zeros((1 << bits, 2), np.int64)

    def add(self, block: Block, keys: Keys) -> None:
        """Take records; whole chunks are written."""
        ends = np.cumsum(block.lengths + (_FRAMING_BYTES + RECORD_BYTES))
        first = before = 0
        while first < len(block):
            room = max(1, self._chunk_bytes - self._pending)
            after = max(first + 1, int(np.searchsorted(ends, before + room, side="right")))
            self._blocks.append(block[first:after])
            self._keys.append(keys[first:after])
            self._pending += int(ends[after - 1]) - before
            first, before = after, int(ends[after - 1])
            if self._pending >= self._chunk_bytes or first < len(block):
                self._flush()

    def _flush(self) -> None:
        if not self._blocks:
            return
        keys = np.concatenate(self._keys)
        buckets = _bucket_of(keys, self._shift, self._bits)
        order = np.argsort(buckets, kind="stable")
        which = np.repeat(np.arange(len(self._blocks)), [len(block) for block in self._blocks])
        starts = np.concatenate([block.offsets for block in self._blocks]) - _HEADER_BYTES
        sizes = np.concatenate([block.lengths for block in self._blocks]) + _FRAMING_BYTES
        data: list[Any] = [block.data for block in self._blocks]
        frames = _core.gather_runs(data, which[order], starts[order], sizes[order])
        self._blocks, self._keys, self._pending = [], [], 0
        del data
        counts = np.zeros((1 << self._bits, 2), np.int64)
        counts[:, 0] = np.bincount(buckets, minlength=1 << self._bits)
        ends = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[order])])
        table = np.zeros(((1 << self._bits) + 1, 2), np.int64)
        np.cumsum(counts[:, 0], out=table[1:, 0])
        table[:, 1] = ends[table[:, 0]]
        counts[:, 1] = np.diff(table[:, 1])
        self._totals += counts
        self._chunks.append(self._output.position)
        self._output.write_pieces([_bytes(table), _bytes(keys[order]), frames])

    def finish(self, reporter: TaskReporter) -> Finished:
        """Write what is left and say what is in the file."""
        self._flush()
        return Finished.of(
            self._name,
            int(self._totals[:, 0].sum()),
            self._output.position,
            reporter,
            path=self._output.name,
            buckets=tuple((records, size) for records, size in self._totals.tolist()),
            chunks=tuple(self._chunks),
        )


def _bytes(array: npt.NDArray[Any]) -> memoryview:
    return memoryview(np.ascontiguousarray(array).reshape(-1).view(np.uint8))


def _bucket_of(keys: Keys, shift: int, bits: int) -> npt.NDArray[np.uint16]:
    if bits == 0:
        return np.zeros(len(keys), np.uint16)
    return ((keys << np.uint64(shift)) >> np.uint64(KEY_BITS - bits)).astype(np.uint16)  # 16 bits sort fast
