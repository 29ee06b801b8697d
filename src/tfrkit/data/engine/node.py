"""Nodes and runs: what a pipeline is made of, and how elements move through it.

A Node describes one stage and never changes; `start` makes the NodeIterator that runs it. Elements move in runs: a
consumer asks its input for at most n elements and gets some, perhaps with an error after the last of them. Nothing is
pulled beyond demand except by the stages that are there for it (shuffle, prefetch, parallel calls).
"""

from __future__ import annotations

import dataclasses
import threading
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tfrkit.data.elements.chunk import Chunk
from tfrkit.data.engine.tally import Tally
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.open_ahead import OpenAhead
from tfrkit.threads import default_threads

if TYPE_CHECKING:
    from tfrkit.data.engine.lookup import Lookup
    from tfrkit.data.sources.records_source import RecordsNode

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Context",
    "Node",
    "NodeIterator",
    "Run",
    "UnaryIterator",
    "UnaryNode",
    "last_active",
    "signed_fields",
    "to_json",
]

AUTOTUNE: Final = -1
INFINITE_CARDINALITY: Final = -1
UNKNOWN_CARDINALITY: Final = -2
_MAX_DAMAGES: Final = 10_000  # details kept of one pass; the count continues
_AT_ONCE: Final = 4096  # elements that are pulled at once to be left out
_counting = threading.Lock()  # sources of one pass may run at once


@dataclass(slots=True)
class Run:
    """Some elements, and perhaps an error after the last of them.

    Attributes:
        chunk: the elements; may be empty if there is an error.
        error: to be raised after them; the next pull continues with what follows it.
    """

    chunk: Chunk
    error: Exception | None = None


@dataclass(slots=True)
class Context:
    """What the iterators of one pass through a pipeline share.

    Attributes:
        threads: how many cores may be used.
        deterministic: whether parallel stages keep the order where their own argument leaves it open.
        origin: a later stage needs the file and record number of every element.
        skipped: number of damages skipped.
        damages: the first of them, as (path, Damage).
        ignored: number of errors that `ignore_errors` left out.
        turned_off: names of TensorFlow's optimizations that the options turn off.
        wrap: put round every iterator that is started, to measure it.
        closed: the consumer is gone; background work that waits checks it.
        opening: remote files that are opened before it is their turn.
        tallies: of stages that leave elements out, by their number from the samples on; None: nobody asks.
        readings: of shuffles with a window: what is read of each, a `Readings`.
        checked: sources whose files were looked at in this epoch, and have not changed.
        times: of the only repeat: how often its input was through, and how many elements and errors it had given by
            then; None: nobody asks.
    """

    threads: int = field(default_factory=default_threads)
    deterministic: bool = True
    origin: bool = False
    skipped: int = 0
    damages: list[tuple[str, Damage]] = field(default_factory=list)
    ignored: int = 0
    turned_off: frozenset[str] = frozenset()
    wrap: Callable[[Node, NodeIterator], NodeIterator] | None = None
    closed: bool = False
    opening: OpenAhead = field(default_factory=OpenAhead)
    tallies: dict[int, Tally] | None = None
    readings: dict[Node, Any] = field(default_factory=dict)
    checked: set[Node] = field(default_factory=set)
    times: deque[tuple[int, int]] | None = None

    def tally(self, number: int) -> Tally | None:
        """That of a stage: 0 of the one that runs by number, then those of filters; None if nobody asks for it."""
        return None if self.tallies is None else self.tallies.setdefault(number, Tally())

    def count_damages(self, count: int, found: Sequence[tuple[str, Damage]]) -> None:
        """Count damages that a source or a stage skipped, and keep the first of them. Thread-safe."""
        with _counting:
            self.skipped += count
            self.damages.extend(found[: max(0, _MAX_DAMAGES - len(self.damages))])


