"""assert_cardinality: a promise about the number of elements, checked while they pass."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.elements.chunk import Objects
from tfrkit.data.engine.node import INFINITE_CARDINALITY, Context, Inbox, Node, NodeIterator, Run
from tfrkit.errors import FailedPreconditionError

__all__ = ["AssertCardinalityNode"]


@dataclass(frozen=True, eq=False)
class AssertCardinalityNode(Node):
    """The input, which must have `count` elements; INFINITE_CARDINALITY if it must not end."""

    input: Node
    count: int

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin at an element of the input."""
        at, seen = (None, 0) if state is None else (state["at"], state["seen"])
        return _AssertCardinalityIterator(self.count, Inbox(self.input, context, at), seen)

    def element_spec(self) -> Any:
        """As the input's."""
        return self.input.element_spec()

    def cardinality(self) -> int:
        """What was promised."""
        return self.count

    @property
    def label(self) -> str:
        """As written."""
        return f"assert_cardinality({self.count})"


class _AssertCardinalityIterator(NodeIterator):
    def __init__(self, count: int, inbox: Inbox, seen: int) -> None:
        self._inbox = inbox
        self._count = count
        self._seen = seen
        self._short: Exception | None = None  # there are too few, and every further call says so

    def pull(self, n: int) -> Run | None:
        """Pull what was promised, then see whether there is more."""
        left = n if self._count == INFINITE_CARDINALITY else self._count - self._seen
        run = None if self._short is not None else self._inbox.take(max(1, min(n, left)))
        if run is None:
            return self._end()
        self._seen += len(run.chunk)
        if left <= 0 and len(run.chunk):
            self._inbox.unread(run, len(run.chunk))  # an error after them comes next
            return Run(run.chunk.slice(0, 0), self._error("at least"))
        return run

    def _end(self) -> Run | None:
        if self._seen == self._count:
            return None
        if self._short is None:
            self._short = self._error("only")
        return Run(Objects([]), self._short)

    def _error(self, how: str) -> Exception:
        return FailedPreconditionError(
            f"Input dataset was expected to contain {_elements(self._count)} but contained {how} "
            f"{_elements(self._seen)}."
        )

    def save(self) -> Any:
        """Where the input stands, and how many of its elements are past."""
        return {"at": self._inbox.save(), "seen": self._seen}

    def close(self) -> None:
        """Close the input."""
        self._inbox.close()


def _elements(count: int) -> str:
    if count == INFINITE_CARDINALITY:
        return "an infinite number of elements"
    return f"{count} element{'' if count == 1 else 's'}"
