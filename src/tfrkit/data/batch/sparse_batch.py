"""sparse_batch: consecutive arrays put together as a Sparse."""

from __future__ import annotations

import functools
import itertools
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.batch.batch import batch_count
from tfrkit.data.engine.node import UnaryNode
from tfrkit.data.engine.steps import Open, Save, Step, StepInput, StepsNode
from tfrkit.errors import DataLossError, InvalidArgumentError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.element_spec import SparseTensorSpec
from tfrkit.model.shapes import show_dims
from tfrkit.model.sparse import Sparse

__all__ = ["SparseBatchNode"]


@dataclass(frozen=True, eq=False)
class SparseBatchNode(StepsNode, UnaryNode):
    """Batches of `size`; rows have the shape `row`, in which None is the longest of a batch."""

    size: int
    row: tuple[int | None, ...]

    verb = "sparse_batch"

    def steps(self, begin: Open, state: Any) -> tuple[Step, Save]:
        elements = begin(self.input, state)
        return functools.partial(self._batch, elements), elements.save

    def element_spec(self) -> Any:
        return SparseTensorSpec((None, *self.row), self.input.element_spec().dtype)

    def cardinality(self) -> int:
        return batch_count(self.input.cardinality(), self.size, False)

    def _shown(self) -> str:
        return f"{self.size}, {list(self.row)}"

    def _batch(self, elements: StepInput) -> Any:
        rows = [self._checked(value) for value in itertools.islice(elements, self.size)]
        if not rows:
            raise StopIteration
        sizes = [
            max(row.shape[axis] for row in rows) if size is None else size
            for axis, size in enumerate(self.row)
        ]
        places = [np.indices(row.shape).reshape(row.ndim, row.size) for row in rows]
        numbers = [np.full((1, place.shape[1]), number) for number, place in enumerate(places)]
        indices = np.concatenate(
            [np.concatenate(pair) for pair in zip(numbers, places, strict=True)], axis=1
        ).T
        values = np.concatenate([row.ravel() for row in rows])
        column = BytesColumn.from_list(values) if values.dtype == object else values
        return Sparse(indices.astype(np.int64), column, np.array([len(rows), *sizes], np.int64))

    def _checked(self, value: Any) -> Any:
        array = value.to_numpy() if isinstance(value, BytesColumn) else np.asarray(value)
        row = self.row
        if array.ndim != len(row):
            raise InvalidArgumentError(
                f"Input element had shape ({show_dims(array.shape)}) that is incompatible with the row shape "
                f"({show_dims(row)})."
            )
        if any(size is not None and have > size for have, size in zip(array.shape, row, strict=True)):
            raise DataLossError(
                f"Input element had shape ({show_dims(array.shape)}) that is larger than the row shape "
                f"({show_dims(row)})."
            )
        return array
