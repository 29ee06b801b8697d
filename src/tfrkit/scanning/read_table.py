"""read_table: all examples of TFRecord files as one Arrow table, without a spec.

Blocks are gathered to some tens of megabytes, looked into and parsed by native code; each such chunk is a chunk of the
table, on the memory that the parser wrote. Which columns are lists is known only at the end.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Final

from tfrkit import _core
from tfrkit.model.arrow.arrow_layout import Layout
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.policy import TFRKIT, OnCorrupt, ReadPolicy
from tfrkit.model.ragged import Ragged
from tfrkit.optional import require
from tfrkit.records.read.feature_columns import (
    KIND_NAMES,
    UNSET,
    Cells,
    ScannedBlocks,
    check_columns,
    gather_blocks,
)
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.reader import read_blocks
from tfrkit.scanning.table_layout import MAX_INT32, Form, cells_layout
from tfrkit.stores.paths import Paths

__all__ = ["read_table"]

_CHUNK_BYTES: Final = 32 << 20  # of records that become one chunk of the table
_NULLABLE: Final = 2


@dataclass(frozen=True, slots=True)
class _Seen:
    """The kind of a column, and a record that has it."""

    kind: int
    path: str | None
    record: int
    where: str


@dataclass(frozen=True, slots=True)
class _Chunk:
    """The columns of some blocks; those of feature lists are apart."""

    length: int
    keys: set[str]  # all, also those that never have a kind
    features: dict[str, Cells]
    lists: dict[str, Cells]


def read_table(
    paths: Paths,
    columns: Collection[str] | None = None,
    *,
    compression: str | None = None,
    crc: bool | None = None,
    on_corrupt: OnCorrupt | None = None,
    threads: int | None = None,
    block_bytes: int = BLOCK_BYTES,
    max_record_bytes: int | None = None,
    cache: bool | None = None,
    policy: ReadPolicy = TFRKIT,
) -> Any:
    """Read the Examples or SequenceExamples of TFRecord files into a pyarrow.Table; no spec is needed.

    Args:
        paths: as for `read_blocks`.
        columns: only these features, in this order; by default all, sorted. One that is nowhere is a column of nulls.
        compression: see `read_blocks`, also for the next ones.
        crc: check the CRC of the data of every record.
        on_corrupt: what to do about damage.
        threads: how many cores to use; by default all.
        block_bytes: about how much to read at once.
        max_record_bytes: a record that claims to be larger is damage.
        cache: keep what is read of remote files in the cache folder, and read it from there the next time.
        policy: where the defaults come from. Records mean what protobuf says whatever the policy.

    Returns:
        A table of int64, float and binary columns: plain ones if every record that has the feature has exactly one
        value of it, else lists. Null where a record has no such feature, or one without a kind. Feature lists of
        SequenceExamples are lists of their steps, or lists of lists unless every step has exactly one value; null where
        there are no steps. A list whose name is a context feature's too is called "feature_lists/NAME".

    Raises:
        InvalidArgumentError: a record is not an Example, or a feature has several kinds; a record of each is named.
        DataLossError, NotFoundError: as in `read_blocks`.
        MissingExtraError: pyarrow is not installed.

    >>> import numpy as np
    >>> import tfrkit
    >>> with tfrkit.TFRecordWriter("a.tfrecord") as writer:
    ...     for ids in ([1, 2], []):
    ...         writer.write(tfrkit.make_example({"n": len(ids), "ids": np.array(ids, int)}).SerializeToString())
    >>> read_table("a.tfrecord").to_pydict()
    {'ids': [[1, 2], []], 'n': [2, 0]}
    """
    pyarrow = require("pyarrow", "read_table")
    names = check_columns(columns)
    blocks = read_blocks(
        paths,
        compression=compression,
        crc=crc,
        on_corrupt=on_corrupt,
        threads=threads,
        block_bytes=block_bytes,
        max_record_bytes=max_record_bytes,
        cache=cache,
        policy=policy,
    )
    seen: dict[tuple[str, bool], _Seen] = {}
    chunks = [
        _parse(ScannedBlocks.of(gathered, names), seen, threads or 0)
        for gathered in gather_blocks(blocks, _CHUNK_BYTES)
    ]
    return pyarrow.table(_Stream(_layouts(chunks, names, seen)))


class _Stream:
    """Batches for those who ask by Arrow's protocol."""

    def __init__(self, batches: list[Layout]) -> None:
        self.batches = batches

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return _core.export_arrow_stream(self.batches[0], self.batches)


