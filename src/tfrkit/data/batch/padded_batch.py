"""padded_batch: consecutive elements put together, padded to equal shapes.

What is padded to which shape and with what is a PadPlan, made when the stage is described; if a user's function stands
before it, nothing is known yet, and the plan is made for each batch by its first element. Rows of one dimension, the
common case, go through a native kernel, as a Ragged; a memcpy for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tfrkit.data.batch.batch import BatchingNode
from tfrkit.data.batch.collate import collate
from tfrkit.data.batch.pad_plan import PadPlan, make_pad_plan
from tfrkit.data.elements.chunk import Chunk, ColumnChunk, RecordChunk
from tfrkit.data.elements.columns import Column, Padded, rows, strings_in
from tfrkit.data.elements.structure import flatten, pack
from tfrkit.data.elements.structure_specs import spec_of, without_sizes
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import TensorSpec
from tfrkit.model.ragged import Ragged
from tfrkit.model.row_selection import splits_of
from tfrkit.model.shapes import Dims

__all__ = ["PaddedBatchNode", "pad_column", "pad_values"]

_TOO_SMALL: Final = "Attempted to pad to a smaller size than the input element."


@dataclass(frozen=True, eq=False)
class PaddedBatchNode(BatchingNode):
    """Padded batches; shapes and values as the user gave them, or None."""

    shapes: Any
    values: Any

    verb = "padded_batch"

    def __post_init__(self) -> None:
        """Refuse shapes and values that do not fit the elements, as far as they are known."""
        self.plan()

    def make_function(self) -> Callable[[Chunk], Any]:
        known = self.plan()

        def make(chunk: Chunk) -> Any:
            """Pad columns as they are, and objects leaf by leaf."""
            pad: Callable[..., Any] = pad_column
            if isinstance(chunk, (RecordChunk, ColumnChunk)):
                structure = chunk.columns
                leaves = flatten(structure)
            else:
                structure, pad = chunk.objects()[0], pad_values
                leaves = list(zip(*map(flatten, chunk.objects()), strict=True))
            plan = known
            if plan is None:  # by the first element
                spec = without_sizes(spec_of(chunk.slice(0, 1).objects()[0]))
                plan = make_pad_plan(spec, self.shapes, self.values)
            jobs = enumerate(zip(leaves, plan.shapes, plan.values, strict=True))
            return pack(structure, [pad(leaf, shape, value, i) for i, (leaf, shape, value) in jobs])

        return make

    def plan(self) -> PadPlan | None:
        """What to pad, None if it is not known without running functions."""
        if self.input.opaque:
            return None
        return make_pad_plan(self.input.element_spec(), self.shapes, self.values)

    def element_spec(self) -> Any:
        """The padded shapes with one dimension more."""
        spec = self.input.element_spec()
        plan = make_pad_plan(spec, self.shapes, self.values)
        leaves = zip(flatten(spec), plan.shapes, strict=True)
        return pack(spec, [TensorSpec((self.rows, *shape), leaf.dtype) for leaf, shape in leaves])


def pad_column(column: Column, shape: Dims, fill: Any, component: int) -> Any:
    """Pad the rows of a column.

    Args:
        column: rows of which are arrays.
        shape: sizes of a row after padding, None for the largest.
        fill: what to pad with.
        component: number of the column, for messages.

    Raises:
        DataLossError: a row is larger than the shape.
        InvalidArgumentError: a row has another number of dimensions.

    >>> pad_column(Ragged.from_list([[1, 2], [3]]), (None,), 0, 0).tolist()
    [[1, 2], [3, 0]]
    """
    if isinstance(column, Padded):
        column = column.ragged
    if isinstance(column, (np.ndarray, BytesColumn)):
        inner = column.shape[1:]
        _check_rank(len(inner), shape, component)
        if all(size is None or size == own for size, own in zip(shape, inner, strict=True)):
            return column
    elif isinstance(column, Ragged) and column.ragged_rank == 1:
        return _pad_ragged(column, shape, fill, component)
    return pad_values(rows(column), shape, fill, component)


def pad_values(values: Sequence[Any], shape: Dims, fill: Any, component: int) -> Any:
    """Pad values (numpy scalars, bytes, arrays or BytesColumns, all of one type) as `pad_column` does, and stack them.

    Raises:
        DataLossError: a value is larger than the shape.
        InvalidArgumentError: a value has another number of dimensions or another type.

    >>> pad_values([np.ones((1, 2)), np.ones((2, 1))], (None, None), -1.0, 0).tolist()
    [[[1.0, 1.0], [-1.0, -1.0]], [[1.0, -1.0], [1.0, -1.0]]]
    """
    values = [strings_in(value) for value in values]
    shapes = [() if isinstance(value, bytes) else value.shape for value in values]
    for each in shapes:
        _check_rank(len(each), shape, component)
    if not shape:
        return collate([(value,) for value in values])[0]
    _check_types(values, component)
    if len(shape) == 1:
        lengths = np.array([len(value) for value in values], np.int64)
        joined = BytesColumn.concat(values) if isinstance(values[0], BytesColumn) else np.concatenate(values)
        return _pad_ragged(Ragged.unchecked(joined, splits_of(lengths)), shape, fill, component)
    return _pad_any(values, shapes, shape, fill)


def _pad_ragged(ragged: Ragged, shape: Dims, fill: Any, component: int) -> Any:
    """One native call, unless the inner dimensions are to be padded too."""
    inner = ragged.values.shape[1:]
    _check_rank(1 + len(inner), shape, component)
    length = shape[0]
    if length is not None and length < ragged.row_lengths().max(initial=0):
        raise DataLossError(_TOO_SMALL)
    if any(size is not None and size != own for size, own in zip(shape[1:], inner, strict=True)):
        found = list(ragged)
        return _pad_any(found, [row.shape for row in found], shape, fill)
    return ragged.to_padded(fill, length)


def _pad_any(values: Sequence[Any], shapes: list[tuple[int, ...]], shape: Dims, fill: Any) -> Any:
    largest = np.max(np.array(shapes, np.int64), axis=0).tolist()
    target = [own if size is None else size for size, own in zip(shape, largest, strict=True)]
    if any(size < own for size, own in zip(target, largest, strict=True)):
        raise DataLossError(_TOO_SMALL)
    strings = isinstance(values[0], BytesColumn)
    padded = np.empty((len(values), *target), object if strings else values[0].dtype)
    padded[...] = fill
    for number, value in enumerate(values):
        place = tuple(slice(size) for size in value.shape)
        padded[number][place] = value.to_numpy() if strings else value
    return BytesColumn.from_list(padded) if strings else padded


def _check_rank(rank: int, shape: Dims, component: int) -> None:
    if rank != len(shape):
        raise InvalidArgumentError(
            f"All elements in a batch must have the same rank as the padded shape for component{component}: "
            f"expected rank {len(shape)} but got element with rank {rank}"
        )


def _check_types(values: Sequence[Any], component: int) -> None:
    first = values[0].dtype
    for number, value in enumerate(values):
        if value.dtype != first:
            raise InvalidArgumentError(
                f"Cannot batch tensors with different types in component {component}. First element had type {first} "
                f"and element {number} had type {value.dtype}."
            )
