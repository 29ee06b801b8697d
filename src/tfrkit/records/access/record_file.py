"""RecordFile: random access to the records of one file.

Plain files are mapped: one record in the page cache costs 0.7 us instead of 1.4 us by `pread`, and a `take` of 1,024
0.3 us a record instead of 1.6 us (benchmarks/random_access.py). Of a GZIP file in members the few last used members are
kept inflated; of those that say that they are large, one at a time is inflated, and not kept. Any other compressed file
is inflated once into a temporary file, which is mapped too.

A map is a risk only where another process shortens the file: the pages after its new end cannot be read, and the
process gets SIGBUS. Here the one place that reads the map copies each frame out of it, catches the signal while it
does so, and checks the copy, so that a file which shrinks or changes is a `DataLossError` like any other damage.
What the map cannot serve, and files that cannot be mapped, are read by position, through one of the few descriptors
that all RecordFiles share.
"""

from __future__ import annotations

import operator
import os
import tempfile
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import groupby
from types import TracebackType
from typing import Any, Final, Self, overload

import numpy as np

from tfrkit import _core
from tfrkit.codecs.compression import canonical
from tfrkit.codecs.inflate import Decoder, open_decoder
from tfrkit.codecs.member import MEMBER_HEADER_BYTES, inflate_member, parse_member_header
from tfrkit.errors import DataLossError, FailedPreconditionError, ResourceExhaustedError, from_os_error
from tfrkit.model.block import Block, IntArray
from tfrkit.model.row_selection import RowIndices, is_one_row, row_numbers
from tfrkit.records.access.index import (
    Index,
    build_index,
    load_index,
    member_table,
    read_text_index,
    rewrite_advice,
    save_index,
    tail_checksum,
)
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.frame_splitter import HEADER_BYTES, check_block
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.reopen import ReopenedSource
from tfrkit.stores.source import ByteSource, open_source
from tfrkit.threads import default_threads, thread_pool

__all__ = ["RecordFile"]

_MEMBERS_KEPT: Final = 16
_LARGE_MEMBER_BYTES: Final = 1 << 25
_large_member = threading.Lock()  # held while the content of one is in memory
_SPILL_BYTES: Final = 16 << 30
_SPLIT_RECORDS: Final = 256  # fewer reads by position are not worth a second thread
_SPLIT_BYTES: Final = 4 << 20  # and fewer bytes out of a map; measured, 1,024 records of 650 bytes lose by it


