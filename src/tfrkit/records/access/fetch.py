"""fetch: read single records from many places of many files.

Where they are is known already, by `Places`; finding out is the index's work. Each file is read in ascending order:
a plain one in runs of near records, a compressed one in one pass from the first place to the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Final

import numpy as np

from tfrkit import _core
from tfrkit.errors import DataLossError
from tfrkit.model.block import Block, IntArray
from tfrkit.model.policy import ReadPolicy
from tfrkit.records.read.file_reader import BLOCK_BYTES, compression_of
from tfrkit.records.read.frame_splitter import FOOTER_BYTES, HEADER_BYTES
from tfrkit.records.read.position import Places, Position
from tfrkit.records.read.reader import BlockReader
from tfrkit.stores.source import open_source

__all__ = ["fetch"]

_MAX_GAP: Final = 1 << 20  # frames further apart than this are not read in one run
_GUESS_BYTES: Final = 1 << 16  # for the last frame of a run, whose size is not known


def fetch(
    files: Sequence[str], policy: ReadPolicy, places: Places, *, threads: int | None = None
) -> tuple[list[Block], IntArray, IntArray]:
    """Read the records at some places, checked as the policy says.

    Args:
        files: the files that the places count.
        policy: how to read; the same as when the places were noted.
        places: which records, in any order.
        threads: how many cores to use; by default all.

    Returns:
        Blocks, for each place the number of its block, and the record's position in that. A block holds little more
        than what was asked for.

    Raises:
        DataLossError: there is no intact record at a place: the file has changed.
    """
    order = np.lexsort((places.offsets, places.files))
    blocks: list[Block] = []
    which = np.empty(len(order), np.int64)
    rows = np.empty(len(order), np.int64)
    for run in _runs(places, order, lambda file: _is_plain(files[file], policy)):
        for block, found, inner in _fetch_run(files, policy, places, run, threads):
            which[found], rows[found] = len(blocks), inner
            blocks.append(block)
    return blocks, which, rows


def _runs(places: Places, order: IntArray, seekable: Callable[[int], bool]) -> Iterator[IntArray]:
    """Split sorted places where the file changes, or the next place is far away and can be sought."""
    files = places.files[order]
    for part in np.split(order, np.flatnonzero(files[1:] != files[:-1]) + 1):
        if len(part) and seekable(int(places.files[part[0]])):
            offsets = places.offsets[part]
            yield from np.split(part, np.flatnonzero(offsets[1:] - offsets[:-1] > _MAX_GAP) + 1)
        elif len(part):
            yield part


def _is_plain(path: str, policy: ReadPolicy) -> bool:
    source = open_source(path)
    return source.regular and not compression_of(source, policy)


def _fetch_run(
    files: Sequence[str], policy: ReadPolicy, places: Places, run: IntArray, threads: int | None
) -> Iterator[tuple[Block, IntArray, IntArray]]:
    """Return blocks with the places that were found in them, and the positions there."""
    offsets = places.offsets[run]
    path = files[int(places.files[run[0]])]
    span = int(offsets[-1] - offsets[0]) + _GUESS_BYTES
    reader = BlockReader(
        [path],
        policy,
        1 if span < BLOCK_BYTES else threads,
        min(span, BLOCK_BYTES),
        Position(0, int(offsets[0]), int(places.records[run[0]])),
    )
    done = 0
    for block in reader:
        _, frames = block.places()
        assert frames is not None
        end = int(np.searchsorted(offsets, frames[-1], side="right"))
        if end > done:
            rows = np.searchsorted(frames, offsets[done:end])
            if not np.array_equal(frames[rows], offsets[done:end]):
                break
            kept, inner = _keep(block, rows)
            yield kept, run[done:end], inner
            done = end
        if done == len(run):
            reader.close()
            return
    raise _missing(path, int(offsets[done]), int(places.records[run[done]]))


def _keep(block: Block, rows: IntArray) -> tuple[Block, IntArray]:
    """Copy records out of a block if it is mainly other records; return their positions in what is kept."""
    chosen = np.unique(rows)
    sizes = block.lengths[chosen] + (HEADER_BYTES + FOOTER_BYTES)
    if 3 * int(sizes.sum()) >= 2 * len(block.data):
        return block, rows
    outs = np.cumsum(sizes) - sizes
    buffer = _core.Buffer(int(sizes.sum()))
    view, data = memoryview(buffer), memoryview(block.data)
    begins = block.offsets[chosen] - HEADER_BYTES
    for out, begin, size in zip(outs.tolist(), begins.tolist(), sizes.tolist(), strict=True):
        view[out : out + size] = data[begin : begin + size]
    numbers, frames = block.places()
    assert frames is not None
    copied = Block(
        buffer,
        outs + HEADER_BYTES,
        block.lengths[chosen],
        path=block.path,
        first_record=int(numbers[chosen[0]]),
        start=-1,
        numbers=numbers[chosen],
        frames=frames[chosen],
    )
    return copied, np.searchsorted(chosen, rows)


def _missing(path: str, offset: int, record: int) -> DataLossError:
    return DataLossError(
        f"corrupted record at {offset}: no intact frame begins there any more, in record {record} (frame at byte "
        f"{offset}) of {path!r}. Has the file changed? Begin anew.",
        path=path,
        record=record,
        offset=offset,
    )
