"""scan_chunks: blocks of records to chunks of columns, in order and on all cores, with rows chosen on the way.

A group of blocks is the work of one thread: it parses the columns that a filter needs, and of the rows that it keeps
the columns that are wanted.
"""

from __future__ import annotations

import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Generator, Iterable, Iterator
from concurrent.futures import Future, wait
from dataclasses import dataclass
from typing import Final, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.model.block import Block
from tfrkit.records.access.zones import Zones
from tfrkit.records.read.feature_columns import gather_blocks
from tfrkit.scanning.columns import ScanChunk, ScanParser
from tfrkit.scanning.pruning import MatchingBlock, ShareOf
from tfrkit.scanning.zone_conditions import Share
from tfrkit.threads import default_threads, thread_pool

__all__ = ["GROUP_BYTES", "Mask", "RowFilter", "scan_chunks"]

Mask: TypeAlias = npt.NDArray[np.bool_]
# Two blocks: enough rows for consumers that work by batches, and it still comes from the core's cache.
GROUP_BYTES: Final = 3 << 20
_MOST_JOINED: Final = 16  # groups of which hardly anything is kept become one chunk
_Item = TypeVar("_Item")
_Result = TypeVar("_Result")


@dataclass(frozen=True, slots=True)
class RowFilter:
    """Which rows to take.

    Attributes:
        parser: of the columns that it looks at.
        mask: tells for a chunk of them which rows are taken.
        share: tells by zones how much of each run of records is taken; None: perhaps something.
        before: another choice, which is made first.
    """

    parser: ScanParser
    mask: Callable[[ScanChunk], Mask]
    share: ShareOf | None = None
    before: RowFilter | None = None

    @property
    def features(self) -> set[str]:
        """Return the features that it looks at."""
        found = {column.feature for column in self.parser.columns}
        return found if self.before is None else found | self.before.features

    def shares(self, zones: Zones) -> Share:
        """Say how much of each run of records is taken."""
        found = np.ones(len(zones), np.int8) if self.share is None else self.share(zones)
        return found if self.before is None else np.minimum(found, self.before.shares(zones))

    def keep(self, blocks: list[Block]) -> list[Block]:
        """Return the blocks with the rows that are taken."""
        if self.before is not None:
            blocks = self.before.keep(blocks)
        unsure = [block for block in blocks if not isinstance(block, MatchingBlock)]
        mask = self.mask(self.parser.parse(unsure, 1)) if unsure else np.ones(0, np.bool_)
        if mask.all():
            return blocks
        kept: list[Block] = []
        at = 0
        for block in blocks:
            if isinstance(block, MatchingBlock):
                kept.append(block)
                continue
            rows = np.flatnonzero(mask[at : at + len(block)])
            at += len(block)
            if len(rows):
                kept.append(_compact(block.take(rows)))
        return kept


def _compact(block: Block) -> Block:
    """Copy the records if they are few, so that the memory of the others is free."""
    if 2 * block.nbytes > len(block.data):
        return block
    numbers, frames = block.places()
    offsets = np.concatenate([[0], np.cumsum(block.lengths)])[:-1]
    data = _core.gather_runs([block.data], None, block.offsets, block.lengths)
    return Block(
        data, offsets, block.lengths, path=block.path, first_record=block.first_record, start=-1,
        numbers=numbers, frames=frames,
    )  # fmt: skip


def scan_chunks(
    blocks: Iterable[Block],
    parser: ScanParser,
    rows: RowFilter | None = None,
    *,
    size: int = GROUP_BYTES,
    threads: int | None = None,
    limit: int | None = None,
) -> Generator[ScanChunk]:
    """Parse blocks.

    Args:
        blocks: the records, in order.
        parser: of the columns that are wanted.
        rows: which rows; all by default.
        size: about how many bytes of records become one chunk, before rows are chosen.
        threads: how many cores work; by default all. With 1, everything happens in the calling thread.
        limit: after so many rows nothing more is read.
    """
    if limit == 0:
        return
    threads = threads or default_threads()
    if limit is not None:
        size = 1  # few rows are wanted: of no block more is parsed than needed
    blocks = iter(blocks)
    # Small groups first: all threads have work soon, also where little is read (benchmarks/scan.py).
    small = gather_blocks(itertools.islice(blocks, 2 * threads), size // 4)
    groups: Iterator[list[Block]] = itertools.chain(small, gather_blocks(blocks, size))
    with contextlib.ExitStack() as stack:  # no work outlives its owner
        if rows is not None:
            kept = stack.enter_context(contextlib.closing(_in_order(rows.keep, groups, threads, _all_match)))
            groups = _join(kept, size)
        chunks = stack.enter_context(
            contextlib.closing(_in_order(lambda group: parser.parse(group, 1), groups, threads))
        )
        for chunk in chunks:
            if limit is not None and chunk.rows >= limit:
                yield chunk if chunk.rows == limit else parser.parse(_first(chunk.blocks, limit), 1)
                return
            limit = None if limit is None else limit - chunk.rows
            yield chunk


def _all_match(blocks: list[Block]) -> bool:
    return all(isinstance(block, MatchingBlock) for block in blocks)


def _join(groups: Iterable[list[Block]], size: int) -> Iterator[list[Block]]:
    """Return groups of which few rows are left together, until they are large, or have waited for long."""
    joined: list[Block] = []
    waiting = 0
    for group in groups:
        joined += group
        waiting += 1
        if joined and (waiting >= _MOST_JOINED or sum(block.nbytes for block in joined) >= size // 4):
            yield joined
            joined, waiting = [], 0
    if joined:
        yield joined


def _in_order(
    function: Callable[[_Item], _Result],
    items: Iterable[_Item],
    threads: int,
    is_light: Callable[[_Item], bool] | None = None,
) -> Generator[_Result]:
    """Call a function for each item in the process's threads, some at once, and yield the results in order.

    Args:
        function: what to call.
        items: what with.
        threads: how many cores work.
        is_light: tells which calls take no time, and are made here. Results are then yielded as soon as they are there:
            the consumer has a queue of its own.
    """
    if threads == 1:
        yield from map(function, items)
        return
    pending: deque[tuple[Future[_Result], _Item]] = deque()
    try:
        for item in items:
            while is_light is not None and pending and pending[0][0].done():
                yield pending.popleft()[0].result()
            if is_light is not None and not pending and is_light(item):
                yield function(item)
                continue
            pending.append((thread_pool().submit(function, item), item))
            if len(pending) > threads + 1:
                yield pending.popleft()[0].result()
        for place, (future, item) in enumerate(pending):
            if future.cancel():  # no thread has begun it: this one has nothing else to do
                pending[place] = _done(function, item), item
        while pending:
            yield pending.popleft()[0].result()
    finally:
        wait([future for future, _ in pending])


def _done(function: Callable[[_Item], _Result], item: _Item) -> Future[_Result]:
    """Call a function here, for a result that is asked for later."""
    future: Future[_Result] = Future()
    try:
        future.set_result(function(item))
    except Exception as error:  # noqa: BLE001  # raised when it is its turn
        future.set_exception(error)
    return future


def _first(blocks: Iterable[Block], count: int) -> list[Block]:
    """Return the first records of some blocks."""
    kept = []
    for block in blocks:
        if count <= 0:
            break
        kept.append(block[:count])
        count -= len(block)
    return kept
