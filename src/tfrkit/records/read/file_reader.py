"""FileReader: the work of reading one file, as steps that threads can share.

A step has three parts: `prepare` reads (and inflates) the step's bytes, `split` finds the frames in them, `check` tests
the data CRCs. `split` of step i needs the unfinished frame that step i-1 left over, so it runs in order, as does
`prepare` where bytes can only be had one after another (one deflate stream); everything else runs at once. A thread
that has prepared a step before its turn leaves it to the thread that splits the one before, and takes up other work.
"""

from __future__ import annotations

import contextlib
import threading
from collections import deque
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from tfrkit import _core
from tfrkit.codecs.codec import CHUNK_BYTES, Codec, Decoder, MemberFormat
from tfrkit.codecs.table import codec, names
from tfrkit.errors import DataLossError
from tfrkit.model.block import Block
from tfrkit.model.policy import ReadPolicy
from tfrkit.records.read.damage import Damage, Kind
from tfrkit.records.read.frame_splitter import Event, FrameSplitter, check_block
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.source import ByteSource

__all__ = ["BLOCK_BYTES", "FileReader", "ReadStep", "compression_of", "open_file_reader"]

# Chosen by measurement: larger blocks leave the core's cache, smaller ones pay for more switches between threads
# (benchmarks/read_blocks.py).
BLOCK_BYTES: Final = 1 << 21
# Members that claim more are read as a stream: several are inflated at once, each in one piece.
_MEMBER_LIMIT: Final = 1 << 25
HEADROOM_BYTES: Final = (
    1 << 16
)  # an unfinished frame up to this size moves to the next block without an allocation


@dataclass(slots=True, eq=False)
class ReadStep:
    """One step of reading a file: what to read, and what came of it."""

    at: int  # where its bytes begin in the file, or -1 for the next ones of a decoder
    size: int
    result: Future[list[Event]] = field(default_factory=Future)
    prepared: threading.Lock = field(default_factory=threading.Lock)  # held until its bytes are here
    before: ReadStep | None = None
    content: Any = None  # what `prepare` returned, until it is split
    is_ready: bool = False  # to be split as soon as the steps before it are


class ByteSupply(Protocol):
    """How a FileReader gets its bytes."""

    in_order: bool  # steps must be prepared one after another

    def plan(self, *, ahead: bool) -> tuple[int, int] | None:
        """Say what the next step reads: (position, bytes). With `ahead`, None where the file seems to end."""

    def prepare(self, at: int, size: int) -> Any:
        """Read it, and return what `give` takes."""

    def give(self, prepared: Any, splitter: FrameSplitter) -> list[Event]:
        """Hand what was prepared to the splitter, in order. Sets splitter.done at the end of the file."""


