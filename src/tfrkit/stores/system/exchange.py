"""Two files or folders take each other's names in one step, where the system can do that.

There is no moment at which a name is missing, as there is between two renames.
"""

from __future__ import annotations

import ctypes
import errno
import os
from typing import Any, Final

__all__ = ["exchange"]

_AT_FDCWD: Final = -100
_RENAME_EXCHANGE: Final = 2
_UNKNOWN: Final = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


def exchange(one: str, other: str) -> bool:
    """Exchange two names of one file system; return False if it cannot be done here, and nothing has happened.

    Raises:
        OSError: the operating system's reason.
    """
    rename: Any = getattr(
        ctypes.CDLL(None, use_errno=True), "renameat2", None
    )  # Linux; not in every C library
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _UNKNOWN:
        return False
    raise OSError(number, os.strerror(number), one, None, other)
