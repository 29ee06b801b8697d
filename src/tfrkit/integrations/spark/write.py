"""RecordWriter: rows of Spark as shards, exactly once.

Each attempt at a task writes files of its own below `.tfrkit/tmp/` (`records.write.shard_sink`); Spark hands what
successful tasks returned to `commit`, which names exactly these. Columns become features as in `build.table`.
"""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.build.tables.arrow.arrow_encoder import ArrowEncoder
from tfrkit.build.tables.arrow.folder_rows import rows_by_folder
from tfrkit.build.tables.hive.spark_columns import column_schema
from tfrkit.errors import InvalidArgumentError
from tfrkit.integrations.spark.source_options import WriteOptions
from tfrkit.integrations.spark.types import arrow_schema, depth_of
from tfrkit.model.block import Block
from tfrkit.model.near_names import near_names
from tfrkit.optional import lazy
from tfrkit.records.record_names import parse_record_name
from tfrkit.records.write.replace_shards import aside_of
from tfrkit.records.write.shard_sink import ShardAttempt, ShardSink, begin_sink
from tfrkit.records.write.written_shards import WrittenShard
from tfrkit.stores import files
from tfrkit.stores.url import is_url, local_path, plain_folder

__all__ = ["RecordWriter"]

pyarrow: Any = lazy("pyarrow", "tfr.spark")
_OPEN: Final = 64  # shards of a task that are written at once


@dataclass(frozen=True, slots=True)
class RecordWriter:
    """One write: begun and committed beside the driver, written in tasks. Plain data that pickles."""

    sink: ShardSink
    schema: Any
    options: WriteOptions
    overwrite: bool

    @classmethod
    def begin(cls, options: WriteOptions, schema: Any, *, overwrite: bool) -> RecordWriter:
        """Check everything before the first task runs.

        Raises:
            InvalidArgumentError: an option or a column cannot be.
        """
        if len(options.paths) != 1:
            raise InvalidArgumentError(
                'Expected one folder, such as df.write.format("tfrecord").save("out").'
            )
        folder = options.paths[0]
        folder = plain_folder(folder) if is_url(folder) else os.path.abspath(local_path(folder))
        arrow = column_schema(schema, folder)
        _check_partitions(options, arrow)
        kept = _kept(arrow, options.partition_by)
        if options.record_type == "ByteArray":
            _check_records(kept)
        else:
            ArrowEncoder(kept, _feature_lists(schema, options))
        # What is added has a name of its own, so that it replaces nothing.
        prefix = options.prefix if overwrite else f"{options.prefix}-{secrets.token_hex(4)}"
        sink = begin_sink(
            os.path.join(folder, prefix),
            compression=options.compression or "none",
            level=options.level,
            index=options.index,
            zones=options.zones,
            overwrite=overwrite,
            shard_records=options.shard_records,
            shard_bytes=options.shard_bytes,
        )
        return cls(sink, schema, options, overwrite)

    def write(self, batches: Iterable[Any], task: int) -> list[WrittenShard]:
        """Write the rows of a task, in its executor."""
        attempts: dict[str, ShardAttempt] = {}
        opened: dict[str, None] = {}
        try:
            for within, block in self._blocks(batches):
                if within not in attempts:
                    attempts[within] = self.sink.attempt(task, within)
                opened.pop(within, None)
                opened[within] = None  # the last one is the one that was used last
                attempts[within].add(block)
                if len(opened) > _OPEN:
                    attempts[oldest := next(iter(opened))].end()  # its next rows begin another shard
                    del opened[oldest]
            for attempt in attempts.values():
                attempt.end()
        except BaseException:
            for attempt in attempts.values():
                attempt.drop()
            raise
        return [shard for attempt in attempts.values() for shard in attempt.written]

    def commit(self, written: Iterable[Sequence[WrittenShard]]) -> None:
        """Publish what successful tasks have written; overwriting, in place of what was there before."""
        shards = [shard for each in written for shard in each]
        if (
            not shards and not self.options.partition_by
        ):  # without rows there still is a schema's worth of a file
            shards = self.sink.write([Block.from_records([])], 0)

        def replaced() -> set[str]:
            own = {shard.within for shard in shards}
            dynamic = self.options.overwrite_partitions == "dynamic"
            return own if dynamic else own | _record_folders(self.sink.folder)

        self.sink.publish(shards, replaced=replaced if self.overwrite else set)

    def abort(self) -> None:
        """Remove what tasks have left."""
        self.sink.abort()

    def _blocks(self, batches: Iterable[Any]) -> Iterator[tuple[str, Block]]:
        """Yield the records of batches, each with the folder that they belong into."""
        names = self.options.partition_by
        arrow = arrow_schema(self.schema)
        kept, everything = _kept(arrow, names), arrow.names
        records = self.options.record_type == "ByteArray"
        encoder = None if records else ArrowEncoder(kept, _feature_lists(self.schema, self.options))
        for batch in batches:
            for within, own in rows_by_folder(batch, everything, names):
                for block in [_records(own)] if encoder is None else encoder.blocks(own):
                    yield within, block


def _kept(arrow: Any, partitions: Sequence[str]) -> Any:
    """Return the schema of what becomes features."""
    return pyarrow.schema([field for field in arrow if field.name not in partitions])


def _feature_lists(schema: Any, options: WriteOptions) -> tuple[str, ...]:
    """Return the columns that are feature lists: arrays of arrays."""
    if options.record_type != "SequenceExample":
        return ()
    return tuple(field.name for field in schema.fields if depth_of(field.dataType)[0] == 2)


def _check_partitions(options: WriteOptions, arrow: Any) -> None:
    for name in options.partition_by:
        at = arrow.get_field_index(name)
        if at < 0:
            raise InvalidArgumentError(
                f"partitionBy: there is no column {name!r}. {near_names(name, list(arrow.names))}"
            )
        if pyarrow.types.is_nested(arrow.field(at).type) or pyarrow.types.is_floating(arrow.field(at).type):
            raise InvalidArgumentError(
                f"partitionBy: column {name!r} of {arrow.field(at).type} cannot name folders. Use whole numbers, text, "
                "dates or booleans."
            )
    if len(options.partition_by) == len(arrow):
        raise InvalidArgumentError("partitionBy: expected at least one more column, which is written.")


def _check_records(kept: Any) -> None:
    tests = pyarrow.types
    if len(kept) != 1 or not (tests.is_binary(kept.field(0).type) or tests.is_string(kept.field(0).type)):
        raise InvalidArgumentError(
            f"recordType=ByteArray: expected one column of binary values but got {', '.join(map(str, kept))}."
        )


def _records(batch: Any) -> Block:
    column = batch.column(0)
    if column.null_count:
        raise InvalidArgumentError(
            f"recordType=ByteArray: expected a record in every row but column {batch.schema.names[0]!r} has nulls."
        )
    return Block.from_records(column.cast(pyarrow.binary()).to_pylist())


def _record_folders(folder: str) -> set[str]:
    """Return which folders of partitions below one have record files, itself included; what others keep stays."""
    root, found = folder.rstrip("/"), set()
    for info in files.list_if_there(root, recursive=True):
        aside = aside_of(info.path)  # of an overwrite that was killed
        within = (os.path.dirname(info.path) if aside is None else aside)[len(root) :].lstrip("/")
        is_record = aside is not None or parse_record_name(os.path.basename(info.path)) is not None
        if is_record and not info.is_folder and all("=" in part for part in within.split("/") if part):
            found.add(within)
    return found
