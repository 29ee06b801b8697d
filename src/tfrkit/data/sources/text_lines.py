r"""TextLineDataset: the lines of text files, as TensorFlow cuts them.

A line ends with "\n" or the file; every "\r" is dropped, wherever it stands; a last line that is then empty is not one.
Files are read in large pieces, whose lines become one column at once. A state is the number of a file and a byte.
"""

from __future__ import annotations

import functools
import sys
import warnings
from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np
import numpy.typing as npt

from tfrkit.codecs.codec import Decoder
from tfrkit.codecs.table import canonical, codec, names, open_decoder
from tfrkit.data.dataset import Dataset
from tfrkit.data.elements.chunk import Chunk, ColumnChunk, ObjectChunk, concat
from tfrkit.data.engine.node import Context, Node, NodeIterator, Run
from tfrkit.data.sources.file_names import check_buffer_size, check_text, make_reading_node
from tfrkit.data.sources.file_source import FileSourceNode
from tfrkit.errors import (
    DataLossError,
    DataLossWarning,
    InvalidArgumentError,
    MissingExtraError,
    OpError,
)
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.model.policy import TFRKIT, ReadPolicy
from tfrkit.records.read.open_ahead import OPEN_AHEAD
from tfrkit.records.sniff.compression_sniffer import HEAD_BYTES, sniff_compression

__all__ = ["TextLineDataset", "TextLinesNode"]

_PIECE_BYTES: Final = 1 << 20  # lines are cut from about so much at once
_NEWLINE: Final = 10


class TextLineDataset(Dataset):
    r"""The lines of text files, each a `bytes`.

    >>> import os, tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "a.txt")
    >>> with open(path, "wb") as file:
    ...     _ = file.write(b"one\r\n\ntwo")
    >>> list(TextLineDataset(path))
    [b'one', b'', b'two']
    """

    def __init__(
        self,
        filenames: Any,
        compression_type: str | None = None,
        buffer_size: int | None = None,
        num_parallel_reads: int | None = None,
        name: str | None = None,
        *,
        policy: ReadPolicy = TFRKIT,
    ) -> None:
        """Describe the files; they are opened when their turn comes.

        Args:
            filenames: a path, a pattern, "-" for standard input, any nesting of lists and arrays of them, or a Dataset
                of names. Patterns are matched now.
            compression_type: None finds out by the content (not in a pipe, and not ZLIB); "" or "none", "GZIP", "ZLIB",
                "XZ", "ZSTD".
            buffer_size: checked, without effect: files are read in large pieces.
            num_parallel_reads: return lines of this many files in turn; AUTOTUNE takes a third of the cores.
            name: ignored; TensorFlow has it.
            policy: TFRKIT, or TENSORFLOW to take names and compression as they are, and never to leave a file that
                cannot be read.

        Raises:
            InvalidArgumentError: the compression is not known.
            NotFoundError: a pattern matches nothing. Errors about single files come while iterating.
            TypeError: there are names that are not strings.
        """
        check_buffer_size(buffer_size, 0, "default")
        make = functools.partial(_read, _policy(policy, check_text(compression_type)))
        super().__init__(
            make_reading_node(
                filenames, num_parallel_reads, make, make, globs=policy.globs, verb="TextLineDataset"
            )
        )


def _policy(policy: ReadPolicy, compression: str | None) -> ReadPolicy:
    if compression is None or compression == "auto":
        return policy
    if not policy.tensorflow_containers:
        return policy.with_options(compression=canonical(compression))
    if compression not in names() or not codec(compression).tensorflow:
        raise InvalidArgumentError("Unsupported compression_type.")
    return policy.with_options(compression=compression)


def _read(policy: ReadPolicy, files: tuple[str, ...]) -> Node:
    return TextLinesNode(files, policy)


