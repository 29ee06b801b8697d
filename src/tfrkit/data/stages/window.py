"""window: datasets of consecutive elements."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tfrkit.data.elements.structure import flatten, is_nested, map_structure, pack
from tfrkit.data.engine.node import Node, UnaryNode
from tfrkit.data.engine.steps import Open, Save, Step, StepInput, StepsNode
from tfrkit.data.sources.slices import ElementsNode
from tfrkit.errors import InvalidArgumentError
from tfrkit.model.element_spec import DatasetSpec

__all__ = ["MakeDataset", "WindowNode"]

MakeDataset = Callable[[Node], Any]


@dataclass(frozen=True, eq=False)
class WindowNode(StepsNode, UnaryNode):
    """Window k has the elements k * shift + j * stride; `make` makes a dataset of a node."""

    size: int
    shift: int
    stride: int
    drop: bool
    make: MakeDataset = field(metadata={"unsigned": True})

    verb = "window"
    unindexable = "Use batch() for groups of neighbours, or put window() after what needs the numbers."

    def __post_init__(self) -> None:
        """Refuse a size, shift or stride that is not positive."""
        for name in ("size", "shift", "stride"):
            if getattr(self, name) <= 0:
                raise InvalidArgumentError(f"Window {name} must be greater than zero.")

    def steps(self, begin: Open, state: Any) -> tuple[Step, Save]:
        windows = _Windows(self, begin(self.input, None if state is None else state["input"]))
        if state is not None:
            windows.read_again(state["kept"], state["skip"])
        return windows.step, windows.save

    def element_spec(self) -> Any:
        """A dataset in place of every value."""
        return map_structure(lambda leaf: DatasetSpec(leaf, self.make), self.input.element_spec())

    def cardinality(self) -> int:
        """One for every shift, less those that would not be full."""
        count = self.input.cardinality()
        if count < 0:
            return count
        if self.drop:
            count -= (self.size - 1) * self.stride
        return max(0, -(-count // self.shift))

    def _shown(self) -> str:
        return f"{self.size}, {self.shift}, {self.stride}{', drop_remainder=True' if self.drop else ''}"


class _Windows:
    def __init__(self, node: WindowNode, elements: StepInput) -> None:
        self._node = node
        self._elements = elements
        self._spec = node.input.element_spec()
        # What a later window has: each element, or its error, after its place.
        self._kept: deque[Any] = deque()
        self._skip = 0  # elements before the next window that no window has
        self._ended = False

    def step(self) -> Any:
        node = self._node
        span = (node.size - 1) * node.stride + 1
        while not self._ended and (self._skip or len(self._kept) < span):
            item = self._next()
            if item is None:
                self._ended = True
            elif self._skip:
                self._skip -= 1
            else:
                self._kept.append(item)
        if not self._kept or (node.drop and len(self._kept) < span):
            raise StopIteration
        chosen = [element for _, element in list(self._kept)[: span : node.stride]]
        for _ in range(min(node.shift, len(self._kept))):
            self._kept.popleft()
        self._skip = max(0, node.shift - span) if not self._kept else 0
        for element in chosen:
            if isinstance(element, Exception):
                raise element
        return self._datasets(chosen)

    def _next(self) -> tuple[Any, Any] | None:
        """The next element with its place; an error counts only for windows that have it."""
        place = self._elements.save()
        try:
            return place, next(self._elements)
        except StopIteration:
            return None
        except Exception as error:
            return place, error

    def save(self) -> Any:
        """Where the first element stands that a later window has, and how many have come since."""
        place = self._kept[0][0] if self._kept else self._elements.save()
        return {"input": place, "kept": len(self._kept), "skip": self._skip}

    def read_again(self, kept: int, skip: int) -> None:
        """Read the elements that later windows have."""
        self._skip = skip
        while len(self._kept) < kept and (item := self._next()) is not None:
            self._kept.append(item)

    def _datasets(self, elements: list[Any]) -> Any:
        """One for each part of an element."""
        node = self._node
        if not is_nested(self._spec):
            return node.make(ElementsNode(tuple(elements), self._spec, node.opaque))
        columns = zip(*map(flatten, elements), strict=True)
        specs = flatten(self._spec)
        parts = [
            node.make(ElementsNode(tuple(column), spec, node.opaque))
            for column, spec in zip(columns, specs, strict=True)
        ]
        return pack(self._spec, parts)
