"""Stages of the plain engine that give elements on, choose among them, or put several inputs together."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from tfrkit.data.elements import element_values as convert
from tfrkit.data.elements.structure import map_structure
from tfrkit.data.options import OptionsNode
from tfrkit.data.stages.assert_cardinality import AssertCardinalityNode
from tfrkit.data.stages.cache import CacheMemory, CacheNode
from tfrkit.data.stages.concatenate import ConcatenateNode
from tfrkit.data.stages.filter import FilterNode
from tfrkit.data.stages.ignore_errors import IgnoreErrorsNode
from tfrkit.data.stages.map import MapNode
from tfrkit.data.stages.prefetch import PrefetchNode
from tfrkit.data.stages.repeat import RepeatNode
from tfrkit.data.stages.shard import ShardNode
from tfrkit.data.stages.take import SkipNode, TakeNode
from tfrkit.data.stages.zip import ZipNode
from tfrkit.errors import CancelledError, FailedPreconditionError
from tfrkit.testing.plain_stage import Item, Stage, begin, call, converted, runs


@runs(PrefetchNode, OptionsNode)
class PlainSame(Stage):
    """The input as it is."""

    def __init__(self, node: Any) -> None:
        self.input = begin(node.input)

    def __next__(self) -> Item:
        return next(self.input)


@runs(MapNode)
class PlainMap(Stage):
    """A function on every element."""

    def __init__(self, node: MapNode) -> None:
        self.input = begin(node.input)
        self.function = node.function

    def __next__(self) -> Item:
        item = next(self.input)
        return item.of(convert.to_result(call(self.function, item)))


@runs(FilterNode)
class PlainFilter(Stage):
    """The elements for which a function is true."""

    def __init__(self, node: FilterNode) -> None:
        self.input = begin(node.input)
        self.predicate = node.predicate

    def __next__(self) -> Item:
        while True:
            item = next(self.input)
            answer = converted(call(self.predicate, item))
            if not isinstance(answer, np.bool_):
                raise ValueError(
                    "Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is "
                    f"{type(answer).__name__}."
                )
            if answer:
                return item


@runs(TakeNode)
class PlainTake(Stage):
    """The first elements; errors do not count."""

    def __init__(self, node: TakeNode) -> None:
        self.input = begin(node.input)
        self.left = node.count

    def __next__(self) -> Item:
        if self.left == 0:
            raise StopIteration
        item = next(self.input)
        self.left -= 1  # below zero from the beginning: it never gets to zero
        return item


@runs(SkipNode)
class PlainSkip(Stage):
    """All but the first elements. After an error among them the count begins again."""

    def __init__(self, node: SkipNode) -> None:
        self.input = begin(node.input)
        self.count = node.count
        self.done = False

    def __next__(self) -> Item:
        if self.count < 0:
            raise StopIteration
        if not self.done:
            for _ in range(self.count):
                next(self.input)
            self.done = True
        return next(self.input)


class PlainShard(Stage):
    """Every n-th element. After an error between two of them the elements between them are counted again."""

    def __init__(self, node: ShardNode) -> None:
        self.input = begin(node.input)
        self.node = node
        self.place = 0  # of the next element, modulo the number of shards

    def __next__(self) -> Item:
        between = (self.node.index - self.place) % self.node.shards
        for _ in range(between):
            next(self.input)
        self.place = self.node.index
        item = next(self.input)
        self.place += 1
        return item


@runs(RepeatNode)
class PlainRepeat(Stage):
    """The input again and again; endless repeating stops when a whole pass gave nothing but errors."""

    def __init__(self, node: RepeatNode) -> None:
        self.node = node
        self.left = node.count
        self.empty = True
        self.time = 0
        if self.left != 0:
            self.input = self.begin()

    def __next__(self) -> Item:
        while self.left != 0:
            try:
                item = next(self.input)
            except StopIteration:
                self.left -= 1  # below zero from the beginning: it never gets to zero
                if self.empty and self.node.count < 0:
                    self.left = 0
                if self.left != 0 or self.node.again:
                    self.input, self.empty = self.begin(), True
                continue
            self.empty = False
            return item
        raise StopIteration

    def begin(self) -> Stage:
        """Begin the input anew, in the next epoch."""
        epoch, self.time = self.node.epoch_of(self.time, self.node.epoch), self.time + 1
        return begin(self.node.input.at_epoch(epoch))


@runs(ConcatenateNode)
class PlainConcatenate(Stage):
    """One dataset, then another."""

    def __init__(self, node: ConcatenateNode) -> None:
        self.node = node
        self.input = begin(node.first)
        self.second = False

    def __next__(self) -> Item:
        try:
            return next(self.input)
        except StopIteration:
            if self.second:
                raise
        self.input, self.second = begin(self.node.second), True
        return next(self)


@runs(ZipNode)
class PlainZip(Stage):
    """Elements side by side. When one fails the others advance too; the first error is raised."""

    def __init__(self, node: ZipNode) -> None:
        self.node = node
        self.inputs = [begin(part) for part in node.parts]
        self.ended = False

    def __next__(self) -> Item:
        if self.ended:
            raise StopIteration
        items: list[Item] = []
        failure: Exception | None = None
        for each in self.inputs:
            try:
                items.append(next(each))
            except StopIteration:
                self.ended = True
                break
            except Exception as error:  # noqa: BLE001 - whatever a user's function raises
                failure = failure or error
        if failure is not None:
            raise failure
        if self.ended:
            raise StopIteration
        return Item(map_structure(lambda number: items[number].value, self.node.packing))


_CACHES: WeakKeyDictionary[CacheMemory, list[Item]] = WeakKeyDictionary()


@runs(CacheNode)
class PlainCache(Stage):
    """What a complete pass gave, or the input; errors are not kept.

    A pass is complete with its last element, if the number of elements is known, else with its end.
    """

    def __init__(self, node: CacheNode) -> None:
        self.node = node
        kept = _CACHES.get(node.memory)
        self.kept = None if kept is None else iter(kept)
        self.input = begin(node.input) if kept is None else None
        self.seen: list[Item] = []

    def __next__(self) -> Item:
        if self.kept is not None:
            return next(self.kept)
        assert self.input is not None
        try:
            item = next(self.input)
        except StopIteration:
            _CACHES.setdefault(self.node.memory, self.seen)
            raise
        self.seen.append(item)
        if len(self.seen) == self.node.input.cardinality():
            _CACHES.setdefault(self.node.memory, self.seen)
        return item


@runs(IgnoreErrorsNode)
class PlainIgnoreErrors(Stage):
    """What does not fail. An input that fails again and again in the same way has ended."""

    def __init__(self, node: IgnoreErrorsNode) -> None:
        self.input = begin(node.input)

    def __next__(self) -> Item:
        last: Exception | None = None
        while True:
            try:
                return next(self.input)
            except (StopIteration, CancelledError):
                raise
            except Exception as error:  # noqa: BLE001 - whatever a user's function raises
                if error is last:
                    raise StopIteration from None
                last = error


@runs(AssertCardinalityNode)
class PlainAssertCardinality(Stage):
    """As many elements as promised."""

    def __init__(self, node: AssertCardinalityNode) -> None:
        self.input = begin(node.input)
        self.count = node.count
        self.seen = 0
        self.short: Exception | None = None

    def __next__(self) -> Item:
        if self.short is not None:
            raise self.short
        try:
            item = next(self.input)
        except StopIteration:
            if self.seen == self.count:
                raise
            self.short = self.wrong("only")
            raise self.short from None
        self.seen += 1
        if self.count != -1 and self.seen > self.count:
            raise self.wrong("at least")
        return item

    def wrong(self, how: str) -> Exception:
        """Say what was expected."""
        expected = "an infinite number of elements" if self.count == -1 else self.elements(self.count)
        return FailedPreconditionError(
            f"Input dataset was expected to contain {expected} but contained {how} {self.elements(self.seen)}."
        )

    def elements(self, count: int) -> str:
        """A number of elements."""
        return "1 element" if count == 1 else f"{count} elements"