class NodeIterator(ABC):
    """A stage at work. Used by one thread at a time."""

    @abstractmethod
    def pull(self, n: int) -> Run | None:
        """Return at most n elements (n is at least 1), None at the end and ever after.

        A run without an error has at least one element.
        """

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        """Leave out `first` elements, then return at most n, leaving out step - 1 between two of them.

        Those that are left out need not be made, or checked, where TensorFlow does neither.

        Returns:
            The run, None at the end, and how many elements were passed, including those left out. The run may have no
            element and no error if the first is further away.
        """
        if first >= _AT_ONCE:
            run = self.pull(_AT_ONCE)
            chunk = None if run is None else run.chunk.slice(0, 0)
        else:
            run = self.pull(first + 1 + (n - 1) * step)
            chunk = None if run is None else _every(run.chunk, first, step)
        if run is None or chunk is None:
            return None, 0
        return Run(chunk, run.error), len(run.chunk)

    @abstractmethod
    def save(self) -> Any:
        """Return the iterator's position, cheaply.

        Returns:
            Something that JSON can hold, or objects in it with a method `to_json` that returns it later. It never
            changes. `Node.start` takes it (as JSON) to resume from here.
        """

    def close(self) -> None:  # noqa: B027  # most iterators hold nothing
        """Release files and end background work, here and in the inputs; may be called again and at any time."""


