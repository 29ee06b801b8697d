"""unbatch and rebatch: rows of every element, one by one, or put together in batches of other sizes.

The values of an element are columns as they are, so its rows are given as one chunk; raw records go back to being
references to their blocks.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.arguments import integer
from tfrkit.data.batch.batch import PlainBatchIterator
from tfrkit.data.batch.batch_iterators import BatchMaker
from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, RecordChunk
from tfrkit.data.elements.columns import RowList, strings_in
from tfrkit.data.elements.structure import flatten, map_structure
from tfrkit.data.elements.structure_specs import batched, unbatched
from tfrkit.data.engine.cursor import Cursor, CursorIterator
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
from tfrkit.model.element_spec import NoneTensorSpec
from tfrkit.model.record_column import RecordColumn
from tfrkit.model.shapes import Dims

__all__ = ["RebatchNode", "UnbatchNode", "check_unbatch", "make_rebatch_node"]


@dataclass(frozen=True, eq=False)
class UnbatchNode(UnaryNode):
    """Rows of the input's elements."""

    verb = "unbatch"
    unindexable = "Leave batch() and unbatch() out, or make each element a record of its own."
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


class _UnbatchIterator(CursorIterator):
    def __init__(self, node: Node, context: Context, state: Any) -> None:
        super().__init__(Cursor(node, context, None if state is None else state["at"]))
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
        run = Run(self._rows.slice(self._done, stop))
        self._done = stop  # last: an interruption before it leaves all as it was
        return run

    def _fetch(self) -> Run | None:
        """Take the next element; a run without it if there is an error."""
        self._at = self._cursor.save()
        run = self._cursor.take_one()
        if run is None or run.error is not None:
            return run
        try:
            rows = _rows_of(run.chunk.objects()[0])
            found = Run(rows)
        except InvalidArgumentError as error:
            return Run(ObjectChunk([]), error)
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self._cursor.undo((run,))
            raise
        self._rows, self._done = rows, 0
        return found

    def save(self) -> Any:
        """Where the element at hand stands, and how many of its rows were given."""
        if self._rows is None or self._done >= len(self._rows):
            return {"at": self._cursor.save(), "row": 0}
        return {"at": self._at, "row": self._done}

    def close(self) -> None:
        self._rows = None
        super().close()


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

    def as_column(value: Any) -> Any:
        return RowList([None] * count) if value is None else strings_in(value)

    return ColumnChunk(map_structure(as_column, element), count)


@dataclass(frozen=True, eq=False)
class RebatchNode(UnaryNode):
    """Rows of the input in batches of these sizes, again and again."""

    sizes: tuple[int, ...]
    drop: bool

    verb = "rebatch"
    unindexable = "Use one batch() of the size that is wanted at the end."
    keeps_count = False
    counts = True

    @property
    def unbatched(self) -> Node:
        """The rows of the input."""
        return UnbatchNode(self.input)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _RebatchIterator(self, context, state)

    def element_spec(self) -> Any:
        """The number of rows is known if there is only one size and no remainder."""
        size = self.sizes[0] if self.drop and len(set(self.sizes)) == 1 else None
        return batched(unbatched(self.input.element_spec()), size)

    def _shown(self) -> str:
        return str(self.sizes[0] if len(self.sizes) == 1 else list(self.sizes))


class _RebatchIterator(PlainBatchIterator):
    def __init__(self, node: RebatchNode, context: Context, state: Any) -> None:
        rows = Cursor(node.unbatched, context, None if state is None else state["rows"])
        self._sizes = node.sizes
        self._turn = 0 if state is None else state["turn"]  # the size of the next batch
        maker = BatchMaker(node.sizes[self._turn], node.drop, lambda chunk: chunk.batch())
        super().__init__(maker, rows)

    def pull(self, n: int) -> Run | None:
        """Return batches of the size whose turn it is; an error in place of a batch leaves it that size's turn."""
        run = super().pull(n if len(self._sizes) == 1 else 1)
        if run is not None and len(run.chunk):
            self._turn = (self._turn + 1) % len(self._sizes)
            self._maker.count = self._sizes[self._turn]
        return run

    def save(self) -> Any:
        """Where the rows stand, and whose turn it is."""
        return {"rows": super().save(), "turn": self._turn}


def make_rebatch_node(node: Node, batch_size: Any, drop: bool) -> Node:
    """Check the arguments.

    Raises:
        ValueError: elements have no rows, or there is no size or one below 1.
    """
    given = np.atleast_1d(np.asarray(getattr(batch_size, "numpy", lambda: batch_size)()))
    sizes = tuple(integer(size, "batch_size") for size in given.tolist())
    if not sizes or min(sizes) < 1:
        raise ValueError(f"expected sizes of at least 1 for rebatch but got {list(sizes)}")
    if not node.opaque and any(leaf.shape == () for leaf in flatten(node.element_spec())):
        raise ValueError(
            "Invalid `batch_sizes`. Expected dataset with rank of >= 1 but found a dataset with scalar elements. "
            "Fix the issue by adding the `batch` transformation to the dataset."
        )
    return RebatchNode(node, sizes, drop)
