"""group_by_window and bucket_by_sequence_length: a number of elements with the same key together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tfrkit.data.elements.structure import map_structure
from tfrkit.data.elements.structure_specs import merged, spec_of
from tfrkit.data.engine.function_spec import call_with, name_of
from tfrkit.data.engine.keep_order import keep_order
from tfrkit.data.engine.node import UNKNOWN_CARDINALITY, Node, UnaryNode
from tfrkit.data.engine.rewrites import optimise
from tfrkit.data.engine.steps import Open, Step, StepInput, StepsNode
from tfrkit.data.sources.slices import ElementsNode
from tfrkit.data.stages.window import MakeDataset
from tfrkit.errors import InvalidArgumentError

__all__ = ["BucketOf", "BucketSize", "GroupByWindowNode", "PadBucket", "SameSize"]


@dataclass(frozen=True, eq=False)
class GroupByWindowNode(StepsNode, UnaryNode):
    """Groups by `key`, of `size(key)` elements; `reduce(key, dataset of them)` returns a dataset."""

    key: Callable[..., Any]
    reduce: Callable[..., Any]
    size: Callable[..., Any]
    make: MakeDataset = field(metadata={"unsigned": True})

    verb = "group_by_window"
    opaque = True

    def steps(self, begin: Open) -> Step:
        return _Groups(self, begin).step

    def reduced(self, key: int, elements: tuple[Any, ...]) -> Node:
        """What the function makes of a group.

        Raises:
            TypeError: it does not return a dataset.
        """
        kept = ElementsNode(elements, self.input.element_spec(), self.input.opaque)
        made = self.reduce(np.int64(key), self.make(kept))
        node = getattr(made, "node", None)
        if not isinstance(node, Node):
            raise TypeError(
                "Invalid `reduce_func`. `reduce_func` must return a single `tf.data.Dataset` object but its return "
                f"type is {type(made).__name__}."
            )
        return node

    def element_spec(self) -> Any:
        """That of what the function makes of a group without elements."""
        if isinstance(self.reduce, PadBucket):
            buckets = [self.reduced(key, ()).element_spec() for key in self.reduce.buckets()]
            spec = functools.reduce(merged, buckets)
            return map_structure(lambda leaf: leaf.unbatched().batched(None), spec)
        return self.reduced(0, ()).element_spec()

    def cardinality(self) -> int:
        return UNKNOWN_CARDINALITY

    def _shown(self) -> str:
        return f"{name_of(self.key)}, {name_of(self.reduce)}"


class _Groups:
    def __init__(self, node: GroupByWindowNode, begin: Open) -> None:
        self._node = node
        self._begin = begin
        self._elements = begin(node.input)
        self._groups: dict[int, list[Any]] = {}
        self._sizes: dict[int, int] = {}
        self._current: StepInput | None = None  # what came of the last full group
        self._ended = False

    def step(self) -> Any:
        while True:
            if self._current is not None:
                try:
                    return next(self._current)
                except StopIteration:
                    self._current.close()
                    self._current = None
            key = self._full_group()
            elements = tuple(self._groups.pop(key))
            self._current = self._begin(optimise(keep_order(self._node.reduced(key, elements), free=False)))

    def _full_group(self) -> int:
        """Pull until a group is full; at the end the others come, by their keys."""
        while not self._ended:
            try:
                element = next(self._elements)
            except StopIteration:
                self._ended = True
                break
            key = _whole(call_with(self._node.key, element))
            if key not in self._groups:
                size = _whole(self._node.size(np.int64(key)))
                if size <= 0:
                    raise InvalidArgumentError(f"Window size must be greater than zero, but got {size}.")
                self._groups[key], self._sizes[key] = [], size
            self._groups[key].append(element)
            if len(self._groups[key]) == self._sizes[key]:
                return key
        if not self._groups:
            raise StopIteration
        return min(self._groups)


def _whole(value: Any) -> int:
    """An int64 that a function gave.

    Raises:
        ValueError: it is of another type.
    """
    if isinstance(value, (int, np.int64)) and not isinstance(value, bool):
        return int(value)
    array = np.asarray(value)
    if array.dtype == np.int64 and array.ndim == 0:
        return int(array)
    raise ValueError(
        f"Tensor conversion requested dtype int64 for Tensor with dtype {array.dtype.name}: {value!r}"
    )


@dataclass(frozen=True, slots=True)
class SameSize:
    """The same size for every key."""

    size: int

    def __call__(self, key: Any) -> int:
        return self.size


@dataclass(frozen=True, slots=True)
class BucketOf:
    """The number of the bucket for an element: how many boundaries its length has reached."""

    length: Callable[..., Any]
    boundaries: tuple[int, ...]

    @property
    def keeps_values(self) -> bool:
        """As the function that measures; see `copies_for`."""
        return getattr(self.length, "keeps_values", False)

    def __call__(self, *element: Any) -> int:
        length = int(self.length(*element))
        return sum(boundary <= length for boundary in self.boundaries)


@dataclass(frozen=True, slots=True)
class BucketSize:
    """How many elements make a batch of a bucket."""

    sizes: tuple[int, ...]

    def __call__(self, key: Any) -> int:
        return self.sizes[int(key)]


@dataclass(frozen=True, slots=True)
class PadBucket:
    """A batch of the elements of a bucket; `reach` is up to where it is padded, for each bucket."""

    sizes: tuple[int, ...]
    shapes: Any
    values: Any
    reach: tuple[int, ...] | None
    padded: bool
    drop: bool

    def buckets(self) -> range:
        """The numbers of the buckets."""
        return range(len(self.sizes if self.reach is None else self.reach))

    def __call__(self, key: Any, dataset: Any) -> Any:
        """Pad and batch.

        Raises:
            InvalidArgumentError: the last bucket has no boundary to pad to.
        """
        number = int(key)
        if not self.padded:
            return dataset.batch(self.sizes[number], drop_remainder=self.drop)
        shapes = self.shapes
        if self.reach is not None:
            if number >= len(self.reach):
                raise InvalidArgumentError(
                    "When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries)."
                )
            if shapes is None:
                shapes = map_structure(lambda leaf: list(leaf.shape), _observed(dataset.node))
            shapes = _filled(shapes, self.reach[number])
        return dataset.padded_batch(self.sizes[number], shapes, self.values, drop_remainder=self.drop)


def _observed(node: Any) -> Any:
    """The spec of kept elements; if a function made them, sizes in which they differ from the others are not known."""
    spec = node.element_spec()
    for element in node.elements if node.opaque else ():
        spec = merged(spec, spec_of(element)) or spec
    return spec


def _filled(shapes: Any, size: int) -> Any:
    """Shapes with a size where none is said."""
    if hasattr(shapes, "as_list"):
        shapes = shapes.as_list()
    if isinstance(shapes, dict):
        return {key: _filled(shape, size) for key, shape in shapes.items()}
    if isinstance(shapes, Sequence) and all(isinstance(part, (int, type(None))) for part in shapes):
        return [size if part is None or part == -1 else part for part in shapes]
    return tuple(_filled(shape, size) for shape in shapes)
