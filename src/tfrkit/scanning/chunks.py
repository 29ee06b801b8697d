"""scan_chunks: blocks of records to chunks of columns, in order and on all cores, with rows chosen on the way.

A group of blocks is the work of one thread: it parses the columns that a filter needs, and of the rows that it keeps
the columns that are wanted.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit.model.block import Block
from tfrkit.records.read.feature_columns import gather_blocks
from tfrkit.scanning.columns import ScanChunk, ScanParser
from tfrkit.threads import default_threads, thread_pool

__all__ = ["GROUP_BYTES", "Mask", "RowFilter", "scan_chunks"]

Mask: TypeAlias = npt.NDArray[np.bool_]
# Enough rows for consumers that work by batches, and it still comes from the core's cache.
GROUP_BYTES: Final = 4 << 20


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows to take.

    Attributes:
        parser: of the columns that it looks at.
        mask: tells for a chunk of them which rows are taken.
        before: another choice, which is made first.
    """

    parser: ScanParser
    mask: Callable[[ScanChunk], Mask]
    before: RowFilter | None = None

    def keep(self, blocks: list[Block]) -> list[Block]:
        """Return the blocks with the rows that are taken."""
        if self.before is not None:
            blocks = self.before.keep(blocks)
        mask = self.mask(self.parser.parse(blocks, 1))
        if mask.all():
            return blocks
        kept, at = [], 0
        for block in blocks:
            rows = np.flatnonzero(mask[at : at + len(block)])
            at += len(block)
            if len(rows):
                kept.append(block if len(rows) == len(block) else block.take(rows))
        return kept


def scan_chunks(
    blocks: Iterable[Block],
    parser: ScanParser,
    rows: RowFilter | None = None,
    *,
    size: int = GROUP_BYTES,
    threads: int | None = None,
    limit: int | None = None,
) -> Iterator[ScanChunk]:
    """Parse blocks.

    Args:
        blocks: the records, in order.
        parser: of the columns that are wanted.
        rows: which rows; all by default.
        size: about how many bytes of records become one chunk, before rows are chosen.
        threads: how many cores work; by default all. With 1, everything happens in the calling thread.
        limit: after so many rows nothing more is read.
    """
    threads = threads or default_threads()
    pending: deque[Future[ScanChunk]] = deque()
    left = limit
    if limit is not None:  # few rows are wanted: of no block more is parsed than needed
        size = 1
    if limit == 0:
        return

    def work(group: list[Block]) -> ScanChunk:
        kept = group if rows is None else rows.keep(group)
        return parser.parse(kept, 1)

    def cut(chunk: ScanChunk) -> ScanChunk:
        return chunk if left is None or chunk.rows <= left else parser.parse(_first(chunk.blocks, left), 1)

    try:
        for group in gather_blocks(blocks, size):
            if threads == 1:
                chunk = cut(work(group))
            else:
                pending.append(thread_pool().submit(work, group))
                if len(pending) <= threads + 1:
                    continue
                chunk = cut(pending.popleft().result())
            if chunk.rows:
                yield chunk
            if left is not None and (left := left - chunk.rows) <= 0:
                return
        while pending and left != 0:
            chunk = cut(pending.popleft().result())
            if chunk.rows:
                yield chunk
            left = None if left is None else left - chunk.rows
    finally:
        wait(pending)  # no work outlives its owner


def _first(blocks: Iterable[Block], count: int) -> list[Block]:
    """Return the first records of some blocks."""
    kept = []
    for block in blocks:
        if count <= 0:
            break
        kept.append(block[:count])
        count -= len(block)
    return kept
