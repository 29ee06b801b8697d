"""concatenate: one dataset after another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.elements.structure_specs import merged, spec_of
from tfrkit.data.engine.lookup import Found, Lookup, Windowed, in_places
from tfrkit.data.engine.node import (
    INFINITE_CARDINALITY,
    UNKNOWN_CARDINALITY,
    Context,
    Node,
    NodeIterator,
    Run,
)
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds
from tfrkit.model.row_selection import IntArray

__all__ = ["ConcatenateNode", "JoinedLookup", "check_concatenate"]


@dataclass(frozen=True, eq=False)
class ConcatenateNode(Node):
    """Elements of the first, then those of the second."""

    first: Node
    second: Node

    verb = "concatenate"
    unindexable = ""

    def lookup(self, context: Context) -> Lookup:
        return JoinedLookup(self.first.lookup(context), self.second.lookup(context))

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


class JoinedLookup(Lookup):
    """The elements of one lookup, then those of another."""

    def __init__(self, first: Lookup, second: Lookup) -> None:
        self._parts = first, second
        ends = INFINITE_CARDINALITY not in (first.size, second.size)
        self.size = first.size + second.size if ends else INFINITE_CARDINALITY

    def at(self, numbers: IntArray, epoch: int) -> Found:
        first, second = self._parts
        later = np.zeros(len(numbers), bool) if first.size == INFINITE_CARDINALITY else numbers >= first.size
        if not later.any():
            return first.at(numbers, epoch)
        if later.all():
            return second.at(numbers - first.size, epoch)
        before, after = np.flatnonzero(~later), np.flatnonzero(later)
        found = first.at(numbers[before], epoch), second.at(numbers[after] - first.size, epoch)
        return in_places([(before, found[0]), (after, found[1])], len(numbers))

    def element_bytes(self) -> float:
        return max(part.element_bytes() for part in self._parts)

    def windowed(self, numbers: IntArray, epoch: int) -> Iterator[Windowed]:
        first, second = self._parts
        later = np.zeros(len(numbers), bool) if first.size == INFINITE_CARDINALITY else numbers >= first.size
        for part, chosen, before in (first, ~later, 0), (second, later, first.size):
            rows = np.flatnonzero(chosen)
            yield from (each.among(rows) for each in part.windowed(numbers[rows] - before, epoch))


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
