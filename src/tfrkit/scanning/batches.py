"""Batches: chunks of parsed records as Arrow record batches of one schema, handed to pyarrow without copying."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.arrow.arrow_layout import Layout, export_layout
from tfrkit.model.block import Block
from tfrkit.optional import require
from tfrkit.records.read.feature_columns import Cells
from tfrkit.scanning.columns import NO_VALUES, ScanChunk, ScanColumn
from tfrkit.scanning.table_layout import cells_layout

__all__ = ["FILE_COLUMN", "RECORD_COLUMN", "Batches"]

_NULLABLE: Final = 2
FILE_COLUMN: Final = "_file"
RECORD_COLUMN: Final = "_record"


class _Batch:
    """A layout for pyarrow."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def __arrow_c_array__(self, requested_schema: object | None = None) -> tuple[object, object]:
        return export_layout(self._layout)


class Batches:
    """Makes batches of one schema. Thread-safe.

    Args:
        columns: what the chunks hold.
        what: who needs pyarrow, for the error if it is missing.
        metadata: of fields, by name.
        with_source: add the columns `_file` and `_record`: where each record comes from.
    """

    def __init__(
        self,
        columns: Sequence[ScanColumn],
        what: str,
        metadata: Mapping[str, Mapping[str, str]] | None = None,
        *,
        with_source: bool = False,
    ) -> None:
        self._pyarrow = pyarrow = require("pyarrow", what)
        self._columns = columns
        self._with_source = with_source
        fields = [
            pyarrow.field(column.name, array.type, metadata=(metadata or {}).get(column.name))
            for column, array in zip(columns, self._arrays(None), strict=True)
        ]
        if with_source:
            self._file_type = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
            fields += [
                pyarrow.field(FILE_COLUMN, self._file_type),
                pyarrow.field(RECORD_COLUMN, pyarrow.int64()),
            ]
        self.schema = pyarrow.schema(fields)

    def batch(self, chunk: ScanChunk) -> Any:
        """Return the chunk as a pyarrow.RecordBatch."""
        arrays = self._arrays(chunk)
        if self._with_source:
            arrays += self._sources(chunk.blocks)
        if not arrays:  # only the number of rows counts
            return self._pyarrow.RecordBatch.from_struct_array(
                self._pyarrow.array([{}] * chunk.rows, self._pyarrow.struct([]))
            )
        return self._pyarrow.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _arrays(self, chunk: ScanChunk | None) -> list[Any]:
        # Numbers for names: the C interface ends names at a NUL, and pyarrow's own schema does not.
        rows = 0 if chunk is None else chunk.rows
        children = tuple(
            self._layout(column, None if chunk is None else chunk.cells[place], rows).named(str(place))
            for place, column in enumerate(self._columns)
        )
        table = Layout("+s", "", 0, rows, 0, (None,), children)
        return list(self._pyarrow.record_batch(_Batch(table)).columns) if children else []

    def _layout(self, column: ScanColumn, cells: Cells | None, rows: int) -> Layout:
        if column.kind == NO_VALUES:
            return Layout("n", "", _NULLABLE, rows, rows, ())
        try:
            return cells_layout(cells, column.form, rows, shape=column.shape, text=column.text)
        except InvalidArgumentError as error:
            raise InvalidArgumentError(f"column {column.name!r}: {error.message}") from None

    def _sources(self, blocks: Sequence[Block]) -> list[Any]:
        pyarrow = self._pyarrow
        names = list(dict.fromkeys(block.path or "" for block in blocks))
        files = np.concatenate(
            [
                np.zeros(0, np.int32),
                *(np.full(len(each), names.index(each.path or ""), np.int32) for each in blocks),
            ]
        )
        records = np.concatenate([np.zeros(0, np.int64), *(each.places()[0] for each in blocks)])
        dictionary = pyarrow.array(names, pyarrow.string())
        return [pyarrow.DictionaryArray.from_arrays(pyarrow.array(files), dictionary), pyarrow.array(records)]
