"""parse and parse_sequence: serialised Examples to dicts, SequenceExamples to pairs of them.

Records come one by one, or in batches. A run of records is parsed in one kernel call and stays columns. A record that
fails is an error in its place: what stands before it is returned first, and the next pull continues after it.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, RecordChunk, concat
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode, each_element
from tfrkit.data.engine.lookup import Lookup, MadeLookup
from tfrkit.data.engine.node import Context
from tfrkit.data.features.example_columns import BadRow, ExampleColumns, RecordColumns, SequenceColumns
from tfrkit.data.features.example_spec import example_spec, sequence_spec
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.policy import ReadPolicy
from tfrkit.model.spec_json import spec_to_data
from tfrkit.model.specs import Spec
from tfrkit.parsing.serialized_input import SerializedInput, as_records

__all__ = ["ParseNode", "ParseSequenceNode", "RecordsParserNode", "parse_chunk"]


@dataclass(frozen=True, eq=False)
class RecordsParserNode(ChunkNode):
    """A stage that makes dicts of records, by what `columns` returns."""

    takes_records = True

    @abstractmethod
    def columns(self) -> RecordColumns:
        """What makes its columns."""

    def __post_init__(self) -> None:
        """Refuse a wrong spec at once."""
        self.columns()

    def chunk_function(self, context: Context) -> ChunkFunction:
        return partial(parse_chunk, self.columns(), context)

    def lookup_over(self, inner: Lookup, context: Context) -> Lookup:
        return _ParsedLookup(inner, self.columns(), context)


@dataclass(frozen=True, eq=False)
class ParseNode(RecordsParserNode):
    """Serialised Examples, one by one or in batches, as dicts."""

    features: Spec
    policy: ReadPolicy

    verb = "parse"

    def arguments(self) -> tuple[Any, ...]:
        return spec_to_data(self.features), self.policy

    def columns(self) -> RecordColumns:
        return ExampleColumns(self.features, self.policy)

    def element_spec(self) -> Any:
        """By the spec and whether the input has records or batches."""
        return example_spec(self.features, self.input.element_spec())

    def _shown(self) -> str:
        count = len(self.features)
        return f"{count} feature{'' if count == 1 else 's'}"


@dataclass(frozen=True, eq=False)
class ParseSequenceNode(RecordsParserNode):
    """Serialised SequenceExamples, one by one or in batches; of batches also the lengths."""

    context: Spec | None
    sequence: Spec | None
    policy: ReadPolicy

    verb = "parse_sequence"

    def arguments(self) -> tuple[Any, ...]:
        return *(spec_to_data(spec or {}) for spec in (self.context, self.sequence)), self.policy

    def columns(self) -> RecordColumns:
        return SequenceColumns(self.context, self.sequence, self.policy)

    def element_spec(self) -> Any:
        """By the specs and whether the input has records or batches."""
        return sequence_spec(self.context, self.sequence, self.input.element_spec())

    def _shown(self) -> str:
        return f"{len(self.context or ())} + {len(self.sequence or ())} features"


class _ParsedLookup(MadeLookup):
    def __init__(self, inner: Lookup, columns: RecordColumns, context: Context) -> None:
        super().__init__(inner, partial(parse_chunk, columns, context))
        self._columns = columns

    def one(self, number: int, epoch: int) -> Any:
        """Parse one record without a chunk: 3 us instead of 90 for 41 features (benchmarks/lookup.py)."""
        record = self.inner.one(number, epoch)
        if type(record) is bytes:
            try:
                return self._columns.parse_one(record)
            except Exception:
                return super().one(number, epoch)  # which raises it with the record's place
        return super().one(number, epoch)


def parse_chunk(columns: RecordColumns, context: Context, chunk: Chunk) -> tuple[Chunk, Exception | None]:
    """Parse elements up to the first that fails.

    Returns:
        What was made of those before it, and its error; all of them and None if none fails.
    """
    error: Exception | None = None
    while len(chunk):
        records = _as_records(chunk)
        if records is None:
            return each_element(partial(_parse_batch, columns), chunk)
        try:
            made = columns.parse(records, context.threads)
        except BadRow as bad:
            if bad.row < 0 and len(chunk) > 1:
                return _parse_each(columns, context, chunk, error)
            row = max(0, bad.row)
            record = _as_records(chunk.slice(row, row + 1))
            assert record is not None
            record.scalar = True
            error = columns.error_of(record)
            chunk = chunk.slice(0, row)
        else:
            return ColumnChunk(made, len(chunk), chunk.origin if context.origin else None), error
    return ObjectChunk([]), error


def _as_records(chunk: Chunk) -> SerializedInput | None:
    """Return the elements of a chunk as records for a kernel; None if they are something else."""
    if isinstance(chunk, RecordChunk):
        return SerializedInput(chunk.pieces(), [chunk], len(chunk))
    if isinstance(chunk, ColumnChunk):
        column = chunk.columns
        return as_records(column) if isinstance(column, BytesColumn) and column.ndim == 1 else None
    items = chunk.objects()
    if all(type(item) is bytes for item in items):
        return SerializedInput([items], [items], len(items))
    return None


def _parse_each(
    columns: RecordColumns, context: Context, chunk: Chunk, error: Exception | None
) -> tuple[Chunk, Exception | None]:
    """Parse records one by one, which only together have a fault."""
    parts: list[Chunk] = []
    for row in range(len(chunk)):
        part, failure = parse_chunk(columns, context, chunk.slice(row, row + 1))
        parts.append(part)
        if failure is not None:
            return concat(parts), failure
    return concat(parts), error


def _parse_batch(columns: RecordColumns, element: Any) -> Any:
    if not isinstance(element, (bytes, BytesColumn, np.ndarray)):
        raise TypeError(
            f"expected records (bytes) or batches of them to parse but got {type(element).__name__}. "
            "Parse right after the source, or map() the elements to their record first."
        )
    return columns.parse_batch(element)
