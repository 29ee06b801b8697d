"""An archive that is read anywhere: opened once, and read into a buffer without copies."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TypeAlias

from tfrkit.build.images.image_items import ImageReader
from tfrkit.build.images.sources.read_ahead import Fetched, Result, read_ahead
from tfrkit.stores.files import open_source
from tfrkit.threads import spawn

__all__ = ["ArchiveReader"]

Range: TypeAlias = tuple[int, int]  # where it begins, and its bytes
Data: TypeAlias = bytes | memoryview


class ArchiveReader(ImageReader):
    """An open archive. What is next of one behind a URL is fetched before, in a few requests that are made at once."""

    def __init__(self, path: str, max_bytes: int) -> None:
        super().__init__(path, max_bytes)
        self._source = open_source(path)
        self._ahead: Fetched[Data] | None = None

    def expect(self, ranges: Sequence[Range]) -> None:
        """Say which ranges will be read, in this order."""
        self.close()
        if self._source.remote:
            self._ahead = read_ahead([(place, place[1]) for place in ranges], self._begin)

    def read_into(self, room: memoryview, offset: int, *, expected: bool = True) -> int:
        """Fill memory from a position of the file; returns how much there was.

        Raises:
            OpError: the operating system's reason, or the store's.
        """
        if self._ahead is None or not expected:
            return self._source.read_into(room, offset)
        data = next(self._ahead).get()
        room[: len(data)] = data
        return len(data)

    def close(self) -> None:
        if self._ahead is not None:
            self._ahead.close()

    def _begin(self, ranges: list[Range]) -> list[Result[Data]]:
        """Fetch some ranges, neighbours together."""
        ordered = sorted(ranges)
        starts, sizes = [start for start, _ in ordered], [size for _, size in ordered]
        future = spawn(self._source.read_ranges, starts, sizes)
        return [Result(future, itemgetter(ordered.index(place))) for place in ranges]
