"""Chunk: some elements of a pipeline, in the cheapest form that holds them.

Raw records stay references into their blocks (`RecordChunk`), parsed ones stay columns (`ColumnChunk`), and what a
user's function made is a list of objects (`ObjectChunk`). Stages slice, select and join chunks without looking inside;
objects are made only for a consumer of single elements. A chunk never changes, and may be shared by threads: one that
is kept as well as passed on is `frozen`, and users get elements of their own; see `owned.py`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np

from tfrkit import _core
from tfrkit.data.batch.collate import collate
from tfrkit.data.elements import columns as leaf
from tfrkit.data.elements.origin import Origin, origin_of_records
from tfrkit.data.elements.owned import freeze_elements
from tfrkit.data.elements.structure import flatten, is_nested, map_structure, parts, rebuild
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.ragged import Ragged
from tfrkit.model.record_column import RecordColumn
from tfrkit.model.record_rows import RecordRows
from tfrkit.model.row_selection import IntArray, splits_of
from tfrkit.model.scattered_block import ScatteredBlock
from tfrkit.model.sparse import Sparse

__all__ = ["Chunk", "ColumnChunk", "ObjectChunk", "RecordChunk", "concat", "gather"]

_FEW = 4  # gather joins all chunks first if they have fewer elements than this many times the wanted ones
_FLAT = frozenset({np.ndarray, BytesColumn, RecordColumn, Ragged, Sparse, leaf.Padded})


class Chunk(ABC):
    """Elements in order."""

    __slots__ = ()

    @property
    @abstractmethod
    def origin(self) -> Origin | None:
        """Which file and record each element came from, if that is known."""

    @property
    @abstractmethod
    def nbytes(self) -> int:
        """Bytes of the elements' values, roughly."""

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def slice(self, start: int, stop: int) -> Chunk:
        """The elements [start, stop), which must exist; values are not copied."""

    @abstractmethod
    def take(self, rows: IntArray) -> Chunk:
        """The elements at these positions (int64, at least 0), in this order."""

    @abstractmethod
    def frozen(self) -> Chunk:
        """The same elements for several holders at once: none of them can write to an array."""

    @abstractmethod
    def objects(self) -> list[Any]:
        """The elements as a user sees them: numpy scalars, bytes, arrays and so on, in tuples and dicts.

        Arrays may be on the memory of the chunk. Do not change the list.
        """

    @property
    def makes_own_objects(self) -> bool:
        """Whether `objects` makes new ones at every call, which the caller owns; otherwise see `own_elements`."""
        return False

    @abstractmethod
    def batch(self) -> Any:
        """All elements as one batch.

        Raises:
            InvalidArgumentError: their shapes differ.
        """


class RecordChunk(RecordRows, Chunk):
    """Raw records, each an element of bytes: all of the blocks, or record `rows[i]` of `blocks[which[i]]`.

    >>> from tfrkit.model.block import Block
    >>> records = RecordChunk([Block.from_records([b"a", b"b", b"c"])])
    >>> records.take(np.array([2, 0])).objects(), records.slice(1, 3).batch()
    ([b'c', b'a'], BytesColumn(shape=(2,), [b'b', b'c']))
    """

    __slots__ = ()

    @property
    def origin(self) -> Origin:
        """As the blocks know it; computed at every call."""
        return origin_of_records(self)

    def frozen(self) -> RecordChunk:
        """The same: bytes cannot be written to. It does not keep all of a shuffle's buffer."""
        return self._contiguous()

    def objects(self) -> list[Any]:
        """The records as bytes, cut from the blocks in one native call."""
        return self.to_list()

    @property
    def columns(self) -> RecordColumn:
        """A BytesColumn that still refers to the blocks, but does not keep all of a shuffle's buffer."""
        return RecordColumn(self._contiguous())

    def _contiguous(self) -> RecordChunk:
        blocks = [block.contiguous() if isinstance(block, ScatteredBlock) else block for block in self.blocks]
        return RecordChunk(blocks, self.which, self.rows)

    def batch(self) -> RecordColumn:
        return self.columns


