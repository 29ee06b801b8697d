"""Files to write to: in place, through a temporary file that is renamed when whole, or a user's file object.

Local files only: other stores have a `WholeOutput` of their own. Knows nothing of records. Every byte handed over is in
the file when `write` returns, or an error is raised.
"""

from __future__ import annotations

import contextlib
import glob
import os
import re
import secrets
import stat
import threading
from typing import IO, Any, Final, Protocol

from tfrkit.errors import FailedPreconditionError, OpError, from_os_error
from tfrkit.stores.at_exit import unless_exiting
from tfrkit.stores.url import split_path

__all__ = [
    "SIDECAR_FOLDER",
    "AtomicOutput",
    "FileOutput",
    "ObjectOutput",
    "Output",
    "WholeOutput",
    "check_sidecar",
    "remove_temporary",
    "rename_durably",
    "sidecar_folder",
    "sync_folder",
    "temporary_of",
    "write_whole",
]

SIDECAR_FOLDER: Final = ".tfrkit"
_MAX_ATTEMPTS: Final = 100  # to make a file in a folder that others remove
# What an atomic output has written goes to the disk while more is written: 1 GB takes 1.3 times as long otherwise,
# waiting at the end (benchmarks/reshard.py).
_SYNC_BYTES: Final = 1 << 26
_sync_data: Final = getattr(os, "fdatasync", os.fsync)  # macOS has no fdatasync
_TEMPORARY: Final = re.compile(r"(?s)(.*)\.[0-9]+-[0-9a-f]{8}\.tmp")


def sidecar_folder(path: str) -> str:
    """Return the folder for index and temporary files that belong to `path`; it is not made."""
    folder = split_path(path)[0]
    return folder if os.path.basename(folder) == SIDECAR_FOLDER else os.path.join(folder, SIDECAR_FOLDER)


def check_sidecar(folder: str) -> None:
    """Refuse a folder whose sidecar folder is a link: what is written and removed there would be elsewhere.

    Raises:
        FailedPreconditionError: it is one.
    """
    path = os.path.join(folder, SIDECAR_FOLDER)
    if os.path.islink(path):
        raise FailedPreconditionError(
            f"{path}; expected a folder but got a symbolic link, which may lead anywhere. Remove it.",
            path=path,
        )


class Output(Protocol):
    """Where a writer puts its bytes."""

    name: str
    background: (
        bool  # another thread may write to it: a regular file of our own, which never lets it wait for ever
    )
    whole: bool  # it appears when it is closed, whole or not at all

    @property
    def position(self) -> int:
        """Bytes in the file so far."""

    def write(self, data: Any) -> None:
        """Write all of a buffer."""

    def write_pieces(self, pieces: list[Any]) -> None:
        """Write all of up to 1,024 buffers, one after the other."""

    def flush(self) -> None:
        """Let other processes see everything written so far."""

    def rollback(self, position: int) -> None:
        """After an error: truncate the file to `position` if that is possible."""

    def close(self) -> None:
        """End it; for an atomic output this is the moment at which the file appears."""

    def discard(self) -> None:
        """Give up: an atomic output leaves nothing, any other keeps what it has."""


