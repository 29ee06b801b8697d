"""Index: where each frame of a shard begins, built in one pass, kept beside the shard or in memory.

The binary layout is in FORMAT.md and `core/frames/index.cc`. A text index of `offset size` lines, as DALI and PyTorch's
tfrecord package use, is read and written too.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.codecs.member import MEMBER_HEADER_BYTES, parse_member_header
from tfrkit.errors import DataLossError, FailedPreconditionError, from_os_error
from tfrkit.model.block import IntArray
from tfrkit.model.policy import TFRKIT
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.frame_splitter import HEADER_BYTES, FrameSplitter
from tfrkit.records.read.reader import BlockReader
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.output import AtomicOutput, sidecar_folder, write_atomically
from tfrkit.stores.source import ByteSource, open_source

__all__ = [
    "Index",
    "build_index",
    "index_path",
    "indexed_count",
    "load_index",
    "read_text_index",
    "save_index",
    "save_lengths",
    "tail_checksum",
    "walk_frames",
    "write_text_index",
]

_MAGIC: Final = b"TFRKIDX1"
FRAME_BYTES: Final = 16  # of a frame besides its payload
_KINDS: Final = ("", "ZLIB", "GZIP")
_NO_MEMBERS: Final = np.zeros(0, np.int64)
_READ_BYTES: Final = 1 << 20
_SKIP_BYTES: Final = 1 << 16  # payloads from here on are skipped, not read
_TAIL_BYTES: Final = 1 << 16
_HEAD: Final = struct.Struct("<8sIIQQQ")  # magic, compression, tail CRC, shard bytes, frames, members


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """Frame offsets of one shard.

    Attributes:
        compression: "" or "GZIP" (members).
        frames: where each frame begins in the uncompressed stream, then the stream's end: n + 1 numbers.
        shard_bytes: size of the shard when the index was made.
        tail_crc: CRC-32C of its last 64 kB then.
        member_file: where each gzip member begins in the file.
        member_stream: where its content begins in the uncompressed stream.
    """

    compression: str
    frames: IntArray
    shard_bytes: int
    tail_crc: int
    member_file: IntArray
    member_stream: IntArray

    def __len__(self) -> int:
        return len(self.frames) - 1

    def to_bytes(self) -> bytes:
        """Return the index file's content."""
        return _core.encode_index(
            _KINDS.index(self.compression),
            self.shard_bytes,
            self.tail_crc,
            self.frames[:-1],
            int(self.frames[-1]),
            self.member_file,
            self.member_stream,
        )

    @classmethod
    def from_bytes(cls, data: bytes) -> Index:
        """Read an index file's content.

        Raises:
            ValueError: it is not one, or damaged; the text says how.
        """
        kind, shard_bytes, tail_crc, frames, member_file, member_stream = _core.decode_index(data)
        return cls(_KINDS[kind], frames, shard_bytes, tail_crc, member_file, member_stream)


def index_path(shard: str) -> str:
    """Return the path of a shard's index file: in the sidecar folder, where no shard glob finds it."""
    return os.path.join(sidecar_folder(shard), os.path.basename(shard) + ".idx")


def tail_checksum(source: ByteSource) -> tuple[int, int]:
    """Return a file's size and the CRC-32C of its last 64 kB: enough to notice that it was replaced."""
    size = source.size() or 0
    tail = min(_TAIL_BYTES, size)
    return size, _core.crc32c(source.read_at(size - tail, tail))


def build_index(path: str | ByteSource) -> Index:
    """Make the index of a plain or member-GZIP shard in one pass.

    The length CRC of every frame is checked, the data CRCs are not. Payloads over 64 kB are skipped, not read.

    Raises:
        DataLossError: the file is damaged.
        FailedPreconditionError: its compression does not allow random access.
    """
    source = path if isinstance(path, ByteSource) else open_source(path)
    compression = sniff_compression(source.peek(HEAD_BYTES))
    if compression == "":
        frames = np.concatenate(list(walk_frames(source)))
        members = _NO_MEMBERS, _NO_MEMBERS
    else:
        found = member_table(source) if compression == "GZIP" else None
        if found is None:
            raise FailedPreconditionError(
                f"{source.name}; one {compression} stream has no places to start at. {rewrite_advice(source.name)}",
                path=source.name,
            )
        members = found
        frames = _stream_frames(source)
    size, crc = tail_checksum(source)
    return Index(compression, frames, size, crc, *members)


def rewrite_advice(path: str) -> str:
    """Say how to make a file seekable."""
    return (
        "Rewrite it seekable with: with tfrkit.TFRecordWriter('new.tfrecord.gz') as w: "
        f"w.write_many(tfrkit.read_records({path!r}))"
    )


def walk_frames(source: ByteSource) -> Iterator[IntArray]:
    """Walk the frames of a plain file: where they begin, some thousands at once, and in the end the file's end.

    Raises:
        DataLossError: the file is damaged.
    """
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


def _strict_splitter(source: ByteSource) -> FrameSplitter:
    return FrameSplitter(
        source.name, check=False, resync=False, max_record_bytes=TFRKIT.max_record_bytes, size=source.size
    )


def _raise_damage(splitter: FrameSplitter, source: ByteSource, at: int) -> None:
    """Let the splitter look at the damaged place, so that the error is the usual one."""
    splitter.position = at
    head = source.read_at(at, HEADER_BYTES)
    events = splitter.feed(head, 0, len(head)) + splitter.finish()
    damage = next(event for event in events if isinstance(event, Damage))
    raise damage.to_error(source.name)