@dataclass(frozen=True, eq=False)
class TextLinesNode(FileSourceNode):
    """Lines of the files, one file after another."""

    verb = "TextLineDataset"
    unindexable = "Give the lines to from_tensor_slices(), or write them to a file of records."
    elements: ClassVar[str] = "lines"

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin at the number of a file and a byte of its uncompressed stream.

        Raises:
            FailedPreconditionError: that would be the middle of a pipe.
        """
        file, offset = (0, 0) if state is None else state
        self.check_start(file, offset)
        return _LinesIterator(self, context, file, offset)

    def open(self, file: int, offset: int, context: Context) -> _LineFile:
        """Open a file at a byte of its uncompressed stream."""
        path = self.files[file]
        stream = path == "-" and self.policy.globs
        source = context.opening.open(sys.stdin.buffer if stream else path, cache=self.policy.cache)
        context.opening.begin(self.files[file + 1 : file + 1 + OPEN_AHEAD], cache=self.policy.cache)
        kind = self.policy.compression
        if kind == "auto":
            kind = sniff_compression(source.peek(HEAD_BYTES)) if source.regular else ""
        drop = offset
        if not kind and source.regular:
            source.seek(offset)
            drop = 0
        decoder = open_decoder(source, kind, tensorflow=self.policy.tensorflow_containers)
        # What comes through a pipe is given at once: waiting for a whole piece might be waiting for ever.
        return _LineFile(path, decoder, self.policy, offset, drop, _PIECE_BYTES if source.regular else 1)


class _LineFile:
    """The lines of one open file, a piece at a time."""

    def __init__(
        self, path: str, decoder: Decoder, policy: ReadPolicy, offset: int, drop: int, piece_bytes: int
    ) -> None:
        self._path = path
        self._decoder = decoder
        self._policy = policy
        self._offset = offset  # of the next line in the uncompressed stream
        self._drop = drop  # bytes that come before it
        self._piece_bytes = piece_bytes
        self._rest: list[bytes] = []  # the beginning of a line that has no end yet
        self._failed: DataLossError | None = None  # after the lines that came before it

    def read(self) -> tuple[BytesColumn, npt.NDArray[np.int64]] | None:
        """Return the next lines, at least one, and where each ends in the stream; None at the end.

        Raises:
            DataLossError: the container is damaged. What came of the line before is lost.
        """
        if self._failed is not None:
            raise self._failed
        parts, size, whole = self._rest, 0, False
        while chunk := self._next_chunk():
            parts.append(chunk)
            size += len(chunk)
            whole = whole or b"\n" in chunk
            if whole and size >= self._piece_bytes:
                break
        data = b"".join(parts)
        end = data.rfind(b"\n") + 1
        self._rest = [data[end:]] if end < len(data) else []
        if not chunk and self._failed is None:  # the file has ended: a last line without a newline gets one
            data, self._rest = data + b"\n" if data[end:].replace(b"\r", b"") else data[:end], []
            end = len(data)
        if end:
            return self._cut(data[:end])
        if self._failed is not None:
            raise self._failed
        return None

    def _next_chunk(self) -> bytes:
        while True:
            try:
                chunk = self._decoder.read()
            except DataLossError as error:
                self._failed = DataLossError(
                    f"{error.message} in {self._path!r}. Copy the file again.", path=self._path
                )
                return b""
            if not chunk:
                self._settle()
                return b""
            if self._drop >= len(chunk):
                self._drop -= len(chunk)
                continue
            chunk, self._drop = chunk[self._drop :], 0
            return chunk

    def _settle(self) -> None:
        """The stream has ended: see whether the container has as well."""
        if self._decoder.lost:
            text = f"data loss as in TensorFlow: {self._decoder.lost} in {self._path!r}"
        elif self._decoder.truncated:
            text = f"EOF reached: the compressed container of {self._path!r} has no end. Copy the file again."
        else:
            return
        if self._policy.cut_tail == "end":
            warnings.warn(DataLossWarning(f"ignored, as TensorFlow does: {text}"), stacklevel=6)
        else:
            self._failed = DataLossError(text, path=self._path)

    def _cut(self, data: bytes) -> tuple[BytesColumn, npt.NDArray[np.int64]]:
        """Make a column of lines that all have an end."""
        newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE)
        ends = newlines + (self._offset + 1)
        self._offset += len(data)
        if b"\r" in data:
            data = data.replace(b"\r", b"")
            newlines = np.flatnonzero(np.frombuffer(data, np.uint8) == _NEWLINE)
        # Without the newlines, line i ends i bytes earlier.
        offsets = np.zeros(len(newlines) + 1, np.int64)
        np.subtract(newlines, np.arange(len(newlines)), out=offsets[1:])
        content = np.frombuffer(data.replace(b"\n", b""), np.uint8)
        return BytesColumn.unchecked(content, offsets), ends


class _LinesIterator(NodeIterator):
    def __init__(self, node: TextLinesNode, context: Context, file: int, offset: int) -> None:
        self._node = node
        self._context = context
        self._file = file
        self._offset = offset  # where the first line of the piece at hand begins
        self._open: _LineFile | None = None
        self._lines: BytesColumn | None = None  # the piece at hand
        self._ends: npt.NDArray[np.int64] = np.zeros(0, np.int64)
        self._row = 0  # its first line that is not given

    def pull(self, n: int) -> Run | None:
        """Return lines of as many pieces and files as it takes."""
        chunks: list[Chunk] = []
        error: Exception | None = None
        while n:
            if self._lines is None or self._row == len(self._lines):
                try:
                    if not self._next_piece():
                        break
                except (OpError, MissingExtraError) as found:
                    error = found
                    break
            lines, row = self._lines, self._row
            assert lines is not None
            end = min(len(lines), row + n)
            chunks.append(ColumnChunk(lines[row:end], end - row))
            n -= end - row
            self._row = end
        if not chunks and error is None:
            return None
        return Run(concat(chunks) if chunks else ObjectChunk([]), error)

    def _next_piece(self) -> bool:
        """Get the next lines, as all of those at hand are given; False at the end of all files."""
        if self._lines is not None:
            self._offset = int(self._ends[-1])
        self._lines, self._row = None, 0
        while self._file < len(self._node.files):
            try:
                if self._open is None:
                    self._open = self._node.open(self._file, self._offset, self._context)
                found = self._open.read()
            except (OpError, MissingExtraError):
                self._open = None
                if not self._node.policy.missing_file_repeats:
                    self._file, self._offset = self._file + 1, 0
                raise
            if found is not None:
                self._lines, self._ends = found
                return True
            self._open = None
            self._file, self._offset = self._file + 1, 0
        return False

    def save(self) -> list[int]:
        """Number of the file, and where the next line begins."""
        begun = self._lines is not None and self._row
        return [self._file, int(self._ends[self._row - 1]) if begun else self._offset]

    def close(self) -> None:
        self._file, self._offset = len(self._node.files), 0
        self._open = self._lines = None
        self._row = 0
