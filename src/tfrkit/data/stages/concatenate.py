"""concatenate: one dataset after another."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.elements.structure_specs import merged, spec_of
from tfrkit.data.engine.node import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Context,
    Node,
    NodeIterator,
    Run,
)
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds

__all__ = ["ConcatenateNode", "check_concatenate"]


@dataclass(frozen=True, eq=False)
class ConcatenateNode(Node):
    """Elements of the first, then those of the second."""

    first: Node
    second: Node

    verb = "concatenate"

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _ConcatenateIterator(self, context, state)

    def element_spec(self) -> Any:
        check_concatenate(self.first, self.second)
        return merged(self.first.element_spec(), self.second.element_spec())

    def cardinality(self) -> int:
        counts = self.first.cardinality(), self.second.cardinality()
        for special in (INFINITE_CARDINALITY, UNKNOWN_CARDINALITY):
            if special in counts:
                return special
        return sum(counts)


def check_concatenate(first: Node, second: Node) -> None:
    """Refuse elements of different types, as far as they are known without running functions.

    Raises:
        TypeError: with TensorFlow's text.
    """
    if first.opaque or second.opaque:
        return
    one, other = first.element_spec(), second.element_spec()
    if merged(one, other) is None:
        raise _incompatible(one, other)


def _incompatible(one: Any, other: Any) -> TypeError:
    return TypeError(f"Incompatible dataset elements:\n  {one} vs.   {other}")


class _ConcatenateIterator(NodeIterator):
    def __init__(self, node: ConcatenateNode, context: Context, state: Any) -> None:
        self._node = node
        self._context = context
        self._number: int = 0
        self._seeds = find_seeds(node)
        at = None
        if state is not None:
            self._number, at = state["number"], state["at"]
            restore_seeds(self._seeds, state["seeds"])
        self._current = (node.first, node.second)[self._number].begin(context, at)
        self._spec: Any = None  # of the first elements, if functions made some
        self._unknown = node.opaque and not self._number

    def pull(self, n: int) -> Run | None:
        run = self._current.pull(n)
        if run is None and not self._number:
            self._current.close()
            self._number, self._current = 1, self._node.second.begin(self._context)
            self._unknown = self._spec is not None
            run = self._current.pull(n)
        if self._unknown and run is not None and len(run.chunk):
            return self._check(run)
        return run

    def _check(self, run: Run) -> Run:
        """Refuse the second's elements if they are of another type than the first's were."""
        found = spec_of(run.chunk.slice(0, 1).objects()[0])
        self._unknown = False
        if not self._number:
            self._spec = found
        elif merged(self._spec, found) is None:
            return Run(ObjectChunk([]), _incompatible(self._spec, found))
        return run

    def save(self) -> Any:
        return {"number": self._number, "at": self._current.save(), "seeds": save_seeds(self._seeds)}

    def close(self) -> None:
        self._current.close()
