"""assert_cardinality: a promise about the number of elements, checked while they pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.engine.cursor import Cursor, CursorIterator
from tfrkit.data.engine.node import INFINITE_CARDINALITY, Context, NodeIterator, Run, UnaryNode
from tfrkit.errors import FailedPreconditionError

__all__ = ["AssertCardinalityNode"]


@dataclass(frozen=True, eq=False)
class AssertCardinalityNode(UnaryNode):
    """The input, which must have `count` elements; INFINITE_CARDINALITY if it must not end."""

    count: int

    verb = "assert_cardinality"
    unindexable = "Leave assert_cardinality() out: len() tells."
    selects = True

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        at, seen = (None, 0) if state is None else (state["at"], state["seen"])
        return _AssertCardinalityIterator(self, Cursor(self.input, context, at), seen)

    def cardinality(self) -> int:
        return self.count

    def error(self, how: str, seen: int) -> Exception:
        """Return what is raised when `seen` elements were "only" all, or "at least" those before more."""
        return FailedPreconditionError(
            f"Input dataset was expected to contain {_elements(self.count)} but contained {how} {_elements(seen)}."
        )


class _AssertCardinalityIterator(CursorIterator):
    def __init__(self, node: AssertCardinalityNode, cursor: Cursor, seen: int) -> None:
        super().__init__(cursor)
        self._node = node
        self._count = node.count
        self._seen = seen
        self._short: Exception | None = None  # there are too few, and every further call says so

    def pull(self, n: int) -> Run | None:
        """Pull what was promised, then see whether there is more."""
        left = n if self._count == INFINITE_CARDINALITY else self._count - self._seen
        run = None if self._short is not None else self._cursor.take(max(1, min(n, left)))
        if run is None:
            if self._seen == self._count:
                return None
            self._short = self._short or self._node.error("only", self._seen)
            return Run(ObjectChunk([]), self._short)
        self._seen += len(run.chunk)
        if left <= 0 and len(run.chunk):
            self._cursor.put_back(run, len(run.chunk))  # an error after them comes next
            return Run(run.chunk.slice(0, 0), self._node.error("at least", self._seen))
        return run

    def save(self) -> Any:
        return {"at": self._cursor.save(), "seen": self._seen}


def _elements(count: int) -> str:
    if count == INFINITE_CARDINALITY:
        return "an infinite number of elements"
    return f"{count} element{'' if count == 1 else 's'}"
