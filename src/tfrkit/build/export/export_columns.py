"""What an export writes: the columns that all records together need, and chunks of records in them.

Columns are settled from a `Schema` of all inputs before anything is written. They are written by the formats.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit import _core
from tfrkit.build.export.export_options import Unset
from tfrkit.errors import FailedPreconditionError, InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.messages import SequenceExample
from tfrkit.model.near_names import near_names
from tfrkit.model.ragged import Ragged
from tfrkit.records.describe.schema import FeatureSummary, Schema
from tfrkit.records.read.feature_columns import UNSET, ScannedBlocks
from tfrkit.records.read.table_layout import Cells, Form

__all__ = [
    "ExportChunk",
    "ExportColumn",
    "count_unset",
    "parse_chunk",
    "settle_columns",
    "type_text",
]

_LARGE: Final = 1 << 30  # from here on a chunk may need offsets of 64 bits
_KINDS: Final = {"int64": _core.INT64, "float32": _core.FLOAT, "bytes": _core.BYTES}
NO_KIND: Final = "features without a kind, which are written as absent"
NO_KIND_STEPS: Final = "steps of feature lists without a kind, which are written as empty lists"


@dataclass(frozen=True, slots=True)
class ExportColumn:
    """One column of an export.

    Attributes:
        name: of the column: that of the feature, unless a feature list is called like a feature.
        feature: name of the feature or feature list.
        kind: "int64", "float32" or "bytes".
        steps: whether it is a feature list.
        form: its Arrow type: one value a row, lists, or lists of lists.
        values: whether there is any value of it in all records.
        bare: whether some records have the feature list without any step.
        value_bytes: how long a value is, on average.
    """

    name: str
    feature: str
    kind: str
    steps: bool
    form: Form
    values: bool
    bare: bool = False
    value_bytes: int = 8


@dataclass(frozen=True, slots=True)
class ExportChunk:
    """Some records as columns.

    Attributes:
        rows: how many.
        cells: the values of each column, in the order of the columns.
    """

    rows: int
    cells: tuple[Cells, ...]


def settle_columns(
    schema: Schema, keys: Collection[str] | None = None, *, unset: Unset = "absent"
) -> tuple[ExportColumn, ...]:
    """Settle the columns from what is in all records. Pure: no I/O.

    Args:
        schema: of all inputs.
        keys: only these features and feature lists, in this order; by default all, sorted.
        unset: what to do about features without a kind: write them as "absent", or "raise".

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
    columns: list[ExportColumn] = []
    taken = {name for name in names if name in schema.features}
    for name in names:
        for found, steps in ((schema.features, False), (schema.feature_lists, True)):
            if name in found:
                column = _column(found[name], steps, unset)
                if column is None:
                    continue
                title = name
                while steps and title in taken:
                    title = f"feature_lists/{title}"
                taken.add(title)
                columns.append(replace(column, name=title))
    if schema.records and not columns:
        raise InvalidArgumentError(
            f"expected features to export but none of the {schema.records} records has any. There is nothing to write."
        )
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


def _column(found: FeatureSummary, steps: bool, unset: Unset) -> ExportColumn | None:
    """Return the column of a feature; None if it never has a kind, and may be left out."""
    if len(found.kinds) > 1:
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
    if found.kind is None and not steps:
        return None
    kind = found.kind or "bytes"
    use = found.kinds.get(kind)
    single = found.counts.min == found.counts.max == 1 and not (steps and found.unset)
    single |= steps and not found.counts.total and not found.unset
    longest = use.range[1] if use is not None and use.range is not None and kind == "bytes" else 0
    large = max(longest, found.counts.max) >= _LARGE
    form = Form(_KINDS[kind], int(steps) + (not single), large)
    bare = found.steps is not None and found.steps.min == 0
    mean = use.total_bytes // use.values if use is not None and use.values else 8
    return ExportColumn(found.name, found.name, kind, steps, form, bool(use and use.values), bare, mean)


def count_unset(schema: Schema, keys: Collection[str] | None = None) -> dict[str, int]:
    """Count features, of some keys or of all, that are present without a kind, which columns lack. Pure: no I/O."""
    names = _chosen(schema, keys)
    return {
        NO_KIND: sum(schema.features[name].unset for name in names if name in schema.features),
        NO_KIND_STEPS: sum(
            schema.feature_lists[name].unset for name in names if name in schema.feature_lists
        ),
    }


def parse_chunk(blocks: list[Block], columns: tuple[ExportColumn, ...], threads: int) -> ExportChunk:
    """Parse the records of some blocks. Pure: no I/O.

    Raises:
        InvalidArgumentError: a record cannot be parsed.
        FailedPreconditionError: a record is not as the columns say: its file has changed since they were settled.
    """
    group = ScannedBlocks(blocks, sum(map(len, blocks)), {}, {}, 0, -1, True)
    features = {column.feature: _KINDS[column.kind] for column in columns if not column.steps}
    lists = {column.feature: _KINDS[column.kind] for column in columns if column.steps}
    parsed = group.parse(features, threads) if features else {}
    steps = group.parse_lists(lists, threads) if lists else {}
    cells = []
    for column in columns:
        if column.steps:
            rows = steps[column.feature]
            valid = rows.row_lengths() > 0
            if column.bare:
                valid = _present_lists(blocks, column.feature, valid)
        else:
            rows, states = parsed[column.feature]
            valid = states > UNSET
        _check_form(rows, valid, column, blocks)
        cells.append(Cells(rows, valid))
    return ExportChunk(group.rows, tuple(cells))


def _present_lists(blocks: list[Block], name: str, valid: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which records have a feature list; those without steps are parsed one by one."""
    present = valid.copy()
    records: Iterator[bytes] = (record for block in blocks for record in block)
    for place, record in enumerate(records):
        if not valid[place]:
            present[place] = name in SequenceExample.FromString(record).feature_lists.feature_list
    return present


def _check_form(
    rows: Ragged, valid: npt.NDArray[np.bool_], column: ExportColumn, blocks: list[Block]
) -> None:
    inner: Any = rows.values if column.steps else rows
    single = column.form.depth == int(column.steps)
    lengths = inner.row_lengths() if column.steps else inner.row_lengths()[valid]
    if single and not bool((lengths == 1).all()):
        path = blocks[0].path
        raise FailedPreconditionError(
            f"expected one value of {column.feature!r} in each record, as in the survey, but {path!r} has another "
            "number. Did the file change during the export? Export it again.",
            path=path,
        )


def type_text(column: ExportColumn) -> str:
    """Return the type of a column, for reports. Pure: no I/O."""
    text = column.kind
    for _ in range(column.form.depth):
        text = f"list of {text}"
    return text
