"""What the lines of a JSON file hold: kinds of values by column, counted over blocks of lines.

A block is looked at as a whole where pyarrow reads it exactly. There it makes one type of a column: integers among
fractions look like fractions. Of each column with such a block one is read line by line, to see how whole numbers are
written in this file (`5` or `5.0`); whole numbers of further blocks count as those.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.build.job.column_report import ColumnCause
from tfrkit.build.tables.jsonl.jsonl_block import ColumnSeen, parse_block, seen_in_block
from tfrkit.build.tables.jsonl.jsonl_lines import lines_of, parse_line, seen_in_cell
from tfrkit.build.tables.table_format import Seen
from tfrkit.build.tables.value_kinds import ValueKinds, shown_value

__all__ = ["LinesSeen"]

_NESTED: Final = (
    "lists of lists or of objects have no place in a feature. Make one list of numbers or texts of it"
)
_LONGEST: Final = 200  # values in a list that is shown


@dataclass(slots=True)
class LinesSeen:
    """What was seen so far of a file.

    Attributes:
        name: of the file, for reports.
        max_field: a line of more bytes is bad.
        kinds: what values look like, by column.
    """

    name: str
    max_field: int
    kinds: dict[str, ValueKinds] = field(default_factory=dict)
    _seen: dict[str, Seen] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)  # in which a column was there
    _nested: set[str] = field(default_factory=set)
    _points: dict[str, bool] = field(default_factory=dict)  # whether whole numbers are written as integers
    _total: int = 0

    def add_block(self, block: bytes, first_line: int) -> None:
        """Look at some lines, of which the first has a number."""
        parsed = parse_block(block)
        quick = None if parsed is None else seen_in_block(parsed)
        if parsed is None or quick is None:
            self._add_lines(block, first_line)
            return
        self._total += len(parsed.lines)
        numbers = parsed.lines + first_line
        for name, found in quick.items():
            self._add(name, found.seen, found.rows)
            if found.seen is not None and found.rows:
                self._count_array(name, found, numbers, block)

    def _add_lines(self, block: bytes, first_line: int) -> None:
        for number, line in enumerate(lines_of(block), first_line):
            cells = parse_line(line, self.max_field)
            if isinstance(cells, dict):
                self._total += 1
                for name, value in cells.items():
                    seen = seen_in_cell(value)
                    self._add(name, seen, int(value is not None))
                    self._count_cell(name, seen, value, number)

    def _add(self, name: str, seen: Seen | None, rows: int) -> None:
        if seen is None:
            self._nested.add(name)
            seen = Seen.NOTHING
        self._seen[name] = self._seen.get(name, Seen.NOTHING) | seen
        self._rows[name] = self._rows.get(name, 0) + rows

    def columns(self) -> tuple[dict[str, Seen], dict[str, str]]:
        """What every column is, and which of them have nothing that fits."""
        columns = {
            name: seen if self._rows[name] == self._total else seen | Seen.NULL
            for name, seen in self._seen.items()
        }
        return columns, {name: _NESTED for name in self._nested if columns[name].kind is None}

    # -- kinds ---------------------------------------------------------------------------------------------------------

    def _count_cell(self, name: str, seen: Seen | None, value: Any, line: int) -> None:
        kind = None if seen is None else seen.kind
        if kind is not None:
            kinds = self.kinds.setdefault(name, ValueKinds())
            kinds.add(kind, 1, lambda: ColumnCause(self.name, line, _shown(value)))

    def _count_array(
        self, name: str, found: ColumnSeen, numbers: npt.NDArray[np.int64], block: bytes
    ) -> None:
        seen, array = found.seen, found.array
        if seen is None or seen.kind is None:
            return
        there = np.flatnonzero(np.asarray(array.is_valid()))
        if seen.kind != "float" or Seen.LIST in seen:
            self._count_rows(name, seen.kind, there, array, numbers)
            return
        values = array.to_numpy(zero_copy_only=False)[there]
        with np.errstate(invalid="ignore"):
            whole = np.isfinite(values) & (values == np.floor(values))
        if whole.any() and name not in self._points:
            self._look_closer(name, block, int(numbers[0]))
            return
        if whole.any() and self._points[name]:
            self._count_rows(name, "int64", there[whole], array, numbers)
            there = there[~whole]
        self._count_rows(name, "float", there, array, numbers)

    def _count_rows(
        self, name: str, kind: str, rows: npt.NDArray[np.int64], array: Any, numbers: npt.NDArray[np.int64]
    ) -> None:
        def first() -> ColumnCause:
            row = int(rows[0])
            value = array[row].as_py()
            return ColumnCause(
                self.name,
                int(numbers[row]),
                _shown(int(value) if kind == "int64" and isinstance(value, float) else value),
            )

        self.kinds.setdefault(name, ValueKinds()).add(kind, len(rows), first)

    def _look_closer(self, name: str, block: bytes, first_line: int) -> None:
        """Count the values of one column line by line, and see how whole numbers are written."""
        self._points[name] = False
        for number, line in enumerate(lines_of(block), first_line):
            cells = parse_line(line, self.max_field)
            value = cells.get(name) if isinstance(cells, dict) else None
            seen = seen_in_cell(value)
            if seen is not None and seen.kind == "int64":
                self._points[name] = True
            self._count_cell(name, seen, value, number)


def _shown(value: Any) -> str:
    if isinstance(value, (str, bytes)):
        return shown_value(value)
    if isinstance(value, (list, np.ndarray)):
        value = list(value)[:_LONGEST]
    try:
        return shown_value(json.dumps(value))
    except (TypeError, ValueError):
        return shown_value(str(value))
