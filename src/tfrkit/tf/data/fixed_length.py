"""Records of one length, cut from files between a header and a footer.

Plain files are read where the records are wanted; a compressed one is inflated as a whole, and so is what a web server
sends only from its beginning. Sizes that do not go up are errors, in TensorFlow's words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final

import numpy as np

from tfrkit.codecs.table import open_decoder
from tfrkit.data.elements.chunk import ColumnChunk, ObjectChunk
from tfrkit.data.engine.node import Context, NodeIterator, Run
from tfrkit.data.sources.file_source import FileSourceNode
from tfrkit.errors import DataLossError, InternalError, InvalidArgumentError, OpError
from tfrkit.model.bytes_column import BytesColumn
from tfrkit.records.read.open_ahead import OPEN_AHEAD, OpenAhead
from tfrkit.stores.url import is_url

__all__ = ["FixedLengthNode"]

_PIECE_BYTES: Final = 1 << 20  # records that are read at once, if that many are asked for


@dataclass(frozen=True, eq=False)
class FixedLengthNode(FileSourceNode):
    """Records of `size` bytes of the files, one file after another."""

    size: int
    header: int
    footer: int

    verb = "FixedLengthRecordDataset"
    unindexable = "Write the parts to a file of records, or give them to from_tensor_slices()."
    elements: ClassVar[str] = "records"

    def __post_init__(self) -> None:
        if self.size <= 0:
            raise InvalidArgumentError(f"`record_bytes` must be > 0, got {self.size}")
        for name in ("header", "footer"):
            if getattr(self, name) < 0:
                raise InvalidArgumentError(f"`{name}_bytes` must be >= 0, got {getattr(self, name)}")

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin at the number of a file and of a record in it."""
        file, record = (0, 0) if state is None else state
        self.check_start(file, record)
        return _RecordsIterator(self, context, file, record)

    def refusal(self, path: str, body: int) -> str:
        """What to say of a file whose records do not go up."""
        return (
            f"Excluding the header ({self.header} bytes) and footer ({self.footer} bytes), input file "
            f'"{path}" has body length {body % 2**64} bytes, which is not an exact multiple of the record length '
            f"({self.size} bytes)."
        )


class _File:
    """An open file.

    Attributes:
        count: its records.
        error: what comes after them.
    """

    def __init__(self, node: FixedLengthNode, path: str, opening: OpenAhead) -> None:
        self._node = node
        self._source = opening.open(path, cache=node.policy.cache)
        self._content: bytes | None = None
        self.error: OpError | None = None
        if node.policy.compression or (is_url(path) and not self._source.regular):
            self._content = self._inflate()
        size = (self._source.size() or 0) if self._content is None else len(self._content)
        body = size - node.header - node.footer
        if self._content is None and size and body % 2**64 % node.size:
            raise InvalidArgumentError(node.refusal(path, body), path=path)
        if body < 0 or (self._content is not None and not size):
            short = "Read less bytes than requested" if self._content is None else "EOF reached"
            raise InternalError(
                f'Iterator "{node.verb}" returned `OutOfRange`. This indicates an implementation error as `OutOfRange` '
                f"errors are not expected to be returned here. Original message: {short}",
                path=path,
            )
        if self.error is None and body % node.size:
            self.error = DataLossError(node.refusal(path, body), path=path)
        self.count = body // node.size

    def _inflate(self) -> bytes:
        policy = self._node.policy
        decoder = open_decoder(self._source, policy.compression, tensorflow=policy.tensorflow_containers)
        parts: list[bytes] = []
        while part := decoder.read():
            parts.append(part)
        return b"".join(parts)

    def read(self, first: int, count: int) -> BytesColumn:
        """Some records."""
        size = self._node.size
        begin = self._node.header + first * size
        if self._content is None:
            data = self._source.read_at(begin, count * size)
        else:
            data = self._content[begin : begin + count * size]
        return BytesColumn.unchecked(np.frombuffer(data, np.uint8), np.arange(count + 1) * size)


class _RecordsIterator(NodeIterator):
    def __init__(self, node: FixedLengthNode, context: Context, file: int, record: int) -> None:
        self._node = node
        self._opening = context.opening
        self._number = file
        self._record = record  # the next one
        self._file: _File | None = None

    def pull(self, n: int) -> Run | None:
        """Return records of one file."""
        node = self._node
        while self._number < len(node.files):
            try:
                file = self._file = self._file or self._open()
            except OpError as error:
                if isinstance(error, (InternalError, DataLossError)) or not node.policy.missing_file_repeats:
                    self._next_file()
                return Run(ObjectChunk([]), error)
            if self._record < file.count:
                most = max(1, _PIECE_BYTES // node.size)
                count = min(n, most, file.count - self._record)
                first, self._record = self._record, self._record + count
                return Run(ColumnChunk(file.read(first, count), count))
            error_after = file.error
            self._next_file()
            if error_after is not None:
                return Run(ObjectChunk([]), error_after)
        return None

    def _open(self) -> _File:
        node, first = self._node, self._number + 1
        file = _File(node, node.files[self._number], self._opening)
        self._opening.begin(node.files[first : first + OPEN_AHEAD], cache=node.policy.cache)
        return file

    def _next_file(self) -> None:
        self._number, self._record, self._file = self._number + 1, 0, None

    def save(self) -> list[int]:
        """Number of the file, and of the next record."""
        return [self._number, self._record]

    def close(self) -> None:
        self._number, self._file = len(self._node.files), None
