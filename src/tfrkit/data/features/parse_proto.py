"""parse_proto: serialised messages of any type to dicts, by paths of their fields.

As for Examples, a run of records is parsed in one kernel call and stays columns; see `parse.py`.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

from tfrkit.data.features.example_columns import BadRow, RecordColumns
from tfrkit.data.features.example_spec import proto_spec
from tfrkit.data.features.parse import RecordsParserNode
from tfrkit.parsing.parse import native_threads
from tfrkit.parsing.payloads.parse_proto import (
    ProtoSpec,
    fields_of,
    parse_messages,
    proto_failure,
    warn_of_examples,
    warn_of_skipped,
)
from tfrkit.parsing.serialized_input import SerializedInput, as_records

__all__ = ["ParseProtoNode"]


class _ProtoColumns(RecordColumns):
    """The fields of messages."""

    def __init__(self, spec: ProtoSpec) -> None:
        self._plan = fields_of(spec)
        self._warning = threading.Lock()
        self._looked = self._warned = False

    def parse(self, records: SerializedInput, threads: int) -> dict[str, Any]:
        columns, scopes, skipped, failure = self._plan.native.parse(records.pieces, threads)
        if failure is not None:
            raise BadRow(failure.row)
        self._warn(records, skipped)
        return {name: column.make(columns, scopes) for name, column in self._plan.columns.items()}

    def error_of(self, record: SerializedInput) -> Exception:
        return proto_failure(self._plan, record, self._plan.native.parse(record.pieces, 1)[3])

    def parse_batch(self, batch: Any) -> Any:
        records = as_records(batch)
        columns, skipped = parse_messages(self._plan, records, native_threads(None))
        self._warn(records, skipped)
        return {name: column[0] for name, column in columns.items()} if records.scalar else columns

    def _warn(self, records: SerializedInput, skipped: tuple[int, int, int] | None) -> None:
        """Warn once in a pipeline; whether there are Examples is asked of the records that are parsed first."""
        with self._warning:
            if not self._looked and records.count:
                self._looked = True
                self._warned = warn_of_examples(self._plan, records)
            if skipped is not None and not self._warned:
                self._warned = True
                warn_of_skipped(self._plan, records, skipped)


@dataclass(frozen=True, eq=False)
class ParseProtoNode(RecordsParserNode):
    """Serialised messages, one by one or in batches, as dicts."""

    spec: ProtoSpec

    verb = "parse_proto"

    def arguments(self) -> tuple[Any, ...]:
        """All but the descriptors: what else is in their set changes no element."""
        return self.spec.message, list(map(list, self.spec.paths)), self.spec.enums

    def columns(self) -> RecordColumns:
        return _ProtoColumns(self.spec)

    def element_spec(self) -> Any:
        """By the fields and whether the input has records or batches."""
        return proto_spec(self.spec, self.input.element_spec())

    def _shown(self) -> str:
        count = len(self.spec.paths)
        return f"{self.spec.message}, {count} field{'' if count == 1 else 's'}"
