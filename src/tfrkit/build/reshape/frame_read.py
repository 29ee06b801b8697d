"""TFRecord files whose frames are moved: their blocks in order, the damage that was skipped, and surveys of them.

A survey says how many frames there are, and where some of them begin. Marks stand for every frame's place: the first
frame at or after each multiple of a step. They depend on the file's content and the step alone, whether an index is
there or not; and there are few of them, however many records.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from tfrkit.build.job.job import BadInput
from tfrkit.engines.local import Stop
from tfrkit.errors import DataLossError, InvalidArgumentError, OpError
from tfrkit.model.block import Block, IntArray
from tfrkit.model.policy import TFRKIT, OnCorrupt
from tfrkit.records.access.index import index_path, load_index, member_table, walk_frames
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.position import BEGINNING, Position
from tfrkit.records.read.reader import BlockReader
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.files import file_size, open_source
from tfrkit.stores.source import ByteSource
from tfrkit.stores.url import base_name, is_url

__all__ = ["FrameFile", "FrameReader", "compression_of", "is_seekable", "survey_frames"]

_MAX_INDEX_BYTES: Final = 1 << 26  # a larger index is not loaded at once: walking takes less memory


class FrameReader:
    """Reads files as `read_blocks` does, but what is passed over is in `bad`, and there is no warning.

    The data CRCs are checked unless `crc` says otherwise.
    """

    def __init__(
        self,
        paths: Sequence[str],
        on_corrupt: OnCorrupt,
        threads: int | None,
        start: Position = BEGINNING,
        *,
        crc: bool = True,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        # "stop" is "raise" for the reader: the caller continues with the next file, and there is no warning.
        self._stops = on_corrupt == "stop"
        policy = TFRKIT.with_options(on_corrupt="raise" if self._stops else on_corrupt, crc=crc)
        self._reader = BlockReader(paths, policy, threads, block_bytes, start)
        self._stopped: list[BadInput] = []

    def __iter__(self) -> Iterator[Block]:
        while True:
            try:
                yield from self._reader
            except (DataLossError, InvalidArgumentError) as error:
                if not self._stops:
                    raise
                self._stopped.append(_left_file(error))
            else:
                return

    @property
    def bad(self) -> list[BadInput]:
        """What was left out, in order."""
        return self._stopped + [_left_out(path, damage) for path, damage in self._reader.damages]

    def close(self) -> None:
        """Close the files."""
        self._reader.close()


def _left_out(path: str, damage: Damage) -> BadInput:
    where = f"{damage.bytes} bytes from byte {damage.start} on, behind {damage.record} intact records"
    return BadInput(_shown(path), None, f"damaged: {damage.kind}", where)


def _left_file(error: OpError) -> BadInput:
    where = f"from byte {error.offset} on, behind {error.record} intact records"
    return BadInput(_shown(error.path or ""), None, "damaged: the rest of the file is left out", where)


def _shown(path: str) -> str:
    """Return a path as reports have it, which are the same on every machine."""
    return base_name(path) if is_url(path) or os.path.isabs(path) else path


# -- surveys ---------------------------------------------------------------------------------------------------------


def compression_of(path: str) -> str:
    """Return the compression of a file, by its first bytes."""
    return sniff_compression(open_source(path).peek(HEAD_BYTES))


@dataclass(frozen=True, slots=True, eq=False)
class FrameFile:
    """One file.

    Attributes:
        records: how many intact ones it has.
        stream_bytes: of its frames, uncompressed.
        offsets: where the marked frames begin in the uncompressed stream.
        numbers: which records those are.
        seekable: whether reading can begin at any mark without reading what is before it.
        on_corrupt: how it must be read: "raise" if it is whole. Else reading cannot begin at marks.
        bad: damage that was passed over.
    """

    path: str
    records: int
    stream_bytes: int
    offsets: IntArray
    numbers: IntArray
    seekable: bool
    on_corrupt: OnCorrupt
    bad: tuple[BadInput, ...] = ()


class _Marks:
    """Picks the first frame at or after each multiple of the step."""

    def __init__(self, step: int, stop: Stop, seen: Callable[[int], None]) -> None:
        self._step = step
        self._stop = stop
        self._seen, self._end = seen, 0
        self._slot = -1  # of the last frame that was seen
        self._offsets: list[IntArray] = []
        self._numbers: list[IntArray] = []
        self.records = 0

    def add(self, starts: IntArray) -> None:
        self._stop.check()
        slots = -(-starts // self._step)  # which multiple the frame is the first after, if any
        before = np.concatenate([[self._slot], slots[:-1]])
        chosen = np.flatnonzero(slots > before)
        self._offsets.append(starts[chosen])
        self._numbers.append(chosen + self.records)
        self._slot = int(slots[-1])
        self.records += len(starts)
        self._seen(int(starts[-1]) - self._end)
        self._end = int(starts[-1])

    def arrays(self) -> tuple[IntArray, IntArray]:
        none = np.zeros(0, np.int64)
        return np.concatenate([none, *self._offsets]), np.concatenate([none, *self._numbers])


def is_seekable(path: str) -> bool:
    """Return whether a file can be read from any position: it is plain, or in members that say their size."""
    source = open_source(path)
    compression = sniff_compression(source.peek(HEAD_BYTES))
    return not compression or member_table(source, compression) is not None


def survey_frames(
    path: str,
    on_corrupt: OnCorrupt,
    step: int,
    threads: int | None,
    stop: Stop,
    seen: Callable[[int], None] = lambda _: None,
) -> FrameFile:
    """Survey a file.

    With `on_corrupt="raise"` only the lengths are looked at, or an index that is kept beside the file: the data CRCs
    are checked when the frames are moved. Else all CRCs are checked now, since what is damaged does not count.

    There is a mark for each `step` bytes. `seen` is called with how many more bytes of the stream were looked at.

    Raises:
        DataLossError: the file is damaged, and damage is an error.
    """
    source = open_source(path)
    compression = sniff_compression(source.peek(HEAD_BYTES))
    marks = _Marks(step, stop, seen)
    if on_corrupt != "raise":
        reader = FrameReader([path], on_corrupt, threads)
        end = _add_blocks(marks, reader)
        bad = tuple(reader.bad)
    else:
        bad = ()
        end = _add_frames(marks, path, source, compression, threads)
    needed: OnCorrupt = on_corrupt if bad else "raise"
    return FrameFile(path, marks.records, end, *marks.arrays(), is_seekable(path), needed, bad)


def _add_frames(marks: _Marks, path: str, source: ByteSource, compression: str, threads: int | None) -> int:
    """Mark all frames; return the end of the stream."""
    index = load_index(path, source) if _index_size(path) <= _MAX_INDEX_BYTES else None
    if index is not None and index.compression == compression:
        if len(index):
            marks.add(index.frames[:-1])
        return int(index.frames[-1])
    if not compression:
        before = np.zeros(0, np.int64)
        for starts in walk_frames(source):
            if len(before):
                marks.add(before)
            before = starts
        return int(before[-1])  # the last thing it gives is the end
    return _add_blocks(marks, FrameReader([path], "raise", threads, crc=False))


def _add_blocks(marks: _Marks, blocks: Iterable[Block]) -> int:
    end = 0
    for block in blocks:
        starts = block.places()[1]
        assert starts is not None
        marks.add(starts)
        end = int(starts[-1] + block.lengths[-1]) + 16
    return end


def _index_size(path: str) -> int:
    try:
        return file_size(index_path(path))
    except (OpError, OSError):
        return 0
