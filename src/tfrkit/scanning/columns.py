"""The columns of a scan: settled from a `Schema` of all records or from a spec, and parsed from blocks as chunks."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, Literal, NamedTuple, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.errors import FailedPreconditionError, InvalidArgumentError, OpError
from tfrkit.model.block import Block
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.messages import SequenceExample
from tfrkit.model.near_names import near_names
from tfrkit.model.ragged import Ragged
from tfrkit.records.describe.schema import FeatureSummary, Schema
from tfrkit.records.read.feature_columns import (
    KIND_NAMES,
    UNSET,
    Cells,
    ScannedBlocks,
    block_pieces,
    ragged_of,
)
from tfrkit.scanning.table_layout import Form

__all__ = [
    "NO_VALUES",
    "OnKind",
    "ScanChunk",
    "ScanColumn",
    "ScanParser",
    "Unset",
    "broken_record",
    "count_unset",
    "settle_columns",
    "type_text",
]

_LARGE: Final = 1 << 30  # from here on a chunk may need offsets of 64 bits
Unset: TypeAlias = Literal["absent", "raise"]
OnKind: TypeAlias = Literal["raise", "null"]
_DTYPES: Final = {"int64": np.int64, "float32": np.float32}
NO_VALUES: Final = "null"
_KINDS: Final = {"int64": _core.INT64, "float32": _core.FLOAT, "bytes": _core.BYTES}
NO_KIND: Final = "features without a kind, which are written as absent"
NO_KIND_STEPS: Final = "steps of feature lists without a kind, which are written as empty lists"


class _Rows(NamedTuple):
    """What the columns of a chunk share: all rows as valid ones, and the splits of one value a row."""

    valid: npt.NDArray[np.bool_]
    splits: npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class ScanColumn:
    """One column of a scan or an export.

    Attributes:
        name: of the column: that of the feature, unless a feature list is called like a feature.
        feature: name of the feature or feature list.
        kind: "int64", "float32", "bytes", or "null" if no record has values or a kind of it.
        steps: whether it is a feature list.
        form: its Arrow type: one value a row, lists, or lists of lists.
        values: whether there is any value of it in all records.
        bare: whether some records have the feature list without any step.
        value_bytes: how long a value is, on average.
        shape: of the values of each record, if a spec says so.
        default: values for records without the feature, if a spec has them; else such are null.
        surveyed: whether all of this is known from the records, and not from a spec.
        text: whether its bytes are UTF-8 text.
        lenient: whether records that have it with another kind are as those without it.
    """

    name: str
    feature: str
    kind: str
    steps: bool
    form: Form
    values: bool
    bare: bool = False
    value_bytes: int = 8
    shape: tuple[int, ...] | None = None
    default: Any = None
    surveyed: bool = True
    text: bool = False
    lenient: bool = False

    def slot(self) -> tuple[str, int, int, int, object]:
        """Return the slot of a feature for the native parser: of one value or a shape, room that is filled in place."""
        if self.form.depth and self.shape is None:
            return self.feature, self.form.kind, -1, 1, None
        count = math.prod(self.shape or ())
        filler: Any = self.default
        if filler is None:
            filler = [b""] * count if self.kind == "bytes" else np.zeros(count, _DTYPES[self.kind])
        return self.feature, self.form.kind, count, 0, filler

    def cells(self, parsed: Any, states: npt.NDArray[np.uint8] | None, rows: _Rows) -> Cells:
        """Return what was parsed with `slot`; without states every row has the feature."""
        if self.form.depth and self.shape is None:
            return Cells(ragged_of(parsed), rows.valid if states is None else np.asarray(states > UNSET))
        valid = rows.valid
        if states is not None and self.default is None:
            valid = np.asarray(states > UNSET)
        values: Any = BytesColumn.unchecked(*parsed) if self.kind == "bytes" else parsed.reshape(-1)
        count = math.prod(self.shape or ())
        complete = valid is rows.valid or bool(valid.all())
        if self.shape is not None or complete:
            splits = rows.splits if count == 1 else np.arange(len(valid) + 1) * count
            return Cells(Ragged.unchecked(values, splits), valid, single=count == 1 and complete)
        if isinstance(values, BytesColumn):
            splits = np.concatenate([[0], np.cumsum(valid)])
            return Cells(Ragged.unchecked(values[np.flatnonzero(valid)], splits), valid)
        return Cells(Ragged.unchecked(values[valid], np.concatenate([[0], np.cumsum(valid)])), valid)

    @property
    def expects(self) -> str:
        """What a record must have, for messages."""
        if self.shape is not None:
            return f"{math.prod(self.shape)} {self.kind} values"
        return f"{self.kind} values" if self.form.depth else f"one {self.kind} value"

    @property
    def told_by(self) -> str:
        """Who says so, for messages."""
        return "in the survey" if self.surveyed else "the spec says"


@dataclass(frozen=True, slots=True)
class ScanChunk:
    """Some records as columns.

    Attributes:
        rows: how many.
        cells: the values of each column, in the order of the columns.
        blocks: the records themselves.
    """

    rows: int
    cells: tuple[Cells, ...]
    blocks: Sequence[Block] = ()


def settle_columns(
    schema: Schema,
    keys: Collection[str] | None = None,
    *,
    unset: Unset = "absent",
    on_kind: OnKind = "raise",
) -> tuple[ScanColumn, ...]:
    """Settle the columns from what is in all records. Pure: no I/O.

    Args:
        schema: of all inputs.
        keys: only these features and feature lists, in this order; by default all, sorted.
        unset: what to do about features without a kind: write them as "absent", or "raise".
        on_kind: what to do about features of several kinds: "raise", or "null" where it is not the most usual one.

    Raises:
        InvalidArgumentError: a record is no Example, a feature has several kinds or is without a kind, or a key is
            nowhere; the text says where, and what to do.
    """
    if schema.others:
        schema.check()
    if schema.not_followed and keys is None:
        raise InvalidArgumentError(
            f"there are too many different features for one table: {schema.not_followed} more than "
            f"{len(schema.features) + len(schema.feature_lists)}. Choose some with columns= (--key)."
        )
    names = _chosen(schema, keys)
    columns: list[ScanColumn] = []
    taken = {name for name in names if name in schema.features}
    for name in names:
        for found, steps in ((schema.features, False), (schema.feature_lists, True)):
            if name in found:
                column = _column(found[name], steps, unset, on_kind)
                if column is None:
                    continue
                title = name
                while steps and title in taken:
                    title = f"feature_lists/{title}"
                taken.add(title)
                columns.append(replace(column, name=title))
    return tuple(columns)


def _chosen(schema: Schema, keys: Collection[str] | None) -> list[str]:
    known = {*schema.features, *schema.feature_lists}
    if keys is None:
        return sorted(known)
    names = list(dict.fromkeys(keys))
    missing = [name for name in names if name not in known]
    if missing and schema.records:
        more = f" {schema.not_followed} more were not noted: too many." if schema.not_followed else ""
        raise InvalidArgumentError(
            f"columns (--key): no record has a feature {missing[0]!r}. {near_names(missing[0], sorted(known))}{more}"
        )
    return names


def _column(found: FeatureSummary, steps: bool, unset: Unset, on_kind: OnKind) -> ScanColumn | None:
    """Return the column of a feature; None if it never has a kind, and may be left out."""
    if len(found.kinds) > 1 and on_kind == "raise":
        _, second, *_ = (use.first for use in found.kinds.values())
        raise InvalidArgumentError(
            f"expected one kind for each feature but {found.conflict()}. A column has one: choose other features with "
            "columns= (--key), or write the records again with one kind.",
            path=second.path,
            record=second.record,
        )
    if found.unset and unset == "raise":
        what = f"{found.unset} steps of the feature list" if steps else f"{found.unset} records the feature"
        raise InvalidArgumentError(
            f"in {what} {found.name!r} has no kind: not even that of an empty list, which a column cannot "
            'say. Pass unset="absent" (--unset absent) to write it as absent, or leave it out with columns= (--key).'
        )
    if found.kind is None and not steps and len(found.kinds) < 2:
        return None
    several = len(found.kinds) > 1
    usual = max(found.kinds, key=lambda kind: found.kinds[kind].records) if several else found.kind
    kind = usual or "bytes"
    use = found.kinds.get(kind)
    single = found.counts.min == found.counts.max == 1 and not (steps and found.unset)
    single |= steps and not found.counts.total and not found.unset
    longest = use.range[1] if use is not None and use.range is not None and kind == "bytes" else 0
    large = max(longest, found.counts.max) >= _LARGE
    form = Form(_KINDS[kind], int(steps) + (not single), large)
    bare = found.steps is not None and found.steps.min == 0
    mean = use.total_bytes // use.values if use is not None and use.values else 8
    return ScanColumn(
        found.name, found.name, kind, steps, form, bool(use and use.values), bare, mean, lenient=several
    )


def count_unset(schema: Schema, keys: Collection[str] | None = None) -> dict[str, int]:
    """Count features, of some keys or of all, that are present without a kind, which columns lack. Pure: no I/O."""
    names = _chosen(schema, keys)
    return {
        NO_KIND: sum(schema.features[name].unset for name in names if name in schema.features),
        NO_KIND_STEPS: sum(
            schema.feature_lists[name].unset for name in names if name in schema.feature_lists
        ),
    }


class ScanParser:
    """Parses columns of blocks; made once, used by any thread."""

    def __init__(self, columns: Sequence[ScanColumn]) -> None:
        """Prepare to parse some columns."""
        self.columns = tuple(columns)
        self._features = [column for column in self.columns if not column.steps and column.kind != NO_VALUES]
        self._lists = [column for column in self.columns if column.steps]
        self._lenient = [column for column in self.columns if column.lenient]
        self._plan = _core.ExamplePlan([column.slot() for column in self._features])
        self._sequence_plan = _core.SequencePlan(
            [], [(column.feature, column.form.kind, -1, True) for column in self._lists]
        )

    def parse(self, blocks: list[Block], threads: int) -> ScanChunk:
        """Parse the records of some blocks. Pure: no I/O.

        Raises:
            InvalidArgumentError: a record cannot be parsed, or is not as the spec says.
            FailedPreconditionError: it is not as in the survey: its file has changed since.
        """
        rows = sum(map(len, blocks))
        pieces = block_pieces([self._mended(block) for block in blocks] if self._lenient else blocks)
        found: dict[str, Cells] = {}
        if self._features:
            values, states, failure = self._plan.parse(pieces, _core.PROTOBUF, threads, True)
            if failure is not None or states is None:
                raise self._broken(blocks, failure)
            shared = _Rows(np.ones(rows, np.bool_), np.arange(rows + 1))
            for column, one, state in zip(self._features, values, states, strict=True):
                found[column.name] = column.cells(one, state, shared)
        if self._lists:
            _, steps, lost = self._sequence_plan.parse(pieces, _core.PROTOBUF, threads)
            if lost is not None:
                raise broken_record(blocks, lost.row)
            for column, one in zip(self._lists, steps, strict=True):
                found[column.name] = self._list_cells(blocks, column, one)
        nulls = Cells(
            Ragged.unchecked(np.zeros(0, np.int64), np.zeros(rows + 1, np.int64)), np.zeros(rows, np.bool_)
        )
        return ScanChunk(rows, tuple(found.get(column.name, nulls) for column in self.columns), blocks)

    def _mended(self, block: Block) -> Block:
        """Leave out features that have another kind than their columns; such records are rare, and taken one by one."""
        found = ScannedBlocks.of([block], {column.feature for column in self._lenient})
        wrong = [
            column
            for column in self._lenient
            if set((found.lists if column.steps else found.features).get(column.feature, ()))
            - {column.form.kind}
        ]
        if not wrong:
            return block
        records = []
        for record in block:
            message = SequenceExample.FromString(record)
            for column in wrong:
                _leave_out(message, column)
            records.append(message.SerializeToString())
        return Block.from_records(records)

    def _list_cells(self, blocks: list[Block], column: ScanColumn, parsed: tuple[Any, ...]) -> Cells:
        rows = Ragged.unchecked(ragged_of(parsed[:-1]), parsed[-1])
        valid = rows.row_lengths() > 0
        if column.bare:
            valid = _present_lists(blocks, column.feature, valid)
        lengths = np.asarray(rows.values.row_lengths())
        if column.form.depth == 1 and not bool((lengths == 1).all()):
            row = int(np.searchsorted(rows.row_splits, np.flatnonzero(lengths != 1)[0], "right")) - 1
            count = int(lengths[lengths != 1][0])
            raise self._wrong(blocks, column, row, f"has {count} values of it in one step")
        return Cells(rows, valid)

    def _broken(self, blocks: list[Block], failure: Any) -> OpError:
        if failure is None or failure.slot < 0:
            return broken_record(blocks, 0 if failure is None else failure.row)
        column = self._features[failure.slot]
        kind = KIND_NAMES.get(failure.kind)
        if kind is not None and kind != KIND_NAMES[column.form.kind]:
            return self._wrong(blocks, column, failure.row, f"has {kind} there", "Name that kind in it")
        return self._wrong(blocks, column, failure.row, f"has {failure.count} values of it")

    def _wrong(
        self,
        blocks: list[Block],
        column: ScanColumn,
        row: int,
        found: str,
        remedy: str = "Give VarLenFeature for it",
    ) -> OpError:
        block, index = _locate(blocks, row)
        record, offset = block.place(index)
        where = f"record {record}" if block.path is None else f"record {record} of {block.path!r}"
        error = FailedPreconditionError if column.surveyed else InvalidArgumentError
        return error(
            f"expected {column.expects} of the feature {column.feature!r} in each record, as {column.told_by}, but "
            f"{where} {found}. "
            + (
                "Did the file change meanwhile? Start over."
                if column.surveyed
                else f"{remedy}, or give no spec."
            ),
            path=block.path,
            record=record,
            offset=offset,
        )


def _leave_out(message: Any, column: ScanColumn) -> None:
    """Remove a feature, or a feature list, with values of another kind."""
    kind = {"int64": "int64_list", "float32": "float_list", "bytes": "bytes_list"}[column.kind]
    if column.steps:
        lists = message.feature_lists.feature_list
        if column.feature in lists and any(
            step.WhichOneof("kind") not in (None, kind) for step in lists[column.feature].feature
        ):
            del lists[column.feature]
    else:
        features = message.context.feature
        if column.feature in features and features[column.feature].WhichOneof("kind") != kind:
            del features[column.feature]


def broken_record(blocks: list[Block], row: int) -> InvalidArgumentError:
    """Return the error about a record that cannot be parsed."""
    block, index = _locate(blocks, row)
    record, offset = block.place(index)
    where = f"record {record}" if block.path is None else f"record {record} of {block.path!r}"
    return InvalidArgumentError(
        f"could not parse the features of {where}", path=block.path, record=record, offset=offset
    )


def _locate(blocks: list[Block], row: int) -> tuple[Block, int]:
    for block in blocks:
        if row < len(block):
            return block, row
        row -= len(block)
    raise IndexError(row)


def _present_lists(blocks: list[Block], name: str, valid: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which records have a feature list; those without steps are parsed one by one."""
    present = valid.copy()
    records: Iterator[bytes] = (record for block in blocks for record in block)
    for place, record in enumerate(records):
        if not valid[place]:
            present[place] = name in SequenceExample.FromString(record).feature_lists.feature_list
    return present


def type_text(column: ScanColumn) -> str:
    """Return the type of a column, for reports. Pure: no I/O."""
    text = column.kind
    for _ in range(column.form.depth):
        text = f"list of {text}"
    return text
