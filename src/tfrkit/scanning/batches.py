"""Batches: chunks of parsed records as Arrow record batches of one schema, handed to pyarrow without copying."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Final

import numpy as np

from tfrkit.errors import InvalidArgumentError
from tfrkit.model.arrow.arrow_layout import Layout, export_layout
from tfrkit.model.block import Block
from tfrkit.optional import require
from tfrkit.records.read.feature_columns import Cells
from tfrkit.scanning.columns import NO_VALUES, ScanChunk, ScanColumn
from tfrkit.scanning.table_layout import Form, cells_layout

__all__ = ["FILE_COLUMN", "RECORD_COLUMN", "Batches"]

_NULLABLE: Final = 2
_NUMBERS: Final = {"int64": "l", "float32": "f"}
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
            pyarrow.field(
                column.name, _arrow_type(what, *_shape(column)), metadata=(metadata or {}).get(column.name)
            )
            for column in columns
        ]
        if with_source:
            self._file_type = pyarrow.dictionary(pyarrow.int32(), pyarrow.string())
            fields += [
                pyarrow.field(FILE_COLUMN, self._file_type),
                pyarrow.field(RECORD_COLUMN, pyarrow.int64()),
            ]
        self.schema = pyarrow.schema(fields)
        names = [column.name for column in columns]
        # What pyarrow imports is the batch, unless a name ends early there: the C interface ends names at a NUL.
        self._is_plain = not (metadata or with_source or any("\0" in name for name in names))
        self._names = names if self._is_plain else list(map(str, range(len(names))))
        self._codes = [_NUMBERS.get(column.kind) if not column.form.depth else None for column in columns]

    def batch(self, chunk: ScanChunk) -> Any:
        """Return the chunk as a pyarrow.RecordBatch."""
        if not self.schema.names:  # only the number of rows counts
            return self._pyarrow.RecordBatch.from_struct_array(
                self._pyarrow.array([{}] * chunk.rows, self._pyarrow.struct([]))
            )
        layouts = tuple(map(self._layout, self._columns, self._names, chunk.cells, self._codes))
        table = Layout("+s", "", 0, chunk.rows, 0, (None,), layouts)
        found = self._pyarrow.record_batch(_Batch(table)) if layouts else None
        if self._is_plain:
            return found
        arrays = [] if found is None else list(found.columns)
        if self._with_source:
            arrays += self._sources(chunk.blocks)
        return self._pyarrow.RecordBatch.from_arrays(arrays, schema=self.schema)

    def _layout(self, column: ScanColumn, name: str, cells: Cells, code: str | None) -> Layout:
        rows = len(cells.valid)
        if code is not None and cells.single:  # most columns: 2 us less for each (benchmarks/scan.py)
            return Layout(code, name, _NULLABLE, rows, 0, (None, cells.rows.values))
        try:
            return _layout(*_shape(column), cells, rows).named(name)
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


def _shape(column: ScanColumn) -> tuple[bool, Form, tuple[int, ...] | None, bool]:
    """Return all that the type of a column depends on."""
    return column.kind == NO_VALUES, column.form, column.shape, column.text


def _layout(
    empty: bool, form: Form, shape: tuple[int, ...] | None, text: bool, cells: Cells | None, rows: int
) -> Layout:
    if empty:
        return Layout("n", "", _NULLABLE, rows, rows, ())
    return cells_layout(cells, form, rows, shape=shape, text=text)


@cache  # most columns of a table have one of a few types
def _arrow_type(what: str, empty: bool, form: Form, shape: tuple[int, ...] | None, text: bool) -> Any:
    """Return the Arrow type of a column: that of one without rows."""
    layout = Layout("+s", "", 0, 0, 0, (None,), (_layout(empty, form, shape, text, None, 0).named("0"),))
    return require("pyarrow", what).record_batch(_Batch(layout)).schema.field(0).type
