"""What the lines of a JSON file hold: kinds of values by column, counted over blocks of lines.

A block is looked at as a whole where pyarrow reads it exactly. There it makes one type of a column: integers among
fractions look like fractions. Of each column with such a block one is read line by line, to see how whole numbers are
written in this file (`5` or `5.0`); whole numbers of further blocks count as those.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tfrkit.build.job.column_report import ColumnCause
from tfrkit.build.tables.jsonl.jsonl_block import ColumnSeen, parse_block, seen_in_block
from tfrkit.build.tables.line_format import LinesSeen, lines_of, shown_cell
from tfrkit.build.tables.line_runs import LineBlock
from tfrkit.build.tables.table_format import Seen, ValueKinds

__all__ = ["JsonLinesSeen"]


@dataclass(slots=True)
class JsonLinesSeen(LinesSeen):
    """What was seen so far of a file of JSON."""

    _points: dict[str, bool] = field(default_factory=dict)  # whether whole numbers are written as integers

    def add_block(self, block: LineBlock) -> None:
        parsed = None if block.has_longer(self.form.max_field) else parse_block(block.data)
        quick = None if parsed is None else seen_in_block(parsed)
        if parsed is None or quick is None:
            LinesSeen.add_block(self, block)
            return
        self.total += len(parsed.lines)
        numbers = block.lines[parsed.lines]
        for name, found in quick.items():
            self._add(name, found.seen, found.rows)
            if found.seen is not None and found.rows:
                self._count_array(name, found, numbers, block)

    def _count_array(
        self, name: str, found: ColumnSeen, numbers: npt.NDArray[np.int64], block: LineBlock
    ) -> None:
        seen, array = found.seen, found.array
        if seen is None or seen.kind is None:
            return

        def count(kind: str, rows: npt.NDArray[np.int64]) -> None:
            def first() -> ColumnCause:
                value = array[int(rows[0])].as_py()
                shown = shown_cell(int(value) if kind == "int64" and isinstance(value, float) else value)
                return ColumnCause(block.file, int(numbers[rows[0]]), shown)

            self.kinds.setdefault(name, ValueKinds()).add(kind, len(rows), first)

        there = np.flatnonzero(np.asarray(array.is_valid()))
        if seen.kind != "float" or Seen.LIST in seen:
            count(seen.kind, there)
            return
        values = array.to_numpy(zero_copy_only=False)[there]
        with np.errstate(invalid="ignore"):
            whole = np.isfinite(values) & (values == np.floor(values))
        if whole.any() and name not in self._points:
            self._look_closer(name, block)
            return
        if whole.any() and self._points[name]:
            count("int64", there[whole])
            there = there[~whole]
        count("float", there)

    def _look_closer(self, name: str, block: LineBlock) -> None:
        """Count the values of one column line by line, and see how whole numbers are written."""
        self._points[name] = False
        for row, line in enumerate(lines_of(block.data)):
            cells = self.form.cells(line)
            value = cells.get(name) if isinstance(cells, dict) else None
            seen = self.form.look(value)
            if seen is not None and seen.kind == "int64":
                self._points[name] = True
            self._count_cell(name, seen, value, block, row)
