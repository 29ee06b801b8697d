"""Tables in memory and streams of batches, from anything that supports Arrow's C stream protocol.

Tables (pandas, polars, pyarrow) are read where they are. A stream can be read only once (a RecordBatchReader, a query
of duckdb): it goes to a file without a name first, so that the plan knows its rows and nothing need fit into memory.
"""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from tfrkit.build.job.job import TaskReporter
from tfrkit.build.tables.arrow.arrow_file import fitted_batches
from tfrkit.build.tables.arrow.arrow_types import leaf_arrays, leaves, pieces_of, survey_schema
from tfrkit.build.tables.table_format import InputFile, Survey, TableColumn, TablePiece
from tfrkit.optional import lazy
from tfrkit.stores.source import ByteSource, SourceFile

__all__ = ["StreamFormat", "is_stream", "open_stream"]

pyarrow: Any = lazy("pyarrow", "Reading Arrow tables")
ipc: Any = lazy("pyarrow.ipc", "Reading Arrow tables")
_NAME: Final = "table"
_PIECE_BYTES: Final = 16 << 20
_SPOOL_BYTES: Final = 8 << 20  # of a batch in the file without a name
_SAMPLE_ROWS: Final = 100  # at either end, for the fingerprint
_SAMPLE_BYTES: Final = 4096  # of one value
_FRAMES: Final = ("pandas", "polars", "tfrkit")  # what has all rows in memory


def is_stream(value: Any) -> bool:
    """Whether this is a table or a stream, not a path."""
    return hasattr(value, "__arrow_c_stream__") or hasattr(value, "__arrow_c_array__")


@dataclass(frozen=True, slots=True)
class StreamFormat:
    """Rows in memory, or in a file without a name: numbered batches, and their schema."""

    schema: Any
    rows: tuple[int, ...]
    batch: Callable[[int], Any] = field(repr=False)
    nulls: frozenset[str]
    fingerprint: str
    width: int

    def file(self) -> InputFile:
        """What stands for it among the inputs."""
        return InputFile(_NAME, _NAME, {}, sum(self.rows) * self.width)

    def survey(self, file: InputFile, reporter: TaskReporter) -> Survey:
        reporter.advance()
        places = [(number, number + 1) for number in range(len(self.rows))]
        pieces = pieces_of(file, places, self.rows, [count * self.width for count in self.rows])
        return survey_schema(self.schema, file, pieces, self.nulls.__contains__)

    def read(
        self, piece: TablePiece, rows: range, columns: tuple[TableColumn, ...], reporter: TaskReporter
    ) -> Iterator[Mapping[str, Any]]:
        yield from fitted_batches(iter([self.batch(piece.begin)]), piece, rows, columns, reporter)


def open_stream(source: Any, folder: str | None) -> StreamFormat:
    """Make a table of anything with Arrow's protocol ready to be read in pieces.

    Args:
        source: a table, or a stream that can be read once.
        folder: where a stream is kept, in a file without a name that is gone when the process ends; None: where the
            operating system keeps temporary files.

    Raises:
        TypeError: it is no table.
    """
    if not hasattr(source, "__arrow_c_stream__"):
        source = pyarrow.record_batch(source)
    if isinstance(source, pyarrow.RecordBatch):
        return _in_memory(pyarrow.Table.from_batches([source]))
    if isinstance(source, pyarrow.Table):
        return _in_memory(source)
    if type(source).__module__.split(".")[0] in _FRAMES and hasattr(source, "__len__"):
        return _in_memory(_as_table(source))
    return _spooled(pyarrow.RecordBatchReader.from_stream(source), folder)


def _as_table(source: Any) -> Any:
    """A table of the columns of a frame; pandas' index without a name is not a column."""
    table = pyarrow.table(source)
    unnamed = [
        name for name in table.column_names if name.startswith("__index_level_") and name.endswith("__")
    ]
    return table.drop_columns(unnamed) if unnamed else table


