"""Index: where each frame of a shard begins, built in one pass, kept beside the shard or in memory.

The binary layout is in FORMAT.md and `core/frames/index.cc`. A text index of `offset size` lines, as DALI and PyTorch's
tfrecord package use, is read and written too.
"""

from __future__ import annotations

import os
import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.codecs.table import SEEKABLE, codec, of_index_number
from tfrkit.errors import DataLossError, FailedPreconditionError, OpError
from tfrkit.model.block import IntArray
from tfrkit.records.access.walk import member_table, stream_frames, walk_frames, walk_members
from tfrkit.records.read.damage import indexing_error
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.files import create, is_local, open_small, open_source, read_bytes, write_bytes
from tfrkit.stores.output import sidecar_folder
from tfrkit.stores.source import ByteSource
from tfrkit.stores.url import split_query
from tfrkit.threads import spawn

__all__ = [
    "Index",
    "build_index",
    "index_of",
    "index_path",
    "indexed_count",
    "load_index",
    "member_table",
    "read_index",
    "read_text_index",
    "save_index",
    "save_lengths",
    "sidecar_paths",
    "tail_checksum",
    "walk_frames",
    "write_text_index",
    "zones_path",
]

_MAGIC: Final = b"TFRKIDX1"
FRAME_BYTES: Final = 16  # of a frame besides its payload
_NO_MEMBERS: Final = np.zeros(0, np.int64)
_TAIL_BYTES: Final = 1 << 16
_HEAD: Final = struct.Struct("<8sIIQQQ")  # magic, compression, tail CRC, shard bytes, frames, members


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """Frame offsets of one shard.

    Attributes:
        compression: "", or one whose members tell their size.
        frames: where each frame begins in the uncompressed stream, then the stream's end: n + 1 numbers.
        shard_bytes: size of the shard when the index was made.
        tail_crc: CRC-32C of its last 64 kB then.
        member_file: where each member begins in the file.
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
            _number(self.compression),
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
        return cls(of_index_number(kind).name, frames, shard_bytes, tail_crc, member_file, member_stream)


def _number(compression: str) -> int:
    number = codec(compression).index_number
    assert number is not None  # only what has one is indexed
    return number


def index_path(shard: str) -> str:
    """Return the path of a shard's index file: in the sidecar folder, where no shard glob finds it.

    >>> index_path("a/b.tfrecord"), index_path("https://host/b?key=1")
    ('a/.tfrkit/b.tfrecord.idx', 'https://host/.tfrkit/b.idx?key=1')
    """
    return _beside(shard, ".idx")


def zones_path(shard: str) -> str:
    """Return the path of a shard's zones (`zones.py`), beside its index.

    >>> zones_path("a/b.tfrecord")
    'a/.tfrkit/b.tfrecord.zones'
    """
    return _beside(shard, ".zones")


def sidecar_paths(shard: str) -> tuple[str, str]:
    """Return the paths of all that may be kept beside a shard: its index, and its zones."""
    return index_path(shard), zones_path(shard)


def _beside(shard: str, suffix: str) -> str:
    name, query = split_query(shard)
    return os.path.join(sidecar_folder(name), os.path.basename(name) + suffix) + query


def tail_checksum(source: ByteSource) -> tuple[int, int]:
    """Return a file's size and the CRC-32C of its last 64 kB: enough to notice that it was replaced."""
    size = source.size() or 0
    tail = min(_TAIL_BYTES, size)
    return size, _core.crc32c(source.read_at(size - tail, tail))


def build_index(path: str | ByteSource) -> Index:
    """Make the index of a shard that is plain or in members, in one pass.

    The length CRC of every frame is checked, the data CRCs are not. Payloads over 64 kB are skipped, not read, except
    of remote files, which are read in order.

    Raises:
        DataLossError: the file is damaged.
        FailedPreconditionError: its compression does not allow random access.
    """
    source = path if isinstance(path, ByteSource) else open_source(path)
    compression = sniff_compression(source.peek(HEAD_BYTES))
    index = index_of(source, compression)
    if index is None:
        raise FailedPreconditionError(
            f"{source.name}; one {compression} stream can only be read from the start. {rewrite_advice(source.name)}",
            path=source.name,
        )
    return index


