"""What a table format provides: a survey of each file before anything is written, then columns of each piece.

Types are settled over the surveys of all inputs (`table_schema.py`); planning is in `table.py`. All
formats are in `format_table.py`, one file each; tables in memory are read by `arrow_stream.py`.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, Final, Protocol

from tfrkit.build.job.column_report import ColumnCause
from tfrkit.build.job.input_stamp import InputChangedError, InputStamp
from tfrkit.build.job.job import TaskReporter
from tfrkit.stores.files import open_source
from tfrkit.stores.source import ByteSource

__all__ = [
    "InputFile",
    "Seen",
    "Survey",
    "TableColumn",
    "TableFormat",
    "TablePiece",
    "ValueKinds",
    "batch_rows",
    "check_rows",
    "open_input",
    "shown_value",
]

_BATCH_BYTES: Final = (
    2 << 20
)  # of values that are converted and encoded at once: 5% faster than 1 MB (build_table.py)
_MAX_BATCH_ROWS: Final = 64 << 10
_VALUE_BYTES: Final = 8  # of one value, at least, however well the file packs it
_SHOWN: Final = 60  # characters of a value

# A column of maps becomes two columns of lists, of its name and these.
MAP_KEY: Final = "/key"
MAP_VALUE: Final = "/value"


class Seen(enum.Flag):
    """What kinds of values a survey saw in a column. Union over files with `|`."""

    NOTHING = 0
    NULL = enum.auto()  # empty or null values
    INT = enum.auto()  # integers that fit into 64 bits, written as Python writes them
    FLOAT = enum.auto()  # other numbers, nan and inf
    # Everything else: also 007 and integers beyond 64 bits, of which a number would lose something.
    TEXT = enum.auto()
    LIST = enum.auto()  # lists of the above, where the format itself has lists

    @property
    def kind(self) -> str | None:
        """The narrowest kind that holds all of it; None if no value was seen."""
        if Seen.TEXT in self:
            return "bytes"
        if Seen.FLOAT in self:
            return "float"
        return "int64" if Seen.INT in self else None


@dataclass(slots=True)
class ValueKinds:
    """How many values of a column look like each kind, and where the first of each is.

    Surveys count, `table_schema.py` settles, and reports tell what was settled against the look of most values.

    Attributes:
        counts: how many look like "int64", "float" and "bytes"; nulls like none.
        firsts: the first of each.
    """

    counts: dict[str, int] = field(default_factory=dict)
    firsts: dict[str, ColumnCause] = field(default_factory=dict)

    def add(self, kind: str, count: int, first: Callable[[], ColumnCause | None]) -> None:
        """Count values; `first` is asked for the first of them if there was none of the kind before."""
        if not count:
            return
        self.counts[kind] = self.counts.get(kind, 0) + count
        if kind not in self.firsts and (found := first()) is not None:
            self.firsts[kind] = found

    def merge(self, later: ValueKinds) -> None:
        """Take over what a later file has."""
        for kind, count in later.counts.items():
            self.add(kind, count, partial(later.firsts.get, kind))

    def cause(self, kind: str) -> ColumnCause | None:
        """Return the first value of a kind, if most values look like another one."""
        if max(self.counts.values(), default=0) == self.counts.get(kind, 0):
            return None
        return self.firsts.get(kind)


def shown_value(value: str | bytes, most: int = _SHOWN) -> str:
    """Return at most some characters of a value, as reports have it. Pure: no I/O."""
    text = value.decode("utf-8", "backslashreplace") if isinstance(value, bytes) else value
    return text if len(text) <= most else text[: most - 3] + "..."


@dataclass(frozen=True, slots=True)
class InputFile:
    """One input.

    Attributes:
        path: as the user gave it, or as it was found.
        name: short and unique among the inputs: relative to the folder that was given.
        partition: columns that the path says, such as {"dt": "2024-01-01"}; text.
        size: bytes.
        stamp: what the file system said of it when it was found; None for what is in memory.
    """

    path: str
    name: str
    partition: Mapping[str, str]
    size: int
    stamp: InputStamp | None = None


@dataclass(frozen=True, slots=True)
class TablePiece:
    """A part of one input that can be read alone.

    Attributes:
        file: the input.
        begin: where it begins: a byte, or the number of a row group or batch.
        end: just after its end, likewise.
        first_row: number of its first row in the file.
        rows: how many rows it has, bad ones included.
        first_line: line number of its first line (text formats), from 1 on.
        size: about how many bytes of input it stands for.
    """

    file: InputFile
    begin: int
    end: int
    first_row: int
    rows: int
    first_line: int
    size: int


@dataclass(frozen=True, slots=True)
class Survey:
    """What is known of a file after one look at all of it (or at its metadata).

    Attributes:
        file: the input.
        columns: names in the file's order, each with what was seen.
        pieces: the whole file, in order; some MB each.
        refused: columns that no feature can hold, each with why and what to do; an error if one is wanted.
        feature_lists: columns that are feature lists of SequenceExamples, each with the list's name.
        kinds: how many values of each column look like each kind.
        fingerprint: size and a checksum, which tell this input from others: of all bytes of text, of the end of a
            binary file, which says where everything is. None: of all bytes of the file, which are read once more.
    """

    file: InputFile
    columns: Mapping[str, Seen]
    pieces: tuple[TablePiece, ...]
    refused: Mapping[str, str] = field(default_factory=dict)
    feature_lists: Mapping[str, str] = field(default_factory=dict)
    kinds: Mapping[str, ValueKinds] = field(default_factory=dict)
    fingerprint: tuple[int, int] | None = None


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column as it will be written: settled, the same for all inputs.

    Attributes:
        name: in the input.
        feature: name of the feature that it becomes.
        kind: "int64", "float" or "bytes".
        separator: what cuts a text into a list of values; None: one value, or a list where the format has lists.
        null_value: what stands in for a null: an int, float or bytes; None: the feature is absent in that row.
        seen: what the surveys of all inputs saw.
        steps: it is a feature list of SequenceExamples, with lists of steps.
        given: the user has said its kind.
        written: it becomes a feature; else it is only read, to choose rows by it.
    """

    name: str
    feature: str
    kind: str
    separator: str | None = None
    null_value: Any = None
    seen: Seen = Seen.NOTHING
    steps: bool = False
    given: bool = False
    written: bool = True

    @property
    def key(self) -> str:
        """Under which name a batch has it: the feature's, unless that may be another feature's, too."""
        if not self.written:
            return f"\0\1{self.name}"
        return f"\0\0{self.feature}" if self.steps else self.feature


