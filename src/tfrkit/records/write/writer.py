"""TFRecordWriter: records into one file.

Gathers records, frames a megabyte of them in one native call, and hands the run to a sink. Compression is the sink's,
files are the output's, continuing an existing file is `append.py`'s.
"""

from __future__ import annotations

import contextlib
import os
import struct
from collections.abc import Callable, Iterable
from functools import partial
from types import TracebackType
from typing import IO, Any, Final, Self

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.codecs.codec import Codec
from tfrkit.codecs.table import SEEKABLE, canonical, codec, from_suffix
from tfrkit.errors import AbortedError, DataLossError, FailedPreconditionError, InvalidArgumentError, OpError
from tfrkit.model.arguments import as_integer, check_bools
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT, ReadPolicy
from tfrkit.parsing.encode import ExampleEncoder, encode_examples
from tfrkit.records.access.index import build_index, save_index, save_lengths, tail_checksum, zones_path
from tfrkit.records.access.zone_maker import ZoneMaker
from tfrkit.records.access.zones import build_zones, save_zones
from tfrkit.records.write.append import kept_blocks, plan_append
from tfrkit.records.write.frame_runs import FrameRun, FrameRuns, frames_of
from tfrkit.records.write.options import TFRecordOptions
from tfrkit.records.write.overlap import UninterruptedStep, WriteOverlap
from tfrkit.records.write.sink import MemberSink, PlainSink, Sink, StreamSink, ZlibSink
from tfrkit.stores.at_exit import finish_at_exit, unless_exiting
from tfrkit.stores.files import create, is_local, open_source, remove
from tfrkit.stores.output import FileOutput, ObjectOutput, Output
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.threads import default_threads

__all__ = ["TFRecordWriter", "check_level"]

RUN_BYTES: Final = 1 << 20  # frames that are made, compressed and written at once
_HUGE_BYTES: Final = 1 << 22  # records from here on are written from where they lie
_MAX_PIECES: Final = 768  # the kernel takes 1,024 in one call


