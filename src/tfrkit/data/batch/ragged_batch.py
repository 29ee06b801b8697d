"""ragged_batch: consecutive elements put together, Ragged where lengths differ.

Which values become Ragged is known beforehand, as in TensorFlow: those with a size that is not known. Of arrays that a
user's function made no size is known, hence all their dimensions are ragged.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.batch.batch import BatchingNode
from tfrkit.data.batch.collate import collate
from tfrkit.data.elements.chunk import Chunk, ColumnChunk
from tfrkit.data.elements.columns import Padded, RowList, strings_in
from tfrkit.data.elements.structure import flatten, map_structure, pack
from tfrkit.data.elements.structure_specs import batched
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import ElementSpec, RaggedTensorSpec, TensorSpec
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of

__all__ = ["RaggedBatchNode", "stack_ragged"]


@dataclass(frozen=True, eq=False)
class RaggedBatchNode(BatchingNode):
    """Ragged batches, with row splits of type `splits`."""

    splits: np.dtype[Any]

    verb = "ragged_batch"

    def make_function(self) -> Callable[[Chunk], Any]:
        return functools.partial(_make, self.splits, None if self.input.opaque else self.row_spec())

    def row_spec(self) -> Any:
        """That of the elements, as rows of a Ragged where a size is not known."""
        opaque = self.input.opaque
        return map_structure(lambda leaf: _row_spec(leaf, self.splits, opaque), self.input.element_spec())

    def element_spec(self) -> Any:
        return batched(self.row_spec(), self.rows)


def _row_spec(spec: ElementSpec, splits: np.dtype[Any], opaque: bool) -> ElementSpec:
    if not isinstance(spec, TensorSpec) or not spec.shape:
        return spec
    shape = tuple(None for _ in spec.shape) if opaque else spec.shape
    unknown = [axis for axis, size in enumerate(shape) if size is None]
    return RaggedTensorSpec(shape, spec.dtype, max(unknown), splits) if unknown else spec


def _make(splits: np.dtype[Any], spec: Any, chunk: Chunk) -> Any:
    """Make Ragged of columns that are so already, and of the rest as the spec says."""
    if isinstance(chunk, ColumnChunk):
        columns = flatten(chunk.columns)
        marked = [
            column
            for column, depth in zip(columns, _depths(spec, chunk.columns, 1), strict=True)
            if depth > 0 or isinstance(column, (Ragged, Padded))
        ]
        if not marked:
            return chunk.batch()
        if not any(isinstance(column, np.ndarray | BytesColumn | RowList) for column in marked):
            plain = [column.ragged if isinstance(column, Padded) else column for column in columns]
            return pack(chunk.columns, [_cast_splits(column, splits) for column in plain])
    elements = chunk.objects()
    depths = _depths(spec, elements[0])
    rows = list(zip(*map(flatten, elements), strict=True))
    leaves = [
        stack_ragged(list(values), depth, splits) if depth else None
        for values, depth in zip(rows, depths, strict=True)
    ]
    if not all(depths):
        kept = [index for index, depth in enumerate(depths) if not depth]
        rest = collate([tuple(flatten(element)[index] for index in kept) for element in elements])
        for index, column in zip(kept, rest, strict=True):
            leaves[index] = column
    return pack(elements[0], leaves)


def _depths(spec: Any, structure: Any, dims: int = 0) -> list[int]:
    """How many dimensions of a batch of each leaf are ragged; of its `dims` first dimensions nothing is asked."""
    if spec is not None:
        leaves = flatten(spec)
        return [leaf.ragged_rank + 1 if isinstance(leaf, RaggedTensorSpec) else 0 for leaf in leaves]
    return [
        len(leaf.shape) - dims if isinstance(leaf, (np.ndarray, BytesColumn)) else 0
        for leaf in flatten(structure)
    ]


def _cast_splits(ragged: Any, dtype: np.dtype[Any]) -> Any:
    """A Ragged with splits of another type; of others nothing is changed."""
    if not isinstance(ragged, Ragged):
        return ragged
    return Ragged.unchecked(_cast_splits(ragged.values, dtype), ragged.row_splits.astype(dtype, copy=False))


def stack_ragged(values: Sequence[Any], depth: int, dtype: np.dtype[Any]) -> Ragged:
    """Make a Ragged of arrays (or BytesColumns), one a row, that has `depth` ragged dimensions.

    >>> stack_ragged([np.ones((1, 2)), np.ones((2, 3))], 2, np.dtype("int64")).to_list()
    [[[1.0, 1.0]], [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]
    """
    values = [strings_in(value) for value in values]
    splits = splits_of(np.array([len(value) for value in values], np.int64), dtype)
    if isinstance(values[0], Ragged):
        return Ragged.unchecked(_cast_splits(Ragged.concat(values), dtype), splits)
    if depth > 1:
        inner: list[Any] = [row for value in values for row in value]
        if inner:
            return Ragged.unchecked(stack_ragged(inner, depth - 1, dtype), splits)
        empty = values[0].reshape(0, *values[0].shape[2:]) if values[0].ndim > 1 else values[0]
        return Ragged.unchecked(_no_rows(empty, depth - 1, dtype), splits)
    if isinstance(values[0], BytesColumn):
        return Ragged.unchecked(BytesColumn.concat(values), splits)
    return Ragged.unchecked(np.concatenate(values), splits)


def _no_rows(values: Any, depth: int, dtype: np.dtype[Any]) -> Ragged:
    inner = _no_rows(values, depth - 1, dtype) if depth > 1 else values
    return Ragged.unchecked(inner, np.zeros(1, dtype))
