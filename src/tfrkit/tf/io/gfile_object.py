"""GFile: a local file under TensorFlow's interface. It is opened when it is first read or written, not before."""

from __future__ import annotations

import io
import os
from functools import partial
from typing import Any, Final, Self

from tfrkit.errors import InvalidArgumentError, OpError, OutOfRangeError, PermissionDeniedError, from_os_error
from tfrkit.stores.scheme import check_local
from tfrkit.tf.io.gfile_functions import any_path_text, stat

__all__ = ["FastGFile", "GFile"]

_MODES: Final = ("r", "w", "a", "r+", "w+", "a+")
_READING: Final = ("r", "r+", "a+", "w+")
_WRITING: Final = ("a", "w", "r+", "a+", "w+")


class GFile:
    """A file that is read, written or both.

    Text is UTF-8; with "b" in the mode it is bytes. Reading lines leaves carriage returns out. After `close` it can be
    used again, from its beginning. Not for several threads at once.
    """

    def __init__(self, name: Any, mode: str = "r") -> None:
        """Describe a file.

        Args:
            name: its path.
            mode: "r", "w", "a", "r+", "w+" or "a+", with a "b" for bytes.

        Raises:
            InvalidArgumentError: it is another mode.
        """
        self._name = name
        self._path = any_path_text(name)
        self._mode = mode
        self._binary = "b" in mode
        plain = mode.replace("b", "")
        if plain not in _MODES:
            raise InvalidArgumentError("mode is not 'r' or 'w' or 'a' or 'r+' or 'w+' or 'a+'")
        self._reads = plain in _READING
        self._writes = plain in _WRITING
        self._input: io.BufferedReader | None = None
        self._output: io.BufferedWriter | None = None

    @property
    def name(self) -> Any:
        """The path as it was given."""
        return self._name

    @property
    def mode(self) -> str:
        """The mode as it was given."""
        return self._mode

    def read(self, n: int = -1) -> Any:
        """Read at most so many bytes, all by default.

        Raises:
            NotFoundError: there is no such file.
            PermissionDeniedError: it was opened for writing.
        """
        file = self._to_read()
        return self._given(self._told(lambda: file.read(None if n < 0 else n)))

    def readline(self) -> Any:
        """Read one line with its end; nothing is left if there is none."""
        file = self._to_read()
        return self._given(self._told(file.readline).replace(b"\r", b""))

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
        self._told(lambda: file.write(file_content))

    def seek(self, offset: int | None = None, whence: int = 0, position: int | None = None) -> None:
        """Go to a place: from the beginning (0), from here (1) or from the end (2).

        Raises:
            OutOfRangeError: it is behind the end.
            InvalidArgumentError: it is before the beginning, or `whence` is another number.
        """
        file = self._to_read()
        if offset is None and position is None:
            raise TypeError("seek(): offset argument required")
        place = int(position if offset is None else offset)  # type: ignore[arg-type]
        if whence not in (0, 1, 2):
            raise InvalidArgumentError(f"Invalid whence argument: {whence}. Valid values are 0, 1, or 2.")
        size = self.size()
        place += {0: 0, 1: file.tell(), 2: size}[whence]
        if place < 0:
            raise InvalidArgumentError(f"Seeking to a negative position: {place}")
        if place > size:
            file.seek(size)
            raise OutOfRangeError("reached end of file")
        file.seek(place)

    def tell(self) -> int:
        """Where it stands."""
        if self._reads:
            return self._to_read().tell()
        return self._to_write().tell()

    def size(self) -> int:
        """How many bytes the file has."""
        return stat(self._path).length

    def seekable(self) -> bool:
        """True."""
        return True

    def flush(self) -> None:
        """Write out what is still in memory."""
        if self._output is not None:
            self._told(self._output.flush)

    def close(self) -> None:
        """Write out what is still in memory, and let the file go."""
        output, self._output = self._output, None
        given, self._input = self._input, None
        if given is not None:
            given.close()
        if output is not None:
            self._told(output.close)

    def next(self) -> Any:
        """The next line."""
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

    def _told(self, action: Any) -> Any:
        try:
            return action()
        except OpError:
            raise
        except OSError as error:
            raise from_os_error(error, self._path) from error

    def _to_read(self) -> io.BufferedReader:
        if self._input is None:
            if not self._reads:
                raise PermissionDeniedError("File isn't open for reading")
            self._input = self._told(partial(open, check_local(self._path), "rb"))
        return self._input

    def _to_write(self) -> io.BufferedWriter:
        if self._output is None:
            if not self._writes:
                raise PermissionDeniedError("File isn't open for writing")
            append = "a" in self._mode
            self._output = self._told(partial(open, check_local(self._path), "ab" if append else "wb"))
            if append:
                self._output.seek(0, os.SEEK_END)
        return self._output


class FastGFile(GFile):
    """TensorFlow 1's name of it."""
