"""SpoolOutput: a file that waits on the local disk until it is whole, and is written to its store then.

For many files at the same time, of which a store would hold a part of each in memory. The temporary file has no name:
nothing of it is left, however the process ends. `TMPDIR` says where it is.
"""

from __future__ import annotations

import os
import tempfile
from typing import Any, Final, Protocol

from tfrkit.errors import from_os_error
from tfrkit.stores.at_exit import unless_exiting
from tfrkit.stores.output import WholeOutput
from tfrkit.stores.url import display_name

__all__ = ["SpoolOutput"]

_COPY_BYTES: Final = 1 << 22


class _Creator(Protocol):
    def create(self, path: str) -> WholeOutput:
        """Begin a file."""


class SpoolOutput:
    """A file that appears whole or not at all. Not for several threads at once.

    Args:
        path: its name.
        store: where it will be.
    """

    background = whole = True

    def __init__(self, path: str, store: _Creator) -> None:
        self.name = display_name(path)
        self.position = 0
        self._path, self._store = path, store
        try:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115  # closed by publish or discard
        except OSError as error:
            raise from_os_error(error, tempfile.gettempdir()) from error

    @unless_exiting
    def __del__(self) -> None:
        if hasattr(self, "_file"):
            self.discard()

    def write(self, data: Any) -> None:
        view = memoryview(data)
        try:
            while len(view):
                done = os.pwrite(self._file.fileno(), view, self.position)
                self.position += done
                view = view[done:]
        except OSError as error:
            raise from_os_error(
                error, f"{self.name} (its temporary file in {tempfile.gettempdir()})"
            ) from error

    def write_pieces(self, pieces: list[Any]) -> None:
        for piece in pieces:
            self.write(piece)

    def flush(self) -> None:
        """Do nothing: it cannot be seen before it is whole."""

    def rollback(self, position: int) -> None:
        self.position = position

    def finish(self) -> None:
        """Do nothing: it is durable when it has its name."""

    def publish(self, name: str | None = None) -> None:
        output = self._store.create(name or self._path)
        try:
            for at in range(0, self.position, _COPY_BYTES):
                output.write(os.pread(self._file.fileno(), min(_COPY_BYTES, self.position - at), at))
            output.close()
        except BaseException:
            output.discard()
            raise
        self._file.close()

    def close(self) -> None:
        if not self._file.closed:
            self.publish()

    def discard(self) -> None:
        self._file.close()
