"""JSON lines of exports: a record is an object on a line of its own, in the notation of `json_notation.py`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from itertools import pairwise, repeat
from typing import IO, Any, Final

import numpy as np

from tfrkit.build.export.export_options import TableExportOptions
from tfrkit.build.tables.json_notation import FEATURE_LISTS, json_values
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.ragged import Ragged
from tfrkit.records.read.feature_columns import Cells
from tfrkit.scanning.columns import ScanChunk, ScanColumn

__all__ = ["JsonlSink", "json_cells"]

_EMPTY_KINDS: Final = {"int64": "int64", "float32": "float", "bytes": "bytes"}


class JsonlSink:
    """Writes lines of JSON."""

    losses: Mapping[str, int] = {}

    def __init__(self, file: IO[bytes], columns: tuple[ScanColumn, ...], options: TableExportOptions) -> None:
        self._file = file
        self._columns = columns
        for column in columns:
            if column.feature == FEATURE_LISTS and not column.steps:
                raise InvalidArgumentError(
                    f"a feature called {FEATURE_LISTS!r} cannot stand in JSON lines, where feature lists have that "
                    "name. Export to Parquet or Arrow, or choose other features with columns= (--key)."
                )

    def write(self, chunk: ScanChunk) -> None:
        features = [_members(cells, column) for column, cells in self._cells(chunk, steps=False)]
        lists = [_members(cells, column) for column, cells in self._cells(chunk, steps=True)]
        if lists:
            # Empty ones are left out: without feature lists a SequenceExample is an Example.
            objects = [inner and f'"{FEATURE_LISTS}": {{{inner}}}' for inner in _joined(lists, chunk.rows)]
            features.append([text or None for text in objects])
        lines = _joined(features, chunk.rows)
        self._file.write("".join(f"{{{line}}}\n" for line in lines).encode())

    def close(self) -> None:
        pass

    def _cells(self, chunk: ScanChunk, *, steps: bool) -> Iterator[tuple[ScanColumn, Cells]]:
        for column, cells in zip(self._columns, chunk.cells, strict=True):
            if column.steps == steps:
                yield column, cells


def _joined(members: list[list[str | None]], rows: int) -> Iterator[str]:
    """The members of each row, which may have none."""
    if not members:
        return repeat("", rows)
    return (", ".join([member for member in row if member is not None]) for row in zip(*members, strict=True))


def _members(cells: Cells, column: ScanColumn) -> list[str | None]:
    """`"name": value` for each row, None where there is no such feature."""
    head = json.dumps(column.feature, ensure_ascii=False) + ": "
    kind = None if column.values else _EMPTY_KINDS[column.kind]
    found: list[str | None] = [head + text for text in json_cells(cells, column, kind)]
    for row in np.flatnonzero(~cells.valid).tolist():
        found[row] = None
    return found


def json_cells(cells: Cells, column: ScanColumn, kind: str | None = None) -> list[str]:
    """Return the JSON of each row; anything where there is no such feature.

    `kind` is said where nothing else says it.
    """
    return _steps(cells.rows, column, kind) if column.steps else _features(cells, column, kind)


def _features(cells: Cells, column: ScanColumn, kind: str | None) -> list[str]:
    rows: Any = cells.rows
    if column.form.depth:
        return json_values(rows.values, rows.row_splits, kind)
    texts = json_values(rows.values, None)
    if len(texts) == len(cells.valid):
        return texts
    spread = [""] * len(cells.valid)
    for row, text in zip(np.flatnonzero(cells.valid).tolist(), texts, strict=True):
        spread[row] = text
    return spread


def _steps(rows: Any, column: ScanColumn, kind: str | None) -> list[str]:
    inner: Ragged = rows.values
    steps = json_values(inner.values, inner.row_splits if column.form.depth == 2 else None, kind)
    splits = rows.row_splits.tolist()
    return [f"[{', '.join(steps[start:stop])}]" for start, stop in pairwise(splits)]
