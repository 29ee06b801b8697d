"""The plan of a table: which rows of which pieces go to which shard, and how a shard's rows become records.

Plans are pure and depend on the surveys alone, never on the number of workers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np

from tfrkit.build.job.input_stamp import unchanged
from tfrkit.build.job.job import TaskReporter
from tfrkit.build.tables.float_range import beyond_in_cell, note_beyond
from tfrkit.build.tables.table_format import Survey, TableColumn, TableFormat, TablePiece
from tfrkit.build.tables.table_schema import partition_values
from tfrkit.build.tables.table_values import MisfitError, fit_cell
from tfrkit.engines.local import Stop
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.parsing.encode import encode_examples, encode_sequence_examples
from tfrkit.stores.files import is_local

__all__ = ["FileColumns", "Part", "TableRecipe", "all_parts", "cut_rows", "estimate_bytes"]

_SAMPLES: Final = 4
_SAMPLE_ROWS: Final = 200


@dataclass(frozen=True, slots=True)
class FileColumns:
    """How the columns of one file become features.

    Attributes:
        read: what is read from the file; at least one.
        constants: features of which the path or a null value says what they are in every row; None: absent.
        unwanted: a feature that is read only to count rows.
    """

    read: tuple[TableColumn, ...]
    constants: Mapping[str, Any]
    unwanted: str | None = None

    @classmethod
    def of(cls, survey: Survey, columns: Sequence[TableColumn]) -> FileColumns:
        """Choose what a file has of the columns.

        Raises:
            InvalidArgumentError: what the path says does not fit its column.
        """
        own = tuple(column for column in columns if column.name in survey.columns)
        constants = {}
        said = partition_values(survey.file.partition)
        for column in columns:
            if column.name not in survey.columns:
                try:
                    constants[column.feature] = fit_cell(said.get(column.name), column)
                except MisfitError as error:
                    raise InvalidArgumentError(
                        f"{survey.file.path}: partition column {column.name!r}: {error}. Give it another kind: "
                        f"--column {column.name}:bytes.",
                        path=survey.file.path,
                    ) from None
        if own:
            return cls(own, constants)
        filler = next(iter(survey.columns), "")
        return cls((TableColumn(filler, "", "bytes"),), constants, "")

    def encode(self, batch: Mapping[str, Any], *, sequences: bool) -> Block | None:
        """Make the records of a batch; None if it has no rows."""
        rows = len(next(iter(batch.values())))
        if not rows:
            return None
        features = {
            column.feature: batch[column.key]
            for column in self.read
            if not column.steps and column.key != self.unwanted
        }
        for name, value in self.constants.items():
            if value is not None:
                features[name] = [value] * rows if isinstance(value, (bytes, list)) else np.full(rows, value)
        if not sequences:
            return encode_examples(features or {"": [None] * rows}, threads=1)
        lists = {column.feature: batch[column.key] for column in self.read if column.steps}
        return encode_sequence_examples(features or {"": [None] * rows}, lists, threads=1)

    def note(self, source: str, rows: int, reporter: TaskReporter) -> None:
        """Count what the path says and float32 does not hold."""
        for name, value in self.constants.items():
            if (found := beyond_in_cell(value)) is not None:
                note_beyond(reporter, name, replace(found, count=rows), source, None)


@dataclass(frozen=True, slots=True)
class Part:
    """Rows [start, stop) of a piece."""

    piece: TablePiece
    start: int
    stop: int
    columns: FileColumns

    @property
    def size(self) -> int:
        """About how many bytes of input it stands for."""
        return (
            self.piece.size * self.stop // self.piece.rows - self.piece.size * self.start // self.piece.rows
        )


@dataclass(frozen=True, slots=True)
class TableRecipe:
    """The records of some rows, in order."""

    format: TableFormat
    parts: tuple[Part, ...]
    sequences: bool = False

    @property
    def input_bytes(self) -> int:
        """How much it reads."""
        return sum(part.size for part in self.parts)

    def blocks(self, reporter: TaskReporter) -> Iterator[Block]:
        """Read and encode, batch by batch."""
        for part in self.parts:
            stamp = part.piece.file.stamp
            if stamp is not None and is_local(stamp.path):  # a URL is opened at its version
                stamp.check()
            rest, rows = part.size, part.stop - part.start
            for batch in self._batches(part, reporter):
                block = part.columns.encode(batch, sequences=self.sequences)
                if block is not None:
                    part.columns.note(part.piece.file.name, len(block), reporter)
                del batch  # may be many MB, which must not wait for the next one
                if block is not None:
                    read = min(rest, part.size * len(block) // rows)
                    rest -= read
                    reporter.advance(read, len(block))
                    made = [block]
                    del block
                    yield made.pop()
            reporter.advance(rest)  # what bad rows stand for

    def _batches(self, part: Part, reporter: TaskReporter) -> Iterator[Mapping[str, Any]]:
        with unchanged(part.piece.file.path):
            yield from self.format.read(part.piece, range(part.start, part.stop), part.columns.read, reporter)


def all_parts(surveys: Sequence[Survey], columns: Sequence[TableColumn]) -> list[list[Part]]:
    """Return the whole pieces of every file."""
    found = []
    for survey in surveys:
        shared = FileColumns.of(survey, columns)
        found.append([Part(piece, 0, piece.rows, shared) for piece in survey.pieces])
    return found


def cut_rows(parts: Sequence[Part], shards: int) -> list[tuple[Part, ...]]:
    """Cut rows into runs that differ by one row at most, in order. Pure: no I/O.

    Returns:
        The parts of each shard; none where there are fewer rows than shards.
    """
    total = sum(part.stop - part.start for part in parts)
    limits = [total * number // shards for number in range(shards + 1)]
    made: list[list[Part]] = [[] for _ in range(shards)]
    at, shard = 0, 0
    for part in parts:
        end = at + part.stop - part.start
        begin = at
        while begin < end:
            while limits[shard + 1] <= begin:
                shard += 1
            stop = min(end, limits[shard + 1])
            made[shard].append(
                Part(part.piece, part.start + begin - at, part.start + stop - at, part.columns)
            )
            begin = stop
        at = end
    return [tuple(found) for found in made]


def estimate_bytes(parts: Sequence[Part], like: TableRecipe) -> int:
    """Guess how large all records will be, from the first rows of some pieces."""
    total = sum(part.stop - part.start for part in parts)
    chosen = sorted({number * len(parts) // _SAMPLES for number in range(min(_SAMPLES, len(parts)))})
    rows = size = 0
    for number in chosen:
        part = parts[number]
        some = Part(part.piece, 0, min(part.stop, _SAMPLE_ROWS), part.columns)
        for block in replace(like, parts=(some,)).blocks(TaskReporter(Stop(), "skip", lambda *_: None)):
            rows += len(block)
            size += block.data.nbytes
    return size * total // rows if rows else 0
