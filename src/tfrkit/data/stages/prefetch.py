"""prefetch: the next elements made ready in the background.

One thread pulls runs from the input until enough elements are there, then ends; taking some begins the next one. Of an
input where it can be observed, single elements are pulled, never more than the depth ahead; of any other, runs as large
as the consumer asks for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from tfrkit.data.engine.background import Background, Slot
from tfrkit.data.engine.lookup import Lookup
from tfrkit.data.engine.node import AUTOTUNE, Context, Node, NodeIterator, UnaryNode

__all__ = ["PrefetchIterator", "PrefetchNode"]

_MAX_DEPTH: Final = 256  # AUTOTUNE goes no further, in elements
_MAX_BYTES: Final = 64 << 20  # and in bytes


@dataclass(frozen=True, eq=False)
class PrefetchNode(UnaryNode):
    """At most `depth` elements ahead; AUTOTUNE finds out how many, 0 does nothing."""

    depth: int

    verb = "prefetch"
    selects = True
    threaded = True
    unindexable = ""

    def used(self, count: int) -> int | None:
        return count

    def lookup(self, context: Context) -> Lookup:
        return self.input.lookup(context)

    @property
    def takes(self) -> int:
        return int(self.depth != 0)

    @property
    def is_transparent(self) -> bool:  # type: ignore[override]  # only if it does nothing
        return self.depth == 0

    @property
    def prefetches(self) -> bool:
        return self.depth != 0

    def fused(self) -> Node | None:
        return self.input.fused_with_prefetch(self.depth) if self.depth else None

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        if self.depth == 0:
            return self.input.begin(context, state)
        return PrefetchIterator(self.input, context, state, self.depth)

    def _shown(self) -> str:
        return "AUTOTUNE" if self.depth == AUTOTUNE else str(self.depth)


class PrefetchIterator(Background):
    """The elements of a node, read ahead."""

    def __init__(self, node: Node, context: Context, state: Any, depth: int) -> None:
        super().__init__(node, context, state)
        self._tuned = depth == AUTOTUNE
        self._depth = 1 if depth == AUTOTUNE else depth
        self._nbytes = 1  # of one element

    def room(self) -> int:
        """Begin when half of the elements were taken, and then read on until there are enough."""
        limit = min(self._depth, self._most()) if self._tuned else self._depth
        if self._pure:
            limit = max(limit, 2 * self.asked)
        if not self._tickets and self._left > limit // 2:
            return 0
        return min(limit - self._left, self.asked if self._pure else 1)

    def taken(self, slot: Slot) -> None:
        """What was taken is what is returned."""
        (segment,) = slot.segments
        slot.finish(segment.chunk, segment.error)
        if self._tuned and len(segment.chunk):
            self._nbytes = max(1, segment.chunk.nbytes // len(segment.chunk))

    def work(self, slot: Slot, kept: type[BaseException]) -> None:
        pass

    def _wait(self) -> None:
        with self.lock:
            if self._tuned and self._depth < self._most():
                self._depth *= 2  # the consumer was faster
        super()._wait()

    def _most(self) -> int:
        """Elements that AUTOTUNE may keep ready; they may have become larger since it settled."""
        return min(_MAX_DEPTH, max(1, _MAX_BYTES // self._nbytes))
