"""What the lines of a file hold: kinds of values by column, counted over blocks of lines."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

from tfrkit.build.job.column_report import ColumnCause
from tfrkit.build.tables.line_runs import LineBlock
from tfrkit.build.tables.table_format import Seen
from tfrkit.build.tables.table_values import seen_in
from tfrkit.build.tables.value_kinds import ValueKinds, shown_value

__all__ = ["BadLine", "Cells", "LinesSeen", "lines_of", "shown_cell"]

Cells: TypeAlias = dict[str, Any]
_NESTED: Final = (
    "lists of lists or of objects have no place in a feature. Make one list of numbers or texts of it"
)
_LONGEST: Final = 200  # values in a list that is shown


class BadLine(NamedTuple):
    """Why a line is not a row: the reason, by which bad lines are counted, and the detail."""

    reason: str
    detail: str = ""


@dataclass(slots=True)
class LinesSeen:
    """What was seen so far of a file.

    Attributes:
        parse: reads a line: values by column, why it is bad, or None if there is nothing in it.
        look: what kind of value a cell is; None if no feature can hold it.
        kinds: what values look like, by column.
        total: how many rows there were.
    """

    parse: Callable[[bytes], Cells | BadLine | None]
    look: Callable[[Any], Seen | None] = seen_in
    kinds: dict[str, ValueKinds] = field(default_factory=dict)
    total: int = 0
    _seen: dict[str, Seen] = field(default_factory=dict)
    _rows: dict[str, int] = field(default_factory=dict)  # in which a column was there
    _nested: set[str] = field(default_factory=set)

    def add_block(self, block: LineBlock) -> None:
        for row, line in enumerate(lines_of(block.data)):
            cells = self.parse(line)
            if isinstance(cells, dict):
                self.total += 1
                for name, value in cells.items():
                    seen = self.look(value)
                    self._add(name, seen, int(value is not None))
                    self._count_cell(name, seen, value, block, row)

    def _add(self, name: str, seen: Seen | None, rows: int) -> None:
        if seen is None:
            self._nested.add(name)
            seen = Seen.NOTHING
        self._seen[name] = self._seen.get(name, Seen.NOTHING) | seen
        self._rows[name] = self._rows.get(name, 0) + rows

    def columns(self) -> tuple[dict[str, Seen], dict[str, str]]:
        """What every column is, and which of them have nothing that fits."""
        columns = {
            name: seen if self._rows[name] == self.total else seen | Seen.NULL
            for name, seen in self._seen.items()
        }
        return columns, {name: _NESTED for name in self._nested if columns[name].kind is None}

    def _count_cell(self, name: str, seen: Seen | None, value: Any, block: LineBlock, row: int) -> None:
        kind = None if seen is None else seen.kind
        if kind is not None:
            places = block.places
            self.kinds.setdefault(name, ValueKinds()).add(
                kind, 1, lambda: ColumnCause(places.file, int(places.lines[row]), shown_cell(value))
            )


def shown_cell(value: Any) -> str:
    """Return a cell as reports have it. Pure: no I/O."""
    if isinstance(value, (str, bytes)):
        return shown_value(value)
    if isinstance(value, (list, np.ndarray)):
        value = list(value)[:_LONGEST]
    try:
        return shown_value(json.dumps(value))
    except (TypeError, ValueError):
        return shown_value(str(value))


def lines_of(data: bytes) -> list[bytes]:
    """Cut a block into lines, without their ends."""
    lines = data.split(b"\n")
    if not lines[-1]:
        lines.pop()
    return lines
