"""Arrow IPC files as tables: the file format (Feather, too) and the stream format.

The pieces are the record batches of the file. Each is read as a whole: files of a few huge batches need much memory.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, Final

from tfrkit.build.job.job import BadInput, TaskReporter
from tfrkit.build.tables.arrow.arrow_columns import MISFIT, fit_arrays
from tfrkit.build.tables.arrow.arrow_types import leaf_arrays, leaves, pieces_of, survey_schema
from tfrkit.build.tables.table_format import (
    InputFile,
    Survey,
    TableColumn,
    TablePiece,
    batch_rows,
    check_rows,
    open_input,
)
from tfrkit.errors import DataLossError, InvalidArgumentError, OpError, from_os_error
from tfrkit.optional import lazy, require
from tfrkit.records.read.damage import still_written
from tfrkit.stores.source import ByteSource, SourceFile
from tfrkit.stores.url import is_url

__all__ = ["ArrowFormat", "fitted_batches", "opened_source"]

pyarrow: Any = lazy("pyarrow", "Reading Arrow")
ipc: Any = lazy("pyarrow.ipc", "Reading Arrow")
_PAGE_BYTES: Final = 1 << 20  # of a request, if less is asked for
_PAGES: Final = 8
_FILE_MAGIC: Final = b"ARROW1"
_FEATHER_1: Final = b"FEA1"


@dataclass(frozen=True, slots=True)
class ArrowFormat:
    """Files of Arrow's IPC format, of either kind."""

    def survey(self, file: InputFile, reporter: TaskReporter) -> Survey:
        with opened_source(file) as source:
            if _is_file(source, file):
                schema, pieces = _survey_file(source, file, reporter)
            else:
                schema, pieces = _survey_stream(source, file, reporter)
            return survey_schema(schema, file, pieces, lambda _: True)  # the schema does not say

    def read(
        self, piece: TablePiece, rows: range, columns: tuple[TableColumn, ...], reporter: TaskReporter
    ) -> Iterator[Mapping[str, Any]]:
        with opened_source(piece.file) as source:
            if _is_file(source, piece.file):
                schema = ipc.open_file(source).schema
                wanted = {column.name for column in columns}
                used = [any(leaf.name in wanted for leaf in leaves([field])) for field in schema]
                numbers = [number for number, is_used in enumerate(used) if is_used]
                reader = ipc.open_file(source, options=ipc.IpcReadOptions(included_fields=numbers))
                batches: Iterator[Any] = iter([reader.get_batch(piece.begin)])
            else:
                batches = _stream_batches(source, piece)
            yield from fitted_batches(map(_checked, batches), piece, rows, columns, reporter)


def _checked(batch: Any) -> Any:
    """Return the batch if all its offsets and indices are valid: pyarrow trusts the file."""
    batch.validate(full=True)
    return batch


def fitted_batches(
    batches: Iterator[Any],
    piece: TablePiece,
    rows: range,
    columns: tuple[TableColumn, ...],
    reporter: TaskReporter,
) -> Iterator[Mapping[str, Any]]:
    """Yield some rows of a piece, which `batches` has, as columns for the encoder; some MB at once."""
    size = batch_rows(piece, len(columns))
    at = 0
    wanted: list[tuple[str, ...]] = []
    for batch in batches:
        if not wanted:
            paths = {leaf.name: leaf.path for leaf in leaves(batch.schema)}
            wanted = [paths[column.name] for column in columns]
        begin, end = max(rows.start, at), min(rows.stop, at + len(batch))
        for first in range(begin, end, size):
            arrays = leaf_arrays(batch.slice(first - at, min(size, end - first)), wanted)
            yield fit_arrays(arrays, columns, reporter, partial(_misfit, piece, first))
        at += len(batch)
        reporter.advance()
        if at >= rows.stop and rows.stop < piece.rows:
            return
    check_rows(piece, at)


def _misfit(piece: TablePiece, first: int, row: int, text: str) -> BadInput:
    place = f"row {piece.first_row + first + row} (from 0 on)"
    return BadInput(piece.file.name, None, MISFIT, f"{place}, {text}")