@dataclass(frozen=True, eq=False)
class Node(ABC):
    """One stage of a pipeline, described. Subclasses are frozen dataclasses; inputs are fields of type Node.

    Properties that are the same for every node of a class are plain class attributes there: `pure = False`.
    """

    # Traits that are the same for all stages of a class; others are properties.
    calls_function = False  # a user's, with every element
    counts = False  # its states count elements of its inputs, whose order must not vary
    reorders = False  # its elements are its input's, unchanged, in another order
    selects = False  # its elements are some of its input's, unchanged and in their order
    wants_origin = False  # it must know the file and record of each element
    leaves_out = False  # elements that are damaged may be missing
    tallies = False  # it gives some of its input's elements, and keeps a tally of how many it has used
    runs_again = False  # it runs its input several times
    makes_datasets = False  # of its input's elements, by a function: its elements are theirs
    is_transparent = False  # it does nothing, and has the states of its input
    numbers_elements = False  # it runs by the numbers of elements, so that those before it have them anyway
    # Why its elements cannot be had by number, and what to do; "" if `lookup` works.
    unindexable = "Indexable are files, ranges and slices of arrays with one-to-one stages on them."

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes that this one pulls from."""
        found: list[Node] = []
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Node):
                found.append(value)
            elif _is_nodes(value):
                found.extend(value)
        return tuple(found)

    def stages(self) -> Iterator[Node]:
        """The stage itself, and all before it."""
        yield self
        for each in self.inputs:
            yield from each.stages()

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        """The same stage over other inputs."""
        left = list(inputs)
        changed: dict[str, Any] = {}
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Node):
                changed[each.name] = left.pop(0)
            elif _is_nodes(value):
                changed[each.name] = tuple(left.pop(0) for _ in value)
        return dataclasses.replace(self, **changed) if changed else self

    # ---- what the engine asks: how it runs, and traits, so that no other part asks for classes

    @abstractmethod
    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Make an iterator at the beginning, or where `state` (of `NodeIterator.save`, as JSON) says."""

    def begin(self, context: Context, state: Any = None) -> NodeIterator:
        """Start, and wrap it in what the context asks for. What stages call on their inputs."""
        iterator = self.start(context, state)
        return iterator if context.wrap is None else context.wrap(self, iterator)

    def lookup(self, context: Context) -> Lookup:
        """Its elements by number; only if `unindexable`, which says what to do instead, is empty here and before it."""
        raise NotImplementedError(self.label)

    @property
    def by_number(self) -> bool:
        """True if a stage before it has given its elements numbers, and it can be asked for them."""
        inputs = self.inputs
        return (self.numbers_elements or any(each.by_number for each in inputs)) and blocker(self) is None

    @property
    def runs_by_number(self) -> bool:
        """True if it asks for its elements by their numbers; stages before it need not run then."""
        return False

    @property
    def runs_for(self) -> Node | None:
        """The stage whose elements it asks for by their numbers, if that is another one, which does not run then."""
        return None

    @property
    def varies(self) -> bool:
        """True if its elements, or their order, differ from epoch to epoch by the number of the epoch."""
        return any(each.varies for each in self.inputs)

    @property
    def input_passes(self) -> int:
        """How often one pass goes through its input, and draws seeds of its own; 1 if there is no end to it."""
        return 1

    def used(self, count: int) -> int | None:
        """How many elements of its input all ranks together have used when each has taken `count` of these.

        None: that is not known, or its elements are the samples that a position counts.
        """
        return None

    @property
    def resumed(self) -> bool:
        """True if its elements are those of the rest of an epoch."""
        return any(each.resumed for each in self.inputs)

    @property
    def fixed_epoch(self) -> int | None:
        """The epoch that its input is in, whatever the pass; None: that of the pass."""
        return None

    @property
    def takes(self) -> int:
        """Of how many neighbours of its input each element is made, where a shard after it may as well come before it.

        Then its elements are in the order of its input, and its states are `place_units`. 0: a shard stays after it.
        """
        return 0

    @property
    def place_units(self) -> tuple[int, ...]:
        """Of the places that its state is made of, the outermost first: what one that is skipped is of its input."""
        return (1,)

    def unordered(self, context: Context) -> bool:
        """True if its elements come in an order that differs from run to run."""
        return False

    def at_epoch(self, epoch: int) -> Node:
        """The same stage in the pass with this number."""
        if not self.varies:
            return self
        return self.with_inputs(tuple(each.at_epoch(epoch) for each in self.inputs))

    def check(self, context: Context) -> None:  # noqa: B027  # most stages can always run
        """Raise an error if the stage cannot run, before anything of the pipeline runs."""

    @abstractmethod
    def element_spec(self) -> Any:
        """The structure of an element, with specs in place of values."""

    @abstractmethod
    def cardinality(self) -> int:
        """The number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""

    @property
    def pure(self) -> bool:
        """True if pulling ahead cannot be observed: no user's code, nothing that blocks."""
        return all(node.pure for node in self.inputs)

    @property
    def opaque(self) -> bool:
        """True if `element_spec` must call a user's function, and its sizes may be those of one element only."""
        return any(node.opaque for node in self.inputs)

    @property
    def seeks(self) -> bool:
        """True if a saved position can be sought; otherwise the stage replays from the start and drops elements."""
        return True

    @property
    def keeps_count(self) -> bool:
        """Of a stage over one input: True if it has as many elements as its input, as far as that is known."""
        return True

    @property
    def no_op(self) -> bool:
        """True if it does nothing, as take(-1): TensorFlow leaves it out before it runs a pipeline."""
        return False

    @property
    def chunkwise(self) -> bool:
        """True if it makes one element of each, and it cannot be observed of how many at once; see `ChunkNode`."""
        return False

    @property
    def threaded(self) -> bool:
        """True if its pulls wait for what other threads do."""
        return False

    @property
    def prefetches(self) -> bool:
        """True if elements are made ready while the consumer works with others."""
        return False

    @property
    def record_source(self) -> RecordsNode | None:
        """The source whose records come out unchanged, if there is one."""
        return self.inputs[0].record_source if self.selects else None

    @property
    def file_names(self) -> tuple[str, ...] | None:
        """The names of files that its elements are, in some order; None if they are something else, or not known."""
        return self.inputs[0].file_names if self.selects or self.reorders else None

    # ---- the same stage, or another one in its place

    def in_order(self) -> Node:
        """The same stage, keeping the order also where the user leaves it free; see `rewrites.py`."""
        return self

    def in_any_order(self) -> Node:
        """The same stage where the options leave the order free, and its own argument leaves that to them."""
        return self

    def repeated(self, count: int) -> Node | None:
        """The stage that repeats itself, for a stage that does so in its own way; None: a stage after it does."""
        return None

    def fused(self) -> Node | None:
        """One stage that does the work of this one and its inputs (fused already); None if there is none."""
        return None

    def fused_with(self, stage: Node) -> Node | None:
        """One stage that does the work of this one and of the chunkwise stage after it; None if there is none."""
        return None

    def fused_with_prefetch(self, depth: int) -> Node | None:
        """One stage that does the work of this one and of a prefetch after it; None if there is none."""
        return None

    def before_batch(self) -> tuple[Node, tuple[Node, ...]]:
        """For a batch after it: a stage and chunkwise stages after that, which do the same, and have its states."""
        return self, ()

    def measured(self, add_call: Callable[[float], None]) -> Node:
        """The same stage for a profile: leaves no trace, and reports the seconds of each call in another thread."""
        return self

    def advice(self, each: float, *, waits: bool) -> str:
        """What would help if most of the time goes here; "" if nothing is known.

        Args:
            each: seconds of the CPU for an element.
            waits: whether it mostly waits.
        """
        return ""

    # ---- what it is called

    @property
    @abstractmethod
    def verb(self) -> str:
        """The method of Dataset that makes the stage. States know stages by it, so it never changes."""

    def arguments(self) -> tuple[Any, ...]:
        """What states know the stage by, besides its verb and inputs: the values of its other fields, in order.

        Defaults at the end are left out, so that a field that is added later changes nothing for the states of
        pipelines that do without it. Fields with the metadata `unsigned` do not count.
        """
        return signed_fields(self)

    @property
    def label(self) -> str:
        """The stage as the user wrote it, such as `batch(32)`."""
        return f"{self.verb}({self._shown()})"

    def _shown(self) -> str:
        plain = [each for each in self.arguments() if callable(each) or isinstance(each, (int, float, str))]
        return ", ".join(getattr(each, "__name__", None) or repr(each) for each in plain)


