"""map: a function on every element.

Here is the node, and the iterator that calls the function in the consumer's thread, for elements that were asked for
and no others. Calls in several threads are in `parallel_map.py`.
"""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfrkit.data.elements.chunk import ObjectChunk
from tfrkit.data.elements.owned import may_write
from tfrkit.data.engine.call_each import call_each
from tfrkit.data.engine.cursor import Cursor, CursorIterator
from tfrkit.data.engine.function_spec import function_spec, name_of
from tfrkit.data.engine.node import AUTOTUNE, Context, Node, NodeIterator, Run, UnaryNode
from tfrkit.data.engine.thread_choice import CHEAP_SECONDS
from tfrkit.data.stages.parallel_map import ParallelMapIterator
from tfrkit.errors import InvalidArgumentError

__all__ = ["MapNode", "check_parallel"]


@dataclass(frozen=True, eq=False)
class MapNode(UnaryNode):
    """What a function makes of every element; `parallel` calls at once, if it is not None."""

    function: Callable[..., Any]
    parallel: int | None
    deterministic: bool | None

    verb = "map"
    opaque = True
    pure = False
    calls_function = True

    def __post_init__(self) -> None:
        check_parallel(self.parallel)

    @property
    def threaded(self) -> bool:
        return self.parallel is not None

    def in_order(self) -> Node:
        return self if self.deterministic else dataclasses.replace(self, deterministic=True)

    def measured(self, add_call: Callable[[float], None]) -> Node:
        """Calls in the consumer's thread are part of its pulls."""
        if self.parallel is None:
            return self
        return dataclasses.replace(self, function=_TimedFunction(self.function, add_call))

    def advice(self, each: float, *, waits: bool) -> str:
        if self.parallel is not None:
            if self.parallel == AUTOTUNE or waits:
                return ""
            return (
                f"num_parallel_calls=AUTOTUNE instead of {self.parallel} would find out how many calls help"
            )
        if waits:
            return "it mostly waits; num_parallel_calls=16 or so lets many calls wait at once"
        if each < CHEAP_SECONDS:
            return "it is called once for every element; after .batch(n) it can work on whole arrays"
        return "num_parallel_calls=AUTOTUNE lets several calls run at once where they leave Python's lock"

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        if self.parallel is None:
            cursor = Cursor(self.input, context, state, objects=True, owned=may_write(self.function))
            return _MapIterator(self.function, cursor, origin=context.origin)
        ordered = context.deterministic if self.deterministic is None else self.deterministic
        return ParallelMapIterator(self.input, context, state, self.function, self.parallel, ordered=ordered)

    def element_spec(self) -> Any:
        return function_spec(self, self.function)

    def _shown(self) -> str:
        calls = {None: "", AUTOTUNE: ", num_parallel_calls=AUTOTUNE"}
        return f"{name_of(self.function)}{calls.get(self.parallel, f', num_parallel_calls={self.parallel}')}"


def check_parallel(parallel: int | None) -> None:
    """Refuse a number of parallel calls that TensorFlow refuses.

    Raises:
        InvalidArgumentError: it is neither AUTOTUNE nor at least 1.
    """
    if parallel is not None and parallel != AUTOTUNE and parallel < 1:
        raise InvalidArgumentError("num_parallel_calls must be greater than zero.")


class _MapIterator(CursorIterator):
    def __init__(self, function: Callable[..., Any], cursor: Cursor, *, origin: bool) -> None:
        super().__init__(cursor)
        self._function = function
        self._origin = origin

    def pull(self, n: int) -> Run | None:
        """Pull n and call the function with each; what follows one that fails is left for the next pull."""
        run = self._cursor.take(n)
        if run is None:
            return None
        chunk, failure = run.chunk, run.error
        owned = self._cursor.owned
        try:
            made, error = call_each(self._function, chunk.objects(), owned=owned)
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self._cursor.make_again(run) if owned else self._cursor.put_back(run, 0)
            raise
        if error is not None:
            failure = error
            self._cursor.put_back(run, len(made) + 1)
            chunk = chunk.slice(0, len(made))
        return Run(ObjectChunk(made, chunk.origin if self._origin else None), failure)


class _TimedFunction:
    """A function whose calls are timed."""

    def __init__(self, function: Callable[..., Any], add: Callable[[float], None]) -> None:
        self._function = function
        self._add = add
        self.__name__ = getattr(function, "__name__", type(function).__name__)
        self.keeps_values = getattr(function, "keeps_values", False)

    def __call__(self, *args: Any) -> Any:
        start = time.perf_counter()
        try:
            return self._function(*args)
        finally:
            self._add(time.perf_counter() - start)
