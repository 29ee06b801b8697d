"""Frames of one file by number, as they stand there: those that are damaged included, each with what is wrong with it.

Numbers are those of an index: a record whose data are damaged counts, as its frame is whole. Of a file that is too
damaged for an index the frames are found by reading on after damage, as `verify` does.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np

from tfrkit import _core
from tfrkit.errors import DataLossError, InvalidArgumentError, OpError
from tfrkit.model.block import Block, IntArray
from tfrkit.model.policy import TFRKIT
from tfrkit.records.access.file_frames import FileFrames
from tfrkit.records.access.find_index import MayHave
from tfrkit.records.access.gather import FramePart, gather
from tfrkit.records.access.record_file import SPILL_BYTES
from tfrkit.records.check.verify import walk_events
from tfrkit.records.read.damage import MAX_DAMAGES, Damage
from tfrkit.records.read.file_reader import open_file_reader
from tfrkit.records.read.frame_splitter import FOOTER_BYTES, HEADER_BYTES
from tfrkit.stores.files import open_source

__all__ = ["RawFrame", "RawFrames", "frame_of", "open_frames", "walk_frames"]

RUN_BYTES: Final = 8 << 20  # of records that are in memory at once, unless one alone has more
_WALK_BYTES: Final = 1 << 18
_DATA_CRC: Final = "bad data CRC"  # of which the frame is whole


@dataclass(frozen=True, slots=True)
class RawFrame:
    """One record as it stands in its file.

    Attributes:
        record: its number in the file.
        offset: where its frame begins in the uncompressed stream.
        size: bytes of the frame.
        data: the frame: length and its checksum, the record, and its checksum; empty if it cannot be read.
        error: what is wrong with it, or "".
    """

    record: int
    offset: int
    size: int
    data: bytes | memoryview
    error: str = ""

    @property
    def view(self) -> memoryview:
        """The record, damaged or not; empty if it cannot be read."""
        return memoryview(self.data)[HEADER_BYTES:-FOOTER_BYTES]

    @property
    def payload(self) -> bytes:
        """The same as a copy."""
        return bytes(self.view)


class RawFrames(Protocol):
    """A file whose frames can be had by number. Thread-safe."""

    count: int
    compression: str
    problem: str  # why it has no index, or ""
    nbytes: int  # of memory that it takes

    @property
    def damages(self) -> Sequence[Damage]:
        """Those that were passed over."""

    def runs(self, numbers: Sequence[int]) -> Iterator[list[RawFrame]]:
        """Yield the frames with ascending numbers, some megabytes at a time."""


def open_frames(path: str, may_have: MayHave = bool) -> RawFrames:
    """Open a file, with the index that is kept of it, or made now in memory.

    Raises:
        OpError: it is not there or cannot be read; damage is none.
    """
    try:
        return _IndexedFile(path, may_have)
    except (DataLossError, InvalidArgumentError) as error:
        return _WalkedFile(path, error.message)


class _IndexedFile:
    problem = ""
    damages: Sequence[Damage] = ()

    def __init__(self, path: str, may_have: MayHave) -> None:
        self._frames = FileFrames(
            path, compression="auto", crc=False, index="auto", spill_bytes=SPILL_BYTES, may_have=may_have
        )
        self.compression = self._frames.compression
        self.count = len(self._frames)
        self.nbytes = self._frames.index.frames.nbytes

    def runs(self, numbers: Sequence[int]) -> Iterator[list[RawFrame]]:
        starts = self._frames.index.frames
        for run in _cut(numbers, starts[:-1], starts[1:]):
            try:
                yield self._read(run)
            except OpError:  # one of them: the others are read without it
                for number in run.tolist():
                    yield [self._read_one(number)]
            if self._frames.frame_map is not None:
                self._frames.frame_map.let_go()  # pages that were looked at once

    def _read(self, numbers: IntArray) -> list[RawFrame]:
        part = FramePart(self._frames, numbers, np.arange(len(numbers)))
        buffer, offsets, lengths = gather([part], len(numbers))
        view, starts = memoryview(buffer), self._frames.index.frames
        places = zip(numbers.tolist(), offsets.tolist(), lengths.tolist(), strict=True)
        frames = ((number, view[at - HEADER_BYTES : at + size + FOOTER_BYTES]) for number, at, size in places)
        alone = len(numbers) == 1  # perhaps a large one: it is not copied
        return [
            frame_of(number, int(starts[number]), data if alone else bytes(data)) for number, data in frames
        ]

    def _read_one(self, number: int) -> RawFrame:
        try:
            return self._read(np.array([number]))[0]
        except OpError as error:
            begin, end = self._frames.index.frames[number : number + 2].tolist()
            return RawFrame(number, begin, end - begin, b"", error.message)


class _WalkedFile:
    def __init__(self, path: str, problem: str) -> None:
        self._path, self.problem = path, problem
        begins: list[IntArray] = []
        ends: list[IntArray] = []
        found: list[Damage] = []
        source = open_source(path)
        reader = open_file_reader(source, TFRKIT.with_options(on_corrupt="skip"))
        for event in walk_events(reader):
            if isinstance(event, Block):
                begins.append(event.offsets + (event.start - HEADER_BYTES))
                ends.append(begins[-1] + event.lengths + (HEADER_BYTES + FOOTER_BYTES))
                continue
            if len(found) < MAX_DAMAGES:
                found.append(event)
            if event.kind == _DATA_CRC:
                begins.append(np.array([event.start]))
                ends.append(np.array([event.end]))
        empty = [np.zeros(0, np.int64)]
        self._begins, self._ends = np.concatenate(begins or empty), np.concatenate(ends or empty)
        self.compression = reader.compression
        self.count, self.damages = len(self._begins), found
        self.nbytes = 2 * self._begins.nbytes

    def runs(self, numbers: Sequence[int]) -> Iterator[list[RawFrame]]:
        if self.compression:
            yield from self._runs_in_stream(numbers)
            return
        source = open_source(self._path)
        for run in _cut(numbers, self._begins, self._ends):
            begins, ends = self._begins[run].tolist(), self._ends[run].tolist()
            data = [source.read_at(begin, end - begin) for begin, end in zip(begins, ends, strict=True)]
            yield [frame_of(*each) for each in zip(run.tolist(), begins, data, strict=True)]

    def _runs_in_stream(self, numbers: Sequence[int]) -> Iterator[list[RawFrame]]:
        """Inflate from the beginning up to the last that is wanted: nothing else leads past damage."""
        wanted, last = set(numbers), max(numbers, default=-1)
        for some in walk_frames(self._path):
            chosen = [frame for frame in some if frame.record in wanted]
            if chosen:
                yield chosen
            if some[-1].record >= last:
                return


def walk_frames(path: str) -> Iterator[list[RawFrame]]:
    """Yield the frames of a file from its beginning, some at a time, in this thread.

    Raises:
        OpError: the file is not there or cannot be read.
    """
    source, record = open_source(path), 0
    reader = open_file_reader(source, TFRKIT.with_options(on_corrupt="skip"), _WALK_BYTES)
    for event in walk_events(reader):
        frames: list[RawFrame] = []
        if isinstance(event, Block):
            data = memoryview(event.data)
            for at, size in zip(event.offsets.tolist(), event.lengths.tolist(), strict=True):
                whole = bytes(data[at - HEADER_BYTES : at + size + FOOTER_BYTES])
                frames.append(
                    RawFrame(record + len(frames), event.start + at - HEADER_BYTES, len(whole), whole)
                )
        elif event.kind == _DATA_CRC:
            plain = source.regular and not reader.compression
            data_there = source.read_at(event.start, event.bytes) if plain else b""
            frames.append(
                RawFrame(record, event.start, event.bytes, data_there, f"{event.text}: {event.detail}")
            )
        record += len(frames)
        if frames:
            yield frames


def frame_of(record: int, offset: int, data: bytes | memoryview) -> RawFrame:
    """Return a frame that was read, with what is wrong with it. Pure: no I/O."""
    found = _core.scan_frames(data, 0, len(data), True, 2**62)
    if found.code == _core.OK and found.end == len(data) and len(found.offsets) == 1:
        return RawFrame(record, offset, len(data), data)
    return RawFrame(record, offset, len(data), data, what_is_wrong(data))


def what_is_wrong(data: bytes | memoryview) -> str:
    """Say what is wrong with a frame, with the numbers that show it. Pure: no I/O."""
    length = int.from_bytes(data[:8], "little")
    stored, computed = int.from_bytes(data[8:12], "little"), _core.crc32c_masked(data[:8])
    if stored != computed:
        return f"length checksum stored {stored:#010x}, computed {computed:#010x}"
    if length != len(data) - HEADER_BYTES - FOOTER_BYTES:
        return (
            f"expected a frame of {length:,} bytes but it has {len(data):,}: the file has changed, or is cut"
        )
    stored = int.from_bytes(data[-FOOTER_BYTES:], "little")
    computed = _core.crc32c_masked(data[HEADER_BYTES:-FOOTER_BYTES])
    return f"data checksum stored {stored:#010x}, computed {computed:#010x}"


def _cut(numbers: Sequence[int], begins: IntArray, ends: IntArray) -> Iterator[IntArray]:
    """Cut numbers into runs of RUN_BYTES, or of one. Pure: no I/O."""
    chosen = np.asarray(numbers, np.int64)
    reached = np.cumsum(ends[chosen] - begins[chosen])
    first = 0
    while first < len(chosen):
        before = int(reached[first - 1]) if first else 0
        stop = max(first + 1, int(np.searchsorted(reached, before + RUN_BYTES, side="right")))
        yield chosen[first:stop]
        first = stop
