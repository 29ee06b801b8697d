"""An archive that is read anywhere: opened once, and read into a buffer without copies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from tfrkit.build.images.sources.read_ahead import ReadAhead, Result
from tfrkit.stores.files import open_source
from tfrkit.threads import spawn

__all__ = ["ArchiveReader"]

Range: TypeAlias = tuple[int, int]  # where it begins, and its bytes
Data: TypeAlias = bytes | memoryview


class ArchiveReader:
    """An open archive. What is next of one behind a URL is fetched before, in a few requests that are made at once."""

    def __init__(self, path: str, max_bytes: int) -> None:
        self._source = open_source(path)
        self._ahead = [ReadAhead(self._begin), ReadAhead(self._begin)] if self._source.remote else []
        self.max_bytes = max_bytes

    def expect(self, ranges: Sequence[Range], samples: Sequence[Range] = ()) -> None:
        """Say which ranges will be read, in which order; all of the first, or all of the second kind, or neither."""
        for ahead, wanted in zip(self._ahead, (ranges, samples), strict=False):
            ahead.expect([(place, place[1]) for place in wanted])

    def read_into(self, room: memoryview, offset: int) -> int:
        """Fill memory from a position of the file; returns how much there was.

        Raises:
            OpError: the operating system's reason, or the store's.
        """
        for ahead in self._ahead:
            data = ahead.take((offset, len(room)))
            if data is not None:
                room[: len(data)] = data
                return len(data)
        return self._source.read_into(room, offset)

    def close(self) -> None:
        for ahead in self._ahead:
            ahead.close()

    def _begin(self, ranges: list[Range]) -> dict[Range, Result[Data]]:
        """Fetch some ranges, neighbours together."""
        ordered = sorted(ranges)
        future = spawn(
            self._source.read_ranges, [start for start, _ in ordered], [size for _, size in ordered]
        )
        return {
            place: Result(future, lambda found, at=at: found[at])  # type: ignore[misc]  # at is an int
            for at, place in enumerate(ordered)
        }
