"""An archive that is read anywhere: opened once, and read into a buffer without copies."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TypeAlias

from tfrkit.build.images.sources.read_ahead import Fetched, Result, read_ahead, take_next
from tfrkit.stores.files import open_source
from tfrkit.threads import spawn

__all__ = ["ArchiveReader"]

Range: TypeAlias = tuple[int, int]  # where it begins, and its bytes
Data: TypeAlias = bytes | memoryview


class ArchiveReader:
    """An open archive. What is next of one behind a URL is fetched before, in a few requests that are made at once."""

    def __init__(self, path: str, max_bytes: int) -> None:
        self._source = open_source(path)
        self._ahead: list[Fetched[Range, Data]] = []
        self.max_bytes = max_bytes

    def expect(self, *kinds: Sequence[Range]) -> None:
        """Say which ranges will be read, all those of a kind in this order, or none of the kind."""
        self.close()
        if self._source.remote:
            self._ahead = [read_ahead([(place, place[1]) for place in each], self._begin) for each in kinds]

    def read_into(self, room: memoryview, offset: int, kind: int | None = None) -> int:
        """Fill memory from a position of the file; returns how much there was.

        Raises:
            OpError: the operating system's reason, or the store's.
        """
        if kind is None or not self._ahead:
            return self._source.read_into(room, offset)
        data = take_next(self._ahead[kind], (offset, len(room)))
        room[: len(data)] = data
        return len(data)

    def close(self) -> None:
        for ahead in self._ahead:
            ahead.close()

    def _begin(self, ranges: list[Range]) -> list[Result[Range, Data]]:
        """Fetch some ranges, neighbours together."""
        ordered = sorted(ranges)
        starts, sizes = [start for start, _ in ordered], [size for _, size in ordered]
        future = spawn(self._source.read_ranges, starts, sizes)
        return [Result(place, future, itemgetter(ordered.index(place))) for place in ranges]
