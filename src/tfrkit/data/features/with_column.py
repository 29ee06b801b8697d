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
from tfrkit.data.engine.cursor import Cursor, CursorIterator
from tfrkit.data.engine.function_spec import function_spec
from tfrkit.data.engine.node import Context, NodeIterator, Run, UnaryNode
from tfrkit.data.features.column_ops import require_features
from tfrkit.model.bytes_column import BytesColumn

__all__ = ["WithColumnNode"]


@dataclass(frozen=True, eq=False)
class WithColumnNode(UnaryNode):
    """The function's result under a name in every element; a feature of that name is replaced."""

    name: str
    function: Callable[..., Any]

    verb = "with_column"
    opaque = True
    pure = False
    calls_function = True

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _WithColumnIterator(self.name, self.function, Cursor(self.input, context, state))

    def element_spec(self) -> Any:
        """As the input's, and what the function gives."""
        return {**self.input.element_spec(), self.name: function_spec(self, self.function)}


class _WithColumnIterator(CursorIterator):
    def __init__(self, name: str, function: Callable[..., Any], cursor: Cursor) -> None:
        self._name = name
        self._function = function
        super().__init__(cursor)

    def pull(self, n: int) -> Run | None:
        """Pull a run and call the function for each element up to the first for which it fails."""
        run = self._cursor.take(n, self._cursor.ahead(n))
        if run is None or not len(run.chunk):
            return run
        elements, made = run.chunk.objects(), []
        for element in elements:
            try:
                made.append(self._value(element))
            except Exception as error:
                self._cursor.put_back(run, len(made) + 1)
                return Run(self._add(run.chunk.slice(0, len(made)), elements, made), error)
            except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
                self._cursor.put_back(run, 0)
                raise
        return Run(self._add(run.chunk, elements, made), run.error)

    def _value(self, element: Any) -> Any:
        require_features(f"with_column({self._name!r})", element)
        return to_value(self._function(*copies_for(self._function, [element])))

    def _add(self, chunk: Chunk, elements: list[Any], made: list[Any]) -> Chunk:
        if isinstance(chunk, ColumnChunk):
            return ColumnChunk({**chunk.columns, self._name: column_of(made)}, len(chunk), chunk.origin)
        pairs = zip(elements, made, strict=False)
        return ObjectChunk.made_of(chunk, [{**element, self._name: value} for element, value in pairs])


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
