"""parse_sequence: serialised SequenceExamples to (context, feature lists); records one by one, or batches of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode
from tfrkit.data.engine.node import Context
from tfrkit.data.features.example_spec import batch_size_of, sequence_spec
from tfrkit.data.features.parse import ColumnParser, parse_chunk
from tfrkit.data.features.sequence_columns import SequenceColumns
from tfrkit.model.policy import ReadPolicy
from tfrkit.model.spec_json import spec_to_data
from tfrkit.model.specs import Spec
from tfrkit.parsing.parse_sequence import parse_sequence_example, parse_single_sequence_example

__all__ = ["ParseSequenceNode"]


@dataclass(frozen=True, eq=False)
class ParseSequenceNode(ChunkNode):
    """Serialised SequenceExamples, one by one or in batches; of batches also the lengths."""

    context: Spec | None
    sequence: Spec | None
    policy: ReadPolicy

    verb = "parse_sequence"
    takes_records = True

    def __post_init__(self) -> None:
        """Refuse a wrong spec at once."""
        SequenceColumns(self.context, self.sequence, self.policy)

    def arguments(self) -> tuple[Any, ...]:
        return *(spec_to_data(spec or {}) for spec in (self.context, self.sequence)), self.policy

    def parser(self) -> ColumnParser:
        """What makes its columns."""
        columns = SequenceColumns(self.context, self.sequence, self.policy)
        return ColumnParser(columns.parse, columns.error_of, self._parse_batch)

    def _parse_batch(self, batch: Any) -> Any:
        parse = parse_single_sequence_example if isinstance(batch, bytes) else parse_sequence_example
        return parse(batch, self.context, self.sequence, policy=self.policy)

    def chunk_function(self, context: Context) -> ChunkFunction:
        return partial(parse_chunk, self.parser(), context)

    def element_spec(self) -> Any:
        """By the specs and whether the input has records or batches."""
        return sequence_spec(self.context, self.sequence, batch_size_of(self.input.element_spec()))

    def _shown(self) -> str:
        return f"{len(self.context or ())} + {len(self.sequence or ())} features"
