"""How rows of a query are printed: as a table for people, JSON lines or CSV. Pure: no I/O."""

from __future__ import annotations

import base64
import csv
import io
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

from tfrkit.cli.console import number_of, plain, to_json

__all__ = ["csv_lines", "json_lines", "table_rows"]

_SHOWN_CHARACTERS: Final = 100
_FLOAT32: Final = "float"  # as Arrow calls it


def json_lines(batch: Any) -> Iterator[str]:
    """Yield the rows of a pyarrow.RecordBatch as JSON objects, one line each.

    Bytes are text where they are UTF-8, else `{"base64": "..."}`; numbers that JSON does not have are texts.
    """
    names = batch.schema.names
    for row in _rows(batch):
        yield to_json(dict(zip(names, row, strict=True)))


def csv_lines(batch: Any) -> Iterator[str]:
    """Yield the rows of a pyarrow.RecordBatch as lines of CSV, without their ends; lists are JSON, null is empty."""
    for row in _rows(batch):
        yield csv_line(["" if value is None else _text(value) for value in row])


def csv_line(cells: Sequence[str]) -> str:
    """Return a line of CSV."""
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(cells)
    return line.getvalue()


def table_rows(batch: Any) -> Iterator[list[str]]:
    """Yield the rows of a pyarrow.RecordBatch as texts for a table; long ones are cut."""
    for row in _rows(batch, lambda data: f"<{number_of(len(data), 'byte')}>"):
        texts = ("null" if value is None else plain(_text(value)) for value in row)
        yield [text if len(text) <= _SHOWN_CHARACTERS else f"{text[:_SHOWN_CHARACTERS]}..." for text in texts]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else to_json(value)


def _base64(data: bytes) -> Any:
    return {"base64": base64.b64encode(data).decode()}


def _rows(batch: Any, of_bytes: Callable[[bytes], Any] = _base64) -> Iterator[tuple[Any, ...]]:
    columns = []
    for column, field in zip(batch.columns, batch.schema, strict=True):
        short = _FLOAT32 in str(field.type) and "double" not in str(field.type)
        columns.append([_value(value, short, of_bytes) for value in column.to_pylist()])
    return iter(zip(*columns, strict=True))


def _value(value: Any, short: bool, of_bytes: Callable[[bytes], Any]) -> Any:
    """Return a value as JSON has it.

    Args:
        value: of any type that DuckDB returns.
        short: numbers are float32, of which the shortest text is shown.
        of_bytes: what stands for bytes that are not text.
    """
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return _float(value, short)
    if isinstance(value, bytes):
        try:
            return value.decode()
        except UnicodeDecodeError:
            return of_bytes(value)
    if isinstance(value, (list, tuple)):
        return [_value(each, short, of_bytes) for each in value]
    if isinstance(value, dict):
        return {str(key): _value(each, short, of_bytes) for key, each in value.items()}
    if hasattr(value, "as_tuple"):  # a decimal, also for sums of whole numbers
        return int(value) if value == value.to_integral_value() else float(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def _float(value: float, short: bool) -> float | str:
    if math.isfinite(value):
        if not short:
            return value
        import numpy as np

        return float(str(np.float32(value)))
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