def check_rows(piece: TablePiece, rows: int) -> None:
    """Compare how many rows a piece has now with what the survey has counted.

    Raises:
        InputChangedError: they differ.
    """
    if rows != piece.rows:
        where = f"from line {piece.first_line} on" if piece.first_line else f"from row {piece.first_row} on"
        raise InputChangedError(piece.file.path, f"expected {piece.rows:,} rows {where} but got {rows:,}")


def batch_rows(piece: TablePiece, columns: int) -> int:
    """Return how many rows of a piece make a batch of about 2 MB, if so many columns of it are read."""
    size = max(1, piece.size, _VALUE_BYTES * columns * piece.rows)
    return max(1, min(_MAX_BATCH_ROWS, _BATCH_BYTES * piece.rows // size))


def open_input(file: InputFile) -> ByteSource:
    """Open an input; one behind a URL at the version that was found."""
    return open_source(file.path) if file.stamp is None else file.stamp.open()


class TableFormat(Protocol):
    """A format with its options: plain data that pickles."""

    def survey(self, file: InputFile, reporter: TaskReporter) -> Survey:
        """Look at a file: names, kinds of values, row counts, pieces. Runs on several files at once."""

    def read(
        self, piece: TablePiece, rows: range, columns: tuple[TableColumn, ...], reporter: TaskReporter
    ) -> Iterator[Mapping[str, Any]]:
        """Read some rows of a piece: yield batches, columns by `TableColumn.key`.

        The columns of a batch are what `encode_examples` takes, all of the same length and of the kind that was
        settled; there is no Python per row. `rows` counts from the piece's first row on, bad ones included. Rows in it
        that do not fit go to `reporter.bad` with file, line and reason, and are left out; other rows are not reported.
        `columns` has at least one, and only those that the survey of this file has; those of the path are not among
        them. `reporter.advance` is called by the consumer of the batches.
        The same rows give the same values every time, also when they are read in several parts. A piece that has not
        as many rows as the survey has counted is an error (`check_rows`).
        """
