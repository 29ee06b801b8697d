"""parse: serialised Examples to dicts; records one by one, or batches of them.

A run of records is parsed in one kernel call and stays columns. A record that fails is an error in its place: what
stands before it is returned first, and the next pull continues after it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, RecordChunk, concat
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode
from tfrkit.data.engine.node import Context
from tfrkit.data.features.example_columns import BadRow, ExampleColumns
from tfrkit.data.features.example_spec import example_spec
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.policy import ReadPolicy
from tfrkit.model.spec_json import spec_to_data
from tfrkit.model.specs import Spec
from tfrkit.parsing import serialized_input as inputs
from tfrkit.parsing.parse import parse_example

__all__ = ["ColumnParser", "ParseNode", "as_record_batch", "parse_chunk"]


class ColumnParser:
    """What makes columns of records: the part that Examples and SequenceExamples do differently.

    Attributes:
        parse: records and a number of threads to columns; raises BadRow.
        error_of: the error of one record that fails.
        parse_batch: one element that is a batch of records.
    """

    __slots__ = ("error_of", "parse", "parse_batch")

    def __init__(
        self,
        parse: Callable[[inputs.SerializedInput, int], Any],
        error_of: Callable[[inputs.SerializedInput], Exception],
        parse_batch: Callable[[Any], Any],
    ) -> None:
        self.parse = parse
        self.error_of = error_of
        self.parse_batch = parse_batch


@dataclass(frozen=True, eq=False)
class ParseNode(ChunkNode):
    """Serialised Examples, one by one or in batches, as dicts."""

    features: Spec
    policy: ReadPolicy

    verb = "parse"
    takes_records = True

    def __post_init__(self) -> None:
        """Refuse a wrong spec at once."""
        ExampleColumns(self.features, self.policy)

    def arguments(self) -> tuple[Any, ...]:
        return spec_to_data(self.features), self.policy

    def parser(self) -> ColumnParser:
        """What makes its columns."""
        columns = ExampleColumns(self.features, self.policy)
        return ColumnParser(
            columns.parse,
            columns.error_of,
            lambda batch: parse_example(batch, self.features, policy=self.policy),
        )

    def chunk_function(self, context: Context) -> ChunkFunction:
        return partial(parse_chunk, self.parser(), context)

    def element_spec(self) -> Any:
        """By the spec and whether the input has records or batches."""
        return example_spec(self.features, self.input.element_spec())

    def _shown(self) -> str:
        count = len(self.features)
        return f"{count} feature{'' if count == 1 else 's'}"


def parse_chunk(parser: ColumnParser, context: Context, chunk: Chunk) -> tuple[Chunk, Exception | None]:
    """Parse elements up to the first that fails.

    Returns:
        What was made of those before it, and its error; all of them and None if none fails.
    """
    if not isinstance(chunk, RecordChunk) and as_record_batch(chunk) is None:
        return _parse_elements(parser, chunk)
    error: Exception | None = None
    part = chunk
    while len(part):
        records = as_record_batch(part)
        assert records is not None
        try:
            columns = parser.parse(records, context.threads)
        except BadRow as bad:
            if bad.row < 0:
                return _parse_records(parser, part, context, error)
            error = parser.error_of(_one_record(part, bad.row))
            part = part.slice(0, bad.row)
        else:
            return ColumnChunk(columns, len(part), part.origin if context.origin else None), error
    return ObjectChunk([]), error


def as_record_batch(chunk: Chunk) -> inputs.SerializedInput | None:
    """Return the elements of a chunk as records for a kernel; None if they are something else."""
    if isinstance(chunk, RecordChunk):
        return inputs.SerializedInput(chunk.pieces(), [chunk], len(chunk))
    if isinstance(chunk, ColumnChunk):
        column = chunk.columns
        return inputs.as_records(column) if isinstance(column, BytesColumn) and column.ndim == 1 else None
    items = chunk.objects()
    if all(type(item) is bytes for item in items):
        return inputs.SerializedInput([items], [items], len(items))
    return None


def _one_record(chunk: Chunk, row: int) -> inputs.SerializedInput:
    """Return one element as a record that is parsed alone."""
    records = as_record_batch(chunk.slice(row, row + 1))
    assert records is not None
    records.scalar = True
    return records


def _parse_records(
    parser: ColumnParser, chunk: Chunk, context: Context, error: Exception | None
) -> tuple[Chunk, Exception | None]:
    """Parse records one by one, which only together have a fault."""
    parts: list[Chunk] = []
    for row in range(len(chunk)):
        part = chunk.slice(row, row + 1)
        try:
            columns = parser.parse(_one_record(part, 0), 1)
        except BadRow:
            error = parser.error_of(_one_record(part, 0))
            break
        parts.append(ColumnChunk(columns, 1, part.origin if context.origin else None))
    return concat(parts), error


def _parse_elements(parser: ColumnParser, chunk: Chunk) -> tuple[Chunk, Exception | None]:
    """Parse elements that are batches of records, one by one."""
    made: list[Any] = []
    for element in chunk.objects():
        try:
            if not isinstance(element, (bytes, BytesColumn, np.ndarray)):
                raise TypeError(
                    f"expected records (bytes) or batches of them to parse but got {type(element).__name__}. "
                    "Parse right after the source, or map() the elements to their record first."
                )
            made.append(parser.parse_batch(element))
        except Exception as error:
            return ObjectChunk.made_of(chunk, made), error
    return ObjectChunk.made_of(chunk, made), None
