"""OpenAhead: remote files that are opened before it is their turn, for readers that open them one by one.

Whoever knows which files come next begins to open them; whoever reads one takes it from here, or opens it. A reader of
a list of files has a `SourceQueue` instead.
"""

from __future__ import annotations

from collections.abc import Iterable
from concurrent.futures import Future
from typing import IO, Final

from tfrkit.stores.files import open_source
from tfrkit.stores.source import ByteSource
from tfrkit.stores.url import is_url
from tfrkit.threads import spawn

__all__ = ["OPEN_AHEAD", "OpenAhead", "begin_reading"]

OPEN_AHEAD: Final = 16  # small files are a request each: at 50 ms a request, these are 300 files a second


class OpenAhead:
    """Files by name. Any thread may call."""

    def __init__(self) -> None:
        self._opening: dict[tuple[str, bool | None], Future[ByteSource]] = {}
        self._closed = False

    def begin(self, paths: Iterable[str], *, cache: bool | None = None) -> None:
        """Open the remote ones of some files, and request their first bytes, as far as there is room."""
        for path in paths:
            if self._closed or len(self._opening) >= OPEN_AHEAD:
                return
            if is_url(path) and (path, cache) not in self._opening:
                self._opening[path, cache] = spawn(begin_reading, path, cache)

    def take(self, path: str, *, cache: bool | None = None) -> Future[ByteSource] | None:
        """Return the opening of a file that has begun, once."""
        return self._opening.pop((path, cache), None)

    def open(self, target: str | IO[bytes], *, cache: bool | None = None) -> ByteSource:
        """Open a file, which may have begun.

        Raises:
            OpError: it cannot be opened.
        """
        opening = self.take(target, cache=cache) if isinstance(target, str) else None
        return open_source(target, cache=cache) if opening is None else opening.result()

    def close(self) -> None:
        """Let go of what was not taken, and open nothing more ahead."""
        self._closed = True
        self._opening.clear()


def begin_reading(path: str, cache: bool | None) -> ByteSource:
    """Open a file, and request its first bytes, as far as there is room."""
    source = open_source(path, cache=cache)
    if source.regular:
        source.read_ahead(0)
    return source
