"""FileFrames: one file that is open for random access.

Plain files are mapped: one record in the page cache costs 0.6 us instead of 2.9 us by `pread`, and a `take` of 1,024
0.3 us a record instead of 1.3 us (benchmarks/random_access.py). A map is a risk only where another process shortens the
file: the pages after its new end cannot be read, and the process gets SIGBUS. Here the one place that reads the map
copies each frame out of it, catches the signal while it does so, and checks the copy, so that a file which shrinks or
changes is a `DataLossError` like any other damage. What the map cannot serve, and files that cannot be mapped, are read
by position, through one of the few descriptors that all such files share.

Of remote files the ranges that are needed are fetched, those of all files at once, at the version that was opened.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final
from weakref import WeakMethod

import numpy as np

from tfrkit import _core
from tfrkit.codecs.table import canonical, codec
from tfrkit.errors import DataLossError, FailedPreconditionError
from tfrkit.model.arguments import check_bools
from tfrkit.model.block import IntArray
from tfrkit.records.access.find_index import MayHave, find_index
from tfrkit.records.access.index import Index, build_index
from tfrkit.records.access.member_contents import MemberContents
from tfrkit.records.access.spill import spill
from tfrkit.records.read.frame_splitter import FOOTER_BYTES, HEADER_BYTES
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.files import is_local, open_source
from tfrkit.stores.ranges import MOST_BYTES, WantedRanges, fetch_ranges
from tfrkit.stores.remote_source import RemoteSource
from tfrkit.stores.reopen import ReopenedSource
from tfrkit.stores.source import ByteSource
from tfrkit.stores.url import display_name
from tfrkit.threads import default_threads, thread_pool

__all__ = ["SPLIT_BYTES", "FileFrames", "check_gathered", "no_short_way"]

SPLIT_BYTES: Final = 4 << 20  # fewer are not worth a second thread: 1,024 records of 650 bytes lose by it
_FRAME_BYTES: Final = HEADER_BYTES + FOOTER_BYTES
_MAPPED_BYTES: Final = 1 << 14  # of frames on average; files of larger ones are read by position


class FileFrames:
    """The frames of one file by their numbers. Thread-safe; a fork may share it.

    Args: as those of `RecordFile`, and what `listed_folders` returns.

    Attributes:
        path: the file's.
        name: the same, for messages.
        compression: the file's.
        index: where the frames are; of a file that was spilled, in the temporary file.
        frame_map: of a plain local file; None if it cannot be mapped.
        short: the short way to one record: anything but bytes says that it does not lead there.
        remote: frames come by requests.
    """

    def __init__(
        self,
        path: str,
        *,
        compression: str,
        crc: bool,
        index: str,
        spill_bytes: int,
        cache: bool | None = None,
        may_have: MayHave = bool,
    ) -> None:
        check_bools(crc=crc, cache=cache)
        self.path, self.name, self.crc = path, display_name(path), crc
        source = open_source(path, cache=cache)
        if not source.regular:
            raise FailedPreconditionError(
                f"{self.name}; random access needs a regular file. Use read_records for pipes."
                if is_local(path)
                else f"{self.name}; the server does not answer requests for ranges, which random access needs. "
                "Use read_records, or copy the file.",
                path=self.name,
            )
        kind = sniff_compression(source.peek(HEAD_BYTES)) if compression == "auto" else canonical(compression)
        self.compression = kind
        found = find_index(path, source, index, kind, may_have) if _may_seek(source, kind) else None
        spilled = found is None
        if found is None:
            source = spill(source, kind, spill_bytes)
            found = build_index(source)
        self.index: Index = found
        self.remote = source.remote
        self.frame_map = _map_frames(source, found, crc, spilled)
        self._source: ByteSource | ReopenedSource | None = source.fresh()
        if spilled and self.frame_map is not None:
            # The temporary file has no name to open it by, but no other process changes it: the map is enough.
            self._source = None
        elif not spilled and not self.remote:
            self._source = ReopenedSource(source)
        self.members = MemberContents(self.name, found, _weakly(self._read_at)) if found.compression else None
        self.checks = self.members is None and not self.remote  # whether `read` has checked the frames
        self._starts = memoryview(found.frames)
        self._closed = False
        # A call that runs keeps the map: it goes with the last one after close().
        self.short: Callable[[object], bytes | int] = self.frame_map.get if self.frame_map else no_short_way

    def __len__(self) -> int:
        return len(self._starts) - 1

    def close(self) -> None:
        """Let go of the file; using it afterwards is an error."""
        self._closed = True
        self._source = self.frame_map = None
        self.short = no_short_way
        if self.members is not None:  # a thread that still reads has the old one
            self.members = MemberContents(self.name, self.index, _weakly(self._read_at))

    def record(self, number: int) -> bytes:
        """Return one record, which exists."""
        record = self.short(number)
        if isinstance(record, bytes):
            return record
        start = self._starts[number]
        size = self._starts[number + 1] - start
        if self.members is not None:
            buffer = _core.Buffer(size)
            numbers, outs = np.array([number]), np.zeros(1, np.int64)
            if self.remote:
                fetch_ranges([self.wanted(numbers, buffer, outs)])
            else:
                self.read(numbers, buffer, outs)
            return self._checked(memoryview(buffer), number)
        source = self._open_source()
        if self.remote:
            assert source is not None
            return self._checked(memoryview(source.read_at(start, size)), number)
        if source is not None:
            record = _core.read_frame(_fd(source), start, size - _FRAME_BYTES, self.crc)
        if isinstance(record, bytes):
            return record
        raise self.error(number)

    def read(self, numbers: IntArray, buffer: _core.Buffer, outs: IntArray) -> None:
        """Copy frames of a local file into a buffer; those of a plain file are checked.

        Args:
            numbers: of the frames.
            buffer: where to.
            outs: where each goes there.

        Raises:
            DataLossError: a frame is damaged.
        """
        if self.members is not None:
            starts = self.index.frames[numbers]
            self.members.copy(memoryview(buffer), starts, self.index.frames[numbers + 1] - starts, outs)
            return
        frame_map = self.frame_map
        bad = -1 if frame_map is None else frame_map.take(numbers, buffer, outs)[0]
        if bad < 0 and frame_map is not None:
            return
        # It holds the source, not just its number: after an interruption the other threads are not waited for.
        source = self._open_source()
        if source is not None:
            starts = self.index.frames[numbers]
            lengths = self.index.frames[numbers + 1] - starts - _FRAME_BYTES
            bad, _ = _core.read_frames(_fd(source), starts, lengths, buffer, outs, self.crc)
        if bad >= 0:
            raise self.error(int(numbers[bad]))

    def read_pieces(self, numbers: IntArray, pieces: _core.FramePieces, places: IntArray) -> None:
        """Copy frames of a plain local file to their places, by position, checked.

        Raises:
            DataLossError: a frame is damaged.
        """
        source, bad = self._open_source(), 0
        if source is not None:
            starts = self.index.frames[numbers]
            lengths = self.index.frames[numbers + 1] - starts - _FRAME_BYTES
            bad, _ = _core.read_pieces(_fd(source), starts, lengths, pieces, places, self.crc)
        elif self.frame_map is not None:
            bad, _ = self.frame_map.sweep(numbers, pieces, places)
        if bad >= 0:
            raise self.error(int(numbers[bad]))

    @property
    def range_source(self) -> RemoteSource:
        """Where ranges of a remote file come from."""
        source = self._open_source()
        assert isinstance(source, RemoteSource)
        return source

    def wanted(self, numbers: IntArray, buffer: _core.Buffer, outs: IntArray) -> WantedRanges:
        """Say which ranges of a remote file to fetch for the same; nothing is checked."""
        source = self.range_source
        view, starts = memoryview(buffer), self.index.frames[numbers]
        sizes = self.index.frames[numbers + 1] - starts
        if self.members is not None:
            return self.members.wanted(source.fetch, view, starts, sizes, outs)
        begins, ends, targets = _runs(starts, sizes, outs)

        def use(ranges: range, begin: int, data: memoryview) -> None:
            for each in ranges:
                start, stop, out = begins[each], ends[each], targets[each]
                view[out : out + stop - start] = data[start - begin : stop - begin]

        return WantedRanges(source.fetch, begins, ends, use)

    def error(self, number: int) -> DataLossError:
        """Return the error about a frame that is not what it should be."""
        start = self._starts[number]
        return DataLossError(
            f"corrupted record at {start + HEADER_BYTES}: the frame is not what the index or its checksums say, in "
            f"record {number} (frame at byte {start}) of {self.name!r}. Has the file changed? Open it again, copy it "
            "again, or repair it with tfrkit.repair.",
            path=self.name,
            record=number,
            offset=start,
        )

    def _checked(self, frame: memoryview, number: int) -> bytes:
        size = np.array([len(frame) - _FRAME_BYTES])
        if check_gathered(frame, np.array([HEADER_BYTES]), size, crc=self.crc) >= 0:
            raise self.error(number)
        return bytes(frame[HEADER_BYTES:-FOOTER_BYTES])

    def _open_source(self) -> ByteSource | None:
        """Return the source, to be held for as long as its descriptor is used; None if there is only the map."""
        source = self._source
        if self._closed:
            raise FailedPreconditionError("RecordFile is closed.", path=self.name)
        return source.get() if isinstance(source, ReopenedSource) else source

    def _read_at(self, position: int, count: int) -> bytes:
        source = self._open_source()
        assert source is not None  # what is in members is not spilled
        return source.read_at(position, count)


def _weakly(read_at: Callable[[int, int], bytes]) -> Callable[[int, int], bytes]:
    """Return a function that calls a method and does not keep its owner, whose last reference closes the file."""
    method = WeakMethod(read_at)

    def call(position: int, count: int) -> bytes:
        bound = method()
        assert bound is not None  # whoever reads has the owner
        return bound(position, count)

    return call


def check_gathered(data: Any, offsets: IntArray, lengths: IntArray, *, crc: bool) -> int:
    """Return the first of some frames that is damaged, or has another length than expected; -1 if none. Pure: no I/O.

    Args:
        data: the frames, side by side.
        offsets: of the payloads.
        lengths: of the payloads.
        crc: check the payloads, too.
    """
    if not len(offsets):
        return -1
    parts = max(1, min(default_threads(), len(data) // SPLIT_BYTES))
    bounds = [len(offsets) * each // parts for each in range(parts + 1)]

    def check(part: int) -> int:
        first, last = bounds[part], bounds[part + 1]
        if first == last:
            return -1
        begin = int(offsets[first]) - HEADER_BYTES
        end = int(offsets[last - 1] + lengths[last - 1]) + FOOTER_BYTES
        scan = _core.scan_frames(data, begin, end, crc, 2**62)
        count = len(scan.offsets)
        same = scan.offsets == offsets[first : first + count]
        same &= scan.lengths == lengths[first : first + count]
        good = count if same.all() else int(np.argmin(same))
        return -1 if good == last - first else first + good

    others = [thread_pool().submit(check, part) for part in range(1, parts)]
    found = [check(0), *(other.result() for other in others)]
    return min((place for place in found if place >= 0), default=-1)


def no_short_way(_index: object) -> int:
    """Stand in for FrameMap.get where there is no map."""
    return _core.NEED_MORE


def _may_seek(source: ByteSource, compression: str) -> bool:
    """Tell whether a file is plain or begins with a member that tells its size."""
    if not compression:
        return True
    members = codec(compression).members
    return members is not None and (
        not source.size() or members.parse_header(source.peek(members.header_bytes)) is not None
    )


def _fd(source: ByteSource) -> int:
    assert source.fd is not None
    return source.fd


def _map_frames(source: ByteSource, index: Index, crc: bool, settled: bool) -> _core.FrameMap | None:
    """Map a plain file; None where that cannot be done: it is remote or empty, or its file system knows no maps.

    Nor is a file of large records, if it can be opened again: a map gains nothing there, and would become resident.
    """
    if index.compression or source.remote:
        return None
    if not settled and int(index.frames[-1]) >= _MAPPED_BYTES * max(1, len(index.frames) - 1):
        return None
    try:
        return _core.FrameMap(_fd(source), index.frames, crc, settled)
    except OSError:
        return None


def _runs(starts: IntArray, sizes: IntArray, outs: IntArray) -> tuple[list[int], list[int], list[int]]:
    """Sort frames by their place, and join those that lie side by side in file and buffer, up to MOST_BYTES.

    Pure: no I/O. Returns where each run begins and ends in the file, and where it goes.
    """
    order = np.argsort(starts, kind="stable")
    starts, sizes, outs = starts[order], sizes[order], outs[order]
    ends = starts + sizes
    apart = (starts[1:] != ends[:-1]) | (outs[1:] != outs[:-1] + sizes[:-1])
    firsts = np.flatnonzero(np.append(True, apart)) if len(starts) else order
    lasts = np.append(firsts[1:], len(starts)) - 1 if len(starts) else order
    runs: tuple[list[int], list[int], list[int]] = [], [], []
    for start, end, out in zip(
        starts[firsts].tolist(), ends[lasts].tolist(), outs[firsts].tolist(), strict=True
    ):
        for begin in range(start, end, MOST_BYTES):
            runs[0].append(begin)
            runs[1].append(min(end, begin + MOST_BYTES))
            runs[2].append(out + begin - start)
    return runs
