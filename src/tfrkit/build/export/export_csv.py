"""CSV files of exports, for other programs. What CSV cannot express is counted.

A list is its values with a separator between them; no value at all is an empty field, whether the feature is absent, an
empty list or an empty text. Bytes that are no UTF-8 are base64. Feature lists are left out.
"""

from __future__ import annotations

import base64
import csv
from collections import Counter
from itertools import pairwise
from typing import IO, Any, Final, Literal

import numpy as np

from tfrkit.build.export.export_options import TableExportOptions
from tfrkit.build.tables.json_notation import float_texts
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.records.read.feature_columns import Cells
from tfrkit.scanning.columns import ScanChunk, ScanColumn

__all__ = ["CsvSink"]

ABSENT: Final = "absent features, empty lists and empty texts, which are all empty fields"
BASE64: Final = "byte strings that are not UTF-8, as base64"
SEPARATED: Final = "texts with the separator of lists in them, in lists"
UNUSUAL: Final = "NaNs with unusual bits"
LISTS: Final = "feature lists, which are left out"
_LINE_END: Final = "\r\n"
_USUAL_NAN: Final = 0x7FC00000


class _Lines:
    """Takes the lines of a `csv.writer`, which quotes only the line end that it writes itself."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def write(self, line: str) -> None:
        self.found.append(line.removesuffix(_LINE_END) + "\n")


class CsvSink:
    """Writes a CSV file with a line of names."""

    def __init__(self, file: IO[bytes], columns: tuple[ScanColumn, ...], options: TableExportOptions) -> None:
        self._file = file
        self._options = options
        self._columns = columns
        self.losses: Counter[str] = Counter()
        names = [column.name for column in columns if not column.steps]
        # At the beginning of a file, readers take these bytes for the mark of UTF-8 unless they are quoted.
        is_marked = bool(names) and names[0].startswith("\ufeff")
        self._write([names], csv.QUOTE_ALL if is_marked else csv.QUOTE_MINIMAL)

    def write(self, chunk: ScanChunk) -> None:
        fields = []
        for column, cells in zip(self._columns, chunk.cells, strict=True):
            if column.steps:
                self.losses[LISTS] += int(cells.valid.sum())
            else:
                fields.append(self._fields(column, cells))
        self._write(list(zip(*fields, strict=True)) if fields else [[]] * chunk.rows)

    def close(self) -> None:
        pass

    def _write(self, rows: Any, quoting: Literal[0, 1] = csv.QUOTE_MINIMAL) -> None:
        lines = _Lines()
        writer = csv.writer(
            lines, delimiter=self._options.delimiter or ",", lineterminator=_LINE_END, quoting=quoting
        )
        writer.writerows(rows)
        self._file.write("".join(lines.found).encode())

    def _fields(self, column: ScanColumn, cells: Cells) -> list[str]:
        rows: Any = cells.rows
        separator = self._options.separator
        texts = self._texts(rows.values)
        if column.form.depth and isinstance(rows.values, BytesColumn):
            self.losses[SEPARATED] += sum(separator in text for text in texts)
        if not column.form.depth and len(texts) == len(cells.valid):
            fields = texts
        else:
            fields = [separator.join(texts[start:stop]) for start, stop in pairwise(rows.row_splits.tolist())]
        self.losses[ABSENT] += fields.count("")
        return fields

    def _texts(self, values: Any) -> list[str]:
        if isinstance(values, BytesColumn):
            return [self._text(value) for value in values.to_list()]
        if values.dtype == np.float32:
            self.losses[UNUSUAL] += int((np.isnan(values) & (values.view(np.uint32) != _USUAL_NAN)).sum())
            return float_texts(values)
        return list(map(str, values.tolist()))

    def _text(self, value: bytes) -> str:
        try:
            return str(value, "utf-8")
        except UnicodeDecodeError:
            self.losses[BASE64] += 1
            return base64.b64encode(value).decode()
