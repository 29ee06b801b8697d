"""GFile: a file with TensorFlow's interface, opened at the first read or write.

What is written to an object store is there when the file is closed.
"""

from __future__ import annotations

import io
import os
from typing import Any, Final, Self

from tfrkit.errors import (
    FailedPreconditionError,
    InvalidArgumentError,
    OutOfRangeError,
    PermissionDeniedError,
    UnimplementedError,
)
from tfrkit.stores import files
from tfrkit.stores.output import WholeOutput
from tfrkit.stores.source import SourceFile
from tfrkit.stores.url import display_name, is_url
from tfrkit.tf.io.gfile_functions import os_errors, path_text, stat

__all__ = ["FastGFile", "GFile"]

_MODES: Final = ("r", "w", "a", "r+", "w+", "a+")
_READING: Final = ("r", "r+", "a+", "w+")
_WRITING: Final = ("a", "w", "r+", "a+", "w+")


class GFile:
    """A file to read, to write, or both.

    Text is UTF-8; a "b" in the mode means bytes. Reading lines drops carriage returns. After `close` the file can be
    used again, from its start. Not thread-safe.
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        """Describe a file.

        Args:
            name: its path.
            mode: "r", "w", "a", "r+", "w+" or "a+", with a "b" for bytes.

        Raises:
            InvalidArgumentError: the mode is not one of these.
        """
        self._name = name
        self._path = path_text(name)
        self._mode = mode
        self._binary = "b" in mode
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise InvalidArgumentError(f"mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+': got {mode!r}")
        self._reads = plain in _READING
        self._writes = plain in _WRITING
        self._input: io.BufferedReader | None = None
        self._output: io.BufferedWriter | WholeOutput | None = None

    @property
    def name(self) -> Any:
        """The path as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode as it was given."""
        return self._mode

    def read(self, n: int = -1) -> Any:
        """Read at most `n` bytes, all by default.

        Raises:
            NotFoundError: the file does not exist.
            PermissionDeniedError: it was opened for writing.
        """
        file = self._to_read()
        with os_errors(self._path):
            return self._given(file.read(None if n < 0 else n))

    def readline(self) -> Any:
        """Read one line with its line end; empty at the end of the file."""
        file = self._to_read()
        with os_errors(self._path):
            return self._given(file.readline().replace(b"\r", b""))

    def readlines(self) -> list[Any]:
        """Read all lines."""
        lines = []
        while line := self.readline():
            lines.append(line)
        return lines

    def write(self, file_content: Any) -> None:
        """Write text or bytes.

        Raises:
            PermissionDeniedError: it was opened for reading.
        """
        file = self._to_write()
        if isinstance(file_content, str):
            file_content = file_content.encode()
        elif not isinstance(file_content, (bytes, bytearray, memoryview)):
            raise TypeError(f"Expected binary or unicode string, got {file_content!r}")
        with os_errors(self._path):
            file.write(file_content)

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Move to an offset from the start (0), from here (1) or from the end (2).

        Raises:
            OutOfRangeError: it is after the end.
            InvalidArgumentError: it is before the start, or `whence` is another number.
        """
        file = self._to_read()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        place = int(position if offset is None else offset)  # type: ignore[arg-type]
        if whence not in (0, 1, 2):
            raise InvalidArgumentError(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        size = self._size_to_seek(file.raw)
        place += {0: 0, 1: file.tell(), 2: size}[whence]
        if place < 0:
            raise InvalidArgumentError(f"Seeking to a negative position: {place}")
        if place > size:
            file.seek(size)
            raise OutOfRangeError(f"reached end of file: {place} is after its {size} bytes")
        file.seek(place)

    def _size_to_seek(self, raw: Any) -> int:
        if not isinstance(raw, SourceFile):
            return self.size()
        size = raw.source.size()
        if size is None:
            name = display_name(self._path)
            raise FailedPreconditionError(
                f"{name}; the server does not answer requests for ranges, so that the file can only be read in order. "
                "Copy it, and seek in the copy.",
                path=name,
            )
        return size

    def tell(self) -> int:
        """Return the current position."""
        if self._reads:
            return self._to_read().tell()
        output = self._to_write()
        return output.tell() if isinstance(output, io.BufferedWriter) else output.position

    def size(self) -> int:
        """Return the size of the file in bytes."""
        return stat(self._path).length

    def seekable(self) -> bool:
        """Return True, as TensorFlow does."""
        return True

    def flush(self) -> None:
        """Write buffered data to the file."""
        if self._output is not None:
            with os_errors(self._path):
                self._output.flush()

    def close(self) -> None:
        """Write buffered data, and close the file."""
        output, self._output = self._output, None
        given, self._input = self._input, None
        if given is not None:
            given.close()
        if output is not None:
            with os_errors(self._path):
                output.close()

    def next(self) -> Any:
        """Return the next line."""
        return self.__next__()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *unused: object) -> None:
        self.close()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Any:
        line = self.readline()
        if not line:
            raise StopIteration
        return line

    def __del__(self) -> None:
        for file in (getattr(self, "_input", None), getattr(self, "_output", None)):
            if file is not None:
                file.close()

    def _given(self, data: bytes) -> Any:
        return data if self._binary else data.decode()

    def _to_read(self) -> io.BufferedReader:
        if self._input is None:
            if not self._reads:
                raise PermissionDeniedError(f"File isn't open for reading: {self._path}, mode {self._mode!r}")
            with os_errors(self._path):
                self._input = files.open_file(self._path)
        return self._input

    def _to_write(self) -> io.BufferedWriter | WholeOutput:
        if self._output is None:
            if not self._writes:
                raise PermissionDeniedError(f"File isn't open for writing: {self._path}, mode {self._mode!r}")
            append = "a" in self._mode
            with os_errors(self._path):
                if is_url(self._path):
                    self._output = self._created(append)
                else:
                    self._output = open(self._path, "ab" if append else "wb")  # noqa: SIM115
            if append and isinstance(self._output, io.BufferedWriter):
                self._output.seek(0, os.SEEK_END)
        return self._output

    def _created(self, append: bool) -> WholeOutput:
        if append and not files.traits_of(self._path).appends:
            name = display_name(self._path)
            raise UnimplementedError(
                f"{name}; a store of objects cannot append to one. Write another file beside it, or read this one and "
                "write it anew with what is to be added.",
                path=name,
            )
        return files.create(self._path)


class FastGFile(GFile):
    """TensorFlow 1's name of GFile."""