def _parse(group: ScannedBlocks, seen: dict[tuple[str, bool], _Seen], threads: int) -> _Chunk:
    if group.other >= 0:
        raise group.not_an_example()
    kinds, list_kinds = _one_kind(group, seen, False), _one_kind(group, seen, True)
    features = {
        key: Cells(rows, states > UNSET) for key, (rows, states) in group.parse(kinds, threads).items()
    }
    lists = {}
    if list_kinds:
        for key, rows in group.parse_lists(list_kinds, threads).items():
            lists[key] = Cells(rows, rows.row_lengths() > 0)
    return _Chunk(group.rows, {*group.features, *group.lists}, features, lists)


def _one_kind(group: ScannedBlocks, seen: dict[tuple[str, bool], _Seen], lists: bool) -> dict[str, int]:
    """The kind of every key that has one.

    Raises:
        InvalidArgumentError: a key has two, here or in what was seen before.
    """
    chosen = {}
    for key, kinds in (group.lists if lists else group.features).items():
        for kind, index in sorted(kinds.items(), key=lambda item: item[1]):
            known = seen.setdefault((key, lists), _Seen(kind, *group.place(index), group.where(index)))
            if known.kind != kind:
                raise group.error(
                    index,
                    f"expected one kind for the feature {key!r} but it is {KIND_NAMES[known.kind]} in {known.where} "
                    f"and {KIND_NAMES[kind]} in {group.where(index)}. Leave it out with columns=, or use "
                    "read_examples().",
                )
            chosen[key] = kind
    return chosen


# -- chunks to batches ----------------------------------------------------------------------------------------------


def _layouts(
    chunks: list[_Chunk], names: list[str] | None, seen: dict[tuple[str, bool], _Seen]
) -> list[Layout]:
    """The batches of the table; one without rows if there is nothing."""
    if names is None:
        names = sorted(set().union(*(chunk.keys for chunk in chunks)))
    order = _order(names, seen)
    forms = {column: _form(column, kind, chunks) for column, kind in order.values() if column is not None}
    batches = []
    for chunk in chunks or [_Chunk(0, set(), {}, {})]:
        children = []
        for name, (column, _) in order.items():
            if column is None:
                layout = Layout("n", "", _NULLABLE, chunk.length, chunk.length, ())
            else:
                layout = cells_layout(_cells_of(chunk, column), forms[column], chunk.length)
            children.append(layout.named(name))
        batches.append(Layout("+s", "", 0, chunk.length, 0, (None,), tuple(children)))
    return batches


def _order(
    names: list[str], seen: dict[tuple[str, bool], _Seen]
) -> dict[str, tuple[tuple[str, bool] | None, int]]:
    """Names of the table's columns, each with where it comes from (None: nowhere) and its kind."""
    order: dict[str, tuple[tuple[str, bool] | None, int]] = {}
    for name in names:
        sources = [(name, lists) for lists in (False, True) if (name, lists) in seen]
        for source in sources:
            order[f"feature_lists/{name}" if source[1] and len(sources) == 2 else name] = (
                source,
                seen[source].kind,
            )
        if not sources:
            order[name] = (None, 0)
    return order


def _cells_of(chunk: _Chunk, column: tuple[str, bool]) -> Cells | None:
    key, lists = column
    return (chunk.lists if lists else chunk.features).get(key)


def _form(column: tuple[str, bool], kind: int, chunks: list[_Chunk]) -> Form:
    """Lists of as few levels as the counts of all chunks allow."""
    lists = column[1]
    single, large = True, False
    for chunk in chunks:
        cells = _cells_of(chunk, column)
        if cells is None:
            continue
        innermost: Ragged = cells.rows.values if lists else cells.rows
        lengths = innermost.row_lengths() if lists else innermost.row_lengths()[cells.valid]
        single &= bool((lengths == 1).all())
        flat = innermost.values
        large |= len(flat) > MAX_INT32 or (isinstance(flat, BytesColumn) and flat.nbytes > MAX_INT32)
    return Form(kind, int(lists) + (not single), large)
