"""filter: the elements for which a function is true."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.elements.element_values import to_element
from tfrkit.data.elements.owned import copies_for
from tfrkit.data.elements.structure import map_structure
from tfrkit.data.engine.cursor import Cursor, CursorIterator
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Context, NodeIterator, Run, UnaryNode
from tfrkit.model.element_spec import spec_of_value

__all__ = ["FilterNode", "accepts"]


@dataclass(frozen=True, eq=False)
class FilterNode(UnaryNode):
    """Keep what the predicate accepts."""

    predicate: Callable[..., Any]

    verb = "filter"
    pure = False
    selects = True
    calls_function = True

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _FilterIterator(self, Cursor(self.input, context, state))

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def advice(self, each: float, *, waits: bool) -> str:
        return "filter before what makes the elements large, or in the file's index"


class _FilterIterator(CursorIterator):
    def __init__(self, node: FilterNode, cursor: Cursor) -> None:
        self._predicate = node.predicate
        self._cursor = cursor

    def pull(self, n: int) -> Run | None:
        """Pull n and ask the predicate for each, until one is accepted."""
        while True:
            run = self._cursor.take(n)
            if run is None:
                return None
            kept: list[int] = []
            for row, element in enumerate(run.chunk.objects()):
                try:
                    if accepts(self._predicate, element):
                        kept.append(row)
                except Exception as error:
                    self._cursor.unread(run, row + 1)
                    return Run(run.chunk.take(np.array(kept, np.int64)), error)
                except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
                    self._cursor.unread(run, 0)
                    raise
            if len(kept) == len(run.chunk):
                return Run(run.chunk, run.error)
            if kept or run.error is not None:
                return Run(run.chunk.take(np.array(kept, np.int64)), run.error)


def accepts(predicate: Callable[..., Any], element: Any) -> bool:
    """Ask a predicate about a copy of an element; the parts of a tuple are its arguments.

    Raises:
        ValueError: its answer is neither true nor false.
    """
    (element,) = copies_for(predicate, [element])
    answer = predicate(*element) if isinstance(element, tuple) else predicate(element)
    if isinstance(answer, (bool, np.bool_)):
        return bool(answer)
    if isinstance(answer, np.ndarray) and answer.dtype == bool and answer.ndim == 0:
        return bool(answer)
    raise ValueError(
        "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
        f"{map_structure(spec_of_value, to_element(answer))}."
    )
