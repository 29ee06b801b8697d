"""Stages of the plain engine that decide about order: shuffle and interleave."""

from __future__ import annotations

from collections import deque
from weakref import WeakKeyDictionary

from tfrkit.data.shuffle.epoch_seeds import SeedGenerator
from tfrkit.data.shuffle.shuffle import ShuffleNode
from tfrkit.data.stages.interleave import InterleaveNode
from tfrkit.testing.plain_stage import Item, Stage, begin, call, runs
from tfrkit.testing.shuffle_reference import PlainPhilox

# The generator that gives the seeds of every pass, for each shuffle that was ever run.
_GENERATORS: WeakKeyDictionary[SeedGenerator, PlainPhilox] = WeakKeyDictionary()


def seeds_of_pass(seeds: SeedGenerator) -> tuple[int, int]:
    """The two seeds of the next pass: the shuffle's own, or the next two numbers made of them."""
    seed, seed2, draws = seeds.save()
    reshuffle = seeds.signature()[2]
    if not reshuffle:
        return seed, seed2
    if seeds not in _GENERATORS:
        _GENERATORS[seeds] = PlainPhilox(seed, seed2)
        for _ in range(2 * draws):  # a dataset that was unpickled resumes where it was
            _GENERATORS[seeds].next()
    generator = _GENERATORS[seeds]
    return generator.next(), generator.next()


@runs(ShuffleNode)
class PlainShuffle(Stage):
    """A buffer of `size` elements. A random one of them goes out, and the oldest takes its place.

    A shuffle that is repeated is one stage: the buffer fills with elements of the next pass when those of one come to
    their end, but only elements of the oldest pass in it are drawn, with the seeds of that pass.
    """

    def __init__(self, node: ShuffleNode) -> None:
        self.node = node
        self.input: Stage | None = None
        self.passes = node.repeats  # that are still to begin; negative for no end
        self.buffer: list[Item] = []  # from the oldest on
        self.counts: deque[int] = deque()  # elements of each pass in it
        self.largest: int | None = None  # what the buffer of whole passes once held
        self.empty = True  # nothing has come in this pass
        self.random = PlainPhilox(*seeds_of_pass(node.seeds))

    def __next__(self) -> Item:
        while self.wants_more():
            self.fill()
        if not self.buffer:
            raise StopIteration
        while not self.counts[0]:
            self.counts.popleft()
            self.random = PlainPhilox(*seeds_of_pass(self.node.seeds))
        chosen = self.random.next() % self.counts[0]
        self.counts[0] -= 1
        item = self.buffer[chosen]
        self.buffer[chosen] = self.buffer[0]
        del self.buffer[0]
        return item

    def wants_more(self) -> bool:
        """Whether the buffer is filled before the next draw: not with a fifth pass."""
        if self.input is None and self.passes == 0:
            return False
        return (len(self.counts) <= 3 or not self.buffer) and self.has_room()

    def has_room(self) -> bool:
        """Whether there is; a buffer for whole passes has for the first one in it."""
        if self.node.size >= 0:
            return len(self.buffer) < self.node.size
        filling = self.input is not None and self.counts[-1] == len(self.buffer)
        return filling or self.largest is None or len(self.buffer) < self.largest

    def fill(self) -> None:
        """Get one element, or see the end of a pass."""
        if self.input is None:
            self.input, self.empty = begin(self.node.input), True
            self.passes -= 1
            self.counts.append(0)
        try:
            item = next(self.input)
        except StopIteration:
            self.input = None
            self.largest = max(len(self.buffer), self.largest or 0)
            if self.empty and self.passes < 0:
                self.passes = 0
            return
        self.empty = False
        self.buffer.append(item)
        self.counts[-1] += 1


@runs(InterleaveNode)
class PlainInterleave(Stage):
    """Datasets that a function makes, `cycle` of them open at a time, `block` elements of each in turn.

    An error leaves the turn where it is. With parallel calls an error counts as an element, and one without a dataset
    (of the input, or of the function) takes a place as a dataset that has nothing else.
    """

    def __init__(self, node: InterleaveNode) -> None:
        self.node = node
        self.input: Stage | None = begin(node.input)
        self.open: list[Stage | None] = [None] * node.resolved_cycle()
        self.turn = 0
        self.given = 0  # elements in this turn

    def __next__(self) -> Item:
        while self.input is not None or any(stage is not None for stage in self.open):
            try:
                stage = self.current()
                if stage is None:
                    self.pass_turn()
                    continue
                item = next(stage)
            except StopIteration:
                self.open[self.turn] = None
                self.pass_turn()
            except Exception:
                self.fail()
                raise
            else:
                self.count()
                return item
        raise StopIteration

    def current(self) -> Stage | None:
        """The dataset whose turn it is, made of the next element if the place is free; None if there is no more."""
        if self.open[self.turn] is None and self.input is not None:
            try:
                item = next(self.input)
            except StopIteration:
                self.input = None
                return None
            self.open[self.turn] = begin(call(self.node.function, item).node)
        return self.open[self.turn]

    def count(self) -> None:
        """One more of this turn."""
        self.given += 1
        if self.given == self.node.block:
            self.pass_turn()

    def pass_turn(self) -> None:
        """Go to the next place."""
        self.turn, self.given = (self.turn + 1) % len(self.open), 0

    def fail(self) -> None:
        """An error came."""
        if self.node.parallel is not None:
            if self.open[self.turn] is None:
                self.open[self.turn] = PlainEmpty()
            self.count()


class PlainEmpty(Stage):
    """No elements."""

    def __next__(self) -> Item:
        raise StopIteration
