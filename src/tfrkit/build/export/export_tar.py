"""Members of tar files, as Python's `tarfile` writes them in GNU's format: no time, no user, mode 0644."""

from __future__ import annotations

import tarfile
from typing import Final

__all__ = ["TAR_END", "tar_header", "tar_padding"]

_BLOCK: Final = 512
TAR_END: Final = bytes(2 * _BLOCK)
_NAME_BYTES: Final = 100
_MOST: Final = 8**11 - 1  # bytes that eleven octal digits say
_BEFORE: Final = b"0000644\0" + b"0000000\0" * 2  # mode, user, group
_TIME: Final = b"\0" + b"0" * 11 + b"\0"
_AFTER: Final = b"0" + bytes(100) + b"ustar  \0"
_REST: Final = _AFTER + bytes(_BLOCK - _NAME_BYTES - len(_BEFORE) - 11 - len(_TIME) - 8 - len(_AFTER))
_SUM: Final = sum(_BEFORE) + sum(_TIME) + sum(_AFTER) + 8 * ord(" ")


def tar_header(name: bytes, size: int) -> bytes:
    """Return what stands before the content of a file. Pure: no I/O.

    >>> len(tar_header(b"a.txt", 5)), len(tar_header(b"a" * 200, 5))
    (512, 1536)
    """
    if len(name) > _NAME_BYTES or size > _MOST:
        info = tarfile.TarInfo(name.decode("utf-8", "surrogateescape"))
        info.size = size
        return info.tobuf(tarfile.GNU_FORMAT, "utf-8", "surrogateescape")
    digits = b"%011o" % size
    total = _SUM + sum(name) + sum(digits)
    return b"%b%b%b%b%06o\0 %b" % (name.ljust(_NAME_BYTES, b"\0"), _BEFORE, digits, _TIME, total, _REST)


def tar_padding(size: int) -> bytes:
    """Return what stands after the content. Pure: no I/O."""
    return bytes(-size % _BLOCK)