class FileOutput:
    """A file that is written in place, as TensorFlow does.

    Other threads may write and sync. Every use of the descriptor holds a lock, and so does closing it: its number
    can belong to another file from then on.
    """

    whole = False

    def __init__(self, name: str, *, append_at: int | None = None) -> None:
        """Create or empty the file; with `append_at`, truncate it there and append instead."""
        self.name = name
        self._fd = -1
        self._writing, self._syncing = threading.Lock(), threading.Lock()
        self.process = os.getpid()
        flags = os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | (os.O_TRUNC if append_at is None else 0)
        try:
            self._fd = os.open(name, flags, 0o666)
            self.background = stat.S_ISREG(os.fstat(self._fd).st_mode)
            self.position = 0
            if append_at is not None:
                self._cut(append_at)  # else what is there would be written over
        except OSError as error:
            self.close()
            raise from_os_error(error, name) from error

    @unless_exiting
    def __del__(self) -> None:
        if getattr(self, "_fd", -1) >= 0:  # an interruption came before close()
            self.close()

    def write(self, data: Any) -> None:
        view = memoryview(data)
        try:
            with self._writing:
                while len(view):
                    done = os.write(self._number(), view)
                    self.position += done
                    view = view[done:]
        except OSError as error:
            raise from_os_error(error, self.name) from error

    def write_pieces(self, pieces: list[Any]) -> None:
        try:
            with self._writing:
                done = os.writev(self._number(), pieces)
                self.position += done
        except OSError as error:
            raise from_os_error(error, self.name) from error
        for piece in pieces:  # what a short write has left over
            if done < len(piece):
                self.write(memoryview(piece)[done:])
            done = max(0, done - len(piece))

    def flush(self) -> None:
        pass  # written bytes are the kernel's already: every process sees them

    def rollback(self, position: int) -> None:
        # A pipe or /dev/full cannot be truncated.
        with contextlib.suppress(OSError), self._writing:
            if self._fd >= 0:
                self._cut(position)

    def _cut(self, position: int) -> None:
        os.ftruncate(self._fd, position)
        os.lseek(self._fd, position, os.SEEK_SET)
        self.position = position

    def sync(self, *, data_only: bool = False) -> None:
        """Wait until the bytes are on the disk."""
        try:
            with self._syncing:
                (_sync_data if data_only else os.fsync)(self._number())
        except OSError as error:
            raise from_os_error(error, self.name) from error

    def _number(self) -> int:
        if self._fd < 0:
            raise FailedPreconditionError(f"{self.name}; the file is closed.", path=self.name)
        return self._fd

    def close(self) -> None:
        """Wait for the threads that write or sync, then close it; interruptions are raised afterwards."""
        if self.process != os.getpid():  # forked: those threads are not here, but their locks may be held
            self._close()
        interruption: BaseException | None = None
        while self._fd >= 0:
            try:
                with self._writing, self._syncing:
                    self._close()
            except OpError:
                raise
            except BaseException as error:  # noqa: BLE001  # raised below
                interruption = error
        if interruption is not None:
            raise interruption

    def _close(self) -> None:
        fd, self._fd = self._fd, -1
        try:
            if fd >= 0:
                os.close(fd)
        except OSError as error:
            raise from_os_error(error, self.name) from error

    def discard(self) -> None:
        self.close()


class WholeOutput(Output, Protocol):
    """An output that appears under its name whole or not at all, when it is closed."""

    def finish(self) -> None:
        """Make everything written so far whole and durable, as far as that can be done without its name."""

    def publish(self, name: str | None = None) -> None:
        """Give the finished file its name, or another one in the same folder that was not known before."""


class AtomicOutput:
    """A local file that appears under its name whole or not at all: written in the sidecar folder, synced, renamed.

    Args:
        name: its path.
        durable: wait for the disk. Without, a power failure may leave a file that is not whole: only for what says so
            itself and can be made again.
    """

    whole = True

    def __init__(self, name: str, *, durable: bool = True) -> None:
        self.name = name
        self._done = True  # until there is a file
        self._durable = durable
        folder = sidecar_folder(name)
        self.temporary = os.path.join(
            folder, f"{os.path.basename(name)}.{os.getpid()}-{secrets.token_hex(4)}.tmp"
        )
        self._syncing: threading.Thread | None = None
        self._sync_from = 0  # what comes after has not been asked for
        self._sync_error: OpError | None = None
        try:
            self._file = _open_in_sidecar(self.temporary, name)
        except BaseException:  # an interruption may come when the file is there
            _remove_file(self.temporary)
            raise
        self.background = self._file.background
        self._done = False

    @property
    def position(self) -> int:
        """Bytes in the file so far."""
        return self._file.position

    def write(self, data: Any) -> None:
        self._file.write(data)
        self._sync_in_background()

    def write_pieces(self, pieces: list[Any]) -> None:
        self._file.write_pieces(pieces)
        self._sync_in_background()

    def _sync_in_background(self) -> None:
        """Let what was written go to the disk on another thread, so that little is left to wait for at the end."""
        if not self._durable or self._file.position - self._sync_from < _SYNC_BYTES:
            return
        if self._syncing is not None and self._syncing.is_alive():
            return
        self._sync_from = self._file.position
        # Not `spawn`: start() returns when the thread runs, so that closing waits for it instead of coming first.
        self._syncing = threading.Thread(target=self._sync_once, name="tfrkit-sync", daemon=True)
        self._syncing.start()

    def _sync_once(self) -> None:
        try:
            self._file.sync(data_only=True)
        except OpError as error:  # the kernel reports it once: it must not be lost
            self._sync_error = error

    def _end_syncing(self) -> None:
        if self._syncing is not None and self._syncing.is_alive():
            self._syncing.join()
        self._syncing = None

    def flush(self) -> None:
        self._file.flush()

    def rollback(self, position: int) -> None:
        self._file.rollback(position)

    def finish(self) -> None:
        """Make the temporary file whole and durable, without giving it its name yet."""
        self._end_syncing()
        if self._sync_error is not None:
            raise self._sync_error
        if self._durable:
            self._file.sync()
        self._file.close()

    def publish(self, name: str | None = None) -> None:
        """Give the finished file its name."""
        try:
            os.replace(self.temporary, name or self.name)
            self._done = True
            _remove_if_empty(os.path.dirname(self.temporary))
            if self._durable:
                sync_folder(os.path.dirname(name or self.name))
        except OSError as error:
            self.discard()
            raise from_os_error(error, name or self.name) from error

    def close(self) -> None:
        if self._done:
            return
        try:
            self.finish()
        except BaseException:
            self.discard()
            raise
        self.publish()

    def discard(self) -> None:
        if self._done:
            return
        try:
            self._file.close()  # which waits for the thread that syncs
        finally:
            if self._file.process == os.getpid():  # a forked process does not remove the file of its parent
                _remove_file(self.temporary)
        self._done = True


