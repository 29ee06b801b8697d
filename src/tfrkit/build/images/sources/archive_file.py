"""An archive as a file that is read anywhere: opened once by a reader, and read into a buffer without copies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeAlias

from tfrkit.build.images.image_items import ImageReader
from tfrkit.build.images.sources.read_ahead import ReadAhead, Result
from tfrkit.stores.files import open_source
from tfrkit.stores.source import ByteSource
from tfrkit.threads import spawn

__all__ = ["ArchiveFile", "ArchiveSource"]

Range: TypeAlias = tuple[int, int]  # where it begins, and its bytes
Data: TypeAlias = bytes | memoryview


class ArchiveFile:
    """An open archive. One behind a URL is read ahead of the reader, in a few requests that are made at once."""

    def __init__(self, source: ByteSource) -> None:
        self._source = source
        self._ahead = [ReadAhead(self._begin), ReadAhead(self._begin)] if source.remote else []

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
        """Wait for the requests that were made for nothing."""
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


@dataclass(frozen=True, slots=True)
class ArchiveSource:
    """An archive that is read anywhere.

    Attributes:
        path: of the archive.
        max_bytes: members that are larger are bad.
        reader: makes the reader of its members.
        streams: members can be read in any order.
    """

    path: str
    max_bytes: int
    reader: Callable[[ArchiveFile, int], ImageReader]
    streams: bool = False

    @contextmanager
    def open(self) -> Iterator[ImageReader]:
        """Open the archive."""
        archive = ArchiveFile(open_source(self.path))
        try:
            yield self.reader(archive, self.max_bytes)
        finally:
            archive.close()