class FileReader:
    """One open file on its way to events. Steps are planned by one thread and run by any."""

    def __init__(
        self,
        source: ByteSource,
        compression: str,
        policy: ReadPolicy,
        block_bytes: int,
        start: tuple[int, int],
        near: tuple[int, int] = (0, 0),
        stop: int | None = None,
    ) -> None:
        self.path = source.name
        self.source = source
        self.compression = compression
        resync = policy.on_corrupt == "skip"
        self.splitter = FrameSplitter(
            source.name,
            check=False,
            resync=resync,
            max_record_bytes=policy.max_record_bytes,
            size=source.size if not compression else lambda: None,
            short_text="EOF reached" if compression else "Read less bytes than requested",
        )
        self._crc = policy.crc and not resync
        self._last: ReadStep | None = None
        self._steps: deque[ReadStep] = deque()  # planned and not split
        self._lock = threading.Lock()
        self._splitting = False
        offset, record = start
        reached = _seek(source, compression, policy, offset, near) if offset else 0
        if offset:
            self.splitter.start_at(offset, record, drop=offset - reached)
        if source.regular:
            source.read_ahead(source.position, slowly=bool(compression), stop=None if compression else stop)
        self.supply = _choose_supply(source, compression, policy, block_bytes, stop)

    @property
    def done(self) -> bool:
        """Nothing more will come."""
        return self.splitter.done

    def plan(self, *, ahead: bool = False) -> ReadStep | None:
        """Make the next step, or None if no more are needed.

        Args:
            ahead: other steps are under way; plan only what will surely be needed.
        """
        if self.done:
            return None
        planned = self.supply.plan(ahead=ahead)
        if planned is None:
            return None
        step = ReadStep(*planned, before=self._last if self.supply.in_order else None)
        step.prepared.acquire()
        self._last = step
        self._steps.append(step)
        return step

    def stop(self) -> None:
        """Want no more. Nobody shall wait for a step that was planned and, after an interruption, never handed in."""
        self.splitter.done = True
        if self._last is not None:
            with contextlib.suppress(RuntimeError):  # `work` has done it
                self._last.prepared.release()

    def run(self, step: ReadStep) -> list[Event]:
        """Do a planned step and return what came of it; the steps before it must have been started. Thread-safe."""
        self.work(step)
        return step.result.result()

    def work(self, step: ReadStep) -> None:
        """Prepare a planned step, and split what is ready and has its turn. Thread-safe."""
        before, step.before = step.before, None
        try:
            if before is not None:
                with before.prepared:
                    pass
            step.content = self._prepare(step.at, step.size)
        finally:
            with contextlib.suppress(RuntimeError):  # `stop` has done it
                step.prepared.release()
        with self._lock:
            step.is_ready = True
        while (ready := self._take_ready()) is not None:
            self._finish(ready)

    def _take_ready(self) -> ReadStep | None:
        """Return the step that has its turn, if it is prepared and no other thread is splitting."""
        with self._lock:
            if self._splitting or not self._steps or not self._steps[0].is_ready:
                return None
            self._splitting = True
            return self._steps.popleft()

    def _finish(self, step: ReadStep) -> None:
        content, step.content = step.content, None
        try:
            events = self._split(content)
            step.result.set_result(self._checked(events) if self._crc else events)
        except BaseException as error:  # noqa: BLE001  # it belongs to the caller of result()
            step.result.set_exception(error)
            del step  # its exception's traceback refers to this frame

    def _split(self, content: Any) -> list[Event]:
        try:
            if self.splitter.done:
                return []
            if isinstance(content, Exception):
                self.splitter.done = True
                raise content
            return self.supply.give(content, self.splitter)
        finally:
            self._splitting = False

    def _prepare(self, at: int, size: int) -> Any:
        if self.splitter.done:
            return None
        try:
            return self.supply.prepare(at, size)
        except Exception as error:  # noqa: BLE001  # raised when it is its turn
            return error

    def _checked(self, events: list[Event]) -> list[Event]:
        checked: list[Event] = []
        for event in events:
            found = check_block(event) if isinstance(event, Block) else [event]
            checked += found
            if isinstance(found[-1], Damage):
                self.splitter.done = True
                break
        return checked


class PlainSupply:
    """A regular file without compression: fixed ranges, read at once by many threads."""

    in_order = False

    def __init__(self, source: ByteSource, block_bytes: int, stop: int | None) -> None:
        self._source, self._stop = source, stop
        self._block_bytes = (
            source.scan_bytes if source.scan_bytes and block_bytes == BLOCK_BYTES else block_bytes
        )
        self._next = source.position
        self._size = 0  # as it was when it was last asked for

    def plan(self, *, ahead: bool) -> tuple[int, int] | None:
        at = self._next
        if ahead and self._stop is not None and at >= self._stop:
            return None
        # The step that finds the end may be an empty one, at the very end; after it none is needed.
        # The size is asked for only beyond what it was: each time costs as much as parsing 200 records.
        if ahead and at > self._size:
            self._size = self._source.size() or 0
            if at > self._size:
                return None
        self._next += self._block_bytes
        return at, self._block_bytes

    def prepare(self, at: int, size: int) -> tuple[Any, int, int, bool]:
        """Return a buffer, where its content begins and ends, and whether the file ends there."""
        borrowed = self._source.borrow(at, size) if self._source.remote else None
        if borrowed is not None:
            return borrowed, 0, len(borrowed), len(borrowed) < size
        buffer = _core.Buffer(HEADROOM_BYTES + size)
        got = self._source.read_into(memoryview(buffer)[HEADROOM_BYTES:], at)
        return buffer, HEADROOM_BYTES, HEADROOM_BYTES + got, got < size

    def give(self, prepared: tuple[Any, int, int, bool], splitter: FrameSplitter) -> list[Event]:
        buffer, start, stop, ends = prepared
        events = splitter.feed(buffer, start, stop)
        if ends:
            events += splitter.finish()
        return events


