"""Nodes and runs: what a pipeline is made of, and how elements move through it.

A Node describes one stage and never changes; `start` makes the NodeIterator that runs it. Elements move in runs: a
consumer asks its input for at most n elements and gets some, perhaps with an error after the last of them. Nothing is
pulled beyond demand except by the stages that are there for it (shuffle, prefetch, parallel calls).
"""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from tfrkit.data.elements.chunk import Chunk
from tfrkit.records.read.damage import Damage
from tfrkit.threads import default_threads

__all__ = [
    "AUTOTUNE",
    "INFINITE_CARDINALITY",
    "UNKNOWN_CARDINALITY",
    "Context",
    "Inbox",
    "Node",
    "NodeIterator",
    "Run",
    "UnaryIterator",
    "first_element",
    "to_json",
]

AUTOTUNE: Final = -1
INFINITE_CARDINALITY: Final = -1
UNKNOWN_CARDINALITY: Final = -2
_AT_ONCE: Final = 4096  # elements that are pulled at once to be left out


@dataclass(slots=True)
class Run:
    """Some elements, and perhaps an error after the last of them.

    Attributes:
        chunk: the elements; there may be none if there is an error.
        error: to be raised after them; the next pull goes on with what follows it.
        state: where the input stood before the first of them; set by the Inbox that pulled the run.
    """

    chunk: Chunk
    error: Exception | None = None
    state: Any = None


@dataclass(slots=True)
class Context:
    """What the iterators of one pass through a pipeline share.

    Attributes:
        threads: how many cores may be used.
        deterministic: whether parallel stages keep the order where their own argument leaves it open.
        origin: somebody downstream wants to know the file and record number of every element.
        skipped: number of damages passed over.
        damages: the first of them, as (path, Damage).
        ignored: number of errors that `ignore_errors` left out.
        fuses: batches that are marked so are fused with the map before them; see `BatchNode`.
        fuses_shuffle: the same of a repeat and the shuffle before it; see `RefusedRepeatNode`.
        wrap: put round every iterator that is started, to measure it.
        closed: nobody wants elements any more; background work that waits looks at it.
    """

    threads: int = field(default_factory=default_threads)
    deterministic: bool = True
    origin: bool = False
    skipped: int = 0
    damages: list[tuple[str, Damage]] = field(default_factory=list)
    ignored: int = 0
    fuses: bool = True
    fuses_shuffle: bool = True
    wrap: Callable[[Node, NodeIterator], NodeIterator] | None = None
    closed: bool = False


class NodeIterator(ABC):
    """A stage at work. Used by one thread at a time."""

    @abstractmethod
    def pull(self, n: int) -> Run | None:
        """Give at most n elements (n is at least 1), None at the end and for ever after.

        A run without an error has at least one element.
        """

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        """Leave out `first` elements, then give at most n, leaving out step - 1 between two of them.

        Those that are left out need not be made, or looked at, if nobody can tell from TensorFlow.

        Returns:
            The run, None at the end, and how many elements are past, those that were left out among them. There may be
            none in the run, and no error, if the first is further away.
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
        """Say where the iterator stands, cheaply.

        Returns:
            Something that JSON can hold, or objects in it with a method `to_json` that gives it later. It never
            changes. `Node.start` takes it (as JSON) to go on from here.
        """

    def close(self) -> None:  # noqa: B027  # most iterators hold nothing
        """Let go of files and background work, here and in the inputs; may be called again and at any time."""


@dataclass(frozen=True, eq=False)
class Node(ABC):
    """One stage of a pipeline, described. Subclasses are frozen dataclasses; inputs are fields of type Node."""

    @property
    def inputs(self) -> tuple[Node, ...]:
        """The nodes that this one pulls from."""
        found: list[Node] = []
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Node):
                found.append(value)
            elif isinstance(value, tuple) and value and all(isinstance(part, Node) for part in value):
                found.extend(value)
        return tuple(found)

    def with_inputs(self, inputs: tuple[Node, ...]) -> Node:
        """The same stage over other inputs."""
        left = list(inputs)
        changed: dict[str, Any] = {}
        for each in dataclasses.fields(self):
            value = getattr(self, each.name)
            if isinstance(value, Node):
                changed[each.name] = left.pop(0)
            elif isinstance(value, tuple) and value and all(isinstance(part, Node) for part in value):
                changed[each.name] = tuple(left.pop(0) for _ in value)
        return dataclasses.replace(self, **changed) if changed else self

    @property
    def pure(self) -> bool:
        """Whether nobody can notice how far ahead it is pulled: no user's code, nothing that blocks."""
        return all(node.pure for node in self.inputs)

    @property
    def seeks(self) -> bool:
        """Whether a saved position is gone to directly; else elements are made again and dropped."""
        return True

    @property
    def keeps_count(self) -> bool:
        """Of a stage that makes one element of each: whether it leaves none out."""
        return True

    @property
    def wants_origin(self) -> bool:
        """Whether it must know the file and the record number of the elements that it gets."""
        return False

    @property
    def counts(self) -> bool:
        """Whether its states count elements of its inputs, which must then come in the same order every time."""
        return False

    def in_order(self) -> Node:
        """The same stage, keeping the order also where the user leaves it free; see `keep_order.py`."""
        return self

    @abstractmethod
    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Make an iterator at the beginning, or where `state` (of `NodeIterator.save`, as JSON) says."""

    def begin(self, context: Context, state: Any = None) -> NodeIterator:
        """Start, and put round it what the context asks for. What stages call on their inputs."""
        iterator = self.start(context, state)
        return iterator if context.wrap is None else context.wrap(self, iterator)

    @abstractmethod
    def element_spec(self) -> Any:
        """The structure of an element, with specs in the place of values."""

    @property
    def opaque(self) -> bool:
        """Whether `element_spec` must run a user's function to find out, and sizes in it may be of one element only."""
        return any(node.opaque for node in self.inputs)

    @abstractmethod
    def cardinality(self) -> int:
        """The number of elements, INFINITE_CARDINALITY or UNKNOWN_CARDINALITY."""

    @property
    def label(self) -> str:
        """The stage as the user wrote it, such as `batch(32)`."""
        return type(self).__name__.removesuffix("Node").lower()