class TFRecordWriter:
    """Writes records to a TFRecord file. Not for several threads at once.

    Args:
        path: the file; it is emptied first unless `append`. A URL names an object that appears at close(), whole or,
            after an exception inside `with`, not at all. Or an open binary file, which is left open.
        options: TFRecordOptions, or a compression by name or number, as in TensorFlow.
        compression: "none", "GZIP", "ZLIB", "XZ" or "ZSTD"; by default what `options` or the path's suffix say.
        level: of the compression; by default a good one.
        members: write GZIP as many members, on all cores, seekable (default), or as one stream with TensorFlow's
            bytes (False; also whenever `options` tune zlib).
        append: continue an existing file. A torn frame at its end is cut off, with a warning; any other damage, and
            a file that holds no records, is an error and leaves the file as it is. Object stores cannot append.
        atomic: write to a temporary file and rename it at close(), so that the name never shows a half file.
        index: keep an index of the frames beside the file, for random access; plain and member-GZIP files only.
        zones: keep the least and greatest value of each feature in each run of records beside the file, so that scans
            read only what can match. Local zones that belong to what is replaced are removed.
        threads: for GZIP members; by default all cores.
        policy: TFRKIT, or TENSORFLOW to behave and write exactly as TensorFlow does.

    Raises:
        NotFoundError, FailedPreconditionError, PermissionDeniedError: the file cannot be made.
        UnimplementedError: `append` to a store that cannot, or no store knows the URL's scheme.

    >>> import tempfile, os
    >>> path = os.path.join(tempfile.mkdtemp(), "a.tfrecord")
    >>> with TFRecordWriter(path) as writer:
    ...     writer.write(b"payload")
    ...     writer.write_many([b"a", b"b"])
    >>> os.path.getsize(path)
    57
    """

    def __init__(
        self,
        path: PathLike | IO[bytes] | Output,
        options: TFRecordOptions | str | int | None = None,
        *,
        compression: str | None = None,
        level: int | None = None,
        members: bool | None = None,
        append: bool = False,
        atomic: bool = False,
        index: bool = False,
        zones: bool = False,
        threads: int | None = None,
        policy: ReadPolicy = TFRKIT,
    ) -> None:
        self._closed = True  # until everything below has worked
        check_bools(members=members, append=append, atomic=atomic, index=index, zones=zones)
        self._process = os.getpid()
        self._error: OpError | None = None
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        self._encoder: ExampleEncoder | None = None
        self._strict = policy.exact_options
        self._lengths: list[npt.NDArray[np.integer[Any]]] | None = [] if index else None
        self._runs = FrameRuns()
        self._step = UninterruptedStep()  # round all that takes records from one place to the next
        self._run_bytes = RUN_BYTES
        self.records = 0
        self._before = 0  # records that were there before appending
        name = _checked_path(path, self._strict)
        if name is None and not getattr(path, "whole", False) and (append or index or zones or atomic):
            raise InvalidArgumentError("append, atomic, index and zones need a path, not an open file.")
        kind, zlib_options = _resolve(name, options, compression, self._strict)
        used = codec(kind)
        members = (
            used.members is not None and members is not False and (zlib_options is None or bool(members))
        )
        check_level(used, level)
        if index and kind and not members:
            raise InvalidArgumentError(
                f"There is no index of one {kind} stream. Write it plain or in {SEEKABLE.name} members."
            )
        self._name, self._kind = name, kind
        self._zones = ZoneMaker(whole_pieces=members, threads=1) if zones else None
        plan = plan_append(name, kind) if append and name is not None else None
        self._extends = plan is not None
        rewrite = plan is not None and (atomic or plan.rewrite)
        if name is not None and is_local(name):
            with contextlib.suppress(OpError):
                remove(zones_path(name))  # before they may be taken for those of the new content
        self._output = _open_output(path, name, atomic or rewrite, plan)
        try:
            self._sink = _make_sink(
                self._output, used, zlib_options, level, members, threads or default_threads()
            )
            self._closed = False
            finish_at_exit(self)
            if self._sink.immediate:
                self._run_bytes = 0
            if rewrite:
                assert name is not None
                assert plan is not None
                for block in kept_blocks(name, kind, plan):
                    self.write_many(block)
                self._put_rest()  # so that `records` counts them all
            elif plan is not None:
                self.records = self._before = plan.records
        except BaseException:
            self._closed = True
            self._output.discard()
            raise

    # -- writing ----------------------------------------------------------------------------------------------------

    def write(self, record: bytes | bytearray | memoryview | str) -> None:
        """Write one record; str is written as UTF-8.

        It may stay in memory until flush() or close().

        Raises:
            FailedPreconditionError: the writer is closed.
            ResourceExhaustedError: the disk is full; the text says which records are not in the file.
        """
        if type(record) is not bytes:
            record = self._as_bytes(record)
        if self._closed:
            raise FailedPreconditionError("Writer is closed.", path=self._output.name)
        self._pending.append(record)
        self._pending_bytes += len(record) + 16
        if self._pending_bytes >= self._run_bytes:
            self._drain()

    def write_many(self, records: Iterable[bytes | bytearray | memoryview | str] | Block) -> None:
        """Write many records, framed in native code: a list, a tuple, any iterable, or a Block.

        Raises:
            TypeError: an item is not a record; those before it may have been written.
        """
        if isinstance(records, Block):
            self._write_block(records, checked=False)
            return
        self._check_open()
        if isinstance(records, str | bytes | bytearray | memoryview):
            raise TypeError(f"expected records but got one {type(records).__name__}: use write() for one")
        self._drain()
        if isinstance(records, (list, tuple)):
            with self._step:
                self._write_list(records)
        else:
            for record in records:
                self.write(record)

    def write_frames(self, block: Block) -> None:
        """Write the frames of a block as they are, with the checksums they have: the fast way to copy records.

        Args:
            block: from `read_blocks` with its CRCs checked, or from `encode_examples`. The data CRCs are trusted, and
                a bad one would be copied; `write_many` checks them.

        Raises:
            FailedPreconditionError: the writer is closed.
        """
        self._write_block(block, checked=True)

    def write_example(self, features: Any) -> None:
        """Write one Example from a dict, as `make_example` makes it, or from a message.

        Args:
            features: values by name, each whatever `feature` takes; or an Example or SequenceExample message, of
                TensorFlow's classes too.

        Raises:
            TypeError, ValueError: no feature can hold a value; the text names the feature and the value. Nothing is
                written then.
            FailedPreconditionError: the writer is closed.

        >>> import tempfile, os
        >>> with TFRecordWriter(os.path.join(tempfile.mkdtemp(), "a.tfrecord")) as writer:
        ...     writer.write_example({"label": 3, "image": b"..."})
        """
        if self._encoder is None:
            self._encoder = ExampleEncoder()
        self.write(self._encoder.encode(features))

    def write_batch(self, columns: Any) -> None:
        """Write one Example for each row of some columns, made in native code by `encode_examples`.

        Args:
            columns: a dict of columns, or a table, as `encode_examples` takes them.

        Raises:
            TypeError, ValueError: as `encode_examples`. Nothing is written then.
            FailedPreconditionError: the writer is closed.

        >>> import tempfile, os
        >>> with TFRecordWriter(os.path.join(tempfile.mkdtemp(), "a.tfrecord")) as writer:
        ...     writer.write_batch({"label": np.arange(3), "name": ["a", "b", "c"]})
        ...     writer.records
        3
        """
        self._check_open()
        self._write_block(encode_examples(columns), checked=True)

    def flush(self) -> None:
        """Bring everything written so far into the file, so that any reader can read it.

        What appears at close() only, an atomic file or an object in a store, cannot be read before that.
        """
        self._check_open()
        self._drain()
        self._guard(self._sink.flush)

    def close(self) -> None:
        """Write what is left and end the file; closing twice is fine, and so is closing after an error.

        Raises:
            ResourceExhaustedError: the disk is full; the text says which records are not in the file.
        """
        if self._closed:
            return
        if self._error is not None:
            self.discard()
            if self._sink.fails_at_close and not isinstance(self._error, DataLossError):
                raise self._error
            return
        if self._step.inside:
            error = self._interrupted()
            self._end_early()
            raise error
        try:
            self._drain()
            self._guard(self._sink.finish)
            self._output.close()
        except BaseException:
            self.discard()
            raise
        self._closed = True
        if self._name is not None and (self._lengths is not None or self._zones is not None):
            self._keep_sidecars(self._name)

    def _keep_sidecars(self, name: str) -> None:
        if not self._extends:
            self.save_sidecars(name)
            return
        if self._lengths is not None:
            save_index(name, build_index(open_source(name)))
        if self._zones is not None:
            build_zones(name, save=True)

    def save_sidecars(self, shard: str) -> None:
        """Keep the index and the zones of the closed file beside it, whichever the writer was asked for.

        Args:
            shard: the file, which may have got its name since.

        Raises:
            FailedPreconditionError: an index was asked for, and the file has no places to start at.
        """
        source = open_source(shard)
        if self._lengths is not None:
            if not self._sink.has_starts:
                raise FailedPreconditionError(
                    f"{self._output.name}; written without index=True", path=self._output.name
                )
            save_lengths(shard, source, self._lengths, self._kind, self._sink.members())
        if self._zones is not None:
            save_zones(shard, self._zones.finish(*tail_checksum(source)))

    def discard(self) -> None:
        """End without the file: an atomic one or an object never appears, any other keeps what has reached it."""
        if not self._closed:
            self._output.discard()  # again, if it is interrupted
            self._closed = True

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._error is not None or (kind is not None and self._may_be_dropped()):
            self.discard()  # an error has been raised already
        elif self._step.inside and kind is not None:
            self._end_early()
        else:
            self.close()

    @unless_exiting
    def __del__(self) -> None:
        if getattr(self, "_closed", True):
            return
        if self._may_be_dropped():
            self.discard()  # nothing says that it is whole
        elif self._step.inside:
            self._end_early()
        else:
            self.__exit__(None, None, None)

    def set_run_bytes(self, run_bytes: int) -> None:
        """Say how many bytes of records are gathered before they are framed and written."""
        self._run_bytes = run_bytes

    # -- inside -----------------------------------------------------------------------------------------------------

    def _check_open(self) -> None:
        if self._closed:
            raise FailedPreconditionError("Writer is closed.", path=self._output.name)
        if self._error is not None:
            raise self._error
        if self._step.inside:
            raise self._interrupted()

    def _may_be_dropped(self) -> bool:
        """Whether only close() writes what is left: a forked process has it from its parent, which writes it too."""
        return (self._output.whole and not self._strict) or self._process != os.getpid()

    def _interrupted(self) -> OpError:
        return self._explain(KeyboardInterrupt())

    def _end_early(self) -> None:
        """End after an interruption that came between two steps: what is in the file is whole, but not all."""
        if not self._output.whole:
            self._guard(self._sink.finish)
        self.discard()

    def _as_bytes(self, record: Any) -> bytes:
        if isinstance(record, str):
            try:
                return record.encode()
            except UnicodeEncodeError as error:
                raise TypeError(
                    f"write(): incompatible function arguments. str that is not valid Unicode: {error}"
                ) from error
        if isinstance(record, (bytes, bytearray)) or (isinstance(record, memoryview) and not self._strict):
            return bytes(record)
        if self._strict:
            raise TypeError(
                "write(): incompatible function arguments. The following argument types are supported: "
                f"(record: bytes | str). Invoked with: {type(record).__name__}"
            )
        raise TypeError(f"expected a record as bytes or str but got {type(record).__name__}")

    def _drain(self) -> None:
        self._check_open()
        with self._step:
            self._put_rest()
            if self._pending:
                records, self._pending, self._pending_bytes = self._pending, [], 0
                self._write_list(records)

    def _write_list(self, records: list[Any] | tuple[Any, ...]) -> None:
        with WriteOverlap(enabled=self._sink.overlaps and self._output.background) as overlap:
            first = 0
            while first < len(records):
                size = _size(records[first])
                if size >= _HUGE_BYTES:
                    run = _frame_in_place(records, first)
                    put = partial(self._put_pieces, run)
                    after = first + len(run) // 3
                else:
                    room = self._sink.run_bytes(self._run_bytes, size)
                    buffer, used, after = _core.frame_records(records, first, room)
                    put = partial(self._put, memoryview(buffer)[:used], after - first)
                overlap.do(put, last=after == len(records))
                first = after

    def _write_block(self, block: Block, *, checked: bool) -> None:
        self._check_open()
        if self._pending:
            self._drain()
        if not len(block):
            return
        frames = frames_of(block, checked=checked)
        room = self._sink.run_bytes(self._run_bytes, len(frames))
        with self._step:
            for run in self._runs.add(frames, block.lengths, room):
                self._put_run(run)
            if not self._sink.joins_blocks:
                self._put_rest()

    def _put_rest(self) -> None:
        rest = self._runs.rest()
        if rest is not None:
            self._put_run(rest)

    def _put_run(self, run: FrameRun) -> None:
        self._guard(lambda: self._sink.write(run.frames, len(run.lengths)))
        self._count(len(run.lengths), run.lengths)
        if self._zones is not None:
            ends = np.cumsum(run.lengths + 16)
            self._zones.add(run.frames, ends - run.lengths - 4, run.lengths)

    def _put_pieces(self, pieces: list[Any]) -> None:
        """Write records as header, data, footer, header ..."""
        self._guard(lambda: self._sink.write_pieces(pieces))
        self._count(len(pieces) // 3, [len(data) for data in pieces[1::3]])
        if self._zones is not None:
            for data in pieces[1::3]:
                self._zones.add(data, np.zeros(1, np.int64), np.array([len(data)]))

    def _put(self, frames: memoryview, count: int) -> None:
        self._guard(lambda: self._sink.write(frames, count))
        if self._lengths is None and self._zones is None:
            self.records += count
            return
        found = _core.scan_frames(frames, 0, len(frames), False, 2**62)
        self._count(count, found.lengths)
        if self._zones is not None:
            self._zones.add(frames, found.offsets, found.lengths)

    def _count(self, count: int, lengths: Any) -> None:
        self.records += count
        if self._lengths is not None:
            # Two bytes for each of most records: this is all that is kept of them.
            array = np.asarray(lengths, np.int64)
            self._lengths.append(array.astype(np.min_scalar_type(int(array.max(initial=0)))))

    def _guard(self, action: Callable[[], None]) -> None:
        """Call a method of the sink; if it fails or is interrupted, nothing more goes into the incomplete file."""
        if self._error is not None:
            raise self._error
        try:
            action()
        except BaseException as error:
            self._error = self._explain(error)
            if isinstance(error, OpError):
                raise self._error from error
            raise

    def _explain(self, error: BaseException) -> OpError:
        """Make the error that says what is in the file."""
        cls: type[OpError] = AbortedError
        text = f"{self._output.name}; writing was interrupted"
        if isinstance(error, OpError):
            cls, text = type(error), error.message
        kept = self._sink.kept
        if self._output.whole:
            kept = 0
            where = "0 records are in the file, which appears whole or not at all. Write all of them again."
        elif kept is None:
            where = (
                f"The last of the {self.records} records before this are not in the file, and its container has no "
                "end. append=True keeps those that are whole and reports their number in .records."
            )
        else:
            kept += self._before
            where = (
                f"{kept} records are in the file; those from number {kept} on are not. "
                "Make room and write them again, for example with append=True."
            )
        return cls(f"{text.removesuffix('.')}. {where}", path=self._output.name, record=kept)


def _frame_in_place(records: list[Any] | tuple[Any, ...], first: int) -> list[Any]:
    """Frame the next huge records without copying them: header, data, footer, header ..."""
    pieces: list[Any] = []
    total = 0
    for record in records[first : first + _MAX_PIECES // 3]:
        size = _size(record)
        if size < _HUGE_BYTES or total >= 4 * _HUGE_BYTES:
            break
        head = struct.pack("<Q", size)
        crc = struct.pack("<I", _core.crc32c_masked(head))
        pieces += (head + crc, record, struct.pack("<I", _core.crc32c_masked(record)))
        total += size
    return pieces


def check_level(codec: Codec, level: int | None) -> None:
    """Refuse a level before a file is touched."""
    lowest, highest = codec.levels
    if level is not None and not lowest <= as_integer("level", level) <= highest:
        raise InvalidArgumentError(
            f"Expected a level of {codec.name or 'no compression'} from {lowest} to {highest} but got {level}."
        )


def _size(record: Any) -> int:
    return len(record) if isinstance(record, (bytes, bytearray)) else 0


def _checked_path(path: Any, strict: bool) -> str | None:
    """Return the path as text, None for a file object."""
    if strict and not isinstance(path, (str, bytes)):
        raise TypeError(f"Expected binary or unicode string, got {path!r}")
    if isinstance(path, (str, bytes, os.PathLike)):
        return path_text(path)
    if hasattr(path, "write"):
        return None
    raise TypeError(f"expected a path or an open binary file but got {type(path).__name__}")


def _resolve(
    name: str | None, options: TFRecordOptions | str | int | None, compression: str | None, strict: bool
) -> tuple[str, TFRecordOptions | None]:
    """Settle the compression, and the options that tune zlib if there are any."""
    if isinstance(options, str) and not strict:
        compression, options = compression if compression is not None else options, None
    if options is not None and not isinstance(options, TFRecordOptions):
        options = TFRecordOptions(options)
    if compression is not None:
        kind = canonical(compression)
        if options is not None and (named := TFRecordOptions.get_compression_type_string(options)) not in (
            "",
            kind,
        ):
            raise InvalidArgumentError(f"compression={compression!r} contradicts options of type {named}.")
    elif options is not None:
        kind = TFRecordOptions.get_compression_type_string(options)
    else:
        kind = from_suffix(name) if name is not None and not strict else ""
    if codec(kind).window_bits is not None and options is not None:
        options.check()
    if strict or (options is not None and options.tunes_zlib()):
        return kind, options or TFRecordOptions()
    return kind, None


def _open_output(path: Any, name: str | None, atomic: bool, plan: Any) -> Output:
    if name is None:
        return ObjectOutput(path)
    if atomic or not is_local(name):
        return create(name)
    return FileOutput(name, append_at=None if plan is None else plan.end)


def _make_sink(
    output: Output,
    codec: Codec,
    tuned: TFRecordOptions | None,
    level: int | None,
    members: bool,
    threads: int,
) -> Sink:
    if not codec.name:
        return PlainSink(output)
    if members and codec.members is not None:
        chosen = level if level is not None or tuned is None else tuned.compression_level
        chosen = codec.members.default_level if chosen is None or chosen < 0 else chosen
        return MemberSink(output, codec.members, chosen, threads)
    if codec.window_bits is None:
        assert codec.encoder is not None
        return StreamSink(output, partial(codec.encoder, codec.default_level if level is None else level))
    given = tuned or TFRecordOptions(compression_level=level)
    given = TFRecordOptions(
        codec.name,
        given.flush_mode,
        given.input_buffer_size,
        given.output_buffer_size,
        given.window_bits,
        given.compression_level,
        given.compression_method,
        given.mem_level,
        given.compression_strategy,
    )
    return ZlibSink(output, given)