@contextmanager
def opened_source(file: InputFile, kind: str = "Arrow") -> Iterator[Any]:
    """Open a file for pyarrow; what pyarrow cannot read of it is an error that names the file and its kind."""
    pyarrow = require("pyarrow", f"Reading {kind}")
    try:
        if is_url(file.path):
            with pyarrow.PythonFile(_PagedFile(open_input(file)), "r") as source:
                yield source
        else:
            with pyarrow.OSFile(os.fsencode(file.path)) as source:
                yield source
    except OpError:
        raise
    except (pyarrow.ArrowException, OSError, EOFError, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise from_os_error(error, file.path) from error
        growing = "" if is_url(file.path) else still_written(file.path)
        raise DataLossError(
            f"{file.path}: this is not a whole {kind} file: {str(error).strip().rstrip('.')}. "
            f"{growing and growing + ' '}Copy it again, or leave it out.",
            path=file.path,
        ) from error


class _PagedFile(SourceFile):
    """What is behind a URL as a file object: small reads, of which pyarrow makes many, are cut from pages."""

    def __init__(self, source: ByteSource) -> None:
        super().__init__(source)
        self._page = lru_cache(_PAGES)(lambda number: source.read_at(number * _PAGE_BYTES, _PAGE_BYTES))

    def readinto(self, buffer: Any, /) -> int:
        view = memoryview(buffer).cast("B")
        if len(view) >= _PAGE_BYTES:
            return super().readinto(view)
        at, done = self.tell(), 0
        while done < len(view):
            number, begin = divmod(at + done, _PAGE_BYTES)
            data = self._page(number)[begin : begin + len(view) - done]
            if not data:
                break
            view[done : done + len(data)] = data
            done += len(data)
        self.seek(at + done)
        return done


def _is_file(source: Any, file: InputFile) -> bool:
    head: bytes = source.read(len(_FILE_MAGIC))
    source.seek(0)
    if head.startswith(_FEATHER_1):
        raise InvalidArgumentError(
            f"{file.path}: this is Feather version 1. Write it again with pyarrow.feather.write_feather.",
            path=file.path,
        )
    return head == _FILE_MAGIC


def _survey_file(source: Any, file: InputFile, reporter: TaskReporter) -> tuple[Any, tuple[TablePiece, ...]]:
    schema = ipc.open_file(source).schema
    # Rows are counted by the column that is read fastest; there is no other way to ask.
    narrow = [number for number, field in enumerate(schema) if pyarrow.types.is_primitive(field.type)]
    reader = ipc.open_file(source, options=ipc.IpcReadOptions(included_fields=narrow[:1]))
    rows = []
    for number in range(reader.num_record_batches):
        rows.append(_checked(reader.get_batch(number)).num_rows)
        reporter.advance()
    return schema, pieces_of(file, [(number, number + 1) for number in range(len(rows))], rows)


def _survey_stream(
    source: Any, file: InputFile, reporter: TaskReporter
) -> tuple[Any, tuple[TablePiece, ...]]:
    reader = ipc.open_stream(source)
    places, rows = [], []
    begin = source.tell()
    for batch in reader:
        places.append((begin, source.tell()))
        rows.append(_checked(batch).num_rows)
        begin = source.tell()
        reporter.advance()
    if _has_dictionaries(reader.schema) and places:
        # Dictionaries come in the stream, and later ones change earlier ones: it is read from the start every time.
        places, rows = [(0, begin)], [sum(rows)]
    return reader.schema, pieces_of(file, places, rows)


def _stream_batches(source: Any, piece: TablePiece) -> Iterator[Any]:
    reader = ipc.open_stream(source)
    if piece.begin:
        source.seek(piece.begin)
        yield ipc.read_record_batch(ipc.read_message(source), reader.schema)
    else:
        yield from reader


def _has_dictionaries(schema: Any) -> bool:
    def any_in(kind: Any) -> bool:
        types = pyarrow.types
        kind = getattr(kind, "storage_type", kind)
        return bool(types.is_dictionary(kind)) or any(
            any_in(kind.field(n).type) for n in range(kind.num_fields)
        )

    return any(any_in(field.type) for field in schema)
