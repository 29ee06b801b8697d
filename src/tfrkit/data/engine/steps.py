"""Stages that are written one element at a time.

Such a stage says in `steps` what comes next and where it stands; here it is run. What it reads is a `StepInput`, which
knows its own place. A stage whose place is made of users' values, which no state holds, does not seek: to resume, it
begins anew, and what was seen is dropped.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol

from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.engine.cursor import Cursor, Segment
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run
from tfrkit.data.shuffle.epoch_seeds import find_seeds, restore_seeds, save_seeds

__all__ = ["Open", "Save", "Step", "StepInput", "StepsNode"]


class StepInput(Cursor):
    """The elements of a node one by one; an error is raised in its place, and what follows it comes next.

    `step`: what it and others gave in the step that is under way, each with its input.
    """

    def __init__(
        self, node: Node, context: Context, state: Any, step: list[tuple[StepInput, Segment]]
    ) -> None:
        super().__init__(node, context, state, objects=True)
        self._step = step

    def __iter__(self) -> Iterator[Any]:
        return self

    def __next__(self) -> Any:
        run = self.take_one()
        if run is None:
            raise StopIteration
        self._step += ((self, run),)  # not a call: an interruption finds it here
        if run.error is not None:
            raise run.error
        return run.chunk.objects()[0]


class Open(Protocol):
    """Starts a node (of the inputs, or one that a user's function made), at a position that its StepInput saved."""

    def __call__(self, node: Node, state: Any = None) -> StepInput: ...


Step = Callable[[], Any]
Save = Callable[[], Any]


@dataclass(frozen=True, eq=False)
class StepsNode(Node):
    """A stage that makes elements one at a time."""

    @abstractmethod
    def steps(self, begin: Open, state: Any) -> tuple[Step, Save]:
        """Begin, or resume: return the function that makes the next element, and the one that says where it stands.

        The first raises StopIteration at the end; after any other error it is called again for what follows. The
        second is not asked if the stage does not seek.

        Args:
            begin: starts a node.
            state: None, or what the second function returned, as JSON.
        """

    pure = False  # most of them call a user's function

    counts = True  # elements that a position counts come in the same order again

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        return _StepsIterator(self, context, state)


class _StepsIterator(NodeIterator):
    def __init__(self, node: StepsNode, context: Context, state: Any) -> None:
        self._context = context
        self._open: list[StepInput] = []
        self._taken: list[tuple[StepInput, Segment]] = []  # by the step under way
        self._held: list[Any] = []  # elements of a pull that was interrupted
        self._given = 0  # elements and errors
        self._ended = state is not None and state["at"] is None
        self._step: Any = None
        self._save: Any = None
        if self._ended:
            return
        at = None if state is None else state["at"]
        if node.seeks:
            self._step, self._save = node.steps(self._begin, at)
            return
        seeds = find_seeds(node)
        if at is not None:
            restore_seeds(seeds, at["seeds"])
        start = save_seeds(seeds)
        self._step, _ = node.steps(self._begin, None)
        self._save = lambda: {"seeds": start, "given": self._given}
        while at is not None and self._given < at["given"] and self.pull(1) is not None:
            pass

    def _begin(self, node: Node, state: Any = None) -> StepInput:
        elements = StepInput(node, self._context, state, self._taken)
        self._open.append(elements)
        return elements

    def pull(self, n: int) -> Run | None:
        """Take steps until there are n elements, or an error."""
        made, self._held = self._held[:n], self._held[n:]
        error: Exception | None = None
        try:
            while len(made) < n and not self._ended and error is None:
                try:
                    made += (self._step(),)
                    del self._taken[
                        :
                    ]  # neither is a call, so that an interruption comes before both or after them
                except StopIteration:
                    self._ended = True
                except Exception as failure:
                    error = failure
            run = Run(ObjectChunk(made), error) if made or error is not None else None
            given = self._given + len(made) + (error is not None)
        except BaseException:  # such as KeyboardInterrupt: as if the step had not begun
            self._held = made + self._held
            for elements, each in self._taken:
                elements.undo((each,))
            raise
        self._given = given
        del self._taken[:]
        return run

    def save(self) -> Any:
        """Where the steps stand; None at the end."""
        return {"at": None if self._ended else self._save()}

    def close(self) -> None:
        """Close and release all that was begun: the steps refer to this iterator."""
        self._ended = True
        self._step = self._save = None
        for elements in self._open:
            elements.close()
        self._open = []