class ColumnChunk(Chunk):
    """A structure of columns, each with one row an element. Slices cut the columns when they are looked at.

    >>> chunk = ColumnChunk({"x": np.arange(3), "y": np.zeros((3, 2))}, 3)
    >>> chunk.slice(1, 2).objects()
    [{'x': np.int64(1), 'y': array([0., 0.])}]
    """

    __slots__ = ("_count", "_held", "_objects", "origin")
    origin: Origin | None

    def __init__(self, columns: Any, count: int, origin: Origin | None = None) -> None:
        self._held = columns, -1  # with where its rows begin, if the columns have others too
        self._count = count
        self.origin = origin
        self._objects: list[Any] | None = None

    @property
    def columns(self) -> Any:
        """A dict, a tuple or a single column; see `columns.py`."""
        columns, start = self._held
        if start >= 0:
            stop = start + self._count
            columns = map_structure(lambda column: leaf.cut(column, start, stop), columns)
            self._held = columns, -1
        return columns

    def with_objects(self, objects: list[Any]) -> ColumnChunk:
        """The same elements, which exist as objects too."""
        chunk = ColumnChunk(None, self._count, self.origin)
        chunk._held, chunk._objects = self._held, objects
        return chunk

    @property
    def nbytes(self) -> int:
        return sum(leaf.nbytes(column) for column in flatten(self.columns))

    def __len__(self) -> int:
        return self._count

    def slice(self, start: int, stop: int) -> ColumnChunk:
        if not start and stop == self._count:
            return self
        origin = self.origin and self.origin.slice(start, stop)
        columns, before = self._held
        part = ColumnChunk(columns, stop - start, origin)
        part._held = columns, start + max(0, before)
        part._objects = self._objects and self._objects[start:stop]
        return part

    def take(self, rows: IntArray) -> ColumnChunk:
        taken = map_structure(lambda column: leaf.take(column, rows), self.columns)
        return ColumnChunk(taken, len(rows), self.origin and self.origin.take(rows))

    def frozen(self) -> ColumnChunk:
        return ColumnChunk(map_structure(leaf.frozen, self.columns), self._count, self.origin)

    def objects(self) -> list[Any]:
        return _rows(self.columns, self._count) if self._objects is None else self._objects

    @property
    def makes_own_objects(self) -> bool:
        """If no column has rows that have something in common."""
        return self._objects is None and all(map(leaf.has_own_rows, flatten(self.columns)))

    def batch(self) -> Any:
        """The columns themselves; those that are to be padded are."""
        columns = self.columns
        # A flat dict, which parsing gives: 41 features take 8 us instead of 60 (benchmarks/pipelines_parse.py).
        if type(columns) is dict and _FLAT.issuperset(kinds := set(map(type, columns.values()))):
            if leaf.Padded not in kinds:
                return dict(columns)
            return {key: leaf.finish(column) for key, column in columns.items()}
        if any(isinstance(column, leaf.RowList) for column in flatten(columns)):
            return _batch_with_rows(columns, self._count)
        return map_structure(leaf.finish, columns)


class ObjectChunk(Chunk):
    """Python elements.

    Attributes:
        items: the elements; the list is not copied and must not change any more.
    """

    __slots__ = ("items", "origin")
    origin: Origin | None

    def __init__(self, items: list[Any], origin: Origin | None = None) -> None:
        self.items = items
        self.origin = origin

    @classmethod
    def made_of(cls, chunk: Chunk, items: list[Any], *, located: bool = True) -> ObjectChunk:
        """Elements that a stage made of the first ones of a chunk; they have its origin, if that is wanted."""
        origin = chunk.origin if located and items else None
        return cls(items, origin and origin.slice(0, len(items)))

    @property
    def nbytes(self) -> int:
        total = 0
        for item in self.items:
            flat = type(item) is dict and _FLAT.issuperset(map(type, item.values()))  # as most batches are
            total += sum(map(leaf.nbytes, item.values() if flat else flatten(item)))
        return total

    def __len__(self) -> int:
        return len(self.items)

    def slice(self, start: int, stop: int) -> ObjectChunk:
        if not start and stop == len(self.items):
            return self
        return ObjectChunk(self.items[start:stop], self.origin and self.origin.slice(start, stop))

    def take(self, rows: IntArray) -> ObjectChunk:
        items = [self.items[row] for row in rows.tolist()]
        return ObjectChunk(items, self.origin and self.origin.take(rows))

    def frozen(self) -> ObjectChunk:
        """With other dicts, and views of arrays."""
        return ObjectChunk(freeze_elements(self.items), self.origin)

    def objects(self) -> list[Any]:
        return self.items

    def batch(self) -> Any:
        return collate(self.items)


