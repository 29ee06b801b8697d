"""Locks of whole files between processes: flock, and a warning where a file system has none."""

from __future__ import annotations

import errno
import fcntl
import io
import os
import warnings
from typing import Final

from tfrkit.errors import from_os_error

__all__ = ["LockFile", "lock_file"]

_NO_LOCKS: Final = (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EOPNOTSUPP, errno.EINVAL)


def lock_file(fd: int, path: str, *, wait: bool) -> bool:
    """Lock an open file against other processes; closing its descriptor unlocks it.

    Some network and user-space file systems have no locks. There it warns and continues without: the user knows whether
    another process writes to the folder, and nothing could be written there otherwise.

    Args:
        fd: descriptor of the file.
        path: its name, for errors.
        wait: wait for another process that holds it.

    Returns:
        Whether this process may continue; False only if another holds it and `wait` is not set.

    Raises:
        OpError: the operating system's reason.
    """
    try:
        fcntl.flock(fd, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _NO_LOCKS:
            raise from_os_error(error, path) from error
        warnings.warn(
            f"{path}: this file system has no locks ({os.strerror(error.errno)}), so nothing keeps two processes from "
            "changing this folder at the same time. Let only one write to it.",
            RuntimeWarning,
            stacklevel=2,
        )
    return True


class LockFile(io.FileIO):
    """An empty file that is locked while it is open; calling it says that it still is.

    A file object's `with` block is entered and left in native code, where Ctrl-C cannot come in between: a lock that
    stayed would keep out the clean-up of the same process, for ever.

    Args:
        path: it is made if it is not there.

    Raises:
        OpError: it cannot be opened or locked.
    """

    def __init__(self, path: str) -> None:
        flags = os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW
        try:
            super().__init__(path, "r+", opener=lambda name, _: os.open(name, flags, 0o666))
        except OSError as error:
            raise from_os_error(error, path) from error
        try:
            lock_file(self.fileno(), path, wait=True)
        except BaseException:
            self.close()
            raise

    def __call__(self) -> None:
        """Do nothing: what has a descriptor is not taken away."""
