"""group_by_window and bucket_by_sequence_length: a number of elements with the same key together."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from tfrkit.data.elements.structure import map_structure
from tfrkit.data.elements.structure_specs import merged, spec_of
from tfrkit.data.engine.call_each import call_with, name_of
from tfrkit.data.engine.node import Node, UnaryNode
from tfrkit.data.engine.rewrites import keep_order, optimise
from tfrkit.data.engine.steps import Open, Save, Step, StepInput, StepsNode
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
    unindexable = "Put group_by_window() after what needs the numbers."
    makes_datasets = True
    keeps_count = False
    opaque = True

    def steps(self, begin: Open, state: Any) -> tuple[Step, Save]:
        groups = _Groups(self, begin, state)
        return groups.step, groups.save

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

    def _shown(self) -> str:
        return f"{name_of(self.key)}, {name_of(self.reduce)}"


class _Waiting(NamedTuple):
    """An element of a group: its number in the input, where it stands there, and itself."""

    number: int
    place: Any
    element: Any


class _Groups:
    def __init__(self, node: GroupByWindowNode, begin: Open, state: Any) -> None:
        self._node = node
        self._begin = begin
        self._elements = begin(node.input, None if state is None else state["input"])
        self._read = 0  # elements and errors
        self._groups: dict[int, list[_Waiting]] = {}
        self._sizes: dict[int, int] = {}
        self._key = 0  # of the last full group,
        self._members: list[_Waiting] = []  # its elements,
        self._current: StepInput | None = None  # and what came of it
        self._ended = False
        if state is not None:
            self._restore(state)

    def step(self) -> Any:
        while True:
            if self._current is not None:
                try:
                    return next(self._current)
                except StopIteration:
                    self._current.close()
                    self._current, self._members = None, []
            self._key = self._full_group()
            self._members = self._groups.pop(self._key)
            self._open()

    def _open(self, state: Any = None) -> None:
        """Begin what the function makes of the full group, or resume it."""
        elements = tuple(each.element for each in self._members)
        made = self._node.reduced(self._key, elements)
        self._current = self._begin(optimise(keep_order(made, free=False)), state)

    def _next(self) -> _Waiting:
        place = self._elements.save()
        self._read += 1
        return _Waiting(self._read - 1, place, next(self._elements))

    def _full_group(self) -> int:
        """Pull until a group is full; at the end the others come, by their keys."""
        while not self._ended:
            try:
                found = self._next()
            except StopIteration:
                self._ended = True
                break
            key = _whole(call_with(self._node.key, found.element))
            if key not in self._groups:
                size = _whole(self._node.size(np.int64(key)))
                if size <= 0:
                    raise InvalidArgumentError(f"Window size must be greater than zero, but got {size}.")
                self._groups[key], self._sizes[key] = [], size
            self._groups[key].append(found)
            if len(self._groups[key]) == self._sizes[key]:
                return key
        if not self._groups:
            raise StopIteration
        return min(self._groups)

    def save(self) -> Any:
        """Where the oldest element of all groups stands, what was read since, and which of it waits in which group."""
        waiting = [self._members, *self._groups.values()]
        oldest = min((group[0] for group in waiting if group), key=lambda each: each.number, default=None)
        first = self._read if oldest is None else oldest.number
        numbers = [[each.number - first for each in group] for group in waiting]
        keys = zip(self._groups, numbers[1:], strict=True)
        current = None if self._current is None else [self._key, numbers[0], self._current.save()]
        return {
            "input": self._elements.save() if oldest is None else oldest.place,
            "read": self._read - first,
            "groups": [[key, self._sizes[key], found] for key, found in keys],
            "current": current,
        }

    def _restore(self, state: Any) -> None:
        found: dict[int, _Waiting] = {}
        while self._read < state["read"]:
            try:
                each = self._next()
            except StopIteration:
                break
            except Exception:  # noqa: S112 - it was given before
                continue
            found[each.number] = each
        for key, size, numbers in state["groups"]:
            self._groups[key], self._sizes[key] = [found[number] for number in numbers], size
        if state["current"] is not None:
            self._key, numbers, at = state["current"]
            self._members = [found[number] for number in numbers]
            self._open(at)


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
                node = dataset.node
                spec = node.element_spec()
                # Sizes in which they differ are not known.
                for element in node.elements if node.opaque else ():
                    spec = merged(spec, spec_of(element)) or spec
                shapes = map_structure(lambda leaf: list(leaf.shape), spec)
            shapes = _filled(shapes, self.reach[number])
        return dataset.padded_batch(self.sizes[number], shapes, self.values, drop_remainder=self.drop)


def _filled(shapes: Any, size: int) -> Any:
    """Shapes with a size where none is said."""
    if hasattr(shapes, "as_list"):
        shapes = shapes.as_list()
    if isinstance(shapes, dict):
        return {key: _filled(shape, size) for key, shape in shapes.items()}
    if isinstance(shapes, Sequence) and all(isinstance(part, (int, type(None))) for part in shapes):
        return [size if part is None or part == -1 else part for part in shapes]
    return tuple(_filled(shape, size) for shape in shapes)
