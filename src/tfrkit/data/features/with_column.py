"""with_column: one more feature, made by a function of each element."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk
from tfrkit.data.elements.columns import Column, RowList
from tfrkit.data.elements.element_values import to_value
from tfrkit.data.elements.owned import copies_for
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkNode
from tfrkit.data.engine.function_spec import function_spec
from tfrkit.data.engine.node import Context
from tfrkit.data.features.column_ops import require_features
from tfrkit.model.bytes_column import BytesColumn

__all__ = ["WithColumnNode"]


@dataclass(frozen=True, eq=False)
class WithColumnNode(ChunkNode):
    """The function's result under a name in every element; a feature of that name is replaced."""

    name: str
    function: Callable[..., Any]

    verb = "with_column"
    opaque = True
    pure = False
    chunkwise = False
    ahead = True
    calls_function = True

    def chunk_function(self, context: Context) -> ChunkFunction:
        return self._with_column

    def _with_column(self, chunk: Chunk) -> tuple[Chunk, Exception | None]:
        elements, made = chunk.objects(), []
        error: Exception | None = None
        try:
            for element in elements:
                require_features(f"with_column({self.name!r})", element)
                made.append(to_value(self.function(*copies_for(self.function, [element]))))
        except Exception as failure:
            error = failure
        if isinstance(chunk, ColumnChunk):
            good = chunk.slice(0, len(made))
            return ColumnChunk({**good.columns, self.name: column_of(made)}, len(made), good.origin), error
        pairs = zip(elements, made, strict=False)
        return ObjectChunk.made_of(chunk, [{**element, self.name: value} for element, value in pairs]), error

    def element_spec(self) -> Any:
        """As the input's, and what the function gives."""
        return {**self.input.element_spec(), self.name: function_spec(self, self.function)}


def column_of(values: list[Any]) -> Column:
    """Make a column of values: an array of numpy scalars, a BytesColumn of bytes, else the values one by one.

    >>> column_of([np.int32(1), np.int32(2)]), column_of([b"x"])
    (array([1, 2], dtype=int32), BytesColumn(shape=(1,), [b'x']))
    """
    kinds = set(map(type, values))
    if len(kinds) == 1:
        (kind,) = kinds
        if issubclass(kind, np.generic):
            return np.array(values, values[0].dtype)
        if kind is bytes:
            return BytesColumn.from_list(values)
    return RowList(values)
