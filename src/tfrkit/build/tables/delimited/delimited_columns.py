"""Rows of delimited text -> Arrow columns, by pyarrow: numbers, texts, lists and maps.

Takes rows that the scanner has found good. No Python per row; only rows that pyarrow refuses nevertheless are looked
for one by one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.build.tables.delimited.row_layout import Dialect, read_rows, split_row
from tfrkit.build.tables.table_format import MAP_KEY, MAP_VALUE, Seen, TableColumn, shown_value
from tfrkit.errors import InvalidArgumentError
from tfrkit.optional import lazy

__all__ = ["REFUSED", "ColumnPlan", "DelimitedRows", "fault_text", "read_columns"]

_FITS: Final = {"bytes": 0, "int64": 64, "float": 128}  # the scanner's numbers
_FEATURE: Final = "Delimited text"
pyarrow: Any = lazy("pyarrow", _FEATURE)
compute: Any = lazy("pyarrow.compute", _FEATURE)
REFUSED: Final = 0  # pyarrow does not read it; the other numbers are the scanner's
_FIELDS, _VALUE, _LONG_FIELD, _LONG_ROW, _UNCLOSED, _UTF8, _NULL_ITEM, _NO_KEY = range(1, 9)
_SHOWN: Final = 40  # characters of a value

_HIVE_LINE_END: Final = re.compile(rb"\\([\s\S])")


@dataclass(frozen=True, slots=True)
class ColumnTarget:
    """One column: where it comes from and what becomes of it.

    Attributes:
        column: as settled.
        position: of the field in the row.
        items: what cuts it into a list; "": one value.
        part: "" the whole, or MAP_KEY or MAP_VALUE of the pairs of a map.
    """

    column: TableColumn
    position: int
    items: str
    part: str


class ColumnPlan:
    """What to read of each row of a file."""

    def __init__(self, dialect: Dialect, names: Sequence[str], columns: Sequence[TableColumn]) -> None:
        """Find the columns in a file that has columns of these names."""
        places = {name: position for position, name in enumerate(names)}
        self.dialect, self.names, self.width = dialect, names, len(names)
        self.targets = [_target(dialect, places, column) for column in columns]

    def checks(self) -> list[tuple[int, int, bool, bool, bytes]]:
        """What the scanner is to ask of each field."""
        checks: list[tuple[int, int, bool, bool, bytes]] = [(0, 0, False, False, b"")] * self.width
        for target in self.targets:
            fits, value_fits, _, is_map, _ = checks[target.position]
            if target.part == MAP_VALUE:
                value_fits = _FITS[target.column.kind]
            else:
                fits = _FITS[target.column.kind]
            is_map = is_map or bool(target.part)
            items = target.items.encode()
            checks[target.position] = (fits, value_fits, bool(items) and not is_map, is_map, items)
        return checks


def _target(dialect: Dialect, places: dict[str, int], column: TableColumn) -> ColumnTarget:
    part = ""
    name = column.name
    if name not in places and dialect.pairs:
        part = next(part for part in (MAP_KEY, MAP_VALUE) if name.endswith(part))
        name = name.removesuffix(part)
    items = column.separator or ""
    if not items and dialect.items and (part or Seen.LIST in column.seen):
        items = dialect.items
    return ColumnTarget(column, places[name], items, part)


@dataclass(frozen=True, slots=True)
class DelimitedRows:
    """Some good rows.

    Attributes:
        text: of all rows, whole lines.
        begins: where each begins in it.
        ends: where each ends.
        nulls: rows x columns, true where a field is one of the texts for null; None if there are no such texts.
    """

    text: bytes | memoryview
    begins: npt.NDArray[np.int64]
    ends: npt.NDArray[np.int64]
    nulls: npt.NDArray[np.bool_] | None

    def part(self, rows: slice) -> DelimitedRows:
        begins, ends = self.begins[rows], self.ends[rows]
        text = memoryview(self.text)[int(begins[0]) : int(ends[-1])]
        nulls = None if self.nulls is None else self.nulls[rows]
        return DelimitedRows(text, begins - begins[0], ends - begins[0], nulls)

    def __len__(self) -> int:
        return len(self.begins)


def read_columns(plan: ColumnPlan, rows: DelimitedRows, first: int = 0) -> Iterator[dict[str, Any] | int]:
    """Yield columns of some rows, by key; and the numbers of rows that pyarrow refuses, in order."""
    columns = _read(plan, rows)
    if columns is not None:
        yield columns
    elif len(rows) == 1:
        yield first
    else:
        half = len(rows) // 2
        yield from read_columns(plan, rows.part(slice(0, half)), first)
        yield from read_columns(plan, rows.part(slice(half, None)), first + half)


def _read(plan: ColumnPlan, rows: DelimitedRows) -> dict[str, Any] | None:
    """Read all columns; None if pyarrow finds an error, or other rows than the scanner."""
    dialect = plan.dialect
    text = _with_line_ends(rows.text) if dialect.items and dialect.escape else rows.text
    types = {str(target.position): _arrow_type(target) for target in plan.targets}
    nulls = {"", *dialect.nulls, *(_unescaped(null, dialect.escape) for null in dialect.nulls)}
    try:
        table = read_rows(text, plan.width, dialect, types, nulls)
        if table.num_rows != len(rows):
            return None
        return {target.column.key: _column(target, table, rows, dialect) for target in plan.targets}
    except pyarrow.ArrowInvalid:
        return None


def _arrow_type(target: ColumnTarget) -> Any:
    kind = "bytes" if target.items else target.column.kind
    return {"int64": pyarrow.int64(), "float": pyarrow.float64(), "bytes": pyarrow.binary()}[kind]


def _unescaped(text: str, escape: str) -> str:
    return re.sub(re.escape(escape) + r"(.)", r"\1", text) if escape else text


def _with_line_ends(text: bytes | memoryview) -> bytes | memoryview:
    r"""Hive writes line ends inside of escaped texts as \n and \r; make them escaped line ends, of the same size."""
    data = bytes(text)
    if b"\\n" not in data and b"\\r" not in data:
        return text
    meanings = {b"n": b"\\\n", b"r": b"\\\r"}
    return _HIVE_LINE_END.sub(lambda found: meanings.get(found[1], found[0]), data)


def _column(target: ColumnTarget, table: Any, rows: DelimitedRows, dialect: Dialect) -> Any:
    """Make the column of a feature. Floats are rounded by the encoder, from double as Python's are."""
    values = table.column(str(target.position)).combine_chunks()
    null = None if rows.nulls is None else rows.nulls[:, target.position]
    settled = target.column
    if target.items:
        return _list_column(target, values, null, dialect)
    if settled.kind == "bytes" and null is not None and null.any():
        values = compute.if_else(pyarrow.array(null), pyarrow.scalar(None, values.type), values)
    if settled.null_value is not None and values.null_count:
        values = values.fill_null(pyarrow.scalar(settled.null_value, values.type))
    return values


