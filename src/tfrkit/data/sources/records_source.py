"""RecordsNode: the records of TFRecord files, one file after another, as references into blocks.

Reading, threads and what damage means belong to `records`. Here runs are cut from the blocks, and positions are noted
so that reading can resume there: a state is three numbers, whatever was read ahead.
"""

from __future__ import annotations

import functools
import sys
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import IO, Any, ClassVar, Final

import numpy as np

from tfrkit.data.elements.chunk import ObjectChunk, RecordChunk
from tfrkit.data.engine.node import Context, NodeIterator, Run
from tfrkit.data.sources.file_source import FileSourceNode
from tfrkit.errors import MissingExtraError, OpError
from tfrkit.model.block import Block
from tfrkit.records.access.fetch import fetch
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.frame_splitter import check_block
from tfrkit.records.read.position import BEGINNING, Places, Position
from tfrkit.records.read.reader import BlockReader
from tfrkit.stores.source import ByteSource

__all__ = ["RecordsNode"]

_NONE: Final = np.zeros(0, np.int64)


@dataclass(frozen=True, eq=False)
class RecordsNode(FileSourceNode):
    """Records of the files, one file after another.

    Attributes:
        threads: how many cores reading may use; None is as many as the pipeline may.
        block_bytes: about how much is read at once.
    """

    threads: int | None = field(default=None, metadata={"unsigned": True})
    block_bytes: int = field(default=BLOCK_BYTES, metadata={"unsigned": True})

    verb = "TFRecordDataset"
    elements: ClassVar[str] = "records"
    reads_ahead: ClassVar[bool] = True  # other threads read the next blocks anyway

    @property
    def record_source(self) -> RecordsNode:
        return self

    def start(self, context: Context, state: Any = None) -> NodeIterator:
        """Begin at a file, a byte of its uncompressed stream, and the number of the record there.

        Raises:
            FailedPreconditionError: that would be the middle of a pipe.
        """
        position = BEGINNING if state is None else Position(*state)
        self.check_start(position.file, position.offset)
        return _RecordsIterator(self, context, position)

    def number_of(self, path: str | None) -> int:
        """The number of a file, for `fetch`; -1 if it is not one of this source's, or cannot be read again."""
        file = self._numbers.get(path, -1)
        return -1 if file < 0 or self.flows(self.files[file]) else file

    def fetch(self, places: Places, *, threads: int | None = None) -> RecordChunk:
        """Read the records at places of this source's files again, in the order of the places.

        Raises:
            DataLossError: a file has changed.
        """
        return RecordChunk(*fetch(self.files, self.policy, places, threads=threads))

    @functools.cached_property
    def _numbers(self) -> dict[str | None, int]:
        # A file that is named twice is the same file, so either number will do.
        return {path: number for number, path in enumerate(self.files)}


def _rows(block: Block, start: int, end: int, step: int) -> Block:
    if step > 1:
        return block.take(np.arange(start, end, step))
    return block if end - start == len(block) else block[start:end]