@dataclass(frozen=True, eq=False)
class UnaryNode(Node):
    """A stage over one input, whose elements have the same spec unless the stage says otherwise.

    Other nodes among its fields are no inputs.
    """

    input: Node

    @property
    def inputs(self) -> tuple[Node, ...]:
        return (self.input,)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        return dataclasses.replace(self, input=inputs[0])

    def element_spec(self) -> Any:
        return self.input.element_spec()

    def cardinality(self) -> int:
        return self.input.cardinality() if self.keeps_count else UNKNOWN_CARDINALITY


def signed_fields(value: Any) -> tuple[Any, ...]:
    """What counts of a dataclass, as `Node.arguments` says."""
    fields = [each for each in dataclasses.fields(value) if not each.metadata.get("unsigned")]
    pairs = [(getattr(value, each.name), each.default) for each in fields]
    kept = [pair for pair in pairs if not isinstance(pair[0], Node) and not _is_nodes(pair[0])]
    while kept and isinstance(kept[-1][0], (int, str)) and kept[-1][0] == kept[-1][1]:
        kept.pop()
    return tuple(part for part, _ in kept)


def blocker(node: Node) -> Node | None:
    """The first stage, from the source on, that cannot return elements by their numbers; None if all can."""
    for each in node.inputs:
        if (found := blocker(each)) is not None:
            return found
    return node if node.unindexable else None


def _is_nodes(value: Any) -> bool:
    return isinstance(value, tuple) and len(value) > 0 and all(isinstance(part, Node) for part in value)


def last_active(node: Node) -> Node:
    """The last stage that TensorFlow does not leave out.

    >>> from tfrkit import Dataset
    >>> last_active(Dataset.range(3).take(-1).skip(0).repeat(1).node).label
    'range(0, 3, 1)'
    """
    while node.no_op:
        (node,) = node.inputs
    return node


def _every(chunk: Chunk, first: int, step: int) -> Chunk:
    if step == 1:
        return chunk.slice(min(first, len(chunk)), len(chunk))
    return chunk.take(np.arange(first, len(chunk), step))


class UnaryIterator(NodeIterator):
    """A stage with one input that it pulls from directly. Its state is its input's unless it says otherwise.

    `no_op`: that of its node.
    """

    def __init__(self, input: NodeIterator, *, no_op: bool = False) -> None:
        self.input = input
        self._no_op = no_op

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        pull_every = self.input.pull_every if self._no_op else super().pull_every
        return pull_every(n, first, step)

    def save(self) -> Any:
        return self.input.save()

    def close(self) -> None:
        self.input.close()


def to_json(value: Any) -> Any:
    """Replace objects that write themselves later by what they write."""
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, np.integer):
        return int(value)
    return to_json(value.to_json()) if hasattr(value, "to_json") else value
