"""prefetch: the next elements made ready in the background.

One task at a time pulls runs from the input until enough elements are there, then ends; taking some begins the next
one. Of an input where it can be observed, single elements are pulled, never more than the depth ahead; of any other,
runs as large as the consumer asks for.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.data.elements.chunk import Chunk, ObjectChunk, concat
from tfrkit.data.engine.background import BackgroundInput, BackgroundIterator
from tfrkit.data.engine.cursor import place, read_place
from tfrkit.data.engine.node import AUTOTUNE, Context, Node, NodeIterator, Run, UnaryNode

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


class PrefetchIterator(BackgroundIterator):
    """The elements of a node, read ahead."""

    def __init__(self, node: Node, context: Context, state: Any, depth: int) -> None:
        self._shared = _Queue(node, context, state, depth)

    def pull(self, n: int) -> Run | None:
        """Return what is ready; wait if nothing is."""
        queue: _Queue = self._shared
        run = queue.take_ready(n)
        if run is None:
            queue.expect(n)
            run = queue.take_ready(n)
        if run is not None:
            queue.refill(n)
        return run


class _Entry:
    """A run that is ready, less what was given of it."""

    __slots__ = ("chunk", "error", "given", "place")

    def __init__(self, place: dict[str, Any], chunk: Chunk, error: BaseException | None) -> None:
        self.place = place
        self.chunk = chunk
        self.error = error
        self.given = 0


class _Queue(BackgroundInput):
    """Runs that are ready, and how many more are wanted."""

    def __init__(self, node: Node, context: Context, state: Any, depth: int) -> None:
        super().__init__(node, context, state)
        self._pure = node.pure
        self._tuned = depth == AUTOTUNE
        self._depth = 1 if depth == AUTOTUNE else depth
        self._asked = 1  # what the consumer asked for last
        self._entries: deque[_Entry] = deque()
        self._count = 0  # elements and errors in the entries
        self._nbytes = 1  # of one element

    def take_ready(self, n: int) -> Run | None:
        """Return at most n elements of what is ready, as far as the first error; None if nothing is."""
        chunks: list[Chunk] = []
        error: BaseException | None = None
        with self.lock:
            while self._entries and n > 0 and error is None:
                entry = self._entries[0]
                size = len(entry.chunk) - entry.given
                used = min(n, size)
                if used:
                    chunks.append(entry.chunk.slice(entry.given, entry.given + used))
                entry.given += used
                n -= used
                self._count -= used
                if used == size:
                    if chunks and not isinstance(entry.error, Exception | None):
                        break  # what is raised here, alone
                    error = entry.error
                    self._count -= error is not None
                    self._entries.popleft()  # last: an interruption after it leaves the count right
        if not chunks and error is None:
            return None
        if error is not None and not isinstance(error, Exception):
            raise error
        return Run(concat(chunks) if len(chunks) != 1 else chunks[0], error)

    def expect(self, n: int) -> None:
        """Wait until something is ready, or the end is reached."""
        with self.lock:
            if self._tuned and self._depth < self._most():
                self._depth *= 2  # the consumer was faster
        self.wait(self.ready, lambda: self.refill(n))

    def ready(self) -> bool:
        """Whether there is an entry, or never will be."""
        return bool(self._entries) or self.ended

    def refill(self, n: int) -> None:
        """Begin to pull if there is room; n is what the consumer asks for."""
        with self.lock:
            self._asked = n
            low = self._count <= self._limit() // 2
            idle = not (self._tickets or self.ended or self.closed)
        if low and idle:
            self.begin(self._work)

    def save(self) -> dict[str, Any]:
        with self.lock:
            if self._entries:
                entry = self._entries[0]
                at, skip = read_place(entry.place)
                return place(at, skip + entry.given)
            return self.now()

    def close(self) -> None:
        super().close()
        with self.lock:
            self._entries.clear()

    def _limit(self) -> int:
        depth = min(self._depth, self._most()) if self._tuned else self._depth
        return max(depth, 2 * self._asked) if self._pure else depth

    def _most(self) -> int:
        """Elements that AUTOTUNE may keep ready; they may have become larger since it settled."""
        return min(_MAX_DEPTH, max(1, _MAX_BYTES // self._nbytes))

    def _work(self, ticket: object) -> None:
        first, last = True, False
        while True:
            with self.lock:
                room = self._limit() - self._count
                ends = self.closed or self.ended or self.pulling or room <= 0
                if ends or (self.stopped and not first):
                    last = self.leave(ticket)
                    break
                self.reserve()
            self._step(min(room, self._asked) if self._pure else 1)
            first = False
        if last:
            self.finish()
        self.ring()

    def _step(self, n: int) -> None:
        run: Run | None = None
        failure: BaseException | None = None
        try:
            run = self.take(n)
        except BaseException as error:  # the consumer gets it
            failure = error
        with self.lock:
            before = self.now()
            self.release(ended=run is None and failure is None)
            if failure is not None:
                self._keep(_Entry(before, ObjectChunk([]), failure))
            elif run is not None:
                self._keep(_Entry(before, run.chunk, run.error))
                if self._tuned and len(run.chunk):
                    self._nbytes = max(1, run.chunk.nbytes // len(run.chunk))
        self.ring()

    def _keep(self, entry: _Entry) -> None:
        if not self.closed:
            self._entries.append(entry)
            self._count += len(entry.chunk) + (entry.error is not None)
