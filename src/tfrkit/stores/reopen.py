"""Sources of which a process may have thousands: few are open at a time, the others are opened again when needed.

The descriptor of a source is closed with its last reference, so a caller that reads holds the source meanwhile: one
that is left out here stays open until then, and no other file gets its number.
"""

from __future__ import annotations

import os
import resource
import threading
from collections import OrderedDict
from typing import Final

from tfrkit.errors import FailedPreconditionError
from tfrkit.stores.source import ByteSource, open_descriptor

__all__ = ["ReopenedSource", "most_open"]

_MOST_OPEN: Final = 256
_open: OrderedDict[int, ByteSource] = OrderedDict()  # used last, by the id of their ReopenedSource
_lock = threading.Lock()


def _forget_lock() -> None:
    """Another thread may have held it when this process was forked."""
    global _lock  # noqa: PLW0603  # a lock that is held cannot be released here
    _lock = threading.Lock()


os.register_at_fork(after_in_child=_forget_lock)


def most_open(wanted: int) -> int:
    """Return how many files one user of them may keep open: at most a quarter of what the process may have."""
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return wanted if soft < 0 else max(1, min(wanted, soft // 4))


class ReopenedSource:
    """A regular file that is closed when too many others are open. Thread-safe."""

    def __init__(self, source: ByteSource) -> None:
        """Take an open source, to which there is no other reference."""
        self._name = source.name
        self._file = _identity(source)
        self._keep(source)

    def __del__(self, _open: OrderedDict[int, ByteSource] = _open) -> None:
        _open.pop(id(self), None)  # without the lock: the collector may call this while its thread holds it

    def get(self) -> ByteSource:
        """Return the source, open; hold it for as long as its descriptor is used.

        Raises:
            FailedPreconditionError: it was opened again, and the name is another file's by now.
            NotFoundError, PermissionDeniedError: it cannot be opened any more.
        """
        with _lock:
            source = _open.get(id(self))
            if source is not None:
                _open.move_to_end(id(self))
                return source
        source = open_descriptor(self._name)
        if _identity(source) != self._file:
            raise FailedPreconditionError(
                f"{self._name}; another file has taken its place since it was opened. Open it again.",
                path=self._name,
            )
        self._keep(source)
        return source

    def close(self) -> None:
        """Let go of it; `get` opens it again."""
        with _lock:
            _open.pop(id(self), None)

    def _keep(self, source: ByteSource) -> None:
        with _lock:
            _open[id(self)] = source
            _open.move_to_end(id(self))
            while len(_open) > most_open(_MOST_OPEN):
                _open.popitem(last=False)


def _identity(source: ByteSource) -> tuple[int, int]:
    assert source.fd is not None
    found = os.fstat(source.fd)
    return found.st_dev, found.st_ino
