"""The plan of a table: which rows of which pieces go to which shard, and how a shard's rows become records.

Plans are pure and depend on the surveys alone, never on the number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, TypeVar

from tfrkit.build.job.input_stamp import unchanged
from tfrkit.build.job.job import Progress, SurveyMeter, TaskReporter
from tfrkit.build.tables.arrow.arrow_columns import chosen_rows
from tfrkit.build.tables.float_range import beyond_in_cell, note_beyond
from tfrkit.build.tables.row_choice import RowChoice, repeated
from tfrkit.build.tables.table_format import InputFile, Survey, TableColumn, TableFormat, TablePiece
from tfrkit.build.tables.table_schema import partition_values
from tfrkit.build.tables.table_values import MisfitError, fit_cell
from tfrkit.engines.local import Stop, run_tasks
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.parsing.encode import encode_examples, encode_sequence_examples
from tfrkit.stores.files import is_local
from tfrkit.threads import default_threads

__all__ = [
    "FileColumns",
    "Part",
    "TableRecipe",
    "all_parts",
    "count_chosen",
    "cut_rows",
    "estimate_bytes",
    "look_at_all",
]

_Item = TypeVar("_Item", "Part", InputFile)
_Found = TypeVar("_Found")
_SAMPLES: Final = 4
_SAMPLE_ROWS: Final = 200


@dataclass(frozen=True, slots=True)
class FileColumns:
    """How the columns of one file become features.

    Attributes:
        read: what is read from the file; at least one.
        constants: columns of which the path or a null value says what they are in every row, by key; None: absent.
        unwanted: keys of what is read only to count rows, or to choose them.
        choice: which rows are wanted; None: all.
    """

    read: tuple[TableColumn, ...]
    constants: Mapping[str, Any]
    unwanted: frozenset[str] = field(default_factory=frozenset)
    choice: RowChoice | None = None

    @classmethod
    def of(
        cls, survey: Survey, columns: Sequence[TableColumn], choice: RowChoice | None = None
    ) -> FileColumns:
        """Choose what a file has of the columns.

        Raises:
            InvalidArgumentError: what the path says does not fit its column.
        """
        own = tuple(column for column in columns if column.name in survey.columns)
        unwanted = frozenset(column.key for column in columns if not column.written)
        constants = {}
        said = partition_values(survey.file.partition)
        for column in columns:
            if column.name not in survey.columns:
                try:
                    constants[column.key] = fit_cell(said.get(column.name), column)
                except MisfitError as error:
                    raise InvalidArgumentError(
                        f"{survey.file.path}: partition column {column.name!r}: {error}. Give it another kind: "
                        f"--column {column.name}:bytes.",
                        path=survey.file.path,
                    ) from None
        if own:
            return cls(own, constants, unwanted, choice)
        filler = next(iter(survey.columns), "")
        return cls((TableColumn(filler, "", "bytes"),), constants, unwanted | {""}, choice)

    def choose(self, batch: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the rows of a batch that are wanted."""
        rows = _row_count(batch)
        if self.choice is None or not rows:
            return batch
        chosen = self.choice.mask(batch, self.constants, rows)
        return batch if chosen.all() else {key: chosen_rows(values, chosen) for key, values in batch.items()}

    def count(self, part: Part, like: TableRecipe, reporter: TaskReporter) -> int:
        """Count the rows of a part that are wanted, by reading no more than that needs."""
        if self.choice is None:
            return part.stop - part.start
        read = tuple(column for column in self.choice.columns if column in self.read)
        if not read:
            return (part.stop - part.start) * int(self.choice.mask({}, self.constants, 1).sum())
        some = replace(part, columns=replace(self, read=read))
        return sum(_row_count(self.choose(batch)) for batch in like.batches(some, reporter))

    def encode(self, batch: Mapping[str, Any], *, sequences: bool) -> Block | None:
        """Make the records of a batch; None if it has no rows."""
        rows = _row_count(batch)
        if not rows:
            return None
        features = {
            column.feature: batch[column.key]
            for column in self.read
            if not column.steps and column.key not in self.unwanted
        }
        for name, value in self.constants.items():
            if value is not None and name not in self.unwanted:
                features[name] = repeated(value, rows)
        if not sequences:
            return encode_examples(features or {"": [None] * rows}, threads=1)
        lists = {column.feature: batch[column.key] for column in self.read if column.steps}
        return encode_sequence_examples(features or {"": [None] * rows}, lists, threads=1)

    def note(self, source: str, rows: int, reporter: TaskReporter) -> None:
        """Count what the path says and float32 does not hold."""
        for name, value in self.constants.items():
            if name not in self.unwanted and (found := beyond_in_cell(value)) is not None:
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
        return sum(part.size for part in self.parts)

    def blocks(self, reporter: TaskReporter) -> Iterator[Block]:
        for part in self.parts:
            stamp = part.piece.file.stamp
            if stamp is not None and is_local(stamp.path):  # a URL is opened at its version
                stamp.check()
            rest, rows = part.size, part.stop - part.start
            for found in self.batches(part, reporter):
                count, batch = _row_count(found), part.columns.choose(found)
                block = part.columns.encode(batch, sequences=self.sequences)
                del batch, found  # may be many MB, which must not wait for the next one
                made = [] if block is None else [block]
                chosen = 0 if block is None else len(block)
                del block
                part.columns.note(part.piece.file.name, chosen, reporter)
                reporter.passed += count - chosen
                read = min(rest, part.size * count // rows)
                rest -= read
                reporter.advance(read)
                while made:
                    yield made.pop()
            reporter.advance(rest)  # what bad rows stand for

    def batches(self, part: Part, reporter: TaskReporter) -> Iterator[Mapping[str, Any]]:
        with unchanged(part.piece.file.path):
            yield from self.format.read(part.piece, range(part.start, part.stop), part.columns.read, reporter)


def _row_count(batch: Mapping[str, Any]) -> int:
    return len(next(iter(batch.values())))


def all_parts(
    surveys: Sequence[Survey], columns: Sequence[TableColumn], choice: RowChoice | None = None
) -> list[list[Part]]:
    """Return the whole pieces of every file."""
    found = []
    for survey in surveys:
        shared = FileColumns.of(survey, columns, choice)
        found.append([Part(piece, 0, piece.rows, shared) for piece in survey.pieces])
    return found


def count_chosen(
    parts: Sequence[Part],
    like: TableRecipe,
    workers: int | None,
    progress: Callable[[Progress], None] | None = None,
) -> list[int]:
    """Count the rows of each part that are wanted, several parts at once; bad rows in other columns count."""

    def count(part: Part, reporter: TaskReporter) -> int:
        return part.columns.count(part, like, reporter)

    meter = SurveyMeter(progress, total_bytes=sum(part.size for part in parts), stage="count")
    return look_at_all(parts, count, workers, meter)


def look_at_all(
    items: Sequence[_Item],
    look: Callable[[_Item, TaskReporter], _Found],
    workers: int | None,
    meter: SurveyMeter,
) -> list[_Found]:
    """Look at parts or files, several at once, and count them with a meter; results in order."""
    stop = Stop()

    def one(number: int) -> _Found:
        with meter.file(items[number].size) as seen:
            stop.check()
            return look(items[number], TaskReporter(stop, "skip", lambda size, *_: seen(size)))

    workers = max(1, min(workers or default_threads(), len(items)))
    found = dict(run_tasks(range(len(items)), one, workers=workers, stop=stop, tick=meter.tick))
    meter.tick(last=True)
    return [found[number] for number in range(len(items))]


def cut_rows(
    parts: Sequence[Part], shards: int, counts: Sequence[int] | None = None
) -> list[tuple[Part, ...]]:
    """Cut rows into runs, in order, that differ by one wanted row at most. Pure: no I/O.

    Args:
        parts: all rows.
        shards: how many runs.
        counts: how many rows of each part are wanted, which are then taken for evenly spread in it; None: all are.

    Returns:
        The parts of each shard; none where there are fewer rows than shards.
    """
    sizes = [part.stop - part.start for part in parts]
    counts = counts if counts is not None and any(counts) else sizes
    total = sum(counts)
    limits = [total * number // shards for number in range(shards + 1)]
    made: list[list[Part]] = [[] for _ in range(shards)]
    at, shard = 0, 0
    for part, size, count in zip(parts, sizes, counts, strict=True):
        if not count:  # has no wanted row, but perhaps bad ones
            made[shard].append(part)
        begin = at
        while begin < at + count:
            while limits[shard + 1] <= begin:
                shard += 1
            stop = min(at + count, limits[shard + 1])
            first, last = (part.start + size * (place - at) // count for place in (begin, stop))
            made[shard].append(replace(part, start=first, stop=last))
            begin = stop
        at += count
    return [tuple(found) for found in made]


def estimate_bytes(parts: Sequence[Part], like: TableRecipe, total: int) -> int:
    """Guess how large the records of `total` rows will be, from the first rows of some pieces."""
    chosen = sorted({number * len(parts) // _SAMPLES for number in range(min(_SAMPLES, len(parts)))})
    rows = size = 0
    for number in chosen:
        part = parts[number]
        some = replace(
            part, start=0, stop=min(part.stop, _SAMPLE_ROWS), columns=replace(part.columns, choice=None)
        )
        for block in replace(like, parts=(some,)).blocks(TaskReporter(Stop(), "skip", lambda *_: None)):
            rows += len(block)
            size += block.data.nbytes
    return size * total // rows if rows else 0
