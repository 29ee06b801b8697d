"""Stages that are written one element at a time, and resume from a saved state by replaying from the beginning.

It is the simplest thing that fully works for verbs whose state is made of elements and of users' values (windows,
groups, running totals): such a stage says in `steps` what comes next; here it is run, counted and replayed.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.engine.cursor import Cursor
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds

__all__ = ["Open", "Step", "StepInput", "StepsNode"]


class StepInput:
    """The elements of a node one by one; an error is raised in its place, and what follows it comes next."""

    def __init__(self, node: Node, context: Context) -> None:
        self._cursor = Cursor(node, context, objects=True)

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        run = self._cursor.take(1)
        if run is None:
            raise StopIteration
        if len(run.chunk):
            if run.error is not None:
                self._cursor.put_back(run, 1)
            return run.chunk.objects()[0]
        assert run.error is not None
        raise run.error

    def close(self) -> None:
        """Close the node's iterator."""
        self._cursor.close()


Open = Callable[[Node], StepInput]
Step = Callable[[], Any]


@dataclass(frozen=True, eq=False)
class StepsNode(Node):
    """A stage that makes elements one at a time."""

    @abstractmethod
    def steps(self, begin: Open) -> Step:
        """Begin: return the function that makes the next element.

        It raises StopIteration at the end; after any other error it is called again for what follows.

        Args:
            begin: starts a node (of the inputs, or one that a user's function made).
        """

    pure = False  # most of them call a user's function

    seeks = False  # elements are made again

    counts = True  # the same ones, in the same order

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _StepsIterator(self, context, state)


class _StepsIterator(NodeIterator):
    def __init__(self, node: StepsNode, context: Context, state: Any) -> None:
        seeds = find_seeds(node)
        if state is not None:
            restore_seeds(seeds, state["seeds"])
        self._seeds = save_seeds(seeds)
        self._context = context
        self._open: list[StepInput] = []
        self._step = node.steps(self._begin)
        self._given = 0  # elements and errors
        self._ended = False
        while state is not None and self._given < state["given"]:
            if self.pull(1) is None:
                break

    def _begin(self, node: Node) -> StepInput:
        elements = StepInput(node, self._context)
        self._open.append(elements)
        return elements

    def pull(self, n: int) -> Run | None:
        """Take steps until there are n elements, or an error."""
        made: list[Any] = []
        error: Exception | None = None
        while len(made) < n and not self._ended and error is None:
            try:
                made.append(self._step())
            except StopIteration:
                self._ended = True
            except Exception as failure:
                error = failure
        self._given += len(made) + (error is not None)
        return Run(ObjectChunk(made), error) if made or error is not None else None

    def save(self) -> Any:
        return {"seeds": self._seeds, "given": self._given}

    def close(self) -> None:
        """Close and release all that was begun: the steps refer to this iterator."""
        self._ended = True
        self._step = _ended
        for elements in self._open:
            elements.close()
        self._open = []


def _ended() -> Any:
    raise StopIteration