def index_of(source: ByteSource, compression: str) -> Index | None:
    """Make an index as `build_index` does; None if the compression does not allow random access."""
    try:
        return _made_index(source, compression)
    except OpError as error:
        raise indexing_error(error) from None


def _made_index(source: ByteSource, compression: str) -> Index | None:
    if not compression:
        frames = np.concatenate(list(walk_frames(source)))
        in_file = in_stream = _NO_MEMBERS
    elif source.remote:
        walked = walk_members(source, compression)
        if walked is None:
            return None
        frames, in_file, in_stream = walked
    else:
        members = member_table(source, compression)
        if members is None:
            return None
        in_file, in_stream = members
        frames = stream_frames(source)
    return Index(compression, frames, *tail_checksum(source), in_file, in_stream)


def rewrite_advice(path: str) -> str:
    """Say how to make a file seekable."""
    return (
        f"Rewrite it seekable with: with tfrkit.TFRecordWriter('new.tfrecord{SEEKABLE.suffix}') as w: "
        f"w.write_many(tfrkit.read_records({path!r}))"
    )


def save_index(shard: str, index: Index) -> str:
    """Keep an index beside its shard, atomically; return the path."""
    path = index_path(shard)
    write_bytes(path, index.to_bytes())
    return path


def save_lengths(
    shard: str,
    source: ByteSource,
    lengths: Sequence[npt.NDArray[np.integer[Any]]],
    compression: str,
    members: tuple[IntArray, IntArray] | None,
) -> str:
    """Keep an index beside its shard, as `save_index`, but without having all of it in memory.

    Args:
        shard: where it will be found; the file may still be called otherwise.
        source: the shard, for its size and tail checksum.
        lengths: of the payloads in order, in parts of any type.
        compression: of the shard.
        members: where they begin in the file and in the stream; None for a plain shard.
    """
    files, streams = members or (_NO_MEMBERS, _NO_MEMBERS)
    size, tail_crc = tail_checksum(source)
    count = sum(len(part) for part in lengths)
    kind = _number(compression)
    path = index_path(shard)
    output = create(path, durable=False)  # its checksum tells whether it is whole
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
    return read_index(index_path(shard), source)


def read_index(path: str, source: ByteSource, *, checked: bool = False) -> Index | None:
    """Return the index in a file, or None if there is none that fits the shard as it is now.

    Args:
        path: of the index.
        source: the shard.
        checked: that the shard is the one it was made for is known otherwise; only its size is compared.
    """
    known = None
    try:
        if not checked and not is_local(path):
            reading = spawn(read_bytes, path)
            known = tail_checksum(source)  # at the same time
            index = Index.from_bytes(reading.result())
        else:
            index = Index.from_bytes(read_bytes(path))
    except (OpError, ValueError):
        return None
    if checked:
        return index if index.shard_bytes == source.size() else None
    return index if (index.shard_bytes, index.tail_crc) == (known or tail_checksum(source)) else None


def indexed_count(shard: str, source: ByteSource) -> int | None:
    """Return the number of records by the head of the index kept beside a shard; None as for `load_index`.

    The offsets are not read, so that this takes the same time for any number of records.
    """
    try:
        file = open_small(index_path(shard))
        head, index_bytes = file.peek(_HEAD.size), file.size()
    except OpError:
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
        numbers = np.array(read_bytes(path).split(), np.int64).reshape(-1, 2)
    except OpError:
        raise
    except (ValueError, OverflowError) as error:
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
    write_bytes(path, "".join(f"{start} {size}\n" for start, size in lines.tolist()).encode())
