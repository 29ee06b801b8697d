"""Cursor: reads an input, takes back what was not used, and knows where the next element stands.

A position is an input's saved state and a number of elements to drop after it, in states `{"at": ..., "skip": ...}`;
only `place` and `read_place` know that. What a cursor hands out are segments, which know their positions: a stage that
makes something of many elements in one go finds out late that one of them fails, splits what it took, and puts back
what follows that element.

Where asking an input for more than is needed cannot be observed, a cursor does (`ahead`, `objects`).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from tfrkit.data.elements.chunk import Chunk, ObjectChunk
from tfrkit.data.elements.owned import own_elements
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run, to_json

__all__ = ["Cursor", "CursorIterator", "Segment", "next_demand", "place", "read_place", "split"]

_MOST_ELEMENTS: Final = 1024  # that are asked for at once where fewer would do
_MOST_BYTES: Final = 1 << 20
_FEW: Final = 16  # elements; a stage that takes more gets runs of that size
_MEASURED: Final = 64  # of the runs that let the demand as it is, one of this many is measured


def place(at: Any, skip: int = 0, levels: int = 0) -> dict[str, Any]:
    """The position `skip` elements after a saved one, as states have it; inside so many stages that are passed over.

    >>> place(None, 2, levels=1)
    {'at': {'at': None, 'skip': 2}, 'skip': 0}
    """
    state = {"at": at, "skip": skip}
    for _ in range(levels):
        state = {"at": state, "skip": 0}
    return state


def read_place(state: Any) -> tuple[Any, int]:
    """Take apart what `place` made; None is the beginning."""
    return (None, 0) if state is None else (state["at"], state["skip"])


def next_demand(demand: int, chunk: Chunk) -> int:
    """How many elements to ask for next, after `demand` were asked for and these came: twice as many, within limits.

    >>> next_demand(4, ObjectChunk([b"x"] * 4)), next_demand(4, ObjectChunk([b"x" * 300_000]))
    (8, 3)
    """
    each = max(1, chunk.nbytes // max(1, len(chunk)))
    return min(2 * demand, _MOST_ELEMENTS, max(1, _MOST_BYTES // each))


@dataclass(slots=True)
class Segment(Run):
    """Some elements of a run, and perhaps the error after them.

    Attributes:
        at: where the input stood before the run.
        skip: how many elements of the run come before these.
    """

    at: Any = None
    skip: int = 0
    _elements: list[Any] | None = None

    def elements(self) -> list[Any]:
        """Its elements as objects, to look at; kept also for the rest of it that is put back."""
        if self._elements is None:
            self._elements = self.chunk.objects()
        return self._elements

    def first(self, count: int) -> Segment:
        """Its first elements, without what follows them."""
        return Segment(self.chunk.slice(0, count), None, self.at, self.skip)

    def after(self, count: int) -> Segment:
        """The same without its first elements."""
        if not count:
            return self
        rest, left = self.chunk.slice(count, len(self.chunk)), self._elements and self._elements[count:]
        return Segment(rest, self.error, self.at, self.skip + count, left)


class Cursor:
    """Reads an input. Used by one thread at a time, except `save`.

    Args:
        node: the input.
        context: of the pass.
        state: where to begin, as `save` returned it.
        objects: the consumer looks at single elements. If it takes few of a pure input, many are pulled and made
            objects at once: 4 us for an element of a loop over records with a map, where cutting each from its block
            for itself takes 10.
        owned: the consumer alone has the elements that it takes, and may write to them, if the input is pure: after
            `undo` they are made again.

    Attributes:
        input: the input's iterator.
        owned: whether elements are.
        demand: elements to take where one is needed: 1, or more if that cannot be observed.
        pending: what was pulled and not taken.
    """

    def __init__(
        self, node: Node, context: Context, state: Any = None, *, objects: bool = False, owned: bool = False
    ) -> None:
        at, skip = read_place(state)
        self._node = node
        self._context = context
        self._pure = node.pure
        self._objects = objects and self._pure
        self.owned = owned and self._pure
        self.demand = 1
        self._unmeasured = 0  # runs that need not be measured for it
        self.pending: deque[Segment] = deque()
        self._used = 0  # elements of the first of them that were taken
        self._saved: Any = None  # the input's state, until the next pull
        self._is_saved = False
        # Where to begin the input again, if an interruption came: in a pull, or while the consumer used what it gave.
        self._again: tuple[Any, int] | None = None
        self.input: NodeIterator = node.begin(context, at)
        self._drop(skip)

    def take(self, n: int, ahead: int = 0) -> Segment | None:
        """Return at most n elements, what was pulled before first; None at the end.

        If nothing was, `ahead` are pulled if that is more.
        """
        if not self.pending and self._again is not None:
            self._begin_again()
        if not self.pending:
            segment = self._pull(n if n > ahead else ahead)
            if segment is None or not (self._objects or ahead > n):
                return segment
            self.pending.append(segment)
        # Nothing is called between what changes here and the return: there an interruption would lose elements.
        segment, start = self.pending[0], self._used
        end = start + n
        if end >= len(segment.chunk):
            taken = segment.after(start)
            del self.pending[0]
            self._used = 0
            return taken
        chunk = segment.chunk
        taken = Segment(chunk.slice(start, end), None, segment.at, segment.skip + start)
        if self.owned and type(chunk) is ObjectChunk:  # what was taken is not to be referred to
            chunk.items[start:end] = [None] * n
        self._used = end
        return taken

    def take_one(self) -> Segment | None:
        """Return the next element, or the error in its place; an error after it stays for the next time."""
        segment = self.take(1)
        if segment is None or segment.error is None:
            return segment
        try:
            if not len(segment.chunk):
                return segment
            first = segment.first(1)
            self.put_back(segment, 1)
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self.undo((segment,))
            raise
        return first

    def take_all(self, n: int) -> list[Segment]:
        """Return segments with n elements; fewer at the end, or if the last of them has an error.

        An error that comes after the n-th element stays for the next time.
        """
        segments: list[Segment] = []
        try:
            while n and (segment := self.take(n)) is not None:
                segments.append(segment)
                size = len(segment.chunk)
                if size == n and segment.error is not None:
                    first = segment.first(n)
                    self.put_back(segment, n)
                    segments[-1] = segment = first
                n -= size
                if segment.error is not None:
                    break
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self.undo(segments)
            raise
        return segments

    def ahead(self, n: int) -> int:
        """How many elements to take where n are needed: more, if they are few and that cannot be observed."""
        return max(n, self.demand) if n <= _FEW else n

    def put_back(self, segment: Segment, used: int = 0) -> None:
        """Put back what was taken last, except its first `used` elements; an element that failed counts as used."""
        size = len(segment.chunk)
        if used >= size and segment.error is None:
            return
        if self._used:
            first = self.pending[0]
            if first.at is segment.at and first.skip + self._used == segment.skip + size:
                end, self._used = self._used, self._used - (size - used)
                if self.owned and isinstance(first.chunk, ObjectChunk):
                    first.chunk.items[self._used : end] = segment.chunk.objects()[used:]
                return
            self.pending[0] = first.after(self._used)
            self._used = 0
        self.pending.appendleft(segment.after(used))

    def put_all_back(self, segments: Sequence[Segment]) -> None:
        """Put back segments, the last of which was taken last."""
        for segment in reversed(segments):
            self.put_back(segment)

    def undo(self, segments: Sequence[Segment]) -> None:
        """Have the segments that were taken last come again, after an interruption: they may be put back in part.

        A pure input makes them anew, since they may have been written to.
        """
        if not segments:
            return
        first, last = segments[0], segments[-1]
        if self._pure and not self._context.closed:
            self._again = first.at, first.skip
            self.pending.clear()
            self._used = 0
            return
        end = last.skip + len(last.chunk)
        left: list[Segment] = []
        for number, each in enumerate(self.pending):
            rest = each.after(0 if number else self._used)
            if rest.at is last.at and last.error is None:
                rest = rest.after(min(len(rest.chunk), max(0, end - rest.skip)))
                left.extend([rest] if len(rest.chunk) or rest.error is not None else [])
            elif not any(rest.at is segment.at for segment in segments):
                left.append(rest)
        self.pending, self._used = deque([*segments, *left]), 0

    def save(self) -> dict[str, Any]:
        """Return the position of the next element, or of the one that a pull under way began with."""
        return place(*self.position())

    def position(self) -> tuple[Any, int]:
        """The same as `read_place` takes it apart."""
        if self._again is not None:
            return self._again
        if self.pending:
            return self.pending[0].at, self.pending[0].skip + self._used
        if not self._is_saved:  # the input is asked once between two pulls
            self._saved, self._is_saved = self.input.save(), True
        return self._saved, 0

    def close(self) -> None:
        """Close the input."""
        self.pending.clear()
        self._used = 0
        self.input.close()

    def _pull(self, n: int) -> Segment | None:
        few = self._objects and n <= _FEW
        wanted = max(n, self.demand) if few else n
        at = self._saved if self._is_saved else self.input.save()
        self._saved, self._is_saved = at, True  # also while it pulls
        run: Run | None = None
        try:
            run = self.input.pull(wanted)
            if run is None:
                self._is_saved = False
                return None
            chunk, error = run.chunk, run.error
            # If fewer come, more is not to be had at once.
            if self._pure and (few or n == self.demand) and len(chunk) >= wanted:
                self._unmeasured -= 1
                if self._unmeasured <= 0:
                    before, self.demand = self.demand, next_demand(self.demand, chunk)
                    self._unmeasured = _MEASURED if self.demand == before else 0
            if len(chunk) and (few or self.owned):
                origin = chunk.origin if self._context.origin else None
                elements, ready = chunk.objects(), not self.owned or chunk.makes_own_objects
                run = chunk = None  # type: ignore[assignment]  # so that the list is the only owner of what is not kept
                chunk = ObjectChunk(elements if ready else own_elements(elements), origin)
            segment = Segment(chunk, error, at)
        except Exception:
            self._is_saved = False
            raise
        except BaseException:  # KeyboardInterrupt, perhaps in the middle of some counting
            self._is_saved = False
            if self._restarts() and not self._context.closed:
                self._again = at, 0
            elif run is not None:
                self.pending.append(Segment(run.chunk, run.error, at))
            raise
        self._is_saved = False
        return segment

    def _restarts(self) -> bool:
        """Whether the input can begin anew where a pull began: at most functions are called again.

        Not if there is a generator, which may read what is there only once, or what would begin at the very start.
        """
        return self._pure or all(
            each.seeks and (each.pure or len(each.inputs) > 0) for each in self._node.stages()
        )

    def _drop(self, count: int) -> None:
        while count > 0 and (segment := self.take(count)) is not None:
            count -= len(segment.chunk)
            if segment.error is not None:
                if count > 0:
                    raise segment.error
                self.put_back(segment, len(segment.chunk))  # it comes after the last element that was seen

    def _begin_again(self) -> None:
        """Start the input at the position before the pull that was interrupted."""
        assert self._again is not None
        at, skip = to_json(self._again[0]), self._again[1]
        self.input.close()
        try:
            self.input, self._is_saved, self._again = self._node.begin(self._context, at), False, None
            self._drop(skip)
        except BaseException:
            self._again = at, skip
            self.pending.clear()
            self._used = 0
            raise


class CursorIterator(NodeIterator):
    """A stage whose state is the position of its cursor."""

    def __init__(self, cursor: Cursor) -> None:
        self._cursor = cursor

    def save(self) -> Any:
        return self._cursor.save()

    def close(self) -> None:
        self._cursor.close()


def split(segments: Sequence[Segment], count: int) -> tuple[list[Segment], list[Segment]]:
    """Split segments after `count` elements; an error there belongs to the second part.

    >>> first, second = split([Segment(ObjectChunk([1, 2])), Segment(ObjectChunk([3]))], 1)
    >>> [segment.chunk.objects() for segment in first], [segment.chunk.objects() for segment in second]
    ([[1]], [[2], [3]])
    """
    first: list[Segment] = []
    second: list[Segment] = []
    for segment in segments:
        used = min(count, len(segment.chunk))
        count -= used
        if used:
            first.append(segment.first(used))
        if used < len(segment.chunk) or segment.error is not None:
            second.append(segment.after(used))
    return first, second
