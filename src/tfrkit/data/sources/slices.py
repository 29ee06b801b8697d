"""from_tensor_slices and from_tensors: elements that are in memory."""

from __future__ import annotations

import os
from abc import abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk
from tfrkit.data.elements.columns import RowList
from tfrkit.data.elements.element_values import to_tensors
from tfrkit.data.elements.origin import origin_of_rows
from tfrkit.data.elements.owned import freeze, freeze_elements
from tfrkit.data.elements.structure import flatten, map_structure
from tfrkit.data.elements.structure_specs import spec_of, spec_of_columns
from tfrkit.data.engine.lookup import Found, Lookup
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.row_selection import IntArray
from tfrkit.model.sparse import Sparse

__all__ = ["ElementsNode", "RowsNode", "SlicesNode", "TensorsNode", "make_slices_node", "make_tensors_node"]


@dataclass(frozen=True, eq=False)
class RowsNode(Node):
    """A source that makes any of its elements by their numbers; a position is the number of the next one.

    Attributes:
        first_row: by which seeded functions know its first element, if there are other such sources.
    """

    first_row: int = field(default=0, kw_only=True, metadata={"unsigned": True})

    unindexable = ""

    @abstractmethod
    def rows(self, start: int, stop: int) -> Chunk:
        """The elements [start, stop), which must exist."""

    def rows_at(self, numbers: IntArray) -> Chunk:
        """The elements with these numbers."""
        return self.rows(0, self.cardinality()).take(numbers)

    def lookup(self, context: Context) -> Lookup:
        return _RowsLookup(self, context)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _RowsIterator(self, context, 0 if state is None else state)


class _RowsLookup(Lookup):
    def __init__(self, node: RowsNode, context: Context) -> None:
        self._node, self._context = node, context
        self.size = node.cardinality()

    def at(self, numbers: IntArray, epoch: int) -> Found:
        return Found(_located(self._node, self._node.rows_at(numbers), numbers, self._context))


def _located(node: RowsNode, chunk: Any, numbers: IntArray, context: Context) -> Chunk:
    """The elements with their numbers, if a later stage wants those."""
    if context.origin and chunk.origin is None:
        chunk.origin = origin_of_rows(node.first_row + numbers)
    return chunk  # type: ignore[no-any-return]  # it is one


class _RowsIterator(NodeIterator):
    def __init__(self, node: RowsNode, context: Context, done: int) -> None:
        self._node = node
        self._context = context
        self._count = node.cardinality()  # or negative, without end
        self._done = done

    def pull(self, n: int) -> Run | None:
        start, stop = self._done, self._done + n
        if self._count >= 0:
            stop = min(stop, self._count)
        if start >= stop:
            return None
        self._done = stop
        rows = self._node.rows(start, stop)
        if not self._context.origin:
            return Run(rows)
        return Run(_located(self._node, rows, np.arange(start, stop), self._context))

    def save(self) -> int:
        return self._done


@dataclass(frozen=True, eq=False)
class SlicesNode(RowsNode):
    """Rows of a structure of columns."""

    columns: Any
    count: int = field(metadata={"unsigned": True})
    spec: Any = field(metadata={"unsigned": True})

    verb = "from_tensor_slices"

    @property
    def file_names(self) -> tuple[str, ...] | None:
        if not isinstance(self.columns, BytesColumn) or self.columns.ndim != 1:
            return None
        return tuple(os.fsdecode(name) for name in self.columns.to_list())

    def rows(self, start: int, stop: int) -> Chunk:
        return ColumnChunk(self.columns, self.count).slice(start, stop)

    def element_spec(self) -> Any:
        return self.spec

    def cardinality(self) -> int:
        return self.count

    def _shown(self) -> str:
        return f"{self.count} rows"


@dataclass(frozen=True, eq=False)
class TensorsNode(RowsNode):
    """A single element."""

    element: Any

    verb = "from_tensors"

    def rows(self, start: int, stop: int) -> Chunk:
        return ObjectChunk([self.element])

    def element_spec(self) -> Any:
        return spec_of(self.element)

    def cardinality(self) -> int:
        return 1

    @property
    def label(self) -> str:
        return self.verb


@dataclass(frozen=True, eq=False)
class ElementsNode(RowsNode):
    """Elements that a stage has kept, such as those of a window; `opaque` if a user's function made them."""

    elements: tuple[Any, ...]
    spec: Any
    opaque: bool = False

    verb = "elements"

    def _shown(self) -> str:
        return str(len(self.elements))

    def rows(self, start: int, stop: int) -> Chunk:
        return ObjectChunk(freeze_elements(list(self.elements[start:stop])))

    def element_spec(self) -> Any:
        return self.spec

    def cardinality(self) -> int:
        return len(self.elements)


def make_slices_node(tensors: Any) -> Node:
    """Convert the values, and check that they have rows, equally many.

    Raises:
        ValueError: a value has no rows, or another number of them; or there is no value.
        InvalidArgumentError: a Sparse has one dimension only.
    """
    columns = map_structure(freeze, to_tensors(tensors))
    found = [column for column in flatten(columns) if column is not None]
    if not found:
        raise ValueError("Invalid `element`. `element` should not be empty.")
    for column in found:
        if not np.shape(column) if isinstance(column, (np.generic, bytes)) else not column.shape:
            raise ValueError("Unbatching a tensor is only supported for rank >= 1")
        if isinstance(column, Sparse) and column.ndim < 2:
            raise InvalidArgumentError(
                f"Rank of input SparseTensor should be > 1, but saw rank: {column.ndim}"
            )
    counts = [len(column) for column in found]
    for count in counts:
        if count != counts[0]:
            raise ValueError(f"Dimensions {counts[0]} and {count} are not compatible")
    spec = spec_of_columns(columns)
    rows = map_structure(lambda column: RowList([None] * counts[0]) if column is None else column, columns)
    return SlicesNode(rows, counts[0], spec)


def make_tensors_node(tensors: Any) -> Node:
    """Convert the values.

    Raises:
        ValueError: TensorFlow has no tensor for a value.
        InvalidArgumentError: there is no value.
    """
    element = map_structure(freeze, to_tensors(tensors))
    if all(value is None for value in flatten(element)):
        raise InvalidArgumentError("Length for attr 'Toutput_types' of 0 must be at least minimum 1")
    return TensorsNode(element)