def _list_column(
    target: ColumnTarget, values: Any, null: npt.NDArray[np.bool_] | None, dialect: Dialect
) -> Any:
    """Cut texts into items. An empty text is an empty list."""
    nothing = compute.equal(compute.binary_length(values), 0)
    if null is not None and null.any():
        nothing = compute.or_(nothing, pyarrow.array(null))
    texts = compute.if_else(nothing, pyarrow.scalar(None, values.type), values)
    lists = compute.split_pattern(texts, pattern=target.items)
    items = lists.values
    if target.part:
        items = _half_of_pairs(items, dialect.pairs, target.part)
    if target.column.kind != "bytes":
        items = _numbers(items, target.column.kind)
    lists = pyarrow.ListArray.from_arrays(lists.offsets, items)  # what was null is an empty list now
    if null is not None and null.any():
        stand_in = None if target.column.null_value is None else [target.column.null_value]
        lists = compute.if_else(pyarrow.array(null), pyarrow.scalar(stand_in, lists.type), lists)
    return lists


def _half_of_pairs(items: Any, separator: str, part: str) -> Any:
    halves = compute.split_pattern(items, pattern=separator, max_splits=1).values
    if len(halves) != 2 * len(items):
        raise pyarrow.ArrowInvalid("a map entry without a key")
    return halves.take(np.arange(0 if part == MAP_KEY else 1, len(halves), 2))


def _numbers(items: Any, kind: str) -> Any:
    texts = compute.ascii_trim(items.cast(pyarrow.string()), characters=" \t")
    return texts.cast(pyarrow.int64() if kind == "int64" else pyarrow.float64())


def check_separator(separator: str) -> str:
    """Check the character between fields.

    Raises:
        InvalidArgumentError: pyarrow does not read such files.
    """
    if len(separator) != 1 or ord(separator) > 127 or separator in "\r\n":
        raise InvalidArgumentError(
            f"Expected one ASCII character between fields, and no line end, but got {separator!r}."
        )
    return separator


# -- what is wrong with rows, in words ---------------------------------------------------------------------------------


def fault_text(fault: int, detail: int, plan: ColumnPlan, text: bytes | bytearray | None) -> tuple[str, str]:
    """Return the reason, by which bad rows are counted, and what exactly is wrong with a row.

    The scanner has a number for the fault, and a detail; without the text of the row, its value is not shown.
    """
    reason, explained = _REASONS[fault], ""
    if fault == _FIELDS:
        explained = f"expected {plan.width} but got {detail}"
    elif fault == _LONG_ROW:
        explained = f"its row has more than {plan.dialect.max_row} bytes (--max-field)"
    elif fault == _UTF8:
        reason = f"not valid {plan.dialect.encoding}"
    elif fault in (_VALUE, _LONG_FIELD, _NULL_ITEM, _NO_KEY):
        explained = _of_column(detail, plan.names)
        if fault == _LONG_FIELD:
            explained += f": more than {plan.dialect.max_field} bytes (--max-field)"
        elif text is not None:
            explained += f": got {shown_value(split_row(text, plan.width, plan.dialect)[detail], _SHOWN)!r}"
        if fault == _VALUE:
            kinds = {target.position: target.column.kind for target in plan.targets}
            reason = f"not {_KINDS[kinds[detail]]}"
    return reason, explained


_REASONS: Final = {
    REFUSED: "cannot be read",
    _FIELDS: "wrong number of fields",
    _VALUE: "not the kind of its column",
    _LONG_FIELD: "field too long",
    _LONG_ROW: "line too long",
    _UNCLOSED: "quote or escape without an end",
    _UTF8: "not valid utf-8",
    _NULL_ITEM: "null inside of a list",
    _NO_KEY: "map entry without a key",
}
_KINDS: Final = {"int64": "an int64", "float": "a number", "bytes": "a number"}


def _of_column(position: int, names: Sequence[str]) -> str:
    return f"column {names[position]!r}" if position < len(names) else f"field {position + 1}"