class StreamSupply:
    """What can only be had in order: one compressed stream, pipes and file objects."""

    in_order = True

    def __init__(self, decoder: Decoder, policy: ReadPolicy, block_bytes: int) -> None:
        self._decoder = decoder
        self._block_bytes = block_bytes
        self._resync = policy.on_corrupt == "skip"
        self._cut_is_error = policy.cut_tail == "error"
        self._over = False

    def plan(self, *, ahead: bool) -> tuple[int, int] | None:
        return -1, 0

    def prepare(self, at: int, size: int) -> tuple[Any, int, str | None]:
        """Inflate the next block: a buffer, where its content ends, and what comes then.

        The latter is None (more), "" (the end) or the text of an error.
        """
        # Copying small chunks while they are in cache beats large ones: their memory would be new every time, and
        # faulting it in costs more than the copy (benchmarks/gzip_read.py).
        buffer = _core.Buffer(HEADROOM_BYTES + self._block_bytes + CHUNK_BYTES)
        view = memoryview(buffer)
        stop = HEADROOM_BYTES
        while stop < HEADROOM_BYTES + self._block_bytes:
            chunk = self._next_chunk()
            if isinstance(chunk, str) or not chunk:
                return buffer, stop, chunk or ""
            if stop + len(chunk) > len(view):  # what was salvaged from a damaged member may be larger
                grown = _core.Buffer(stop + len(chunk))
                memoryview(grown)[:stop] = view[:stop]
                buffer, view = grown, memoryview(grown)
            view[stop : stop + len(chunk)] = chunk
            stop += len(chunk)
        return buffer, stop, None

    def _next_chunk(self) -> bytes | str:
        if self._over:
            return b""
        try:
            return self._decoder.read()
        except DataLossError as error:
            self._over = not (self._resync and self._decoder.recover())
            return error.message

    def give(self, prepared: tuple[Any, int, str | None], splitter: FrameSplitter) -> list[Event]:
        buffer, stop, after = prepared
        events = splitter.feed(buffer, HEADROOM_BYTES, stop)
        if after is not None:
            events += splitter.gap(after) if after else self._finish(splitter)
        return events

    def _finish(self, splitter: FrameSplitter) -> list[Event]:
        events = splitter.finish()
        damaged = bool(events) and isinstance(events[-1], Damage)
        if self._decoder.lost:
            text = f"data loss as in TensorFlow: {self._decoder.lost}"
            events.append(_tail("garbage", splitter, text, ""))
        elif self._decoder.truncated and self._cut_is_error and not damaged:
            text = f"truncated record at {splitter.position}' failed with {splitter.short_text}"
            events.append(_tail("truncated", splitter, text, "the compressed container has no end"))
        return events


class MemberSupply:
    """Members that tell their own size: inflated at once by many threads.

    From the first member on that is not of this kind, or not what it says, the rest of the file is read as a stream.
    """

    in_order = False

    def __init__(
        self, source: ByteSource, codec: Codec, members: MemberFormat, policy: ReadPolicy, block_bytes: int
    ) -> None:
        self._source = source
        self._codec, self._members = codec, members
        self._policy = policy
        self._block_bytes = block_bytes
        self._next = source.position
        self._stream: StreamSupply | None = None

    def plan(self, *, ahead: bool) -> tuple[int, int] | None:
        at, end = self._next, self._source.size() or 0
        if ahead and (self._stream is not None or at > end):
            return None
        head = self._members.parse_header(self._source.look_at(at, self._members.header_bytes))
        # At the end, and where there is no member of ours, a step of no bytes makes the rest a stream.
        whole = head is not None and head[1] <= end - at and head[2] <= _MEMBER_LIMIT
        size = head[1] if head is not None and whole else 0
        self._next = at + max(size, 1)
        return at, size

    def prepare(self, at: int, size: int) -> tuple[int, bytes | None]:
        if self._stream is not None or not size or _stumbles(self._members, self._policy, at + size):
            return at, None
        member = self._source.borrow(at, size) if self._source.remote else None
        return at, self._members.inflate(self._source.read_at(at, size) if member is None else member)

    def give(self, prepared: tuple[int, bytes | None], splitter: FrameSplitter) -> list[Event]:
        at, inflated = prepared
        if self._stream is None:
            if inflated is not None:
                return splitter.feed(inflated, 0, len(inflated))
            self._source.seek(at)
            self._stream = _open_stream(self._source, self._codec, self._policy, self._block_bytes)
        return self._stream.give(self._stream.prepare(-1, 0), splitter)