class ObjectOutput:
    """A user's open binary file; it is flushed, but never closed, and used in the user's thread only.

    Or an output that appears whole, and is not the writer's to close.
    """

    def __init__(self, file: IO[bytes] | WholeOutput) -> None:
        self.whole = bool(getattr(file, "whole", False))
        name = getattr(file, "name", None)
        self.name = name if isinstance(name, str) else repr(file)
        self.background = bool(getattr(file, "background", False))
        self.position = 0
        self._file = file

    def write(self, data: Any) -> None:
        view = memoryview(data)
        try:
            while len(view):
                # A raw file may take less than everything; others give the count, or None.
                done = self._file.write(view)
                done = len(view) if done is None else done
                self.position += done
                view = view[done:]
        except OSError as error:
            raise from_os_error(error, self.name) from error

    def write_pieces(self, pieces: list[Any]) -> None:
        for piece in pieces:
            self.write(piece)

    def flush(self) -> None:
        try:
            self._file.flush()
        except OSError as error:
            raise from_os_error(error, self.name) from error

    def rollback(self, position: int) -> None:
        pass  # it is the user's file

    def close(self) -> None:
        self.flush()

    def discard(self) -> None:
        pass


def rename_durably(source: str, target: str) -> None:
    """Give a file whose bytes are on the disk another name there; the name is on the disk, too, when this returns."""
    try:
        os.replace(source, target)
        sync_folder(os.path.dirname(target))
    except OSError as error:
        raise from_os_error(error, target) from error


def _open_in_sidecar(temporary: str, name: str) -> FileOutput:
    """Open a temporary file, in a folder that the end of another one may take away at any moment."""
    attempt = 1
    while True:
        try:
            os.makedirs(os.path.dirname(temporary), exist_ok=True)
            return FileOutput(temporary)
        except OSError as error:
            if isinstance(error, (FileNotFoundError, FileExistsError)) and attempt < _MAX_ATTEMPTS:
                attempt += 1
                continue
            if isinstance(error, OpError):
                raise
            raise from_os_error(error, name) from error


def _remove_file(temporary: str) -> None:
    with contextlib.suppress(OSError):
        os.unlink(temporary)
    _remove_if_empty(os.path.dirname(temporary))


def _remove_if_empty(folder: str) -> None:
    # Never the folder of the file itself, whose temporary file may lie beside it.
    if os.path.basename(folder) == SIDECAR_FOLDER:
        with contextlib.suppress(OSError):
            os.rmdir(folder)


def sync_folder(folder: str) -> None:
    """Make a rename in `folder` durable."""
    fd = os.open(folder or ".", os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_whole(output: WholeOutput, data: bytes) -> None:
    """Write all of a small file and close it, or leave nothing of it."""
    try:
        output.write(data)
        output.close()
    except BaseException:
        output.discard()
        raise


def temporary_of(name: str) -> str | None:
    """Return the name of the file that a temporary file was to become; None if it is none. Pure: no I/O.

    >>> temporary_of("manifest.json.4711-0123abcd.tmp")
    'manifest.json'
    """
    found = _TEMPORARY.fullmatch(name)
    return found[1] if found else None


def remove_temporary(path: str) -> None:
    """Remove what killed processes have left of attempts to write a file; the caller knows that none runs now."""
    for found in glob.glob(
        os.path.join(glob.escape(sidecar_folder(path)), glob.escape(os.path.basename(path)) + ".*")
    ):
        if temporary_of(os.path.basename(found)) == os.path.basename(path):
            with contextlib.suppress(OSError):
                os.unlink(found)
