"""Stages of the plain engine that know the numbers of elements: global_shuffle, slices, ranks by number, seeds.

They read all of their input first. An element that fails has a number too: the error is kept in its place.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from tfrkit.data.elements.origin import Origin
from tfrkit.data.engine.node import Context
from tfrkit.data.shuffle.global_shuffle import GlobalShuffleNode
from tfrkit.data.shuffle.pass_seeds import with_seeds_of_pass
from tfrkit.data.stages.epoch import EpochNode
from tfrkit.data.stages.seeded import SeededNode, sample_seeds
from tfrkit.data.stages.shard import EarlyShardNode, ShardNode, stages_to_pass
from tfrkit.data.stages.take import SliceNode
from tfrkit.errors import FailedPreconditionError
from tfrkit.testing.plain_stage import Item, Stage, begin, runs
from tfrkit.testing.plain_stages import PlainShard
from tfrkit.values.permutation import Permutation

Outcome = Item | Exception


def outcomes_of(node: Any) -> list[Outcome]:
    """All elements of a node, and errors in their places."""
    stage, found = begin(node), list[Outcome]()
    while True:
        try:
            found.append(next(stage))
        except StopIteration:
            return found
        except Exception as error:  # noqa: BLE001 - whatever a user's function raises
            found.append(error)


class PlainNumbered(Stage):
    """Elements that were chosen by their numbers."""

    def __init__(self, chosen: Iterator[Outcome]) -> None:
        self.chosen = chosen

    def __next__(self) -> Item:
        outcome = next(self.chosen)
        if isinstance(outcome, Exception):
            raise outcome
        return outcome


@runs(GlobalShuffleNode)
class PlainGlobalShuffle(PlainNumbered):
    """All elements, in the order of the epoch."""

    def __init__(self, node: GlobalShuffleNode) -> None:
        inputs = outcomes_of(node.input)
        places = np.arange(len(inputs))
        if node.window is None:
            order = Permutation(len(inputs), node.seed.value, node.epoch if node.reshuffle else 0).at(places)
        else:
            found: Any = node.lookup(Context())  # windows depend on how large elements are
            order = found.order.numbers(places, node.epoch)
        super().__init__(inputs[number] for number in order.tolist())


@runs(SliceNode)
class PlainSlice(PlainNumbered):
    """Every so many elements, from one on; perhaps backwards."""

    def __init__(self, node: SliceNode) -> None:
        inputs = outcomes_of(node.input)
        super().__init__(inputs[node.first + number * node.step] for number in range(node.count))


@runs(ShardNode)
class PlainRank(Stage):
    """Every n-th element, by number or in turn; perhaps of a number of them that ranks can divide."""

    def __init__(self, node: ShardNode) -> None:
        self.stage: Stage
        if node.by_number:
            self.stage = PlainNumbered(self.chosen(node))
        elif node.alone and (stages := stages_to_pass(node)):
            self.stage = begin(self.moved(node, stages))
        else:
            self.stage = PlainShard(node)

    def moved(self, node: ShardNode, stages: list[Any]) -> Any:
        """What the stages before the shard make of its elements, or of those of whole batches."""
        block = math.prod(each.takes for each in stages if each.takes)
        made: Any = EarlyShardNode(stages[-1].inputs[0], node.shards, node.index, block=block)
        for each in reversed(stages):
            made = each.with_inputs((made,))
        return made

    def __next__(self) -> Item:
        return next(self.stage)

    def chosen(self, node: ShardNode) -> Iterator[Outcome]:
        """The elements of this rank, with a mask if there is one."""
        inputs = outcomes_of(node.input)
        count, rest = divmod(len(inputs), node.shards)
        if rest and node.tail != "drop":
            count += node.tail == "repeat" or node.index < rest
        for number in range(node.index, node.index + count * node.shards, node.shards):
            found = inputs[number % len(inputs)]
            if node.mask and isinstance(found, Item):
                found = found.of({**found.value, node.mask: np.bool_(number < len(inputs))})
            yield found


@runs(EarlyShardNode)
class PlainBlocks(Stage):
    """Every n-th block of elements. An error ends a block; after one between two of them those between count again."""

    def __init__(self, node: EarlyShardNode) -> None:
        self.input = begin(node.input)
        self.node = node
        self.place = 0  # of the next block, modulo the number of shards
        self.part = 0  # elements of the block that came

    def __next__(self) -> Item:
        block, part, self.part = self.node.block, self.part, 0
        if not part:
            for _ in range((self.node.index - self.place) % self.node.shards * block):
                next(self.input)
            self.place = self.node.index
        item = next(self.input)
        self.part = (part + 1) % block
        self.place += self.part == 0
        return item


@runs(EpochNode)
class PlainEpoch(Stage):
    """The input in one epoch."""

    def __init__(self, node: EpochNode) -> None:
        self.input = begin(with_seeds_of_pass(node.input.at_epoch(node.number), node.number))

    def __next__(self) -> Item:
        return next(self.input)


@runs(SeededNode)
class PlainSeeded(Stage):
    """Every element with its seed."""

    def __init__(self, node: SeededNode) -> None:
        self.node, self.names = node, node.names
        self.input = begin(node.input)

    def __next__(self) -> Item:
        item = next(self.input)
        if item.origin is None or (self.names.only_files and item.origin[0] is None):
            raise FailedPreconditionError("map(seeded=True): it is not known which sample an element is")
        path, record = item.origin
        origin = Origin((path,), np.zeros(1, np.int32), np.array([record]))
        (seed,) = sample_seeds(self.node.seed.value, self.node.epoch, origin, self.names)
        value = item.value if type(item.value) is tuple else (item.value,)
        return item.of((*value, seed))