def _stream_frames(source: ByteSource) -> IntArray:
    """Walk the frames of a compressed file; its members are inflated on all cores."""
    reader = BlockReader([source.name], TFRKIT.with_options(crc=False), None, _READ_BYTES)
    parts: list[IntArray] = []
    end = 0
    for block in reader:
        parts.append(block.offsets + (block.start - HEADER_BYTES))
        end = block.start + int(block.offsets[-1] + block.lengths[-1]) + 4
    return np.concatenate([*parts, np.array([end], np.int64)])


def member_table(source: ByteSource) -> tuple[IntArray, IntArray] | None:
    """Find the members of a GZIP file by their own headers: positions in the file and in the stream.

    None if not all of them tell their size.
    """
    at, stream, size = 0, 0, source.size() or 0
    in_file: list[int] = []
    in_stream: list[int] = []
    while at < size:
        head = parse_member_header(source.read_at(at, MEMBER_HEADER_BYTES))
        if head is None or head[1] > size - at:
            return None
        in_file.append(at)
        in_stream.append(stream)
        at += head[1]
        stream += head[2]
    return np.array(in_file, np.int64), np.array(in_stream, np.int64)


def save_index(shard: str, index: Index) -> str:
    """Keep an index beside its shard, atomically; return the path."""
    path = index_path(shard)
    write_atomically(path, index.to_bytes())
    return path


def save_lengths(
    shard: str,
    source: ByteSource,
    lengths: Sequence[npt.NDArray[np.integer[Any]]],
    members: tuple[IntArray, IntArray] | None,
) -> str:
    """Keep an index beside its shard, as `save_index`, but without having all of it in memory.

    Args:
        shard: where it will be found; the file may still be called otherwise.
        source: the shard, for its size and tail checksum.
        lengths: of the payloads in order, in parts of any type.
        members: where they begin in the file and in the stream; None for a plain shard.
    """
    files, streams = members or (_NO_MEMBERS, _NO_MEMBERS)
    size, tail_crc = tail_checksum(source)
    count = sum(len(part) for part in lengths)
    kind = _KINDS.index("" if members is None else "GZIP")
    path = index_path(shard)
    output = AtomicOutput(path, durable=False)  # its checksum tells whether it is whole
    crc = 0

    def put(data: bytes) -> None:
        nonlocal crc
        crc = _core.crc32c(data, crc)
        output.write(data)

    try:
        put(struct.pack("<8sIIQQQ", _MAGIC, kind, tail_crc, size, count, len(files)))
        end = 0
        for part in lengths:
            starts = np.empty(len(part) + 1, "<i8")
            starts[0] = end
            np.cumsum(part.astype(np.int64) + FRAME_BYTES, out=starts[1:])
            starts[1:] += end
            put(starts[:-1].tobytes())
            end = int(starts[-1])
        put(struct.pack("<Q", end))
        put(np.stack([files, streams], axis=1).astype("<i8").tobytes())
        output.write(struct.pack("<I", crc))
        output.close()
    except BaseException:
        output.discard()
        raise
    return path


def load_index(shard: str, source: ByteSource) -> Index | None:
    """Return the index kept beside a shard, or None if no index fits the file as it is now."""
    try:
        with open(index_path(shard), "rb") as file:
            data = file.read()
    except OSError:
        return None
    try:
        index = Index.from_bytes(data)
    except ValueError:
        return None
    return index if (index.shard_bytes, index.tail_crc) == tail_checksum(source) else None


def indexed_count(shard: str, source: ByteSource) -> int | None:
    """Return the number of records by the head of the index kept beside a shard; None as for `load_index`.

    The offsets are not read, so that this takes the same time for any number of records.
    """
    try:
        with open(index_path(shard), "rb") as file:
            head = file.read(_HEAD.size)
            index_bytes = os.fstat(file.fileno()).st_size
    except OSError:
        return None
    if len(head) < _HEAD.size:
        return None
    magic, _, tail_crc, shard_bytes, records, members = _HEAD.unpack(head)
    if magic != _MAGIC or index_bytes != 52 + 8 * records + 16 * members:
        return None
    return int(records) if (shard_bytes, tail_crc) == tail_checksum(source) else None


def read_text_index(path: str, source: ByteSource) -> Index:
    """Read an index of `offset size` lines that belongs to a plain shard.

    Raises:
        DataLossError: the lines do not describe the shard, from its first to its last byte.
    """
    try:
        with open(path, "rb") as file:
            numbers = np.array(file.read().split(), np.int64).reshape(-1, 2)
    except OSError as error:
        raise from_os_error(error, path) from error
    except ValueError as error:
        raise DataLossError(
            f"{path}; expected two numbers a line, offset and size. Make the index again.", path=path
        ) from error
    size, crc = tail_checksum(source)
    frames = np.append(numbers[:, 0], numbers[-1:].sum() if len(numbers) else 0)
    if not np.array_equal(np.diff(frames), numbers[:, 1]) or frames[0] != 0 or frames[-1] != size:
        raise DataLossError(
            f"{path}; the lines do not cover the {size} bytes of {source.name!r}. Make the index again.",
            path=path,
        )
    if len(numbers) and numbers[:, 1].min() < 16:
        raise DataLossError(f"{path}; a frame has at least 16 bytes. Make the index again.", path=path)
    return Index("", np.ascontiguousarray(frames), size, crc, _NO_MEMBERS, _NO_MEMBERS)


def write_text_index(path: str, index: Index) -> None:
    """Write an index of `offset size` lines, as DALI and PyTorch's tfrecord package read it.

    Raises:
        FailedPreconditionError: the shard is compressed; such an index cannot describe it.
    """
    if index.compression:
        raise FailedPreconditionError(f"{path}; a text index can only describe a plain shard.", path=path)
    lines = np.stack([index.frames[:-1], np.diff(index.frames)], axis=1)
    write_atomically(path, "".join(f"{start} {size}\n" for start, size in lines.tolist()).encode())
