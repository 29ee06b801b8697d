"""ShardSink: shards that tasks of a cluster write, of which the coordinator publishes one attempt each.

A task writes to a folder of its attempt below `.tfrkit/tmp/`, and returns what it wrote: plain data. Whoever started
the tasks gives all of that to `publish`, which renames (a store copies) exactly these files, names them in the
manifest, and removes the rest. So a task that is run again, or one that comes late, changes nothing, and whoever globs
the folder never sees a record twice.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Literal, TypeAlias

from tfrkit.codecs.table import canonical, codec
from tfrkit.errors import AlreadyExistsError, InvalidArgumentError, OpError
from tfrkit.model.arguments import as_integer, check_bools
from tfrkit.model.block import Block
from tfrkit.parsing.encode import encode_examples, encode_sequence_examples
from tfrkit.records.manifest import folder_lock
from tfrkit.records.write.replace_shards import shards_of_prefix
from tfrkit.records.write.writer import TFRecordWriter, check_level
from tfrkit.records.write.written_shards import NewShards, WrittenShard, publish_shards
from tfrkit.stores.files import (
    create,
    file_info,
    is_local,
    make_folder,
    remove_tree,
    traits_of,
)
from tfrkit.stores.object_config import adopt_settings, settings_of
from tfrkit.stores.output import SIDECAR_FOLDER
from tfrkit.stores.paths import PathLike, path_text
from tfrkit.stores.url import split_path

__all__ = ["RecordType", "ShardAttempt", "ShardSink", "SinkReport", "begin_sink"]

RecordType: TypeAlias = Literal["Example", "SequenceExample", "bytes"]
_TYPES: Final = ("Example", "SequenceExample", "bytes")
_PIECE_BYTES: Final = 8 << 20  # of a table that are made into records at once
_PIECE_ROWS: Final = 1 << 16
_LISTS: Final = "feature_lists/"  # before a list's name, where a scan has a feature of the same name


@dataclass(frozen=True, slots=True)
class SinkReport:
    """What was published: the paths of all shards in order, with their records and bytes."""

    paths: tuple[str, ...]
    records: int
    bytes: int


@dataclass(frozen=True, slots=True)
class ShardSink:
    """Where tasks put their rows. Plain data that pickles; see `begin_sink`."""

    prefix: str
    token: str
    compression: str
    level: int | None
    index: bool
    zones: bool
    threads: int | None
    shard_records: int | None
    shard_bytes: int | None
    record_type: RecordType
    feature_lists: tuple[str, ...] | None
    overwrite: bool
    stores: dict[str, Any] = field(
        default_factory=dict, repr=False
    )  # how they are configured; may hold secrets

    @property
    def folder(self) -> str:
        """Where the shards belong."""
        return split_path(self.prefix)[0]

    @property
    def temporary(self) -> str:
        """Where attempts write."""
        return os.path.join(self.folder, SIDECAR_FOLDER, "tmp", f"sink-{self.token}")

    def write(self, tables: Iterable[Any], task: int, within: str = "") -> list[WrittenShard]:
        """Write rows, in a worker.

        Args:
            tables: pyarrow Tables or RecordBatches, or Blocks of records.
            task: number of the task: shards are published in this order.
            within: folder below the sink's that the rows belong into.

        Returns:
            What was written, for `publish`; nothing if there are no rows.
        """
        attempt = ShardAttempt(self, task, within)
        try:
            for block in self._blocks(tables):
                attempt.add(block)
            attempt.end()
        except BaseException:
            attempt.drop()
            raise
        return attempt.written

    def attempt(self, task: int, within: str = "") -> ShardAttempt:
        """Begin an attempt at a task, in a worker that writes to several folders at once."""
        return ShardAttempt(self, task, within)

    def _blocks(self, tables: Iterable[Any]) -> Iterator[Block]:
        for table in tables:
            if isinstance(table, Block):
                yield table
                continue
            rows = table.num_rows
            step = min(_PIECE_ROWS, max(1, _PIECE_BYTES * rows // max(1, table.nbytes)))
            for first in range(0, rows, step):
                yield self._encoded(table.slice(first, step))

    def _encoded(self, table: Any) -> Block:
        if self.record_type == "Example":
            return encode_examples(_columns(table, table.schema.names), threads=self.threads)
        if self.record_type == "SequenceExample":
            lists = self.feature_lists
            if lists is None:
                lists = tuple(field.name for field in table.schema if _is_nested(field.type))
            context = [name for name in table.schema.names if name not in lists]
            steps = {
                name.removeprefix(_LISTS) if name.removeprefix(_LISTS) in context else name: column
                for name, column in _columns(table, lists).items()
            }
            return encode_sequence_examples(_columns(table, context), steps, threads=self.threads)
        if table.num_columns != 1 or table.column(0).null_count:
            raise InvalidArgumentError(
                f"Expected one column of records without nulls but got {', '.join(table.schema.names)}."
            )
        return Block.from_records(
            [value.encode() if isinstance(value, str) else value for value in table.column(0).to_pylist()]
        )

    def open(self, name: str) -> TFRecordWriter:
        """Begin a shard, in a worker."""
        return TFRecordWriter(
            name,
            compression=self.compression or "none",
            level=self.level,
            atomic=True,
            index=self.index and codec(self.compression).seeks,
            zones=self.zones,
            threads=self.threads,
        )

    def publish(
        self, written: Iterable[WrittenShard], *, replaced: Callable[[], Collection[str]] | None = None
    ) -> SinkReport:
        """Give the shards of all tasks their names, and name them in the manifest; the coordinator's to call, once.

        Of a task that was run several times the first attempt counts that is in `written`. Shards that were there
        under the prefix give way when the new ones are ready.

        Args:
            written: by all tasks; without any rows there is one empty shard.
            replaced: returns folders below the sink's of which all record files give way, also those of other prefixes;
                it is called when no other write can be published any more. Then there may be no rows.

        Raises:
            DataLossError: a shard is not as its task has left it.
            AlreadyExistsError: another write into the folder was published meanwhile under the same prefix.
        """
        adopt_settings(self.stores)  # Spark has a process of its own for this
        shards = _one_attempt_each(written)
        if not shards and replaced is None:
            shards = self.write([Block.from_records([])], 0)
        try:
            for shard in shards:  # before the first has its name
                shard.check()
            # Two that replace the same would leave a part of each.
            with folder_lock(self.folder, "jobs.lock"):
                folders = self._folders(shards, () if replaced is None else replaced())
                publish_shards(folders)
        finally:
            self.abort()
        return SinkReport(
            tuple(path for each in folders for path in each.paths),
            sum(shard.records for shard in shards),
            sum(shard.bytes for shard in shards),
        )

    def _folders(self, shards: Iterable[WrittenShard], emptied: Collection[str]) -> list[NewShards]:
        """Return what becomes of each folder."""
        own: dict[str, list[WrittenShard]] = {within: [] for within in emptied}
        for shard in shards:
            own.setdefault(shard.within, []).append(shard)
        folder, title = split_path(self.prefix)
        found = []
        for within in sorted(own):
            prefix = os.path.join(folder, within, title)
            if not self.overwrite:  # others may have written since it was begun
                _check_free(prefix)
            found.append(NewShards(prefix, own[within], self.compression, whole=within in emptied))
        return found

    def abort(self) -> None:
        """Remove all that attempts have written and that was not published; the coordinator's to call."""
        adopt_settings(self.stores)
        with contextlib.suppress(OSError, OpError):
            remove_tree(self.temporary)
        if is_local(self.temporary):
            with contextlib.suppress(OSError):  # others write there, too
                os.rmdir(os.path.dirname(self.temporary))


