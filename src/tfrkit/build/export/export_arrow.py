"""Parquet and Arrow files of exports: columns as the parser returns them, handed to pyarrow without copying.

The metadata of a field marks a feature list of SequenceExamples, which distinguishes it from a feature.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, Final

from tfrkit.build.export.export_options import TableExportOptions
from tfrkit.build.tables.arrow.arrow_types import FEATURE_LIST
from tfrkit.optional import require
from tfrkit.scanning.batches import Batches
from tfrkit.scanning.columns import ScanChunk, ScanColumn

__all__ = ["ArrowSink", "ParquetSink"]

_PAGE_BYTES: Final = 1 << 20


class _Batches(Batches):
    """Batches with marks at feature lists, for a writer of pyarrow's."""

    losses: Mapping[str, int] = {}
    _writer: Any

    def __init__(self, columns: tuple[ScanColumn, ...], what: str) -> None:
        super().__init__(
            columns, what, {column.name: {FEATURE_LIST: column.feature} for column in columns if column.steps}
        )

    def close(self) -> None:
        self._writer.close()


class ParquetSink(_Batches):
    """Writes a Parquet file, with a row group for each chunk."""

    def __init__(self, file: IO[bytes], columns: tuple[ScanColumn, ...], options: TableExportOptions) -> None:
        super().__init__(columns, "export to Parquet")
        parquet = require("pyarrow.parquet", "export to Parquet")
        # A page ends after a batch of values: without a limit, thousands of images would be one page in memory.
        longest = max((column.value_bytes for column in columns), default=1)
        self._writer = parquet.ParquetWriter(
            file,
            self.schema,
            compression=options.compression,
            compression_level=options.level,
            write_batch_size=max(1, min(1024, _PAGE_BYTES // max(1, longest))),
        )

    def write(self, chunk: ScanChunk) -> None:
        table = self._pyarrow.Table.from_batches([self.batch(chunk)])
        self._writer.write_table(table, row_group_size=max(1, chunk.rows))


class ArrowSink(_Batches):
    """Writes an Arrow IPC file (Feather), with a record batch for each chunk."""

    def __init__(self, file: IO[bytes], columns: tuple[ScanColumn, ...], options: TableExportOptions) -> None:
        super().__init__(columns, "export to Arrow")
        ipc = require("pyarrow.ipc", "export to Arrow")
        codec = None
        if options.compression != "none":
            codec = self._pyarrow.Codec(options.compression, options.level)
        self._writer = ipc.new_file(file, self.schema, options=ipc.IpcWriteOptions(compression=codec))

    def write(self, chunk: ScanChunk) -> None:
        self._writer.write_batch(self.batch(chunk))