class _RecordsIterator(NodeIterator):
    def __init__(self, node: RecordsNode, context: Context, position: Position) -> None:
        self._node = node
        self._context = context
        self._position = position  # where it stands, if no block is at hand
        self._reader: BlockReader | None = None  # opened by the first pull
        self._closed = False
        self._file = 0
        self._block: Block | None = None  # at hand, also when all of it is given
        self._row = 0  # its first record that is not
        self._counted = 0  # damages that the context knows
        self._late = False  # data is checked when it is given, since not all of it is

    def pull(self, n: int) -> Run | None:
        """Return records of as many blocks and files as it takes."""
        return self._safely(n, 0, 1)[0]

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        """Return some records; if the policy says so the data of others is not checked."""
        policy = self._node.policy
        if policy.checks_left_out or policy.on_corrupt != "raise":
            return super().pull_every(n, first, step)
        if not self._late and (self._reader is None or self._node.pure):
            self._begin_again()
            self._late = True
        return self._safely(n, first, step) if self._late else super().pull_every(n, first, step)

    def _safely(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        if self._closed:
            return None, 0
        before = self._file, self._block, self._row
        try:
            return self._pull(n, first, step)
        except Exception:
            raise
        except BaseException:  # KeyboardInterrupt: as if nothing had been asked for
            self._file, self._block, self._row = before
            self._begin_again()
            raise

    def _begin_again(self) -> None:
        """Let the next pull open the files anew, where that resumes from the same position."""
        if self._reader is not None and self._node.pure:
            self._position, self._block = Position(*self.save()), None
            self._reader.close()
            self._reader, self._counted = None, 0

    def _pull(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        blocks: list[Block] = []
        error: Exception | None = None
        past = 0
        try:
            while n and (self._at_hand() or self._next_block(first > 0)):
                block, row = self._block, self._row
                assert block is not None
                if first >= len(block) - row:
                    self._row = len(block)
                    past, first = past + len(block) - row, first - (len(block) - row)
                    continue
                count = min(n, -(-(len(block) - row - first) // step))
                end = row + first + (count - 1) * step + 1
                part, damage = self._checked(_rows(block, row + first, end, step))
                if len(part):
                    blocks.append(part)
                if damage is not None:
                    past += first + len(part) * step
                    self._refuse(damage)
                past, first, n, self._row = past + end - row, step - 1, n - count, end
        except (OpError, MissingExtraError) as found:
            error = found
        if not blocks and error is None:
            return None, past
        return Run(RecordChunk(blocks) if blocks else ObjectChunk([]), error), past

    def _at_hand(self) -> bool:
        return self._block is not None and self._row < len(self._block)

    def _checked(self, part: Block) -> tuple[Block, Damage | None]:
        """The records up to the first whose data is damaged, and what is wrong with it, if it was not checked yet."""
        if not self._late or not self._node.policy.crc:
            return part, None
        *good, last = check_block(part)
        if isinstance(last, Block):
            return last, None
        assert isinstance(last, Damage)
        return (good[0] if good and isinstance(good[0], Block) else part[:0]), last

    def _refuse(self, damage: Damage) -> None:
        reader = self._reader
        assert reader is not None
        try:
            reader.report(damage)
        finally:
            self._block, self._position = None, Position(reader.file)

    def _next_block(self, leaving_out: bool) -> bool:
        """Get the next block; False at the end."""
        if self._reader is None:
            self._reader = self._open()
        reader = self._reader
        reader.leaving_out = leaving_out
        try:
            block = next(reader, None)
        except (OpError, MissingExtraError):
            self._block, self._position = None, Position(reader.file)
            raise
        finally:
            if reader.skipped != self._counted:
                self._count(reader)
        if block is None:
            self._block, self._position = None, Position(reader.file)
            return False
        self._file, self._block, self._row = reader.file, block, 0
        return True

    def _open(self) -> BlockReader:
        node = self._node
        files: list[str | IO[bytes]] = [
            sys.stdin.buffer if path == "-" and node.policy.globs else path for path in node.files
        ]
        return BlockReader(
            files,
            node.policy,
            node.threads or self._context.threads,
            node.block_bytes,
            self._position,
            checked=not self._late,
            opening=self._opening(),
        )

    def _opening(self) -> Future[ByteSource] | None:
        files, first = self._node.files, self._position.file
        if first >= len(files):
            return None
        return self._context.opening.take(files[first], cache=self._node.policy.cache)

    def _count(self, reader: BlockReader) -> None:
        """Report damages that the reader skipped."""
        new = reader.skipped - self._counted
        self._context.count_damages(new, reader.damages[self._counted :])
        self._counted += new

    def save(self) -> list[int]:
        """File, byte and number of the next record."""
        block = self._block
        if block is None:
            return list(self._position)
        if self._row == len(block):
            return list(Position.after(self._file, block))
        number, frame = block.place(self._row)
        assert frame is not None
        return [self._file, frame, number]

    def close(self) -> None:
        self._closed = True
        self._block = None
        if self._reader is not None:
            self._reader.close()
