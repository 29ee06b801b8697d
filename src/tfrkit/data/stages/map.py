"""map: a function on every element.

Here is the node, and what calls the function in the consumer's thread, for elements that were asked for
and no others. Calls in several threads are in `parallel_map.py`.
"""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from tfrkit.data.elements.chunk import Chunk, ObjectChunk, concat
from tfrkit.data.elements.owned import may_write
from tfrkit.data.engine.call_each import call_each, name_of
from tfrkit.data.engine.chunk_node import ChunkFunction, ChunkIterator
from tfrkit.data.engine.cursor import Cursor
from tfrkit.data.engine.function_spec import function_spec
from tfrkit.data.engine.lookup import Lookup, MadeLookup
from tfrkit.data.engine.node import AUTOTUNE, Context, Node, NodeIterator, UnaryNode
from tfrkit.data.engine.thread_choice import CHEAP_SECONDS
from tfrkit.data.stages.parallel_map import ParallelMapIterator
from tfrkit.errors import InvalidArgumentError
from tfrkit.threads import spawn_all

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
    unindexable = ""

    def __post_init__(self) -> None:
        check_parallel(self.parallel)

    @property
    def threaded(self) -> bool:
        return self.parallel is not None

    @property
    def takes(self) -> int:
        return int(self.parallel is None or self.deterministic is not False)

    def in_any_order(self) -> Node:
        return dataclasses.replace(self, deterministic=False) if self.deterministic is None else self

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

    def unordered(self, context: Context) -> bool:
        ordered = context.deterministic if self.deterministic is None else self.deterministic
        return self.parallel is not None and not ordered

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        if self.parallel is None:
            cursor = Cursor(self.input, context, state, objects=True, owned=may_write(self.function))
            return ChunkIterator(functools.partial(_call, self.function, cursor.owned, context), cursor)
        ordered = not self.unordered(context)
        return ParallelMapIterator(self.input, context, state, self.function, self.parallel, ordered=ordered)

    def used(self, count: int) -> int | None:
        return count

    def lookup(self, context: Context) -> Lookup:
        call = functools.partial(_call, self.function, False, context)
        if self.parallel is not None:
            call = functools.partial(_call_in_threads, call, context.threads)
        return MadeLookup(self.input.lookup(context), call)

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


def _call(
    function: Callable[..., Any], owned: bool, context: Context, chunk: Chunk
) -> tuple[Chunk, Exception | None]:
    made, error = call_each(function, chunk.objects(), owned=owned)
    return ObjectChunk.made_of(chunk, made, located=context.origin), error


def _call_in_threads(call: ChunkFunction, threads: int, chunk: Chunk) -> tuple[Chunk, Exception | None]:
    """The same for runs of a chunk at once. Not in the bounded pool: a function that reads files waits for that."""
    each = -(-len(chunk) // max(1, threads))
    parts = [chunk.slice(first, min(first + each, len(chunk))) for first in range(0, len(chunk), each)]
    made: list[Chunk] = []
    for part, error in spawn_all(call, parts, threads):
        made.append(part)
        if error is not None:
            return concat(made), error
    return concat(made), None


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
