"""fetch: read single records from many places of many files.

Where they are is known already, by `Places`; finding out is the index's work. Each file is read in ascending order:
a plain one in runs of near records, a compressed one in one pass from the first place to the last. Of a plain remote
file the frames are fetched by ranges, all at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import numpy as np

from tfrkit import _core
from tfrkit.errors import DataLossError
from tfrkit.model.block import Block, IntArray
from tfrkit.model.policy import ReadPolicy
from tfrkit.records.access.file_frames import check_gathered
from tfrkit.records.read.file_reader import BLOCK_BYTES, compression_of
from tfrkit.records.read.frame_splitter import FOOTER_BYTES, HEADER_BYTES
from tfrkit.records.read.position import Places, Position
from tfrkit.records.read.reader import BlockReader
from tfrkit.records.sniff.compression_sniffer import starts_with_frame
from tfrkit.stores.files import open_source
from tfrkit.stores.ranges import WantedRanges, fetch_ranges
from tfrkit.stores.remote_source import RemoteSource

__all__ = ["fetch"]

_MAX_GAP: Final = 1 << 20  # frames further apart than this are not read in one run
_GUESS_BYTES: Final = 1 << 16  # for the last frame of a run, whose size is not known
_REMOTE_GUESS_BYTES: Final = 1 << 14  # the same of every frame that is fetched by itself
_FRAME_BYTES: Final = HEADER_BYTES + FOOTER_BYTES


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
    for part in _by_file(places, order):
        path = files[int(places.files[part[0]])]
        source = open_source(path)
        plain = source.regular and not compression_of(source, policy)
        fetched: Iterable[tuple[Block, IntArray, IntArray]]
        if plain and isinstance(source, RemoteSource):
            fetched = _fetch_ranges(source, policy, places, part)
        else:
            runs = _runs(places.offsets, part) if plain else [part]
            fetched = (found for run in runs for found in _fetch_run(path, policy, places, run, threads))
        for block, found, inner in fetched:
            which[found], rows[found] = len(blocks), inner
            blocks.append(block)
    return blocks, which, rows


def _by_file(places: Places, order: IntArray) -> Iterator[IntArray]:
    """Split sorted places where the file changes."""
    files = places.files[order]
    parts = np.split(order, np.flatnonzero(files[1:] != files[:-1]) + 1)
    return (part for part in parts if len(part))


def _runs(offsets: IntArray, part: IntArray) -> Iterable[IntArray]:
    """Split the sorted places of a file where the next one is far away."""
    offsets = offsets[part]
    return np.split(part, np.flatnonzero(offsets[1:] - offsets[:-1] > _MAX_GAP) + 1)


def _fetch_ranges(
    source: RemoteSource, policy: ReadPolicy, places: Places, part: IntArray
) -> Iterator[tuple[Block, IntArray, IntArray]]:
    """Return one block with all places of a plain remote file."""
    offsets, firsts, rows = np.unique(places.offsets[part], return_index=True, return_inverse=True)
    records = places.records[part][firsts]
    frames = _RemoteFrames(source, offsets.tolist(), records.tolist())
    frames.fetch([_REMOTE_GUESS_BYTES] * len(offsets))
    frames.fetch(frames.sizes)  # the long ones
    buffer = b"".join(frames.found)
    sizes = np.array(frames.sizes, np.int64)
    payloads = np.cumsum(sizes) - sizes + HEADER_BYTES
    bad = check_gathered(buffer, payloads, sizes - _FRAME_BYTES, crc=policy.crc)
    if bad >= 0:
        raise frames.missing(bad)
    block = Block(
        buffer,
        payloads,
        sizes - _FRAME_BYTES,
        path=source.name,
        first_record=int(records[0]),
        start=-1,
        numbers=records,
        frames=offsets,
    )
    yield block, part, rows


class _RemoteFrames:
    """Frames of a remote file of which only the beginnings are known.

    Attributes:
        found: the frames; empty if there is none yet.
        sizes: of those whose beginning was seen.
    """

    def __init__(self, source: RemoteSource, offsets: list[int], records: list[int]) -> None:
        self._source, self._offsets, self._records = source, offsets, records
        self.found = [b""] * len(offsets)
        self.sizes = [0] * len(offsets)

    def fetch(self, sizes: list[int]) -> None:
        """Fetch what is missing, all at once: as much of each as `sizes` says.

        Raises:
            DataLossError: no frame begins at one of the places.
        """
        end = self._source.size()
        wanted = [number for number, frame in enumerate(self.found) if not frame]
        starts = [self._offsets[number] for number in wanted]
        stops = [min(end, self._offsets[number] + sizes[number]) for number in wanted]
        for number, start, stop in zip(wanted, starts, stops, strict=True):
            if stop - start < _FRAME_BYTES:
                raise self.missing(number)

        def use(numbers: range, begin: int, data: memoryview) -> None:
            for each in numbers:
                self._take(wanted[each], data[starts[each] - begin : stops[each] - begin], end)

        fetch_ranges([WantedRanges(self._source.fetch, starts, stops, use)])

    def _take(self, number: int, data: memoryview, end: int) -> None:
        size = int.from_bytes(data[:8], "little") + _FRAME_BYTES
        if not starts_with_frame(bytes(data[:HEADER_BYTES])) or size > end - self._offsets[number]:
            raise self.missing(number)
        self.sizes[number] = size
        if size <= len(data):
            self.found[number] = bytes(data[:size])

    def missing(self, number: int) -> DataLossError:
        """Return the error about one of the frames."""
        return _missing(self._source.name, self._offsets[number], self._records[number])


def _fetch_run(
    path: str, policy: ReadPolicy, places: Places, run: IntArray, threads: int | None
) -> Iterator[tuple[Block, IntArray, IntArray]]:
    """Return blocks with the places that were found in them, and the positions there."""
    offsets = places.offsets[run]
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
        f"{offset}) of {path!r}. Has the file changed? Start over.",
        path=path,
        record=record,
        offset=offset,
    )