def _in_memory(table: Any) -> StreamFormat:
    step = max(1, _PIECE_BYTES * table.num_rows // max(1, table.nbytes))
    starts = range(0, table.num_rows, step)
    rows = tuple(min(step, table.num_rows - start) for start in starts)

    def batch(number: int) -> Any:
        part = table.slice(starts[number], rows[number]).combine_chunks()
        return part.to_batches()[0]

    nulls = {
        leaf.name
        for leaf in leaves(table.schema)
        if table.column(leaf.path[0]).null_count or len(leaf.path) > 1
    }
    first, last = table.slice(0, _SAMPLE_ROWS), table.slice(max(0, table.num_rows - _SAMPLE_ROWS))
    return StreamFormat(
        table.schema, rows, batch, frozenset(nulls), *_fingerprint(table.num_rows, first, last)
    )


def _spooled(reader: Any, folder: str | None) -> StreamFormat:
    """Write the stream to a file without a name, in batches of some MB."""
    spool = _spool(folder)
    assert spool.fd is not None
    paths = [(leaf.name, leaf.path) for leaf in leaves(reader.schema)]
    nulls: set[str] = set()
    rows: list[int] = []
    first: list[Any] = []
    last: list[Any] = []
    with io.FileIO(os.dup(spool.fd), "wb") as file, ipc.new_file(file, reader.schema) as writer:
        for part in _parts(reader):
            arrays = leaf_arrays(part, [path for _, path in paths])
            nulls.update(
                name
                for (name, path), array in zip(paths, arrays, strict=True)
                if array.null_count or len(path) > 1
            )
            if (missing := _SAMPLE_ROWS - sum(rows)) > 0:
                first.append(part.slice(0, missing))
            last = _tail([*last, part])
            rows.append(part.num_rows)
            writer.write_batch(part)

    def batch(number: int) -> Any:
        return ipc.open_file(SourceFile(spool)).get_batch(number)

    ends = (pyarrow.Table.from_batches(parts, reader.schema) for parts in (first, last))
    return StreamFormat(reader.schema, tuple(rows), batch, frozenset(nulls), *_fingerprint(sum(rows), *ends))


def _parts(reader: Any) -> Iterator[Any]:
    for batch in reader:
        step = max(1, _SPOOL_BYTES * batch.num_rows // max(1, batch.nbytes))
        for first in range(0, batch.num_rows, step):
            yield batch.slice(first, step)


def _tail(parts: list[Any]) -> list[Any]:
    """The last rows of some batches."""
    kept: list[Any] = []
    missing = _SAMPLE_ROWS
    for part in reversed(parts):
        if missing > 0:
            kept.insert(0, part.slice(max(0, part.num_rows - missing)))
            missing -= part.num_rows
    return kept


def _fingerprint(rows: int, first: Any, last: Any) -> tuple[str, int]:
    """A digest of the rows at either end, the same however they are cut into chunks; and how wide a row is."""
    digest = hashlib.blake2b(str(first.schema.remove_metadata()).encode("utf-8", "replace"), digest_size=16)
    size = 0
    for part in (first, last):
        for column in part.columns:
            for value in column.to_pylist():
                text = repr(value[:_SAMPLE_BYTES] if isinstance(value, (bytes, str)) else value)
                length = len(value) if isinstance(value, (bytes, str)) else len(text)
                digest.update(f"{length} {text}\n".encode("utf-8", "backslashreplace"))
                size += length
    return f"{rows}-{digest.hexdigest()}", max(1, size // max(1, len(first) + len(last)))


def _spool(folder: str | None) -> ByteSource:
    """Make a file without a name, which ends with the last reference or with the process."""
    if folder is not None:
        os.makedirs(folder, exist_ok=True)
    fd, path = tempfile.mkstemp(prefix="stream-", dir=folder)
    os.unlink(path)
    return ByteSource(_NAME, fd, None, owned=True)
