"""Walks over a whole file that find where frames and members begin, for indexes and counts.

Length fields are checked, data is not. Of a local file large payloads are skipped; a remote one is read in order, with
requests under way, as skipping would be a request for every record.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from typing import Final

import numpy as np

from tfrkit import _core
from tfrkit.codecs.table import codec
from tfrkit.errors import DataLossError
from tfrkit.model.block import IntArray
from tfrkit.model.policy import TFRKIT
from tfrkit.records.read.damage import Damage, damage_error
from tfrkit.records.read.frame_splitter import HEADER_BYTES, Event, FrameSplitter
from tfrkit.records.read.reader import BlockReader
from tfrkit.stores.source import ByteSource
from tfrkit.threads import default_threads, thread_pool

__all__ = ["damaged_member", "member_table", "stream_frames", "walk_frames", "walk_members"]

_READ_BYTES: Final = 1 << 20
_SKIP_BYTES: Final = 1 << 16  # payloads from here on are skipped, not read
_FOOTER_BYTES: Final = 4
_SMALL_BYTES: Final = 1 << 16  # of a remote file: as much as stores send with its opening
_LARGE_MEMBER_BYTES: Final = 1 << 25  # of such one at a time is inflated


def walk_frames(source: ByteSource) -> Iterator[IntArray]:
    """Walk the frames of a plain file: where they begin, some thousands at once, and in the end the file's end.

    Raises:
        DataLossError: the file is damaged.
    """
    if source.remote:
        yield from _walk_in_order(source)
        return
    splitter = _strict_splitter(source)
    buffer = _core.Buffer(_READ_BYTES)
    view = memoryview(buffer)
    at, size, count = 0, source.size() or 0, 0
    want = _READ_BYTES
    while at < size:
        got = source.read_into(view[:want], at)
        scan = _core.scan_frames(buffer, 0, got, False, TFRKIT.max_record_bytes)
        if len(scan.offsets):
            count += len(scan.offsets)
            yield scan.offsets + (at - HEADER_BYTES)
        stopped = at + scan.end
        if scan.code == _core.NEED_MORE and stopped + scan.need <= size and scan.need > HEADER_BYTES:
            if scan.need < _SKIP_BYTES:
                at, want = stopped, _READ_BYTES
                continue
            count += 1
            yield np.array([stopped], np.int64)
            at, want = stopped + scan.need, HEADER_BYTES  # the next one is probably large as well
        elif scan.code == _core.OK or (
            scan.code == _core.NEED_MORE and got == want and stopped + HEADER_BYTES <= size
        ):
            at, want = stopped, _READ_BYTES
        else:
            splitter.records = count
            _raise_damage(splitter, source, stopped)
    yield np.array([at], np.int64)


def _walk_in_order(source: ByteSource) -> Iterator[IntArray]:
    splitter, size, end = _strict_splitter(source), source.size() or 0, 0
    parts: Iterable[bytes] = iter(partial(source.fresh().read, _READ_BYTES), b"")
    if 0 < size <= _SMALL_BYTES:
        parts = [source.look_at(0, size)]
    for data in parts:
        end += len(data)
        yield from _frames_in(splitter.feed(data, 0, len(data)), source)
    yield from _frames_in(splitter.finish(), source)
    yield np.array([end], np.int64)


def _frames_in(events: list[Event], source: ByteSource, compression: str = "") -> Iterator[IntArray]:
    """Yield where the frames of some events begin in the stream.

    Raises:
        DataLossError: there is damage among them.
    """
    for event in events:
        if isinstance(event, Damage):
            raise damage_error(event, source, compression)
        yield event.offsets + (event.start - HEADER_BYTES)


def _strict_splitter(source: ByteSource, size: Callable[[], int | None] | None = None) -> FrameSplitter:
    return FrameSplitter(
        source.name,
        check=False,
        resync=False,
        max_record_bytes=TFRKIT.max_record_bytes,
        size=size or source.size,
    )


def _raise_damage(splitter: FrameSplitter, source: ByteSource, at: int) -> None:
    """Let the splitter look at the damaged place, so that the error is the usual one."""
    splitter.position = at
    head = source.read_at(at, HEADER_BYTES)
    events = splitter.feed(head, 0, len(head)) + splitter.finish()
    damage = next(event for event in events if isinstance(event, Damage))
    raise damage_error(damage, source, "")


def stream_frames(source: ByteSource) -> IntArray:
    """Walk the frames of a compressed file; its members are inflated on all cores."""
    reader = BlockReader([source.name], TFRKIT.with_options(crc=False), None, _READ_BYTES)
    parts: list[IntArray] = []
    end = 0
    for block in reader:
        parts.append(block.offsets + (block.start - HEADER_BYTES))
        end = block.start + int(block.offsets[-1] + block.lengths[-1]) + _FOOTER_BYTES
    return np.concatenate([*parts, np.array([end], np.int64)])


def member_table(source: ByteSource, compression: str) -> tuple[IntArray, IntArray] | None:
    """Find the members of a file by their own headers: positions in the file and in the stream.

    None if not all of them tell their size, or the compression has no members.
    """
    members = codec(compression).members
    if members is None:
        return None
    at, stream, size = 0, 0, source.size() or 0
    in_file: list[int] = []
    in_stream: list[int] = []
    while at < size:
        head = members.parse_header(source.read_at(at, members.header_bytes))
        if head is None or head[1] > size - at:
            return None
        in_file.append(at)
        in_stream.append(stream)
        at += head[1]
        stream += head[2]
    return np.array(in_file, np.int64), np.array(in_stream, np.int64)


def walk_members(source: ByteSource, compression: str) -> tuple[IntArray, IntArray, IntArray] | None:
    """Walk a file in members in order, once: where its frames begin, and its members in the file and in the stream.

    Members are inflated on all cores. None if not all of them tell their size, or the compression has no members.

    Raises:
        DataLossError: the file is damaged.
    """
    members = codec(compression).members
    if members is None or members.parse_header(source.look_at(0, members.header_bytes)) is None:
        return None
    source = source.fresh()
    source.read_ahead(0)
    splitter = _strict_splitter(source, lambda: None)
    frames: list[IntArray] = []
    table: list[tuple[int, int]] = []
    inflating: deque[tuple[int, Future[bytes | None]]] = deque()
    at, stream, size = 0, 0, source.size() or 0

    def settle(most: int) -> None:
        """Take inflated members in order until at most this many are under way."""
        while len(inflating) > most:
            begin, future = inflating.popleft()
            content = future.result()
            if content is None:
                raise damaged_member(source.name, compression, begin, splitter.position)
            frames.extend(_frames_in(splitter.feed(content, 0, len(content)), source, compression))

    try:
        while at < size:
            head = members.parse_header(source.look_at(at, members.header_bytes))
            if head is None or head[1] > size - at:
                return None
            large = head[2] > _LARGE_MEMBER_BYTES
            settle(0 if large else 2 * default_threads())
            table.append((at, stream))
            inflating.append((at, thread_pool().submit(members.inflate, source.read_at(at, head[1]))))
            at, stream = at + head[1], stream + head[2]
            if large:
                settle(0)
        settle(0)
    finally:
        for _, future in inflating:
            future.cancel()
    frames.extend(_frames_in(splitter.finish(), source, compression))
    in_file, in_stream = np.array(table, np.int64).reshape(-1, 2).T.copy()
    return np.concatenate([*frames, np.array([stream], np.int64)]), in_file, in_stream


def damaged_member(path: str, compression: str, begin: int, offset: int) -> DataLossError:
    """Return the error about a member that is not what it says. Pure: no I/O."""
    return DataLossError(
        f"inflate() failed with error -3: damaged {compression} member at byte {begin} of {path!r}. "
        "Copy the file again, or repair it with tfrkit.repair.",
        path=path,
        offset=offset,
    )
