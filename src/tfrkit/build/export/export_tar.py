"""Tar files: their members as Python's `tarfile` writes them in GNU's format, without time and user, of mode 0644."""

from __future__ import annotations

import tarfile
from typing import ClassVar, Final, NamedTuple, Self

from tfrkit.stores import files

__all__ = ["TarForm", "TarPart", "tar_header", "tar_padding"]

_BLOCK: Final = 512
_END: Final = bytes(2 * _BLOCK)
_PIECES: Final = 1024  # that an output takes at once
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


class TarPart(NamedTuple):
    """Members of some records, as buffers that follow each other."""

    pieces: list[bytes | memoryview]
    records: int


class TarForm:
    """Tar files as what a job writes; recipes make their members, as `TarPart`."""

    suffix: ClassVar[str] = ".tar"

    def open(self, path: str) -> TarFile:
        return TarFile(path)


class TarFile:
    """Writes a tar file, which appears whole or not at all."""

    def __init__(self, path: str) -> None:
        self._output, self.records = files.create(path), 0

    def __enter__(self) -> Self:
        return self

    def write_frames(self, part: TarPart) -> None:
        for start in range(0, len(part.pieces), _PIECES):
            self._output.write_pieces(part.pieces[start : start + _PIECES])
        self.records += part.records

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        try:
            if kind is None:
                self._output.write(_END)
                self._output.close()
        finally:
            self._output.discard()
