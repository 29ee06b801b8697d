"""Lines of JSON as a table: one object per line, its keys are the columns.

The survey looks at every line. Blocks of lines are parsed by pyarrow; a block that it refuses, or would read
inexactly, is read line by line (`jsonl_lines.py`), which also finds the bad lines.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from tfrkit.build.job.job import BadInput, TaskReporter
from tfrkit.build.tables.arrow.arrow_columns import MISFIT, fit_arrays
from tfrkit.build.tables.json_notation import FEATURE_LISTS
from tfrkit.build.tables.jsonl.jsonl_block import parse_block, text_schema, wanted_arrays
from tfrkit.build.tables.jsonl.jsonl_lines import Broken, Steps, parse_line, seen_in_cell
from tfrkit.build.tables.jsonl.jsonl_survey import JsonLinesSeen
from tfrkit.build.tables.line_format import BadLine, Cells, LineFormat
from tfrkit.build.tables.line_runs import LineBlock, TextRun
from tfrkit.build.tables.table_format import InputFile, Seen, Survey, TableColumn, TablePiece
from tfrkit.build.tables.table_values import MisfitError, fit_cell
from tfrkit.errors import InvalidArgumentError

__all__ = ["LIST_ALONE", "JsonlFormat"]

LIST_ALONE: Final = "if the rows are a list inside of it, write that list alone: jq '.NAME' FILE > rows.json."

_ARRAY: Final = re.compile(rb"\s*\[\s*\{")
_OBJECT: Final = re.compile(rb"\s*(\{[^\n]*)\n\s*[\"}]")


@dataclass(frozen=True, slots=True)
class JsonlFormat(LineFormat):
    """Files with one JSON object per line."""

    def parse(self, line: bytes) -> Cells | BadLine:
        return parse_line(line)

    def survey(self, file: InputFile, reporter: TaskReporter) -> Survey:
        found = LineFormat.survey(self, file, reporter)
        begin = f"{FEATURE_LISTS}/"
        lists = {name: name.removeprefix(begin) for name in found.columns if name.startswith(begin)}
        refused = dict(found.refused)
        if sum(piece.rows for piece in found.pieces) == 1:
            for name, text in refused.items():
                path = name.replace("/", ".")
                refused[name] = (
                    f"{text.partition('. ')[0]}. If its elements are the rows, write them alone (jq '.{path}' FILE > "
                    "rows.json)"
                )
        return replace(found, feature_lists=lists, refused=refused)

    def runs(
        self, chunks: Iterator[bytes], begin: int, path: str, piece: TablePiece | None
    ) -> Iterator[TextRun]:
        """Find the lines; a file that is one JSON document over several lines is refused."""
        return LineFormat.runs(
            self, _lines_only(chunks, path) if piece is None else chunks, begin, path, piece
        )

    def seen(self) -> JsonLinesSeen:
        """Count blocks at once where that is exact."""
        return JsonLinesSeen(self)

    def look(self, value: Any) -> Seen | None:
        return seen_in_cell(value)

    def fit(self, value: Any, column: TableColumn) -> Any:
        if isinstance(value, Steps):
            return [self.fit(step, column) for step in value]
        if isinstance(value, Broken):
            raise MisfitError(value.text)
        return fit_cell(value, column)

    def columns(
        self, block: LineBlock, file: InputFile, columns: tuple[TableColumn, ...], reporter: TaskReporter
    ) -> Mapping[str, Any]:
        """Read some lines, all at once if that is exact."""
        long = block.has_longer(self.max_field)
        parsed = None if long else parse_block(block.data, text_schema(columns))
        arrays = None if parsed is None else wanted_arrays(parsed, columns)
        if parsed is None or arrays is None:
            return LineFormat.columns(self, block, file, columns, reporter)
        numbers = parsed.lines

        def bad(row: int, text: str) -> BadInput:
            return block.bad(int(numbers[row]), MISFIT, text)

        return fit_arrays(arrays, columns, reporter, bad)


def _lines_only(chunks: Iterator[bytes], path: str) -> Iterator[bytes]:
    """Yield a text that is not an array, nor one object whose first line is only its beginning.

    Some lines of such a file may look like rows.
    """
    for number, chunk in enumerate(chunks):
        if number == 0 and _ARRAY.match(chunk):
            raise InvalidArgumentError(
                f"{path}: expected one JSON object a line but got a JSON array. Pass format='json' (--format json).",
                path=path,
            )
        found = _OBJECT.match(chunk) if number == 0 else None
        if found is not None and not found[1].rstrip().endswith(b"}"):
            raise InvalidArgumentError(
                f"{path}: expected one JSON object a line but got one over several lines. Write each on one line "
                f"(jq -c . FILE > rows.jsonl); {LIST_ALONE}",
                path=path,
            )
        yield chunk
