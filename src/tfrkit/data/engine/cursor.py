"""Cursors: positions in an input from which a stage reads, when it may use less than it pulled.

A position is an input's saved state and a number of elements to drop after it: `{"at": ..., "skip": ...}` in states. A
`Cursor` reads runs and takes back what was not used of the last one. A `SegmentCursor` keeps what it read in segments
that know their positions: a stage that makes a batch in one go finds out late that an element fails, and the next batch
then begins right after that element.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from tfrkit.data.elements.chunk import Chunk
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run, to_json

__all__ = ["Cursor", "CursorIterator", "CursorPosition", "Segment", "SegmentCursor", "split"]


class CursorPosition(NamedTuple):
    """Where an element stands: `skip` elements after a saved position of the input."""

    at: Any
    skip: int

    def after(self, count: int) -> CursorPosition:
        """The position `count` elements further in the same run."""
        return CursorPosition(self.at, self.skip + count)

    def state(self) -> dict[str, Any]:
        """As a Cursor takes it."""
        return {"at": self.at, "skip": self.skip}


class Cursor:
    """Reads an input, and remembers where it stood before the run at hand and how much of the run was used.

    To resume, the input is started at that position, and what was used already is dropped.
    """

    def __init__(self, node: Node, context: Context, state: Any = None) -> None:
        self._node = node
        self._context = context
        self._broken = False  # a pull was interrupted, and restarting the input cannot be observed
        self._skip = 0  # elements to be dropped then
        self.input = node.begin(context, None if state is None else state["at"])
        self._chunk: Chunk | None = None  # the run at hand, or what is left of it
        self._error: Exception | None = None  # after its last element
        self._offset = 0  # number in the run of the chunk's first element
        self._used = 0  # elements of the run that were taken
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
        """Return at most n elements; what was left over first, without pulling."""
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
            return Run(part)
        error, self._error, self._chunk = self._error, None, None
        return Run(part, error)

    def _pull_safely(self, n: int) -> Run | None:
        """Note the input's position, and pull; an input that was interrupted is restarted there."""
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
        """Pull a run of the input, regardless of what is left of the run before."""
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
        """Put back the run that was taken last, whose elements may have been written to.

        The input must be pure: it makes them again.
        """
        self.unread(run, 0)
        if not self._context.closed:
            self._broken, self._skip = True, self._used
            self._chunk = self._error = None

    def save(self) -> Any:
        """Return the position of the next element."""
        if self._broken:
            return {"at": self._state, "skip": self._skip}
        if self._chunk is None:
            return {"at": self.input.save(), "skip": 0}
        return {"at": self._state, "skip": self._used}

    def close(self) -> None:
        """Close the input."""
        self._chunk = self._error = None
        self.input.close()


class CursorIterator(NodeIterator):
    """A stage whose state is the position of its cursor. Subclasses set `_cursor`."""

    _cursor: Cursor

    def save(self) -> Any:
        return self._cursor.save()

    def close(self) -> None:
        self._cursor.close()


class Segment(NamedTuple):
    """Some elements of one run, and perhaps the error after them.

    Attributes:
        at: where the input stood before the run.
        skip: how many elements of the run come before these.
        chunk: the elements.
        error: after them, or None.
    """

    at: Any
    skip: int
    chunk: Chunk
    error: Exception | None

    def after(self, count: int) -> Segment:
        """The same without its first elements."""
        return Segment(self.at, self.skip + count, self.chunk.slice(count, len(self.chunk)), self.error)


class SegmentCursor:
    """The segments of an input, which may be put back and split again. Used by one thread at a time."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor
        self._pending: deque[Segment] = deque()

    def take(self, n: int) -> list[Segment]:
        """Return segments with n elements; fewer at the end, or if the last of them has an error.

        An error that comes after the n-th element stays for the next time.
        """
        segments: list[Segment] = []
        try:
            while n:
                segment = self._next(n)
                if segment is None:
                    break
                size = len(segment.chunk)
                if size > n or (size == n and segment.error is not None):
                    self._pending.appendleft(segment.after(n))
                    segment = Segment(segment.at, segment.skip, segment.chunk.slice(0, n), None)
                segments.append(segment)
                n -= len(segment.chunk)
                if segment.error is not None:
                    break
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self.put_back(segments)
            raise
        return segments

    @property
    def pending(self) -> bool:
        """Whether something was put back."""
        return bool(self._pending)

    def put_back(self, segments: list[Segment]) -> None:
        """Put segments before all others."""
        self._pending.extendleft(reversed(segments))

    def drop(self, count: int) -> None:
        """Drop elements that were seen before a state was saved.

        Raises:
            Exception: the input fails where it did not fail before.
        """
        for segment in self.take(count):
            if segment.error is not None:
                raise segment.error

    def save(self) -> dict[str, Any]:
        """Return the position of the next element, as a Cursor does."""
        if self._pending:
            segment = self._pending[0]
            return {"at": segment.at, "skip": segment.skip}
        found: dict[str, Any] = self._cursor.save()
        return found

    def close(self) -> None:
        """Close the input."""
        self._pending.clear()
        self._cursor.close()

    def _next(self, n: int) -> Segment | None:
        if self._pending:
            return self._pending.popleft()
        before = self._cursor.save()
        run = self._cursor.take(n)
        return None if run is None else Segment(before["at"], before["skip"], run.chunk, run.error)


def split(segments: list[Segment], count: int) -> tuple[list[Segment], list[Segment]]:
    """Split segments after `count` elements; an error there belongs to the second part.

    >>> from tfrkit.data.elements.chunk import ObjectChunk
    >>> first, second = split([Segment(0, 0, ObjectChunk([1, 2]), None), Segment(2, 0, ObjectChunk([3]), None)], 1)
    >>> [segment.chunk.objects() for segment in first], [segment.chunk.objects() for segment in second]
    ([[1]], [[2], [3]])
    """
    first: list[Segment] = []
    second: list[Segment] = []
    for segment in segments:
        used = min(count, len(segment.chunk))
        count -= used
        if used:
            first.append(Segment(segment.at, segment.skip, segment.chunk.slice(0, used), None))
        if used < len(segment.chunk) or segment.error is not None:
            second.append(segment.after(used) if used else segment)
    return first, second
