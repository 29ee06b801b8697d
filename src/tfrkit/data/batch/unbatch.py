"""unbatch: rows of every element, one by one.

The values of an element are columns as they are, so its rows are given as one chunk; raw records go back to being
references to their blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, RecordChunk
from tfrkit.data.elements.columns import RowList
from tfrkit.data.elements.structure import flatten, map_structure
from tfrkit.data.elements.structure_specs import unbatched
from tfrkit.data.engine.cursor import Cursor
from tfrkit.data.engine.node import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Context,
    Node,
    NodeIterator,
    Run,
    UnaryNode,
)
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import NoneTensorSpec
from tfrkit.model.record_column import RecordColumn
from tfrkit.model.shapes import Dims

__all__ = ["UnbatchNode", "check_unbatch"]


@dataclass(frozen=True, eq=False)
class UnbatchNode(UnaryNode):
    """Rows of the input's elements."""

    verb = "unbatch"
    counts = True

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _UnbatchIterator(self.input, context, state)

    def element_spec(self) -> Any:
        return unbatched(self.input.element_spec())

    def cardinality(self) -> int:
        """Known if the number of rows is the same for all elements."""
        count = self.input.cardinality()
        if count == INFINITE_CARDINALITY:
            return INFINITE_CARDINALITY
        if count == UNKNOWN_CARDINALITY or self.input.opaque:
            return UNKNOWN_CARDINALITY
        known = [shape[0] for shape in _shapes(self.input) if shape and shape[0]]
        return count * known[0] if known and known[0] else UNKNOWN_CARDINALITY


def check_unbatch(node: Node) -> None:
    """Refuse what is known to have no rows, or different numbers of them.

    Raises:
        ValueError: with TensorFlow's text.
    """
    if node.opaque:
        return
    size: int | None = None
    for shape in _shapes(node):
        if shape == ():
            raise ValueError("Cannot unbatch an input with scalar components.")
        rows = shape[0] if shape else None
        if rows is not None and size is not None and rows != size:
            raise ValueError(
                "`unbatch()` is only supported for datasets of elements whose components have a matching leading "
                f"dimension. Encountered both {size} and {rows}."
            )
        size = rows if size is None else size


def _shapes(node: Node) -> list[Dims | None]:
    """Those of the values of elements; None has none."""
    return [leaf.shape for leaf in flatten(node.element_spec()) if not isinstance(leaf, NoneTensorSpec)]


class _UnbatchIterator(NodeIterator):
    def __init__(self, node: Node, context: Context, state: Any) -> None:
        self._cursor = Cursor(node, context, None if state is None else state["at"])
        self._at: Any = None  # state of the cursor before the element at hand
        self._rows: Chunk | None = None  # of the element at hand
        self._done = 0  # of them
        if state is not None and state["row"]:
            run = self._fetch()
            if run is not None and run.error is not None:
                raise run.error  # where there was none before
            self._done = state["row"]

    def pull(self, n: int) -> Run | None:
        while self._rows is None or self._done >= len(self._rows):
            self._rows = None
            run = self._fetch()
            if run is None:
                return None
            if run.error is not None:
                return run
        stop = min(self._done + n, len(self._rows))
        chunk = self._rows.slice(self._done, stop)
        self._done = stop
        return Run(chunk)

    def _fetch(self) -> Run | None:
        """Take the next element; a run without it if there is an error."""
        self._at = self._cursor.save()
        run = self._cursor.take(1)
        if run is None or not len(run.chunk):
            return run
        if run.error is not None:
            self._cursor.put_back(run, 1)
        try:
            self._rows = _rows_of(run.chunk.objects()[0])
        except InvalidArgumentError as error:
            return Run(ObjectChunk([]), error)
        self._done = 0
        return Run(self._rows)

    def save(self) -> Any:
        """Where the element at hand stands, and how many of its rows were given."""
        if self._rows is None or self._done >= len(self._rows):
            return {"at": self._cursor.save(), "row": 0}
        return {"at": self._at, "row": self._done}

    def close(self) -> None:
        self._rows = None
        self._cursor.close()


def _rows_of(element: Any) -> Chunk:
    """The rows of an element.

    Raises:
        InvalidArgumentError: it has none, or its parts have different numbers of them.
    """
    if isinstance(element, RecordColumn):
        return RecordChunk(element.records.blocks, element.records.which, element.records.rows)
    sizes = []
    for value in flatten(element):
        if value is not None:
            if isinstance(value, bytes) or not value.shape:
                raise InvalidArgumentError("Input element must have a non-scalar value in each component.")
            sizes.append(len(value))
    for number, size in enumerate(sizes):
        if size != sizes[0]:
            raise InvalidArgumentError(
                "Input element must have the same batch size in each component. "
                f"Component 0 had size {sizes[0]} but component {number} had size, {size}."
            )
    count = sizes[0] if sizes else 0
    return ColumnChunk(map_structure(lambda value: _as_column(value, count), element), count)


def _as_column(value: Any, count: int) -> Any:
    if value is None:
        return RowList([None] * count)
    if isinstance(value, np.ndarray) and value.dtype == object:  # strings, as rows of a BytesColumn are
        return BytesColumn.from_list(value)
    return value
