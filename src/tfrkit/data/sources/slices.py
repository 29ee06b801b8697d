"""from_tensor_slices and from_tensors: elements that are in memory."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import ColumnChunk, ObjectChunk
from tfrkit.data.elements.columns import RowList
from tfrkit.data.elements.element_values import to_tensors
from tfrkit.data.elements.owned import freeze, freeze_elements
from tfrkit.data.elements.structure import flatten, map_structure
from tfrkit.data.elements.structure_specs import spec_of, spec_of_columns
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.sparse import Sparse

__all__ = [
    "ElementsNode",
    "RowsIterator",
    "SlicesNode",
    "TensorsNode",
    "make_slices_node",
    "make_tensors_node",
]


@dataclass(frozen=True, eq=False)
class SlicesNode(Node):
    """Rows of a structure of columns; its position is the number of rows given."""

    columns: Any
    count: int = field(metadata={"unsigned": True})
    spec: Any = field(metadata={"unsigned": True})

    verb = "from_tensor_slices"

    @property
    def file_names(self) -> tuple[str, ...] | None:
        if not isinstance(self.columns, BytesColumn) or self.columns.ndim != 1:
            return None
        return tuple(os.fsdecode(name) for name in self.columns.to_list())

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return RowsIterator(ColumnChunk(self.columns, self.count), 0 if state is None else state)

    def element_spec(self) -> Any:
        return self.spec

    def cardinality(self) -> int:
        return self.count

    def _shown(self) -> str:
        return f"{self.count} rows"


@dataclass(frozen=True, eq=False)
class TensorsNode(Node):
    """A single element."""

    element: Any

    verb = "from_tensors"

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return RowsIterator(ObjectChunk([self.element]), 0 if state is None else state)

    def element_spec(self) -> Any:
        return spec_of(self.element)

    def cardinality(self) -> int:
        return 1

    @property
    def label(self) -> str:
        return self.verb


@dataclass(frozen=True, eq=False)
class ElementsNode(Node):
    """Elements that a stage has kept, such as those of a window; `guessed`: others may have other sizes."""

    elements: tuple[Any, ...]
    spec: Any
    guessed: bool = False

    verb = "elements"

    def _shown(self) -> str:
        return str(len(self.elements))

    @property
    def opaque(self) -> bool:
        """If a user's function made them, their spec is what it gave elsewhere."""
        return self.guessed

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return RowsIterator(ObjectChunk(freeze_elements(list(self.elements))), 0 if state is None else state)

    def element_spec(self) -> Any:
        return self.spec

    def cardinality(self) -> int:
        return len(self.elements)


class RowsIterator(NodeIterator):
    """The elements of one chunk."""

    def __init__(self, chunk: ColumnChunk | ObjectChunk, done: int) -> None:
        self._chunk = chunk
        self._done = done

    def pull(self, n: int) -> Run | None:
        start = self._done
        stop = min(start + n, len(self._chunk))
        if start >= stop:
            return None
        self._done = stop
        return Run(self._chunk.slice(start, stop))

    def save(self) -> int:
        return self._done


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
