"""Parquet files as tables: row groups are the pieces, and only the columns that are wanted are read.

The survey reads the footer alone. Row groups of any size are read as a stream of batches, never as a whole. Strings
that the file has as indices of a small dictionary stay so up to the encoder.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Final

from tfrkit.build.job.input_stamp import InputStamp
from tfrkit.build.job.job import TaskReporter
from tfrkit.build.tables.arrow.arrow_file import fitted_batches, opened_source
from tfrkit.build.tables.arrow.arrow_types import ArrowLeaf, leaves, pieces_of, survey_schema
from tfrkit.build.tables.table_format import (
    InputFile,
    Survey,
    TableColumn,
    TablePiece,
    batch_rows,
    check_rows,
)
from tfrkit.optional import lazy, require
from tfrkit.stores.url import is_url

__all__ = ["ParquetFormat"]

pyarrow: Any = lazy("pyarrow", "Reading Parquet")
_READ_BYTES: Final = 1 << 20  # of a column that are read at once
_REQUEST_BYTES: Final = 1 << 22  # the same behind a URL
_DICTIONARY_BYTES: Final = (
    64 << 10
)  # in the file; larger ones, of which each batch gets a copy, are decoded at once
_PLAIN_BYTES: Final = 4  # that a string takes at least where it is not in a dictionary: its length


@dataclass(frozen=True, slots=True)
class ParquetFormat:
    """Files that begin and end with PAR1."""

    def survey(self, file: InputFile, reporter: TaskReporter) -> Survey:
        reporter.advance()
        with opened_source(file, "Parquet") as source:
            opened = _open(source, file)
            meta = opened.metadata
            nulls = set(_with_nulls(meta, leaves(opened.schema_arrow)))
            return survey_schema(opened.schema_arrow, file, _pieces(file, meta), nulls.__contains__)

    def read(
        self, piece: TablePiece, rows: range, columns: tuple[TableColumn, ...], reporter: TaskReporter
    ) -> Iterator[Mapping[str, Any]]:
        with opened_source(piece.file, "Parquet") as source:
            opened = _open(source, piece.file)
            paths = {leaf.name: leaf.path for leaf in leaves(opened.schema_arrow)}
            groups = opened.metadata.num_row_groups
            check_rows(piece, opened.metadata.row_group(piece.begin).num_rows if piece.begin < groups else 0)
            wanted = {paths[column.name][0] for column in columns}
            indexed = sorted(wanted.intersection(_in_dictionaries(opened, piece.begin)))
            if indexed:
                opened = _open(source, piece.file, opened.metadata, indexed)
            batches = opened.iter_batches(
                batch_rows(piece, len(columns)),
                row_groups=[piece.begin],
                columns=sorted(wanted),
                use_threads=False,
            )
            yield from fitted_batches(map(_checked, batches), piece, rows, columns, reporter)


def _open(source: Any, file: InputFile, footer: Any = None, indexed: Sequence[str] = ()) -> Any:
    """Open a file, or open it again with its footer and have the columns `indexed` as dictionaries."""
    parquet = require("pyarrow.parquet", "Reading Parquet")
    size = _READ_BYTES
    if is_url(file.path):
        footer, size = _footer(file.path, file.stamp) if footer is None else footer, _REQUEST_BYTES
    return parquet.ParquetFile(
        source,
        metadata=footer,
        read_dictionary=list(indexed),
        buffer_size=size,
        pre_buffer=False,  # some versions would read the whole row group ahead
    )


@lru_cache(maxsize=64)
def _footer(path: str, stamp: InputStamp | None) -> Any:
    """Read what a file behind a URL says of itself, which its row groups then do not ask for again."""
    parquet = require("pyarrow.parquet", "Reading Parquet")
    with opened_source(InputFile(path, path, {}, 0, stamp), "Parquet") as source:
        return parquet.read_metadata(source)


def _in_dictionaries(opened: Any, group: int) -> Iterator[str]:
    """Names of string columns that a row group has, nearly all, as indices of a small dictionary."""
    chunks = opened.metadata.row_group(group)
    kinds = {field.name: field.type for field in opened.schema_arrow}
    for number in range(chunks.num_columns):
        chunk = chunks.column(number)
        kind = kinds.get(chunk.path_in_schema)
        if kind is None or not (pyarrow.types.is_string(kind) or pyarrow.types.is_binary(kind)):
            continue
        if not chunk.has_dictionary_page or chunk.statistics is None:
            continue
        size = chunk.data_page_offset - chunk.dictionary_page_offset
        strings = chunk.statistics.num_values
        if 0 < size <= _DICTIONARY_BYTES and chunk.total_uncompressed_size < _PLAIN_BYTES * strings:
            yield chunk.path_in_schema


def _checked(batch: Any) -> Any:
    """Return the batch if its indices are inside of their dictionaries: pyarrow trusts the file."""
    for column in batch.columns:
        if pyarrow.types.is_dictionary(column.type):
            pyarrow.DictionaryArray.from_arrays(column.indices, column.dictionary)
    return batch


def _pieces(file: InputFile, meta: Any) -> tuple[TablePiece, ...]:
    groups = [meta.row_group(number) for number in range(meta.num_row_groups)]
    places = [(number, number + 1) for number in range(len(groups))]
    sizes = [group.total_byte_size for group in groups]
    return pieces_of(file, places, [group.num_rows for group in groups], sizes)


def _with_nulls(meta: Any, found: list[ArrowLeaf]) -> Iterator[str]:
    """Names of columns that have nulls, or of which the footer does not say."""
    flat: dict[str, list[int]] = {}
    for number in range(meta.num_columns):
        column = meta.schema.column(number)
        flat.setdefault(column.path, []).append(number)
    for leaf in found:
        numbers = flat.get(".".join(leaf.path), [])
        if len(numbers) != 1 or (
            meta.schema.column(numbers[0]).max_definition_level
            and not all(
                _without_nulls(meta.row_group(group).column(numbers[0]))
                for group in range(meta.num_row_groups)
            )
        ):
            yield leaf.name


def _without_nulls(chunk: Any) -> bool:
    statistics = chunk.statistics
    return statistics is not None and statistics.has_null_count and statistics.null_count == 0
