"""UploadOutput: an object on its way into a store, in parts; it is there when all of them are.

Small objects are one request. What is given up is aborted, so that no parts stay in the store; only a killed process
leaves some, which a lifecycle rule of the bucket removes.
"""

from __future__ import annotations

import os
from typing import Any, Final, Protocol

from tfrkit.errors import FailedPreconditionError, OpError
from tfrkit.optional import require
from tfrkit.stores.at_exit import unless_exiting
from tfrkit.stores.object_config import ObjectPlace, check_process, client_of
from tfrkit.stores.object_requests import Attempts, head, upload_errors
from tfrkit.stores.url import display_name

__all__ = ["MOST_AT_ONCE", "UploadOutput"]

PART_BYTES: Final = 1 << 23
_LEAST_PART_BYTES: Final = 5 << 20  # that S3 takes, but for the last one
_MOST_PARTS: Final = 10_000  # of an object in S3
_PARTS_AT_ONCE: Final = 8
_SHARED_BYTES: Final = 1 << 27  # for the unfinished parts of uploads at the same time; as much is on its way
MOST_AT_ONCE: Final = _SHARED_BYTES // _LEAST_PART_BYTES  # uploads that share it


class _Mover(Protocol):
    def move(self, source: str, target: str) -> None:
        """Give a file another name."""


class UploadOutput:
    """An object that appears whole or not at all. Not for several threads at once.

    The first part is kept until the store has taken it, so that an upload whose beginning fails is begun again.

    Args:
        place: where it will be.
        path: the same as the user wrote it.
        store: can move it.
        at_once: how many of the caller's uploads share the memory for parts.
    """

    background = whole = True

    def __init__(self, place: ObjectPlace, path: str, store: _Mover, at_once: int = 1) -> None:
        self._done = True  # until there is something to give up
        self.name = display_name(path)
        self.position = 0
        self._place, self._path, self._store = place, path, store
        self._process = os.getpid()
        self._first = bytearray()  # what comes before the upload has begun
        self._writer: Any = None
        self._before: str | None = None  # the version of what the object replaces
        self._failed = False
        self._part_bytes = min(PART_BYTES, max(_LEAST_PART_BYTES, _SHARED_BYTES // at_once))
        self._parts_at_once = max(1, min(_PARTS_AT_ONCE, _SHARED_BYTES // PART_BYTES // at_once))
        if not place.key or place.key.endswith("/"):
            where = "last slash" if place.key.strip("/") else "bucket"
            raise FailedPreconditionError(f"{self.name}; expected a name after the {where}.", path=self.name)
        client_of(place)  # says at once what is wrong with the configuration
        self._done = False

    @unless_exiting
    def __del__(self) -> None:
        if not getattr(self, "_done", True):
            self.discard()

    def write(self, data: Any) -> None:
        """Take all of a buffer; it is uploaded when a part is full."""
        self._check()
        size = len(memoryview(data))
        if self.position + size > self._part_bytes * _MOST_PARTS:
            self._failed = True
            raise FailedPreconditionError(
                f"{self.name}; an object in parts of {self._part_bytes >> 20} MiB ends at "
                f"{self._part_bytes * _MOST_PARTS >> 30} GiB. Write several shards.",
                path=self.name,
            )
        try:
            if self._writer is None:
                self._first += data
                if len(self._first) > self._part_bytes:
                    self._begin()
            else:
                with upload_errors(self.name):  # obstore keeps the buffer, so it must not change any more
                    self._writer.write(data if isinstance(data, bytes) else bytes(data))
        except BaseException:
            self._failed = True
            raise
        self.position += size

    def _begin(self) -> None:
        """Begin an upload with what has come so far, as often as it takes."""
        attempts = Attempts("The beginning of an upload", self.name)
        self._before = self._version()
        first = bytes(self._first)
        while self._writer is None:
            with attempts, upload_errors(self.name, raw=True):
                writer = self._open()
                writer.write(first)
                self._writer = writer
        self._first = bytearray()

    def _open(self) -> Any:
        obstore = require("obstore", "Writing to object stores")
        return obstore.open_writer(
            client_of(self._place),
            self._place.key,
            buffer_size=self._part_bytes,
            max_concurrency=self._parts_at_once,
        )

    def _version(self) -> str | None:
        """Return the version and size of what is there; None if nothing is."""
        attempts = Attempts("HEAD", self.name)
        while True:
            with attempts:
                try:
                    found = head(client_of(self._place), self._place.key)
                except FileNotFoundError:
                    return None
                return f"{found['size']} {found['e_tag']}"

    def write_pieces(self, pieces: list[Any]) -> None:
        self.write(b"".join(pieces))

    def flush(self) -> None:
        """Do nothing: an object cannot be seen before it is whole."""

    def rollback(self, position: int) -> None:
        """Give up, unless nothing is to be undone: what was uploaded cannot be taken back."""
        self._failed = self._failed or position != self.position

    def finish(self) -> None:
        self._check()

    def publish(self, name: str | None = None) -> None:
        self._check()
        try:
            self._complete()
        except BaseException:
            self.discard()
            raise
        self._done = True
        if name is not None and name != self._path:
            self._store.move(self._path, name)
            self._path, self.name = name, display_name(name)

    def _complete(self) -> None:
        if self._writer is None:
            attempts = Attempts("PUT", self.name)
            while True:
                with attempts:
                    client_of(self._place).put(self._place.key, bytes(self._first), use_multipart=False)
                    return
        try:
            with upload_errors(self.name):
                self._writer.close()
        except OpError:
            # The answer may be lost although the object is complete, and such a request is not repeated.
            now = self._version()
            if now is None or now == self._before or not now.startswith(f"{self.position} "):
                raise

    def close(self) -> None:
        if self._done:
            return
        if self._failed:
            self.discard()
        self.finish()
        self.publish()

    def discard(self) -> None:
        """Abort the upload; nothing of it stays in the store."""
        done, self._done = self._done, True
        if done or self._writer is None or self._process != os.getpid():  # a forked process has not begun it
            return
        error = FailedPreconditionError("given up")
        try:
            with upload_errors(self.name):
                self._writer.__exit__(type(error), error, None)
        except OpError:  # it has ended by itself, and said why
            pass

    def _check(self) -> None:
        check_process(self.name)
        if self._failed or self._done:
            raise FailedPreconditionError(
                f"{self.name}; the upload was given up, and nothing was written. Write it again.",
                path=self.name,
            )
