"""How much to ask an input for, where nobody can notice that it is more than is needed."""

from __future__ import annotations

from typing import Any, Final

from tfrkit.data.chunk import Chunk, Objects
from tfrkit.data.node import Context, Inbox, Node, Run

__all__ = ["ObjectsInbox", "next_demand"]

_MOST_ELEMENTS: Final = 1024
_MOST_BYTES: Final = 1 << 20
_FEW: Final = 16  # elements; who asks for more gets runs of that size


def next_demand(demand: int, chunk: Chunk) -> int:
    """How many elements to ask for next, after so many were asked for and these came: twice as many, within limits.

    >>> next_demand(4, Objects([b"x"] * 4)), next_demand(4, Objects([b"x" * 300_000]))
    (8, 3)
    """
    each = max(1, chunk.nbytes // max(1, len(chunk)))
    return min(2 * demand, _MOST_ELEMENTS, max(1, _MOST_BYTES // each))


class ObjectsInbox(Inbox):
    """The Inbox of a stage that looks at each element as an object.

    When it is asked for few elements of a pure input, it pulls many and makes objects of them at once: 4 us for an
    element of a loop over records with a map, where cutting each from its block for itself takes 10.
    """

    __slots__ = ("_demand", "_origin", "_pure")

    def __init__(self, node: Node, context: Context, state: Any = None) -> None:
        self._demand = 1
        self._origin = context.origin
        self._pure = node.pure
        super().__init__(node, context, state)

    def pull(self, n: int) -> Run | None:
        """Pull n elements, or more of them if n are few."""
        if not self._pure or n > _FEW:
            return self.input.pull(n)
        run = self.input.pull(max(n, self._demand))
        if run is None or not len(run.chunk):
            return run
        chunk = run.chunk
        self._demand = next_demand(self._demand, chunk)
        return Run(Objects(chunk.objects(), chunk.origin if self._origin else None), run.error)
