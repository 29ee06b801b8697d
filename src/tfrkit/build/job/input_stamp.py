"""Whether an input is still what was surveyed: size, time and inode of a file, the version of an object, and the error.

What was counted is compared where it is read (by the formats); this is compared when reading begins and once more
before a job is published, so that a change that keeps every count is found too.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Final, Self

from tfrkit.errors import DataLossError, FailedPreconditionError, NotFoundError, os_errors
from tfrkit.stores.files import ask_all, file_info, list_files, open_known, open_source, traits_of
from tfrkit.stores.source import ByteSource
from tfrkit.stores.store import FileInfo
from tfrkit.stores.url import is_url
from tfrkit.threads import spawn_all

__all__ = [
    "InputChangedError",
    "InputStamp",
    "check_unchanged",
    "stamp_digest",
    "stamps_of",
    "unchanged",
    "written_again",
]

_LISTED_FROM: Final = 32  # files of one folder: a listing has up to 1,000 a request
_REQUESTS_AT_ONCE: Final = 16


class InputChangedError(DataLossError):
    """An input is not what it was when the job was planned."""

    def __init__(self, path: str, what: str) -> None:
        """Say what differs: `what` has both numbers."""
        super().__init__(
            f"{path}: this input has changed since the job began: {what}. Nothing was published; run the command "
            "again when nothing writes to it.",
            path=path,
        )


@dataclass(frozen=True, slots=True)
class InputStamp:
    """What the file system or the store says of a file.

    Attributes:
        path: of the file.
        size: bytes.
        time_ns: when it was last written.
        inode: another one if the file was replaced; 0 of a URL.
        version: of a URL: another one if its content was replaced, as far as its store can tell.
    """

    path: str
    size: int
    time_ns: int
    inode: int
    version: str = ""

    @classmethod
    def of(cls, path: str) -> Self:
        """Look at a file.

        Raises:
            OpError: it is not there, or cannot be looked at.
        """
        if is_url(path):
            return cls.listed(_info_of(path))
        with os_errors(path):
            status = os.stat(path)
        return cls(path, status.st_size, status.st_mtime_ns, status.st_ino)

    @classmethod
    def listed(cls, found: FileInfo) -> Self:
        """Take what a store said of a URL. Pure: no I/O."""
        # Azure quotes the versions of files that it is asked for, and not those that it lists.
        return cls(found.path, found.size, found.modified_ns, 0, found.version.strip('"'))

    @property
    def mark(self) -> bytes:
        """Changes when the file is written again: its time, or its version."""
        return f"{self.version or self.time_ns}\n".encode()

    def check(self) -> None:
        """Compare it with the file as it is now.

        Raises:
            InputChangedError: it is another.
        """
        if is_url(self.path):
            self.compare(file_info(self.path))
            return
        try:
            now = os.stat(self.path)
        except OSError as error:
            raise InputChangedError(
                self.path, f"expected {self.size:,} bytes but got none: {os.strerror(error.errno or 0)}"
            ) from error
        if now.st_size != self.size:
            raise InputChangedError(self.path, f"expected {self.size:,} bytes but got {now.st_size:,}")
        if now.st_mtime_ns != self.time_ns:
            raise written_again(self.path, self.time_ns, now.st_mtime_ns)
        if now.st_ino != self.inode:
            raise InputChangedError(
                self.path, f"expected the file with inode {self.inode} but got {now.st_ino}"
            )

    def open(self) -> ByteSource:
        """Open the file; what is behind a URL at this version, without a request if its store can.

        Raises:
            InputChangedError: the URL has another version. That may turn out only when it is read: see `unchanged`.
        """
        if not is_url(self.path):
            return open_source(self.path)
        found = FileInfo(self.path, self.size, self.version, modified_ns=self.time_ns)
        source = open_known(found)
        self.compare(replace(found, size=source.size() or 0, version=source.version))
        return source

    def compare(self, found: FileInfo | None) -> None:
        """Compare it with what a store says now of a URL, None if it is not there. Pure: no I/O.

        Raises:
            InputChangedError: it is another.
        """
        if found is None or found.is_folder:
            raise InputChangedError(self.path, f"expected {self.size:,} bytes but the file is gone")
        now = InputStamp.listed(found)
        if now.size != self.size:
            raise InputChangedError(self.path, f"expected {self.size:,} bytes but got {now.size:,}")
        if now.version != self.version:
            raise InputChangedError(self.path, f"expected version {self.version} but got {now.version}")


def stamp_digest(stamps: Iterable[InputStamp | None]) -> str:
    """Return a digest of when files were changed: an interrupted job does not resume with other content."""
    digest = hashlib.blake2b(digest_size=8)
    for stamp in stamps:
        digest.update(b"-" if stamp is None else stamp.mark)
    return digest.hexdigest()


@contextmanager
def unchanged(path: str) -> Iterator[None]:
    """Raise as a change of the input what a store says of a URL that is no longer what was opened."""
    try:
        yield
    except (FailedPreconditionError, NotFoundError) as error:
        if not is_url(path):
            raise
        what = error.message.split("; ", 1)[-1].split(". ", 1)[0]
        raise InputChangedError(path, what) from error


def stamps_of(paths: Iterable[str]) -> dict[str, InputStamp]:
    """Look at all files that can be read by position, each once; at those behind URLs several at once.

    Returns:
        Their stamps by path. Pipes, and what is on servers without ranges, are left out.

    Raises:
        NotFoundError: one is not there.
    """
    unique = list(dict.fromkeys(paths))
    found = zip(unique, ask_all(_stamp_or_none, unique), strict=True)
    return {path: stamp for path, stamp in found if stamp is not None}


def _stamp_or_none(path: str) -> InputStamp | None:
    if not is_url(path):
        return InputStamp.of(path) if os.path.isfile(path) or not os.path.exists(path) else None
    found = _info_of(path)
    return InputStamp.listed(found) if found.regular else None


def _info_of(url: str) -> FileInfo:
    found = file_info(url)
    if found is None or found.is_folder:
        raise NotFoundError(f"{url}; No such file or directory", path=url)
    return found


def written_again(path: str, before_ns: int, now_ns: int) -> InputChangedError:
    """Return the error for a file of the same size that has another time."""
    return InputChangedError(
        path,
        f"expected it to be written last at {_seconds(before_ns)} but got {_seconds(now_ns)} (seconds since 1970)",
    )


def _seconds(time_ns: int) -> str:
    return f"{time_ns // 10**9}.{time_ns % 10**9:09d}"


def check_unchanged(stamps: Iterable[InputStamp]) -> None:
    """Compare all inputs; of many in one folder of a store, with a listing of it.

    Raises:
        InputChangedError: names the first that is another.
    """
    remote: dict[str, list[InputStamp]] = {}
    for stamp in stamps:
        if is_url(stamp.path):
            remote.setdefault(stamp.path.rpartition("/")[0], []).append(stamp)
        else:
            stamp.check()
    single = []
    for folder, group in remote.items():
        if len(group) < _LISTED_FROM or not traits_of(folder).lists:
            single += group
        else:
            found = {info.path: info for info in list_files(folder) if not info.is_folder}
            for stamp in group:
                stamp.compare(found.get(stamp.path))
    spawn_all(InputStamp.check, single, _REQUESTS_AT_ONCE)