def concat(chunks: Sequence[Chunk]) -> Chunk:
    """The elements of several chunks, one after another; they stay records or columns if all are.

    >>> one, two = ColumnChunk(np.arange(2), 2), ColumnChunk(np.arange(3), 3)
    >>> concat([one, two]).columns.tolist(), concat([one, ObjectChunk([7])]).objects()
    ([0, 1, 0, 1, 2], [np.int64(0), np.int64(1), 7])
    """
    full = [chunk for chunk in chunks if len(chunk)]
    if not full:
        return ObjectChunk([])
    if len(full) == 1:
        return full[0]
    records = [chunk for chunk in full if isinstance(chunk, RecordChunk)]
    if len(records) == len(full):
        return RecordChunk.concat(records)
    origins = [chunk.origin for chunk in full]
    known = [each for each in origins if each is not None]
    origin = Origin.concat(known) if len(known) == len(origins) else None
    if isinstance(full[0], ColumnChunk) and _all_alike(full):
        structures = [chunk.columns for chunk in full if isinstance(chunk, ColumnChunk)]
        joined = map_structure(lambda *columns: leaf.concat(columns), *structures)
        return ColumnChunk(joined, sum(map(len, full)), origin)
    return ObjectChunk([item for chunk in full for item in chunk.objects()], origin)


def gather(chunks: Sequence[Chunk], which: IntArray, rows: IntArray) -> Chunk:
    """Element `rows[i]` of `chunks[which[i]]`, for every i.

    >>> gather([ObjectChunk(["a", "b"]), ObjectChunk(["c"])], np.array([1, 0]), np.array([0, 1])).objects()
    ['c', 'b']
    """
    records = [chunk for chunk in chunks if isinstance(chunk, RecordChunk)]
    if len(records) == len(chunks):
        return RecordChunk.gather(records, which, rows)
    if sum(map(len, chunks)) <= _FEW * len(rows) and _all_alike(chunks):
        begins = splits_of(np.array([*map(len, chunks)], np.int64))
        return concat(chunks).take(begins[which] + rows)
    order = np.argsort(which, kind="stable")
    sorted_which, sorted_rows = which[order], rows[order]
    used, begins = np.unique(sorted_which, return_index=True)
    ends = [*begins[1:].tolist(), len(order)]
    taken = [
        chunks[number].take(sorted_rows[begin:end])
        for number, begin, end in zip(used.tolist(), begins.tolist(), ends, strict=True)
    ]
    inverse = np.empty(len(order), np.int64)
    inverse[order] = np.arange(len(order))
    return concat(taken).take(inverse)


def _all_alike(chunks: Sequence[Chunk]) -> bool:
    """Whether all are columns of one structure that can be joined."""
    first = chunks[0]
    return isinstance(first, ColumnChunk) and all(
        isinstance(chunk, ColumnChunk) and _same_columns(first.columns, chunk.columns) for chunk in chunks[1:]
    )


def _same_columns(first: Any, second: Any) -> bool:
    if not is_nested(first) or not is_nested(second):
        return not is_nested(first) and not is_nested(second) and leaf.joinable(first, second)
    if type(first) is not type(second) or (isinstance(first, dict) and list(first) != list(second)):
        return False
    ours, theirs = parts(first), parts(second)
    return len(ours) == len(theirs) and all(map(_same_columns, ours, theirs))


def _rows(structure: Any, count: int) -> list[Any]:
    """The elements of a structure of columns."""
    if not is_nested(structure):
        return leaf.rows(structure)
    if isinstance(structure, dict):
        if not structure:
            return [{} for _ in range(count)]
        names = tuple(structure)
        values = [_rows(part, count) for part in structure.values()]
        return _core.zip_dicts(names, values, count)
    inner = [_rows(part, count) for part in parts(structure)]
    if not inner:
        return [rebuild(structure, ()) for _ in range(count)]
    tuples = list(zip(*inner, strict=True))
    return tuples if type(structure) is tuple else [rebuild(structure, row) for row in tuples]


def _batch_with_rows(structure: Any, count: int) -> Any:
    """A batch of columns of which some are single rows still, which may fail with the number of its component."""
    blank = np.zeros(count, np.int8)
    singles = map_structure(lambda column: column if isinstance(column, leaf.RowList) else blank, structure)
    stacked = collate(_rows(singles, count))
    return map_structure(
        lambda column, made: made if isinstance(column, leaf.RowList) else leaf.finish(column),
        structure,
        stacked,
    )
