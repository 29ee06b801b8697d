"""A source for tests that gives the runs it is told, errors included."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.elements.chunk import Chunk
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Context, Node, NodeIterator, Run
from tfrkit.model.element_spec import TensorSpec

__all__ = ["RunsNode", "pull_all"]


@dataclass(frozen=True, eq=False)
class RunsNode(Node):
    """Chunks, and errors between them."""

    parts: tuple[Chunk | Exception, ...]
    spec: Any = None

    verb = "runs"

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _RunsIterator(self.parts, state or [0, 0])

    def element_spec(self) -> Any:
        return self.spec or TensorSpec((), "string")

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY


class _RunsIterator(NodeIterator):
    def __init__(self, parts: tuple[Chunk | Exception, ...], place: list[int]) -> None:
        self._parts = parts
        self._part, self._row = place
        self.closed = False

    def pull(self, n: int) -> Run | None:
        if self._part == len(self._parts):
            return None
        part = self._parts[self._part]
        if isinstance(part, Exception):
            self._part += 1
            return Run(_NOTHING, part)
        end = min(len(part), self._row + n)
        chunk = part.slice(self._row, end)
        self._row = end
        error = None
        if end == len(part):
            self._part, self._row = self._part + 1, 0
            if self._part < len(self._parts) and isinstance(self._parts[self._part], Exception):
                error = self._parts[self._part]
                self._part += 1
        return Run(chunk, error if isinstance(error, Exception) else None)

    def save(self) -> Any:
        return [self._part, self._row]

    def close(self) -> None:
        self.closed = True


def _nothing() -> Chunk:
    from tfrkit.data.elements.chunk import ObjectChunk

    return ObjectChunk([])


_NOTHING = _nothing()


def pull_all(node: Node, n: int = 1 << 30, context: Context | None = None) -> list[Any]:
    """Everything that a node gives, with errors in their places."""
    iterator = node.begin(context or Context())
    found: list[Any] = []
    while (run := iterator.pull(n)) is not None:
        assert len(run.chunk) <= n
        assert len(run.chunk) or run.error is not None
        found += run.chunk.objects()
        if run.error is not None:
            found.append(run.error)
    iterator.close()
    return found
