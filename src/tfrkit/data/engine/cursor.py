"""Feed: elements for batches, which may be put back and cut anew.

A stage that makes batches in one go finds out late that an element fails; the next batch then begins behind it. So what
was taken is kept in pieces that know where they stand.
"""

from __future__ import annotations

from collections import deque
from typing import Any, NamedTuple

from tfrkit.data.elements.chunk import Chunk
from tfrkit.data.engine.node import Inbox

__all__ = ["Feed", "Piece", "split"]


class Piece(NamedTuple):
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

    def behind(self, count: int) -> Piece:
        """The same without its first elements."""
        return Piece(self.at, self.skip + count, self.chunk.slice(count, len(self.chunk)), self.error)


class Feed:
    """The pieces of an input. Used by one thread at a time."""

    __slots__ = ("_inbox", "_pending")

    def __init__(self, inbox: Inbox) -> None:
        self._inbox = inbox
        self._pending: deque[Piece] = deque()

    def take(self, n: int) -> list[Piece]:
        """Give pieces with n elements; fewer at the end, or if the last of them has an error.

        An error that comes after the n-th element stays for the next time.
        """
        pieces: list[Piece] = []
        try:
            while n:
                piece = self._next(n)
                if piece is None:
                    break
                size = len(piece.chunk)
                if size > n or (size == n and piece.error is not None):
                    self._pending.appendleft(piece.behind(n))
                    piece = Piece(piece.at, piece.skip, piece.chunk.slice(0, n), None)
                pieces.append(piece)
                n -= len(piece.chunk)
                if piece.error is not None:
                    break
        except BaseException:  # such as KeyboardInterrupt: as if nothing had been asked for
            self.put_back(pieces)
            raise
        return pieces

    @property
    def pending(self) -> bool:
        """Whether something was put back."""
        return bool(self._pending)

    def put_back(self, pieces: list[Piece]) -> None:
        """Put pieces before all others."""
        self._pending.extendleft(reversed(pieces))

    def drop(self, count: int) -> None:
        """Forget elements that were seen before a state was saved.

        Raises:
            Exception: the input fails where it did not fail before.
        """
        for piece in self.take(count):
            if piece.error is not None:
                raise piece.error

    def save(self) -> dict[str, Any]:
        """Say where the next element stands, as an Inbox does."""
        if self._pending:
            piece = self._pending[0]
            return {"at": piece.at, "skip": piece.skip}
        found: dict[str, Any] = self._inbox.save()
        return found

    def close(self) -> None:
        """Close the input."""
        self._pending.clear()
        self._inbox.close()

    def _next(self, n: int) -> Piece | None:
        if self._pending:
            return self._pending.popleft()
        before = self._inbox.save()
        run = self._inbox.take(n)
        return None if run is None else Piece(before["at"], before["skip"], run.chunk, run.error)


def split(pieces: list[Piece], count: int) -> tuple[list[Piece], list[Piece]]:
    """Cut pieces behind so many elements; an error there belongs to the second part.

    >>> from tfrkit.data.elements.chunk import Objects
    >>> first, second = split([Piece(0, 0, Objects([1, 2]), None), Piece(2, 0, Objects([3]), None)], 1)
    >>> [piece.chunk.objects() for piece in first], [piece.chunk.objects() for piece in second]
    ([[1]], [[2], [3]])
    """
    first: list[Piece] = []
    second: list[Piece] = []
    for piece in pieces:
        used = min(count, len(piece.chunk))
        count -= used
        if used:
            first.append(Piece(piece.at, piece.skip, piece.chunk.slice(0, used), None))
        if used < len(piece.chunk) or piece.error is not None:
            second.append(piece.behind(used) if used else piece)
    return first, second
