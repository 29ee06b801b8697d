"""Stages of the plain engine that parse records and work on the features of elements."""

from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import numpy as np

from tfrkit.data.elements.element_values import to_value
from tfrkit.data.features.column_ops import CastOp, ColumnsNode, RenameOp
from tfrkit.data.features.decode_raw import DecodeRawOp
from tfrkit.data.features.parse import ParseNode, ParseSequenceNode
from tfrkit.data.features.parse_proto import ParseProtoNode
from tfrkit.data.features.with_column import WithColumnNode
from tfrkit.data.features.with_source import WithSourceNode
from tfrkit.errors import FailedPreconditionError, InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.specs import FixedLenSequenceFeature, RaggedFeature, Spec, VarLenFeature
from tfrkit.parsing.parse import parse_example, parse_single_example
from tfrkit.parsing.parse_sequence import parse_sequence_example, parse_single_sequence_example
from tfrkit.parsing.payloads.parse_proto import fields_of, parse_messages
from tfrkit.parsing.serialized_input import as_records
from tfrkit.testing.plain_stage import Item, Row, Stage, begin, opened, runs
from tfrkit.values.cast import cast_value


class PlainParsing(Stage):
    """A record to a dict, or a batch of records to a dict of columns."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.input = begin(node.input)

    def __next__(self) -> Item:
        item = next(self.input)
        value = opened(item.value)
        if isinstance(value, bytes):
            return item.of(self.one(value))
        if not isinstance(value, BytesColumn | np.ndarray):
            raise TypeError(
                f"expected records (bytes) or batches of them to parse but got {type(value).__name__}. "
                "Parse right after the source, or map() the elements to their record first."
            )
        return Item(self.many(value))

    def one(self, record: bytes) -> Any:
        """Parse one."""
        raise NotImplementedError

    def many(self, records: Any) -> Any:
        """Parse a batch."""
        raise NotImplementedError


@runs(ParseNode)
class PlainParse(PlainParsing):
    """Examples."""

    def one(self, record: bytes) -> Any:
        """Parse one; what has any length is a row."""
        found = parse_single_example(record, self.node.features, policy=self.node.policy)
        return rows(found, self.node.features)

    def many(self, records: Any) -> Any:
        """Parse a batch."""
        return parse_example(records, self.node.features, policy=self.node.policy)


@runs(ParseSequenceNode)
class PlainParseSequence(PlainParsing):
    """SequenceExamples."""

    def one(self, record: bytes) -> Any:
        """Parse one; what has any length is a row."""
        context, lists = parse_single_sequence_example(
            record, self.node.context, self.node.sequence, policy=self.node.policy
        )
        return rows(context, self.node.context or {}), rows(lists, self.node.sequence or {})

    def many(self, records: Any) -> Any:
        """Parse a batch; the lengths of the lists come along."""
        return parse_sequence_example(records, self.node.context, self.node.sequence, policy=self.node.policy)


@runs(ParseProtoNode)
class PlainParseProto(PlainParsing):
    """Messages of any type."""

    def one(self, record: bytes) -> Any:
        """Parse one; what is repeated once is a row."""
        plan = fields_of(self.node.spec)
        found = {name: column[0] for name, column in parse_messages(plan, as_records([record]), 1)[0].items()}
        return {
            name: Row(value) if plan.columns[name].levels == 1 else value for name, value in found.items()
        }

    def many(self, records: Any) -> Any:
        """Parse a batch."""
        return parse_messages(fields_of(self.node.spec), as_records(records), 1)[0]


def rows(found: dict[str, Any], features: Spec) -> dict[str, Any]:
    """Mark the values that may have any length: a batch of them is ragged, or filled up."""
    marked = dict(found)
    for key, feature in features.items():
        value = found[key]
        if isinstance(feature, FixedLenSequenceFeature):
            default = feature.default_value
            strings = isinstance(value, BytesColumn) or value.dtype == object
            empty: Any = b"" if strings else 0
            marked[key] = Row(value, True, empty if default is None else to_value(default))
        elif isinstance(feature, VarLenFeature):
            marked[key] = Row(value)
        elif isinstance(feature, RaggedFeature) and not isinstance(value, Ragged):
            marked[key] = Row(value, splits=feature.row_splits_dtype)
    return marked


@runs(ColumnsNode)
class PlainColumns(Stage):
    """select, rename, cast, decode_raw: what each does to one element."""

    def __init__(self, node: ColumnsNode) -> None:
        self.op = node.op
        self.input = begin(node.input)

    def __next__(self) -> Item:
        item = next(self.input)
        element = opened(item.value)
        if not isinstance(element, dict):
            raise TypeError(
                f"{self.op.label}: expected elements that are dicts of features but got {type(element).__name__}"
            )
        made = self.op.on_element(element)
        names = self.op.names if isinstance(self.op, RenameOp) else {}
        for old, leaf in item.value.items():
            new = names.get(old, old)
            if (
                isinstance(leaf, Row)
                and new in made
                and not (isinstance(self.op, DecodeRawOp) and old == self.op.key)
            ):
                made[new] = replace(leaf, value=made[new], default=self.cast(old, leaf.default))
        return item.of(made)

    def cast(self, key: str, default: Any) -> Any:
        """What to fill up with, in the type of the values."""
        dtypes = self.op.dtypes if isinstance(self.op, CastOp) else {}
        return cast_value(to_value(default), dtypes[key]) if key in dtypes else default


@runs(WithColumnNode)
class PlainWithColumn(Stage):
    """One feature more, made by a function of the element."""

    def __init__(self, node: WithColumnNode) -> None:
        self.node = node
        self.input = begin(node.input)

    def __next__(self) -> Item:
        item = next(self.input)
        element = opened(item.value)
        if not isinstance(element, dict):
            raise TypeError(
                f"with_column({self.node.name!r}): expected elements that are dicts of features but got "
                f"{type(element).__name__}"
            )
        return item.of({**item.value, self.node.name: to_value(self.node.function(element))})


@runs(WithSourceNode)
class PlainWithSource(Stage):
    """File and record number as features."""

    def __init__(self, node: WithSourceNode) -> None:
        self.node = node
        self.input = begin(node.input)

    def __next__(self) -> Item:
        item = next(self.input)
        path, record = item.origin or (None, 0)
        if path is None:
            raise FailedPreconditionError(
                "with_source: it is not known which record an element came from: it was never in a file of records, or "
                "was put together of several. Put with_source() before batch() and zip(), right after parse() or the "
                "source."
            )
        return item.of(self.joined(item.value, os.fsencode(path), np.int64(record)))

    def joined(self, value: Any, path: bytes, record: np.int64) -> Any:
        """Into a dict, into the first dict of a tuple, or into a dict of its own."""
        if isinstance(value, dict):
            for name in (self.node.file, self.node.record):
                if name in value:
                    raise InvalidArgumentError(
                        f"with_source: the element has a feature {name!r} already. Give another name: "
                        "with_source(file=..., record=...)."
                    )
            return {**value, self.node.file: path, self.node.record: record}
        if isinstance(value, tuple):
            places = [place for place, part in enumerate(value) if isinstance(part, dict)]
            if not places:
                raise InvalidArgumentError(
                    "with_source: expected elements that are dicts, single values, or tuples with a dict in them."
                )
            parts = list(value)
            parts[places[0]] = self.joined(parts[places[0]], path, record)
            return tuple(parts)
        return self.joined({"data": value}, path, record)