def open_file_reader(
    source: ByteSource,
    policy: ReadPolicy,
    block_bytes: int = BLOCK_BYTES,
    *,
    start: tuple[int, int] = (0, 0),
    stop: int | None = None,
    near: tuple[int, int] = (0, 0),
) -> FileReader:
    """Start reading a file as the policy says.

    Args:
        source: the file, at its beginning.
        policy: how to read it.
        block_bytes: about how much to read at once.
        start: where a frame begins in the uncompressed stream, and the number of its record. A plain file is read from
            there on, a file in members from the member on; of anything else what comes before is inflated and dropped.
        stop: offset in the uncompressed stream at which the caller will stop: of a plain file, what comes after it is
            not fetched ahead.
        near: where a member at or before the start begins in the file and in the uncompressed stream, as an index says:
            the headers of those before need not be read.

    Raises:
        MissingExtraError: the file's compression needs a package that is not installed.
    """
    return FileReader(source, compression_of(source, policy), policy, block_bytes, start, near, stop)


def compression_of(source: ByteSource, policy: ReadPolicy) -> str:
    """Say how a file is compressed, as far as the policy looks; the source stands at its beginning."""
    if policy.compression == "auto":
        return sniff_compression(source.peek(HEAD_BYTES))
    if policy.tensorflow_containers and not _tensorflow_knows(policy.compression):
        return ""
    return policy.compression


def _tensorflow_knows(compression: str) -> bool:
    return compression in names() and codec(compression).tensorflow


def _seek(
    source: ByteSource, compression: str, policy: ReadPolicy, offset: int, near: tuple[int, int]
) -> int:
    """Go as near to an offset of the uncompressed stream as can be, and return the one that was reached."""
    if not source.regular:
        return 0
    if not compression:
        reached = min(offset, source.size() or 0)
        source.seek(reached)
        return reached
    # Where damage may have been passed over, members need not hold what they say: all are inflated again.
    members = codec(compression).members
    if members is None or policy.on_corrupt == "skip":
        return 0
    at, reached = (
        (0, 0) if policy.tensorflow_containers else near
    )  # any member before may be one that stumbles
    size = source.size() or 0
    while head := members.parse_header(source.look_at(at, members.header_bytes)):
        _, length, content, *_ = head
        end = at + length
        if reached + content > offset or end > size or _stumbles(members, policy, end):
            break
        at, reached = end, reached + content
    source.seek(at)
    return reached


def _choose_supply(
    source: ByteSource, compression: str, policy: ReadPolicy, block_bytes: int, stop: int | None
) -> ByteSupply:
    if source.regular and not compression:
        return PlainSupply(source, block_bytes, stop)
    found = codec(compression)
    members = found.members
    if source.regular and members is not None and members.parse_header(source.peek(members.header_bytes)):
        return MemberSupply(source, found, members, policy, block_bytes)
    return _open_stream(source, found, policy, block_bytes)


def _stumbles(members: MemberFormat, policy: ReadPolicy, end: int) -> bool:
    """See `pad_member`: files put together from several may hold such members; the stream knows what is lost."""
    return policy.tensorflow_containers and members.tensorflow_stumbles(end)


def _open_stream(source: ByteSource, codec: Codec, policy: ReadPolicy, block_bytes: int) -> StreamSupply:
    decoder = codec.open(source, tensorflow=policy.tensorflow_containers)
    # What comes through a pipe is given at once: waiting for a whole block might be waiting for ever.
    return StreamSupply(decoder, policy, block_bytes if source.regular else 1)


def _tail(kind: Kind, splitter: FrameSplitter, text: str, detail: str) -> Damage:
    return Damage(kind, splitter.position, splitter.position, splitter.records, text, detail, tail=True)
