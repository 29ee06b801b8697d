"""Stages of the plain engine that put elements together and take them apart."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from tfrkit.data.batch.batch import BatchNode
from tfrkit.data.batch.collate import collate
from tfrkit.data.batch.pad_plan import make_pad_plan
from tfrkit.data.batch.padded_batch import PaddedBatchNode
from tfrkit.data.batch.ragged_batch import RaggedBatchNode, stack_ragged
from tfrkit.data.batch.unbatch import RebatchNode, UnbatchNode
from tfrkit.data.elements.structure import flatten, map_structure, pack
from tfrkit.data.elements.structure_specs import spec_of
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import RaggedTensorSpec
from tfrkit.model.ragged import Ragged
from tfrkit.testing.plain_sources import row_of
from tfrkit.testing.plain_stage import Item, Row, Stage, begin, opened, runs


class PlainGrouping(Stage):
    """Consecutive elements put together. An error loses those that were waiting."""

    def __init__(self, node: Any) -> None:
        self.node = node
        self.input = begin(getattr(node, "unbatched", node.input))
        self.sizes = itertools.cycle(getattr(node, "sizes", None) or [node.size])
        self.size = next(self.sizes)
        self.ended = False

    def __next__(self) -> Item:
        items: list[Item] = []
        while len(items) < self.size and not self.ended:
            try:
                items.append(next(self.input))
            except StopIteration:
                self.ended = True
        if not items or (self.node.drop and len(items) < self.size):
            raise StopIteration
        made = Item(self.together([item.value for item in items]))
        self.size = next(self.sizes)
        return made

    def together(self, values: list[Any]) -> Any:
        """One value of several."""
        raise NotImplementedError


@runs(BatchNode, RebatchNode)
class PlainBatch(PlainGrouping):
    """Leaves stacked; rows of ragged columns become one again."""

    def together(self, values: list[Any]) -> Any:
        """Stack; ragged leaves apart from the others."""
        leaves = list(zip(*map(flatten, values), strict=True))
        ragged = [all(isinstance(leaf, Row) for leaf in column) for column in leaves]
        dense = [np.int64(0) if apart else None for apart in ragged]
        elements = [
            tuple(
                leaf if one is None else one for leaf, one in zip(flatten(opened(value)), dense, strict=True)
            )
            for value in values
        ]
        made = collate(elements)
        found = [
            ragged_column(column) if apart else one
            for column, apart, one in zip(leaves, ragged, made, strict=True)
        ]
        return pack(values[0], found)


def ragged_column(rows: Any) -> Any:
    """A Ragged of its rows, or an array that is filled up."""
    ragged = ragged_of([row.value for row in rows], rows[0].splits)
    return ragged.to_padded(rows[0].default) if rows[0].padded else ragged


def ragged_of(rows: list[Any], splits: str) -> Ragged:
    """A Ragged of its rows."""
    if not isinstance(rows[0], BytesColumn | Ragged) and rows[0].dtype == object:
        rows = [BytesColumn.from_list(row) for row in rows]
    if isinstance(rows[0], BytesColumn):
        values: Any = BytesColumn.concat(rows)
    elif isinstance(rows[0], Ragged):
        values = Ragged.concat(rows)
    else:
        values = np.concatenate(rows)
    return Ragged.from_lengths(values, np.array([len(row) for row in rows], splits))


@runs(PaddedBatchNode)
class PlainPaddedBatch(PlainGrouping):
    """Leaves stacked, after they were made equally large."""

    def together(self, values: list[Any]) -> Any:
        """Pad; if sizes are known only by running functions, any size may come."""
        elements = [opened(value) for value in values]
        plan = self.node.plan()
        if plan is None:
            spec = map_structure(without_sizes, spec_of(elements[0]))
            plan = make_pad_plan(spec, self.node.shapes, self.node.values)
        leaves = zip(*map(flatten, elements), strict=True)
        jobs = zip(leaves, plan.shapes, plan.values, strict=True)
        found = [
            padded(list(column), shape, fill, number) for number, (column, shape, fill) in enumerate(jobs)
        ]
        return pack(elements[0], found)


def without_sizes(spec: Any) -> Any:
    """The spec of a leaf that may have any sizes."""
    return spec.with_shape(tuple(None for _ in spec.shape)) if getattr(spec, "shape", None) else spec


def padded(values: list[Any], shape: Any, fill: Any, component: int) -> Any:
    """Copy every value into the corner of an array full of the padding."""
    if values[0] is None:
        return None
    if not shape:
        return collate([(value,) for value in values])[0]
    for value in values:
        if np.ndim(value) != len(shape):
            raise InvalidArgumentError(
                f"All elements in a batch must have the same rank as the padded shape for component{component}: "
                f"expected rank {len(shape)} but got element with rank {np.ndim(value)}"
            )
    arrays = [value.to_numpy() if isinstance(value, BytesColumn) else value for value in values]
    target = [
        max(array.shape[axis] for array in arrays) if size is None else size
        for axis, size in enumerate(shape)
    ]
    whole = np.full((len(arrays), *target), fill, arrays[0].dtype)
    for number, array in enumerate(arrays):
        if any(own > size for own, size in zip(array.shape, target, strict=True)):
            raise DataLossError("Attempted to pad to a smaller size than the input element.")
        whole[number][tuple(map(slice, array.shape))] = array
    return BytesColumn.from_list(whole) if whole.dtype == object else whole


@runs(RaggedBatchNode)
class PlainRaggedBatch(PlainGrouping):
    """Leaves with a size that is not known become Ragged; all of those that a user's function made."""

    def together(self, values: list[Any]) -> Any:
        """Stack each leaf in its way."""
        elements = [opened(value) for value in values]
        leaves = list(zip(*map(flatten, elements), strict=True))
        found = [
            stack_ragged(list(column), depth, self.node.splits)
            if depth
            else collate([(value,) for value in column])[0]
            for column, depth in zip(leaves, self.depths(elements[0]), strict=True)
        ]
        return pack(elements[0], found)

    def depths(self, element: Any) -> list[int]:
        """How many dimensions of a batch of each leaf are ragged."""
        if self.node.input.opaque:
            arrays = (np.ndarray, BytesColumn)
            return [leaf.ndim if isinstance(leaf, arrays) else 0 for leaf in flatten(element)]
        specs = flatten(self.node.row_spec())
        return [spec.ragged_rank + 1 if isinstance(spec, RaggedTensorSpec) else 0 for spec in specs]


@runs(UnbatchNode)
class PlainUnbatch(Stage):
    """Rows of every element."""

    def __init__(self, node: UnbatchNode) -> None:
        self.input = begin(node.input)
        self.value: Any = None
        self.count = self.number = 0

    def __next__(self) -> Item:
        while self.number == self.count:
            self.number = self.count = 0
            value = next(self.input).value
            self.count = rows_in(opened(value))
            self.value = value
        number = self.number
        self.number += 1
        return Item(map_structure(lambda column: row_of(column, number), opened(self.value)))


def rows_in(value: Any) -> int:
    """How many rows all columns of an element have."""
    columns = flatten(value)
    for column in columns:
        if isinstance(column, bytes) or not column.shape:
            raise InvalidArgumentError("Input element must have a non-scalar value in each component.")
    for number, column in enumerate(columns):
        if len(column) != len(columns[0]):
            raise InvalidArgumentError(
                "Input element must have the same batch size in each component. Component 0 had size "
                f"{len(columns[0])} but component {number} had size, {len(column)}."
            )
    return len(columns[0])
