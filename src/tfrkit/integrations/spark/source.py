"""TFRecordSource: what Spark calls to plan a read or a write. Needs pyspark; `register` imports it.

Spark makes these objects in Python processes of its own, beside the driver and in the executors: all that they hold is
plain data.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from tfrkit.engines.worker_channel import ChannelAddress
from tfrkit.integrations.spark.read import RecordReader, infer_schema
from tfrkit.integrations.spark.source_options import ReadOptions, WriteOptions
from tfrkit.integrations.spark.write import RecordWriter
from tfrkit.optional import require
from tfrkit.stores.object_config import adopt_settings

__all__ = ["FilteringSource", "FilteringSources", "TFRecordSource", "TFRecordsSource", "sources"]

datasource: Any = require("pyspark.sql.datasource", "tfr.spark")


class _Reader(datasource.DataSourceReader):  # type: ignore[misc]
    def __init__(self, reader: RecordReader) -> None:
        self._reader = reader

    def partitions(self) -> list[Any]:
        return [datasource.InputPartition(part) for part in self._reader.parts()]

    def read(self, partition: Any) -> Any:
        return self._reader.read(partition.value)


class _FilteringReader(_Reader):
    def pushFilters(self, filters: list[Any]) -> list[Any]:  # noqa: N802  # Spark's name
        return self._reader.push(filters)


class _Message(datasource.WriterCommitMessage):  # type: ignore[misc]
    """What a task has written."""

    def __init__(self, written: Any) -> None:
        self.written = written


class _Writer(datasource.DataSourceArrowWriter):  # type: ignore[misc]
    def __init__(self, writer: RecordWriter) -> None:
        self._writer = writer

    def write(self, iterator: Any) -> _Message:
        task = require("pyspark", "tfr.spark").TaskContext.get().partitionId()
        return _Message(self._writer.write(iterator, task))

    def commit(self, messages: list[Any]) -> None:
        self._writer.commit([message.written for message in messages if message is not None])

    def abort(self, messages: list[Any]) -> None:
        self._writer.abort()


class TFRecordSource(datasource.DataSource):  # type: ignore[misc]  # pyspark is optional
    """The format "tfrecord"."""

    reads: ClassVar[type[_Reader]] = _Reader
    counts_at: ClassVar[ChannelAddress | None] = None
    stores: ClassVar[Mapping[str, Any]] = {}  # how they are configured; may hold secrets

    def __init__(self, options: Any) -> None:
        super().__init__(options)
        adopt_settings(self.stores)

    @classmethod
    def name(cls) -> str:
        return "tfrecord"

    def schema(self) -> Any:
        return infer_schema(ReadOptions.of_source(self.options))

    def reader(self, schema: Any) -> _Reader:
        options = ReadOptions.of_source(self.options)
        return self.reads(RecordReader(options, schema, counts_at=self.counts_at, stores=self.stores))

    def writer(self, schema: Any, overwrite: bool) -> _Writer:
        return _Writer(RecordWriter.begin(WriteOptions.of_source(self.options), schema, overwrite=overwrite))


class TFRecordsSource(TFRecordSource):
    """The same by its other name."""

    @classmethod
    def name(cls) -> str:
        return "tfrecords"


class FilteringSource(TFRecordSource):
    """The format "tfrecord", which gets Spark's filters."""

    reads = _FilteringReader


class FilteringSources(TFRecordsSource):
    """The same by its other name."""

    reads = _FilteringReader


def sources(*, pushdown: bool) -> tuple[type[TFRecordSource], ...]:
    """Return the sources that a session is to know, with or without filters of Spark's."""
    return (FilteringSource, FilteringSources) if pushdown else (TFRecordSource, TFRecordsSource)
