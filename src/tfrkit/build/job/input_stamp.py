"""Whether an input is still what was surveyed: size, time and inode of a file, and the error that says what differs.

What was counted is compared where it is read (by the formats); this is compared when reading begins and once more
before a job is published, so that a change that keeps every count is found too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from tfrkit.errors import DataLossError, os_errors

__all__ = ["InputChangedError", "InputStamp", "check_unchanged", "written_again"]


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
    """What the file system says of a file.

    Attributes:
        path: of the file.
        size: bytes.
        time_ns: when it was last written.
        inode: another one if the file was replaced.
    """

    path: str
    size: int
    time_ns: int
    inode: int

    @classmethod
    def of(cls, path: str) -> Self:
        """Look at a file.

        Raises:
            OpError: it is not there, or cannot be looked at.
        """
        with os_errors(path):
            status = os.stat(path)
        return cls(path, status.st_size, status.st_mtime_ns, status.st_ino)

    def check(self) -> None:
        """Compare it with the file as it is now.

        Raises:
            InputChangedError: it is another.
        """
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


def written_again(path: str, before_ns: int, now_ns: int) -> InputChangedError:
    """Return the error for a file of the same size that has another time."""
    return InputChangedError(
        path,
        f"expected it to be written last at {_seconds(before_ns)} but got {_seconds(now_ns)} (seconds since 1970)",
    )


def _seconds(time_ns: int) -> str:
    return f"{time_ns // 10**9}.{time_ns % 10**9:09d}"


def check_unchanged(stamps: Iterable[InputStamp]) -> None:
    """Compare all inputs.

    Raises:
        InputChangedError: names the first that is another.
    """
    for stamp in stamps:
        stamp.check()