class RecordFile:
    """The records of one file as a sequence. Reading is thread-safe; a fork may share it.

    Args:
        path: the file.
        compression: "auto" finds out by the content.
        crc: check the CRC of every record read.
        index: "auto" uses an index kept beside the file if it is fresh, else builds one in memory; "save" also
            keeps it there; "memory" looks at none; anything else is the path of an index file, binary or text.
        spill_bytes: how large the temporary file may become for a compressed file that is not in members.

    Raises:
        DataLossError: the file is damaged; `repair` mends it.

    >>> import tempfile, os, tfrkit
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with tfrkit.TFRecordWriter(path) as writer:
    ...     writer.write_many([b"zero", b"one", b"two", b"three"])
    >>> file = RecordFile(path)
    >>> len(file), file[-1], file[1:3].to_list(), file.take([2, 0]).to_list()
    (4, b'three', [b'one', b'two'], [b'two', b'zero'])
    """

    def __init__(
        self,
        path: PathLike,
        *,
        compression: str = "auto",
        crc: bool = True,
        index: str = "auto",
        spill_bytes: int = _SPILL_BYTES,
    ) -> None:
        self.path = path_text(path)
        self._crc = crc
        self._arguments = {"compression": compression, "crc": crc, "index": index, "spill_bytes": spill_bytes}
        source = open_source(self.path)
        if not source.regular:
            raise FailedPreconditionError(
                f"{self.path}; random access needs a regular file. Use read_records for pipes.",
                path=self.path,
            )
        kind = sniff_compression(source.peek(HEAD_BYTES)) if compression == "auto" else canonical(compression)
        self.compression = kind
        spilled = bool(kind) and (kind != "GZIP" or member_table(source) is None)
        if spilled:
            source = _spill(source, kind, spill_bytes)
            self.index = build_index(source)
        else:
            self.index = _find_index(self.path, source, index)
        self._starts = memoryview(self.index.frames)
        self._count = len(self.index)
        self._members: OrderedDict[int, bytes] = OrderedDict()
        self._map = None if self.index.compression else _map_frames(source, self.index.frames, crc, spilled)
        # The temporary file has no name to open it by, but no other process changes it: the map is enough.
        self._source = ReopenedSource(source) if not spilled else source if self._map is None else None
        self._closed = False
        # The short way to one record. A call that runs keeps the map: it goes with the last one after close().
        self._short: Callable[[object], bytes | int] = self._map.get if self._map else _no_short_way

    def __len__(self) -> int:
        return self._count

    @overload
    def __getitem__(self, index: int) -> bytes: ...
    @overload
    def __getitem__(self, index: slice | RowIndices) -> Block: ...
    def __getitem__(self, index: int | slice | RowIndices) -> bytes | Block:
        """One record as bytes, or some as a Block: those of a slice, or as `take` gives them."""
        record = self._short(index)
        if type(record) is bytes:
            return record
        return self._get(index)

    def _get(self, index: Any) -> bytes | Block:
        """Do the less usual: slices, negative numbers, files that are not mapped, errors."""
        if isinstance(index, slice):
            return self.take(np.arange(self._count)[index])
        if not is_one_row(index):
            return self.take(index)
        number = operator.index(index)
        if number < 0:
            number += self._count
        if not 0 <= number < self._count:
            raise IndexError(f"record {index} of {self.path!r}, which has {self._count} records")
        if self.index.compression:
            return self.take([number])[0]
        record = self._short(number)
        if isinstance(record, bytes):
            return record
        source, start = self._open_source(), self._starts[number]
        if source is not None:
            length = self._starts[number + 1] - start - 16
            record = _core.read_frame(_fd(source), start, length, self._crc)
        if isinstance(record, bytes):
            return record
        raise self._error(number)

    def __iter__(self) -> Iterator[bytes]:
        for first in range(0, self._count, 1024):
            yield from self[first : first + 1024].to_list()

    def __repr__(self) -> str:
        kind = f", {self.compression}" if self.compression else ""
        return f"<RecordFile {self.path!r}: {self._count} records{kind}>"

    def take(self, indices: RowIndices) -> Block:
        """Return the records with these numbers, in this order, as one Block; on all cores if there are many.

        Args:
            indices: integers, negative ones count from the end; or a mask: a boolean for every record of the file.

        Raises:
            TypeError: neither integers nor booleans.
            IndexError: a number is out of range, or a mask has another length than the file has records.
            DataLossError: a record is damaged.
        """
        wanted = row_numbers(indices, self._count, flat=True)  # a copy, which the block keeps
        frame_map = self._map
        layout = frame_map.lay_out(wanted) if frame_map is not None and len(wanted) else None
        if frame_map is not None and layout is not None and layout[3] < 2 * _SPLIT_BYTES:
            outs, offsets, lengths, size = layout
            buffer = _core.Buffer(size)
            if frame_map.take(wanted, buffer, outs)[0] < 0:
                return self._block(buffer, offsets, lengths, wanted)
        return self._take(wanted)

    def _take(self, wanted: IntArray) -> Block:
        """Do the less usual: negative numbers, many bytes, files that are not mapped, errors."""
        numbers = np.where(wanted < 0, wanted + self._count, wanted)
        if len(numbers) and not (numbers.min() >= 0 and numbers.max() < self._count):
            bad = int(wanted[(numbers < 0) | (numbers >= self._count)][0])
            raise IndexError(f"record {bad} of {self.path!r}, which has {self._count} records")
        frames = self.index.frames
        starts = frames[numbers]
        sizes = frames[numbers + 1] - starts
        outs = np.cumsum(sizes) - sizes
        buffer = _core.Buffer(max(1, int(sizes.sum())))
        block = self._block(buffer, outs + HEADER_BYTES, sizes - 16, numbers)
        if self.index.compression:
            self._copy_from_members(memoryview(buffer), starts, sizes, outs)
            self._check(block, numbers)
        else:
            self._read_frames(buffer, numbers, starts, sizes - 16, outs)
        return block

    def _block(self, buffer: Any, offsets: IntArray, lengths: IntArray, numbers: IntArray) -> Block:
        """A block of gathered frames."""
        first = int(numbers[0]) if len(numbers) else 0
        return Block(buffer, offsets, lengths, path=self.path, first_record=first, start=-1, numbers=numbers)

    def close(self) -> None:
        """Let go of the file; using it afterwards is an error. It also closes by itself."""
        self._closed = True
        self._source = None
        self._map = None
        self._short = _no_short_way
        self._members = OrderedDict()  # a thread that still reads has the old one

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __reduce__(self) -> tuple[object, ...]:
        return _reopen, (self.path, self._arguments)

    # -- inside -----------------------------------------------------------------------------------------------------

    def _open_source(self) -> ByteSource | None:
        """Return the source, to be held for as long as its descriptor is used; None if there is only the map."""
        source = self._source
        if self._closed:
            raise FailedPreconditionError("RecordFile is closed.", path=self.path)
        return source.get() if isinstance(source, ReopenedSource) else source

    def _read_frames(
        self, buffer: Any, numbers: IntArray, starts: IntArray, lengths: IntArray, outs: IntArray
    ) -> None:
        frame_map = self._map
        worth = len(numbers) // _SPLIT_RECORDS if frame_map is None else len(buffer) // _SPLIT_BYTES
        parts = max(1, min(default_threads(), worth))
        bounds = [len(numbers) * part // parts for part in range(parts + 1)]

        def read(part: int) -> int:
            span = slice(bounds[part], bounds[part + 1])
            bad = -1 if frame_map is None else frame_map.take(numbers[span], buffer, outs[span])[0]
            if bad < 0 and frame_map is not None:
                return -1
            # It holds the source, not just its number: after an interruption the other threads are not waited for.
            source = self._open_source()
            if source is not None:
                place = starts[span], lengths[span], buffer, outs[span]
                bad, _ = _core.read_frames(_fd(source), *place, self._crc)
            return bad if bad < 0 else bad + bounds[part]

        others = [thread_pool().submit(read, part) for part in range(1, parts)]
        found = [read(0), *(other.result() for other in others)]
        bad = min((place for place in found if place >= 0), default=-1)
        if bad >= 0:
            raise self._error(int(numbers[bad]))

    def _copy_from_members(self, view: memoryview, starts: IntArray, sizes: IntArray, outs: IntArray) -> None:
        members = np.searchsorted(self.index.member_stream, starts, side="right") - 1
        bases = self.index.member_stream[members]
        in_order = np.argsort(members, kind="stable").tolist()
        for number, places in groupby(in_order, key=members.tolist().__getitem__):
            with self._member(number) as content:
                for place in places:
                    begin, size, out = int(starts[place] - bases[place]), int(sizes[place]), int(outs[place])
                    if begin + size > len(content):
                        raise DataLossError(
                            f"{self.path}; the index does not fit the file. Make it again.", path=self.path
                        )
                    view[out : out + size] = memoryview(content)[begin : begin + size]

    @contextmanager
    def _member(self, number: int) -> Iterator[bytes]:
        """Return the content of a member, out of the few that are kept."""
        kept = self._members
        found = kept.get(number)
        if found is not None:
            yield found
            return
        source = self._open_source()
        assert source is not None  # what is in members is not spilled
        table = self.index.member_file
        begin = int(table[number])
        end = int(table[number + 1]) if number + 1 < len(table) else self.index.shard_bytes
        head = parse_member_header(source.read_at(begin, MEMBER_HEADER_BYTES))
        large = head is not None and head[2] > _LARGE_MEMBER_BYTES
        with _large_member if large else nullcontext():
            content = None
            if head is not None and head[1] == end - begin:
                content = inflate_member(source.read_at(begin, end - begin))
            if content is None:
                raise DataLossError(
                    f"inflate() failed with error -3: damaged GZIP member at byte {begin} of {self.path!r}. "
                    "Copy the file again, or mend it with tfrkit.repair.",
                    path=self.path,
                    offset=int(self.index.member_stream[number]),
                )
            if not large:
                kept[number] = content
                while len(kept) > _MEMBERS_KEPT:
                    kept.popitem(last=False)
            yield content

    def _check(self, block: Block, numbers: IntArray) -> None:
        if self._crc and len(block):
            damage = check_block(block)[-1]
            if isinstance(damage, Damage):
                raise self._error(int(numbers[damage.record - block.first_record]))

    def _error(self, number: int) -> Exception:
        start = self._starts[number]
        return DataLossError(
            f"corrupted record at {start + HEADER_BYTES}: the frame is not what the index or its checksums say, in "
            f"record {number} (frame at byte {start}) of {self.path!r}. Has the file changed? Open it again, copy it "
            "again, or mend it with tfrkit.repair.",
            path=self.path,
            record=number,
            offset=start,
        )


def _reopen(path: str, arguments: dict[str, Any]) -> RecordFile:
    return RecordFile(path, **arguments)


def _no_short_way(_index: object) -> int:
    """Stand in for FrameMap.get where there is no map."""
    return _core.NEED_MORE


def _fd(source: ByteSource) -> int:
    assert source.fd is not None
    return source.fd


def _map_frames(source: ByteSource, frames: IntArray, crc: bool, settled: bool) -> _core.FrameMap | None:
    """Map a file; None where that cannot be done: it is empty, or its file system knows no maps."""
    try:
        return _core.FrameMap(_fd(source), frames, crc, settled)
    except OSError:
        return None


def _find_index(path: str, source: ByteSource, wanted: str) -> Index:
    if wanted in ("auto", "save"):
        index = load_index(path, source)
        if index is None and wanted == "auto":
            index = _text_index_beside(path, source)
        if index is not None:
            return index
    elif wanted != "memory":
        return _index_from_file(wanted, source)
    index = build_index(source)
    if wanted == "save":
        save_index(path, index)
    return index


def _index_from_file(path: str, source: ByteSource) -> Index:
    try:
        with open(path, "rb") as file:
            data = file.read()
        if not data.startswith(b"TFRKIDX"):
            return read_text_index(path, source)
        index = Index.from_bytes(data)
    except OSError as error:
        raise from_os_error(error, path) from error
    except DataLossError:
        raise
    except ValueError as error:
        raise DataLossError(f"{path}; {error}. Make the index again.", path=path) from error
    if (index.shard_bytes, index.tail_crc) != tail_checksum(source):
        raise FailedPreconditionError(
            f"{path}; the index was made for another content of {source.name!r}. Make it again.", path=path
        )
    return index


def _text_index_beside(path: str, source: ByteSource) -> Index | None:
    """Find a text index under the names that other tools use; one that does not fit is left alone."""
    stem = os.path.splitext(path)[0]
    for name in (path + ".idx", path + ".index", stem + ".idx", stem + ".index"):
        if os.path.isfile(name):
            try:
                return read_text_index(name, source)
            except DataLossError:
                continue
    return None


def _read(decoder: Decoder, path: str) -> bytes:
    try:
        return decoder.read()
    except DataLossError as error:
        raise DataLossError(
            f"{error.message} in {path!r}. Copy it again, or mend it with tfrkit.repair.", path=path
        ) from error


def _spill(source: ByteSource, kind: str, limit: int) -> ByteSource:
    """Inflate a file into a temporary one that vanishes with its last reader."""
    decoder = open_decoder(source, kind)
    with tempfile.TemporaryFile(prefix="tfrkit-") as spilled:
        size = 0
        while chunk := _read(decoder, source.name):
            size += len(chunk)
            if size > limit:
                raise ResourceExhaustedError(
                    f"{source.name}; inflating it for random access takes more than spill_bytes={limit}. "
                    f"Pass a larger spill_bytes. {rewrite_advice(source.name)}",
                    path=source.name,
                )
            spilled.write(chunk)
        spilled.flush()
        if decoder.truncated:
            raise DataLossError(
                f"truncated record at {size}' failed with EOF reached: the {kind} container of {source.name!r} has no "
                "end. Copy it again, or mend it with tfrkit.repair.",
                path=source.name,
                offset=size,
            )
        return ByteSource(source.name, os.dup(spilled.fileno()), None, owned=True)