class ShardAttempt:
    """An attempt at a task, in a worker: rows go into one shard after the other."""

    def __init__(self, sink: ShardSink, task: int, within: str) -> None:
        adopt_settings(sink.stores)
        self._sink, self._task, self._within = sink, task, within
        self._name = secrets.token_hex(6)
        self._folder = os.path.join(sink.temporary, f"{task:05d}-{self._name}")
        self._writer: TFRecordWriter | None = None
        self._path = ""
        self._rows = self._bytes = 0
        self.written: list[WrittenShard] = []

    def add(self, block: Block) -> None:
        """Write the records of a block, and end shards that are full."""
        most = self._sink.shard_records
        if self._writer is None:
            self._begin()
        while most is not None and self._rows + len(block) > most:
            room = most - self._rows
            self._put(block[:room])
            block = block[room:]
            self.end()
            self._begin()
        self._put(block)
        if self._sink.shard_bytes is not None and self._bytes >= self._sink.shard_bytes:
            self.end()

    def _begin(self) -> None:
        make_folder(os.path.join(self._folder, SIDECAR_FOLDER))
        self._path = os.path.join(self._folder, f"{len(self.written):05d}.tfrecord")
        self._writer = self._sink.open(self._path)
        self._rows = self._bytes = 0

    def _put(self, block: Block) -> None:
        assert self._writer is not None
        self._writer.write_frames(block)
        self._rows += len(block)
        self._bytes += block.nbytes

    def end(self) -> None:
        """End the shard that is open, if one is."""
        if self._writer is None:
            return
        self._writer.close()
        self._writer = None
        found = file_info(self._path)
        assert found is not None
        where = self._task, self._name, len(self.written), self._within
        self.written.append(WrittenShard(*where, self._path, self._rows, found.size))

    def drop(self) -> None:
        """Remove what was written."""
        if self._writer is not None:
            self._writer.discard()
        with contextlib.suppress(OSError, OpError):
            remove_tree(self._folder)


