"""map: a function on every element.

Here is the node, and the iterator that calls the function in the consumer's thread, for elements that were asked for
and no others. Calls in several threads are in `parallel_map.py`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfrkit.data.elements.chunk import Objects
from tfrkit.data.elements.owned import may_write
from tfrkit.data.engine.call_each import call_each
from tfrkit.data.engine.function_spec import function_spec, name_of
from tfrkit.data.engine.node import AUTOTUNE, Context, Node, NodeIterator, Run
from tfrkit.data.engine.read_ahead import ObjectsInbox
from tfrkit.data.stages.parallel_map import ParallelMapIterator
from tfrkit.errors import InvalidArgumentError

__all__ = ["AutoMapNode", "MapNode", "check_parallel"]


@dataclass(frozen=True, eq=False)
class MapNode(Node):
    """What a function makes of every element; `parallel` calls at once, if it is not None."""

    input: Node
    function: Callable[..., Any]
    parallel: int | None
    deterministic: bool | None

    def __post_init__(self) -> None:
        check_parallel(self.parallel)

    @property
    def pure(self) -> bool:
        """A user's function can notice."""
        return False

    @property
    def opaque(self) -> bool:
        """Only the function knows what it makes."""
        return True

    def in_order(self) -> Node:
        """With results in the order of the elements."""
        return self if self.deterministic else dataclasses.replace(self, deterministic=True)

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin at an element of the input."""
        if self.parallel is None:
            inbox = ObjectsInbox(self.input, context, state, owned=may_write(self.function))
            return _MapIterator(self.function, inbox, origin=context.origin)
        ordered = context.deterministic if self.deterministic is None else self.deterministic
        return ParallelMapIterator(self.input, context, state, self.function, self.parallel, ordered=ordered)

    def element_spec(self) -> Any:
        """What the function makes of an element."""
        return function_spec(self, self.function)

    def cardinality(self) -> int:
        """As the input's."""
        return self.input.cardinality()

    @property
    def label(self) -> str:
        """As written."""
        calls = {None: "", AUTOTUNE: ", num_parallel_calls=AUTOTUNE"}
        return f"map({name_of(self.function)}{calls.get(self.parallel, f', num_parallel_calls={self.parallel}')})"


@dataclass(frozen=True, eq=False)
class AutoMapNode(MapNode):
    """A map of which nobody said how many calls may run at once: as many as are worth it, if they need no order.

    Results keep their order. TensorFlow does so with every function that has no stateful operation in it.
    """

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin at an element of the input."""
        return ParallelMapIterator(
            self.input, context, state, self.function, AUTOTUNE, ordered=True, watched=True
        )


def check_parallel(parallel: int | None) -> None:
    """Refuse a number of parallel calls that TensorFlow refuses.

    Raises:
        InvalidArgumentError: it is neither AUTOTUNE nor at least 1.
    """
    if parallel is not None and parallel != AUTOTUNE and parallel < 1:
        raise InvalidArgumentError("num_parallel_calls must be greater than zero.")


class _MapIterator(NodeIterator):
    def __init__(self, function: Callable[..., Any], inbox: ObjectsInbox, *, origin: bool) -> None:
        self._function = function
        self._inbox = inbox
        self._origin = origin

    def pull(self, n: int) -> Run | None:
        """Pull n and call the function with each; what follows one that fails is left for the next pull."""
        run = self._inbox.take(n)
        if run is None:
            return None
        chunk, failure = run.chunk, run.error
        owned = self._inbox.owned
        try:
            made, error = call_each(self._function, chunk.objects(), owned=owned)
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self._inbox.make_again(run) if owned else self._inbox.unread(run, 0)
            raise
        if error is not None:
            failure = error
            self._inbox.unread(run, len(made) + 1)
            chunk = chunk.slice(0, len(made))
        return Run(Objects(made, chunk.origin if self._origin else None), failure)

    def save(self) -> Any:
        """Where the input stands."""
        return self._inbox.save()

    def close(self) -> None:
        """Close the input."""
        self._inbox.close()
