"""How much to ask an input for, where asking for more than is needed cannot be observed."""

from __future__ import annotations

from typing import Any, Final

from tfrkit.data.elements.chunk import Chunk, ObjectChunk
from tfrkit.data.elements.owned import own_elements
from tfrkit.data.engine.cursor import Cursor
from tfrkit.data.engine.node import Context, Node, Run

__all__ = ["ObjectCursor", "next_demand"]

_MOST_ELEMENTS: Final = 1024
_MOST_BYTES: Final = 1 << 20
_FEW: Final = 16  # elements; a consumer that asks for more gets runs of that size


def next_demand(demand: int, chunk: Chunk) -> int:
    """How many elements to ask for next, after `demand` were asked for and these came: twice as many, within limits.

    >>> next_demand(4, ObjectChunk([b"x"] * 4)), next_demand(4, ObjectChunk([b"x" * 300_000]))
    (8, 3)
    """
    each = max(1, chunk.nbytes // max(1, len(chunk)))
    return min(2 * demand, _MOST_ELEMENTS, max(1, _MOST_BYTES // each))


class ObjectCursor(Cursor):
    """The Cursor of a stage that looks at each element as an object.

    When it is asked for few elements of a pure input, it pulls many and makes objects of them at once: 4 us for an
    element of a loop over records with a map, where cutting each from its block for itself takes 10.

    Attributes:
        owned: whether the stage alone has the elements that it takes, and may write to them: the input is pure, so that
            it can `make_again` those of a run that is put back.
    """

    def __init__(self, node: Node, context: Context, state: Any = None, *, owned: bool = False) -> None:
        self._demand = 1
        self._origin = context.origin
        self._pure = node.pure
        self.owned = owned and self._pure
        super().__init__(node, context, state)

    def pull(self, n: int) -> Run | None:
        """Pull n elements, or more of them if n are few."""
        few = self._pure and n <= _FEW
        run = self.input.pull(max(n, self._demand) if few else n)
        if run is None or not len(run.chunk) or not (few or self.owned):
            return run
        chunk, error = run.chunk, run.error
        if few:
            self._demand = next_demand(self._demand, chunk)
        origin = chunk.origin if self._origin else None
        elements, ready = chunk.objects(), not self.owned or chunk.makes_own_objects
        del run, chunk  # so that the list is the only owner of what is not kept elsewhere
        return Run(ObjectChunk(elements if ready else own_elements(elements), origin), error)

    def take(self, n: int) -> Run | None:
        """Return at most n elements; see Cursor. Those that are owned are released."""
        chunk, start = self._chunk, self._used - self._offset
        if self.owned and type(chunk) is ObjectChunk and start + n < len(chunk.items):  # quickly
            part = chunk.slice(start, start + n)
            chunk.items[start : start + n] = [None] * n
            self._used += n
            return Run(part)
        run = super().take(n)
        if self.owned and type(self._chunk) is ObjectChunk:
            stop = self._used - self._offset
            self._chunk.items[:stop] = [None] * stop
        return run

    def unread(self, run: Run, used: int) -> None:
        """Put back the run that was taken last; see Cursor."""
        if self.owned and isinstance(self._chunk, ObjectChunk):
            end = self._used - self._offset
            self._chunk.items[end - len(run.chunk) : end] = run.chunk.objects()
        super().unread(run, used)
