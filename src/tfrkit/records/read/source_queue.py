"""SourceQueue: the files that a reader opens one after the other; the next remote ones are opened ahead.

Opening a remote file is a request, and so is its first range: while one file is read, both are under way for those that
come next, within the limit of bytes that all windows share.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Sequence
from concurrent.futures import Future
from typing import IO

from tfrkit.records.read.open_ahead import OPEN_AHEAD, begin_reading
from tfrkit.stores.files import open_source
from tfrkit.stores.source import ByteSource
from tfrkit.stores.url import is_url
from tfrkit.threads import spawn

__all__ = ["SourceQueue"]


class SourceQueue:
    """Files in order. Not for several threads at once.

    Args:
        files: what to open.
        cache: keep what is read of remote files; see `open_source`.
        opening: of the first file, if that has begun.

    Attributes:
        remote: some of them are; only then `look_ahead` has something to do.
    """

    def __init__(
        self, files: Sequence[str | IO[bytes]], cache: bool | None, opening: Future[ByteSource] | None = None
    ) -> None:
        self._files = deque(files)
        self._cache = cache
        self._ahead = deque([opening] if opening is not None else [])  # of the first files
        self._requested = 0  # of the first files, all bytes are here or under way
        self.remote = any(isinstance(file, str) and is_url(file) for file in files)

    def __bool__(self) -> bool:
        return bool(self._files)

    @property
    def is_opening(self) -> bool:
        """Whether files are being opened ahead."""
        return bool(self._ahead)

    def is_ready(self) -> bool:
        """Return whether the next file can be opened before its turn: opening a pipe waits for its writer."""
        first = self._files[0]
        return isinstance(first, str) and (is_url(first) or os.path.isfile(first))

    def take(self) -> tuple[str | IO[bytes], Future[ByteSource] | None]:
        """Return the next file, and its opening if that has begun."""
        self._requested = max(0, self._requested - 1)
        return self._files.popleft(), self._ahead.popleft() if self._ahead else None

    def open(self, target: str | IO[bytes], opening: Future[ByteSource] | None) -> ByteSource:
        """Open a file that `take` returned.

        Raises:
            OpError: it cannot be opened.
        """
        return open_source(target, cache=self._cache) if opening is None else opening.result()

    def put_back(self, target: str | IO[bytes]) -> None:
        """Let a file be the next one again."""
        self._files.appendleft(target)
        self._ahead.clear()
        self._requested = 0

    def clear(self) -> None:
        """Want no more."""
        self._files.clear()
        self._ahead.clear()

    def look_ahead(self) -> None:
        """Begin to open the next remote files, and to read those that are open."""
        while len(self._ahead) < min(OPEN_AHEAD, len(self._files)):
            target = self._files[len(self._ahead)]
            if not isinstance(target, str) or not is_url(target):
                break
            self._ahead.append(spawn(begin_reading, target, self._cache))
        # In order, and no file a second time when it needs nothing more: this is called before every block.
        while self._requested < len(self._ahead) and (opening := self._ahead[self._requested]).done():
            if (
                opening.exception() is None
                and (source := opening.result()).regular
                and not source.read_ahead(0)
            ):
                return
            self._requested += 1
