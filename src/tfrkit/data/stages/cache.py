"""cache: elements of a complete pass, kept in memory.

The first iterator that sees the end of the input keeps what it saw; iterators that begin later read that. Elements are
kept as they came: records stay references into their blocks, columns stay columns. A state says where the pass began
whose elements are read, and how far it was: resuming in another process makes that pass again.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Final

from tfrkit.data.elements.chunk import Chunk, ObjectChunk, concat
from tfrkit.data.engine.node import Context, NodeIterator, Run, UnaryNode, to_json
from tfrkit.errors import CancelledError

__all__ = ["CacheMemory", "CacheNode"]

_JOIN_ELEMENTS: Final = 1024  # chunks smaller than this are joined when the pass is over


class CacheMemory:
    """What all iterators of one dataset share: the kept elements, once there are any. It pickles empty."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self.kept: _Kept | None = None

    def keep(self, kept: _Kept) -> None:
        """Keep a complete pass, unless one is kept already."""
        with self._lock:
            if self.kept is None:
                self.kept = kept

    def __reduce__(self) -> tuple[Any, ...]:
        return CacheMemory, ()


@dataclass(frozen=True, slots=True, eq=False)
class _Kept:
    """The elements of a complete pass, and where it began (as JSON)."""

    chunks: tuple[Chunk, ...]
    begin: Any


@dataclass(frozen=True, eq=False)
class CacheNode(UnaryNode):
    """The input, or what was kept of it."""

    memory: CacheMemory = field(metadata={"unsigned": True})

    verb = "cache"
    unindexable = "Leave cache() out: what has a number is looked up by it."
    seeks = False  # what was kept is not part of a state
    counts = True

    @property
    def pure(self) -> bool:
        """Pulling ahead may complete a pass, which can be observed; reading what is kept cannot."""
        return self.memory.kept is not None

    def measured(self, add_call: Callable[[float], None]) -> CacheNode:
        """With a memory of its own, unless something is kept."""
        return self if self.memory.kept is not None else replace(self, memory=CacheMemory())

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin with what is kept, or with the input; from a state, with the pass that it belongs to."""
        kept = self.memory.kept
        if state is None:
            return _Reader(kept) if kept is not None else _Writer(self, context)
        if "read" not in state:
            return _Writer(self, context, state)
        if kept is None or kept.begin != state["begin"]:
            kept = _Writer(self, context, {"begin": state["begin"], "seen": 0, "failed": 0}).finish()
        return _Reader(kept, state["read"])


class _Writer(NodeIterator):
    """Passes on the input, and keeps it when it has seen everything."""

    def __init__(self, node: CacheNode, context: Context, state: Any = None) -> None:
        self._memory = node.memory
        self._context = context
        self._input = node.input.begin(context, None if state is None else state["begin"])
        self._begin = self._input.save() if state is None else state["begin"]
        self._size = node.input.cardinality()
        self._chunks: list[Chunk] = []
        self._seen = 0  # elements
        self._failed = 0  # errors; they are not kept
        self._kept: _Kept | None = None
        self._left: Run | None = None  # what the replay pulled and the state had not seen
        if state is not None:
            self._replay(state["seen"], state["failed"])

    def _replay(self, seen: int, failed: int) -> None:
        """Pull what was passed on before the state was saved."""
        while self._seen < seen or self._failed < failed:
            run = self._input.pull(max(1, seen - self._seen))
            if run is None:
                return
            self._add(run.chunk)
            if run.error is None:
                continue
            if self._seen >= seen and self._failed >= failed:
                self._left = Run(run.chunk.slice(0, 0), run.error)
                return
            self._failed += 1

    def pull(self, n: int) -> Run | None:
        """Pull and remember; an error is passed on and forgotten."""
        run, self._left = self._left or self._input.pull(n), None
        if run is None:
            if not self._context.closed:  # else it may be no end
                self._keep()
            return None
        chunk = self._add(run.chunk)
        self._failed += run.error is not None
        if self._seen == self._size:
            self._keep()
        return Run(_shared(chunk), run.error)

    def finish(self) -> _Kept:
        """Pull all that there is.

        Raises:
            CancelledError: the pipeline was closed meanwhile.
        """
        while self._kept is None:  # what follows the last element may be errors without end
            if self.pull(_JOIN_ELEMENTS) is None and self._context.closed:
                raise CancelledError("the iterator was closed")
        self.close()
        return self._kept

    def _add(self, chunk: Chunk) -> Chunk:
        """Count elements, and keep them if not all are kept already: they are frozen then."""
        self._seen += len(chunk)
        if len(chunk) and self._kept is None:
            chunk = chunk.frozen()
            self._chunks.append(chunk)
        return chunk

    def _keep(self) -> None:
        if self._kept is None:
            kept = tuple(chunk.frozen() for chunk in _joined(self._chunks))
            self._kept = _Kept(kept, to_json(self._begin))
            self._chunks = []
            self._memory.keep(self._kept)

    def save(self) -> Any:
        return {"begin": self._begin, "seen": self._seen, "failed": self._failed}

    def close(self) -> None:
        self._input.close()


class _Reader(NodeIterator):
    """Returns what is kept."""

    def __init__(self, kept: _Kept, done: int = 0) -> None:
        self._kept = kept
        self._done = done
        self._chunk = 0  # the one at hand
        self._row = done  # its next element
        while self._chunk < len(kept.chunks) and self._row >= len(kept.chunks[self._chunk]):
            self._row -= len(kept.chunks[self._chunk])
            self._chunk += 1

    def pull(self, n: int) -> Run | None:
        if self._chunk == len(self._kept.chunks):
            return None
        chunk = self._kept.chunks[self._chunk]
        end = min(len(chunk), self._row + n)
        part = _shared(chunk.slice(self._row, end))
        self._done += end - self._row
        self._row = end
        if end == len(chunk):
            self._chunk, self._row = self._chunk + 1, 0
        return Run(part)

    def save(self) -> Any:
        return {"begin": self._kept.begin, "read": self._done}


def _shared(chunk: Chunk) -> Chunk:
    """What is kept, for a consumer: its dicts are new in every pass, since consumers may change them."""
    return chunk.frozen() if isinstance(chunk, ObjectChunk) else chunk


def _joined(chunks: list[Chunk]) -> list[Chunk]:
    """The same elements in fewer chunks: single ones cost more than what is in them."""
    joined: list[Chunk] = []
    small: list[Chunk] = []
    count = 0
    for chunk in chunks:
        small.append(chunk)
        count += len(chunk)
        if count >= _JOIN_ELEMENTS:
            joined.append(concat(small))
            small, count = [], 0
    return [*joined, concat(small)] if small else joined
