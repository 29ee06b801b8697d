"""What the tests of delimited text share: a survey, settled columns and a reading of some bytes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from tfrkit.build.job.progress import BadInput, OnBad, TaskReporter
from tfrkit.build.tables.delimited.delimited import DelimitedFormat
from tfrkit.build.tables.table_format import InputFile, Seen, Survey, TableColumn, TablePiece
from tfrkit.engines.local import Stop


@dataclass
class Table:
    """What a file gave."""

    survey: Survey
    values: dict[str, list[Any]]
    bad: list[BadInput]

    @property
    def bad_lines(self) -> list[tuple[int | None, str]]:
        return [(bad.line, bad.reason) for bad in self.bad]


def quiet_watch(on_bad: OnBad = "skip") -> TaskReporter:
    return TaskReporter(Stop(), on_bad, lambda *_: None)


def input_file(path: Path) -> InputFile:
    return InputFile(str(path), path.name, {}, path.stat().st_size)


def kind_of(seen: Seen) -> str:
    if Seen.TEXT in seen or not seen & (Seen.INT | Seen.FLOAT):
        return "bytes"
    return "float" if Seen.FLOAT in seen else "int64"


def settled(seen: Mapping[str, Seen], given: Mapping[str, Mapping[str, Any]]) -> tuple[TableColumn, ...]:
    columns = [TableColumn(name, name, kind_of(found), seen=found) for name, found in seen.items()]
    return tuple(replace(column, **given.get(column.name, {})) for column in columns)


def read_pieces(
    form: DelimitedFormat,
    pieces: Sequence[TablePiece],
    columns: tuple[TableColumn, ...],
    reporter: TaskReporter,
) -> dict[str, list[Any]]:
    values: dict[str, list[Any]] = {column.feature: [] for column in columns}
    for piece in pieces:
        for batch in form.read(piece, range(piece.rows), columns, reporter):
            for name, column in batch.items():
                values[name] += column.to_pylist()
    return values


def read_table(
    folder: Path,
    data: bytes,
    columns: Mapping[str, Mapping[str, Any]] | None = None,
    *,
    on_bad: OnBad = "skip",
    name: str = "table",
    **options: Any,
) -> Table:
    """Write a file, and read it as `tfr build table` does."""
    path = folder / name
    path.write_bytes(data)
    form = DelimitedFormat(**{"kind": "csv", **options})
    reporter = quiet_watch(on_bad)
    survey = form.survey(input_file(path), reporter)
    assert not reporter.counts
    values = read_pieces(form, survey.pieces, settled(survey.columns, columns or {}), reporter)
    return Table(survey, values, reporter.listed)
