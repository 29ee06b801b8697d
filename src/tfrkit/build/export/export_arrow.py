"""Parquet and Arrow files of exports: columns as the parser returns them, handed to pyarrow without copying.

The metadata of a field marks a feature list of SequenceExamples, which distinguishes it from a feature.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import IO, Any, Final

from tfrkit.build.export.export_columns import ExportChunk, ExportColumn
from tfrkit.build.export.export_options import TableExportOptions
from tfrkit.build.tables.arrow.arrow_types import FEATURE_LIST
from tfrkit.model.arrow.arrow_layout import Layout, export_layout
from tfrkit.optional import require
from tfrkit.records.read.table_layout import cells_layout

__all__ = ["ArrowSink", "ParquetSink"]

_PAGE_BYTES: Final = 1 << 20


class _Batch:
    """A layout for pyarrow."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return export_layout(self._layout)


class _Batches:
    """Makes batches of one schema."""

    losses: Mapping[str, int] = {}

    def __init__(self, columns: tuple[ExportColumn, ...], what: str) -> None:
        self._pyarrow = require("pyarrow", what)
        self._columns = columns
        arrays = self._arrays(None)
        fields = [
            self._pyarrow.field(
                column.name, array.type, metadata={FEATURE_LIST: column.feature} if column.steps else None
            )
            for column, array in zip(columns, arrays, strict=True)
        ]
        self.schema = self._pyarrow.schema(fields)

    def batch(self, chunk: ExportChunk) -> Any:
        """Return the chunk as a pyarrow.RecordBatch."""
        return self._pyarrow.RecordBatch.from_arrays(self._arrays(chunk), schema=self.schema)

    def _arrays(self, chunk: ExportChunk | None) -> list[Any]:
        # Numbers for names: the C interface ends names at a NUL, and pyarrow's own schema does not.
        rows = 0 if chunk is None else chunk.rows
        children = tuple(
            cells_layout(None if chunk is None else chunk.cells[place], column.form, rows).named(str(place))
            for place, column in enumerate(self._columns)
        )
        table = Layout("+s", "", 0, rows, 0, (None,), children)
        return list(self._pyarrow.record_batch(_Batch(table)).columns) if children else []


class ParquetSink(_Batches):
    """Writes a Parquet file, with a row group for each chunk."""

    def __init__(
        self, file: IO[bytes], columns: tuple[ExportColumn, ...], options: TableExportOptions
    ) -> None:
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

    def write(self, chunk: ExportChunk) -> None:
        table = self._pyarrow.Table.from_batches([self.batch(chunk)])
        self._writer.write_table(table, row_group_size=max(1, chunk.rows))

    def close(self) -> None:
        self._writer.close()


class ArrowSink(_Batches):
    """Writes an Arrow IPC file (Feather), with a record batch for each chunk."""

    def __init__(
        self, file: IO[bytes], columns: tuple[ExportColumn, ...], options: TableExportOptions
    ) -> None:
        super().__init__(columns, "export to Arrow")
        ipc = require("pyarrow.ipc", "export to Arrow")
        codec = None
        if options.compression != "none":
            codec = self._pyarrow.Codec(options.compression, options.level)
        self._writer = ipc.new_file(file, self.schema, options=ipc.IpcWriteOptions(compression=codec))

    def write(self, chunk: ExportChunk) -> None:
        self._writer.write_batch(self.batch(chunk))

    def close(self) -> None:
        self._writer.close()