def _every(chunk: Chunk, first: int, step: int) -> Chunk:
    if step == 1:
        return chunk.slice(min(first, len(chunk)), len(chunk))
    return chunk.take(np.arange(first, len(chunk), step))


class UnaryIterator(NodeIterator):
    """A stage with one input that it pulls from directly. Its state is that of its input unless it says otherwise."""

    def __init__(self, input: NodeIterator) -> None:
        self.input = input

    def save(self) -> Any:
        """That of the input."""
        return self.input.save()

    def close(self) -> None:
        """Close the input."""
        self.input.close()


class Inbox:
    """The end of an input that a stage reads from, when it may use less than it pulled.

    It remembers where the input stood before the run at hand and how much of the run was used: that is its state.
    Going on from there means to start the input at that place, and to drop what was used already.
    """

    __slots__ = (
        "_broken",
        "_chunk",
        "_context",
        "_error",
        "_node",
        "_offset",
        "_skip",
        "_state",
        "_used",
        "input",
    )

    def __init__(self, node: Node, context: Context, state: Any = None) -> None:
        self._node = node
        self._context = context
        self._broken = False  # something was interrupted, and nobody will notice if the input begins again
        self._skip = 0  # elements to be dropped then
        self.input = node.begin(context, None if state is None else state["at"])
        self._chunk: Chunk | None = None  # the run at hand, or what is left of it
        self._error: Exception | None = None  # after its last element
        self._offset = 0  # number in the run of the chunk's first element
        self._used = 0  # elements of the run that were given
        self._state: Any = None  # of the input, before the run
        if state is not None:
            self._drop(state["skip"])

    def _drop(self, count: int) -> None:
        while count > 0 and (run := self.take(count)) is not None:
            count -= len(run.chunk)
            if run.error is not None:
                if count > 0:
                    raise run.error
                self.unread(run, len(run.chunk))  # not seen yet: it comes after the last element that was

    def take(self, n: int) -> Run | None:
        """Give at most n elements; what was left over first, without pulling."""
        if self._broken:
            self._begin_again()
        if self._chunk is None:
            run = self._pull_safely(n)
            if run is None:
                return None
            self._chunk, self._error, self._offset, self._used = run.chunk, run.error, 0, 0
        chunk, first = self._chunk, self._used - self._offset
        end = min(len(chunk), first + n)
        part = chunk if first == 0 and end == len(chunk) else chunk.slice(first, end)
        self._used += end - first
        if end < len(chunk):
            return Run(part, None, self._state)
        error, self._error, self._chunk = self._error, None, None
        return Run(part, error, self._state)

    def _pull_safely(self, n: int) -> Run | None:
        """Note where the input stands, and pull; one that was interrupted begins there once more."""
        self._state = self.input.save()
        try:
            return self.pull(n)
        except Exception:
            raise
        except BaseException:  # KeyboardInterrupt, perhaps in the middle of some counting
            self._broken, self._skip = self._node.pure and not self._context.closed, 0
            raise

    def _begin_again(self) -> None:
        state, skip = to_json(self._state), self._skip
        self.input.close()
        try:
            self.input, self._broken = self._node.begin(self._context, state), False
            self._drop(skip)
        except BaseException:
            self._broken, self._skip, self._state, self._chunk = True, skip, state, None
            raise

    def pull(self, n: int) -> Run | None:
        """Pull a run of the input; what is left of the run before is not looked at."""
        return self.input.pull(n)

    def unread(self, run: Run, used: int) -> None:
        """Put back the run that was taken last, except its first `used` elements, and its error.

        An element whose function failed counts as used.
        """
        left = len(run.chunk) - used
        if self._chunk is None and (left or run.error is not None):
            self._chunk, self._error, self._offset = run.chunk, run.error, self._used - len(run.chunk)
        self._used -= left

    def make_again(self, run: Run) -> None:
        """Put back the run that was taken last, to elements of which somebody may have written.

        The input must be pure: it makes them again.
        """
        self.unread(run, 0)
        if not self._context.closed:
            self._broken, self._skip = True, self._used
            self._chunk = self._error = None

    def save(self) -> Any:
        """Say where the stage stands."""
        if self._broken:
            return {"at": self._state, "skip": self._skip}
        if self._chunk is None:
            return {"at": self.input.save(), "skip": 0}
        return {"at": self._state, "skip": self._used}

    def close(self) -> None:
        """Close the input."""
        self._chunk = self._error = None
        self.input.close()


def to_json(value: Any) -> Any:
    """Replace what is to be written only now by what it writes."""
    if isinstance(value, dict):
        return {key: to_json(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [to_json(item) for item in value]
    if isinstance(value, np.integer):
        return int(value)
    return to_json(value.to_json()) if hasattr(value, "to_json") else value


def first_element(node: Node) -> Any:
    """Run a pipeline for its first element, to see what its elements are.

    Raises:
        StopIteration: there is none.
    """
    iterator = node.begin(Context())
    try:
        run = iterator.pull(1)
        if run is None:
            raise StopIteration
        if not len(run.chunk):
            assert run.error is not None
            raise run.error
        return run.chunk.objects()[0]
    finally:
        iterator.close()