def _columns(table: Any, names: Iterable[str]) -> dict[str, Any]:
    """Return columns of a table by name, each as one array or as chunks."""
    return {name: table.column(name) for name in names}


def _is_nested(kind: Any) -> bool:
    """Say whether a type of Arrow is that of lists of lists."""
    inner = getattr(kind, "value_type", None)
    return inner is not None and getattr(inner, "value_type", None) is not None and "list" in str(inner)


def _one_attempt_each(written: Iterable[WrittenShard]) -> list[WrittenShard]:
    """Return the shards of one attempt at each task, in order. Pure: no I/O."""
    attempts: dict[tuple[int, str], str] = {}
    kept = [
        each
        for each in written
        if attempts.setdefault((each.task, each.within), each.attempt) == each.attempt
    ]
    return sorted(kept, key=lambda shard: (shard.within, shard.task, shard.number))


def _check_free(prefix: str) -> None:
    if old := shards_of_prefix(prefix):
        raise AlreadyExistsError(
            f"{old[0]}; there are {len(old)} shards of {prefix!r} already. Remove them, choose another prefix, or pass "
            "overwrite=True.",
            path=old[0],
        )


def begin_sink(
    prefix: PathLike,
    *,
    compression: str | None = None,
    level: int | None = None,
    index: bool = True,
    zones: bool = False,
    overwrite: bool = False,
    shard_records: int | None = None,
    shard_bytes: int | None = None,
    record_type: RecordType = "Example",
    feature_lists: Iterable[str] | None = None,
    threads: int | None = 1,
) -> ShardSink:
    """Check where shards are to be written, and return what tasks write with.

    Args:
        prefix: folder and beginning of the names, such as "out/train" or "s3://bucket/train". Folders are made.
        compression: as for `ShardWriter`, also for the next ones.
        level: of the compression.
        index: keep an index of each shard beside it (plain and GZIP).
        zones: keep zones beside each shard.
        overwrite: replace what is there under the prefix; else it is an error.
        shard_records: at most so many records in a shard; by default a task writes one shard.
        shard_bytes: begin a new shard when this much was written to one.
        record_type: what a row becomes: an "Example", a "SequenceExample", or, of one column, the record ("bytes").
        feature_lists: columns that are feature lists of SequenceExamples; by default those of lists of lists.
        threads: for compression and encoding, in each worker.

    Raises:
        AlreadyExistsError: there are shards of this prefix already.
        InvalidArgumentError: an option has a value that it cannot have.
    """
    check_bools(index=index, zones=zones, overwrite=overwrite)
    for name, value in (("shard_records", shard_records), ("shard_bytes", shard_bytes)):
        if value is not None and as_integer(name, value) < 1:
            raise InvalidArgumentError(f"Expected {name} to be at least 1 but got {value}.")
    if record_type not in _TYPES:
        raise InvalidArgumentError(
            f"Expected one of {', '.join(map(repr, _TYPES))} as record type but got {record_type!r}."
        )
    kind = canonical(compression)
    check_level(codec(kind), level)
    text = path_text(prefix)
    if not traits_of(text).writes:
        create(text)  # which says why
    folder, title = split_path(text)
    if not title:
        raise InvalidArgumentError(
            f"Expected a folder and the beginning of names, such as {text}data, but got {text!r}."
        )
    make_folder(folder)
    if not overwrite:
        _check_free(text)
    return ShardSink(
        text, secrets.token_hex(6), kind, level, index, zones, threads, shard_records, shard_bytes,
        record_type, None if feature_lists is None else tuple(feature_lists), overwrite, settings_of([text]),
    )  # fmt: skip
