"""RecordsNode: the records of TFRecord files, one file after another, as references into blocks.

Reading, threads and what damage means belong to `records`. Here runs are cut from the blocks, and positions are noted
so that reading can resume there: a state is three numbers, whatever was read ahead.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import IO, Any, ClassVar, Final

import numpy as np

from tfrkit.cached_property import cached_property
from tfrkit.data.elements.chunk import ObjectChunk, RecordChunk, concat
from tfrkit.data.engine.lookup import Found, Lookup
from tfrkit.data.engine.node import Context, NodeIterator, Run
from tfrkit.data.sources.file_source import FileSourceNode
from tfrkit.errors import DataLossError, MissingExtraError, OpError
from tfrkit.model.block import Block, IntArray
from tfrkit.model.row_selection import splits_of
from tfrkit.records.access.fetch import fetch
from tfrkit.records.access.record_files import RecordFiles
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.frame_splitter import check_block
from tfrkit.records.read.position import BEGINNING, Places, Position
from tfrkit.records.read.reader import BlockReader

__all__ = ["RecordsNode"]

_NONE: Final = np.zeros(0, np.int64)
_LARGE: Final = 4096  # bytes of a record: copying one takes less time than whatever is made of it


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

    @property
    def unindexable(self) -> str:  # type: ignore[override]  # it depends on the files
        if not self.pure:
            return "Pipes are read once, in order: keep the records in a file."
        return "" if self.policy.on_corrupt != "stop" else 'Pass on_corrupt="raise" or "skip".'

    @property
    def leaves_out(self) -> bool:  # type: ignore[override]  # it depends on the policy
        return self.policy.on_corrupt == "skip"

    @cached_property
    def record_files(self) -> RecordFiles:
        """The files as one list of records; they are opened, and indexes made, when it is first used."""
        policy = self.policy
        return RecordFiles(
            list(self.files), compression=policy.compression or "none", crc=policy.crc, cache=policy.cache
        )

    def lookup(self, context: Context) -> Lookup:
        return _RecordsLookup(self, context)

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

    @cached_property
    def _numbers(self) -> dict[str | None, int]:
        # A file that is named twice is the same file, so either number will do.
        return {path: number for number, path in enumerate(self.files)}


class _RecordsLookup(Lookup):
    def __init__(self, node: RecordsNode, context: Context) -> None:
        self._files = node.record_files
        self._context = context
        self._skips = node.policy.on_corrupt == "skip"
        self._counted: set[tuple[int, int]] = set()  # damaged records, and the epoch of each
        self.size = self._whole(lambda: len(self._files))
        if node not in context.checked:
            self._files.check_unchanged()
            context.checked.add(node)

    def at(self, numbers: IntArray, epoch: int) -> Found:
        """Read the records; damaged ones are left out and counted if the policy says so."""
        try:
            return Found(RecordChunk(self._blocks(numbers)))
        except DataLossError as error:
            if not self._skips:
                self._files.check_unchanged()  # which would be the cause
                raise
            return self._without_damage(numbers, epoch, error)

    def one(self, number: int, epoch: int) -> Any:
        if self._skips:
            return super().one(number, epoch)
        try:
            return self._files[number]
        except DataLossError:
            self._files.check_unchanged(number)
            raise

    def element_bytes(self) -> float:
        return max(1.0, self._files.nbytes / max(1, self.size))

    def in_pieces(self, numbers: IntArray, epoch: int, each: int) -> list[Found]:
        """Read the records without leaving files mapped; where that fails, as others do."""
        try:
            blocks = self._files.take_pieces(numbers, each)
        except DataLossError:
            blocks = None
        if blocks is None:
            return super().in_pieces(numbers, epoch, each)
        return [Found(self._located_rows(block)) for block in blocks]

    def _located_rows(self, block: Block) -> RecordChunk:
        """Records in any order: neighbours in it are of different files, so that they are located file by file."""
        if not self._context.origin:
            return RecordChunk([block])
        order = np.argsort(block.places()[0], kind="stable")
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return RecordChunk(self._files.by_file(block[order])).take(back)

    def group(self) -> int:
        return int(self._whole(lambda: self._files.group))

    def _whole(self, use: Callable[[], Any]) -> Any:
        """Use files; damage that leaves the records after it without numbers cannot be skipped."""
        try:
            return use()
        except DataLossError as error:
            if not self._skips:
                raise
            raise _unnumbered(error) from None

    def _blocks(self, numbers: IntArray) -> list[Block]:
        return self._located(self._files.take(numbers))

    def _located(self, block: Block) -> list[Block]:
        return self._files.by_file(block) if self._context.origin else [block]

    def _without_damage(self, numbers: IntArray, epoch: int, error: DataLossError) -> Found:
        """Halve what cannot be read until only damaged records are left."""
        if len(numbers) == 1:
            self._files.check_unchanged(int(numbers[0]))
            self._whole(lambda: self._files.open_file_of(int(numbers[0])))
            self._count(int(numbers[0]), epoch, error)
            return Found(ObjectChunk([]), _NONE)
        middle = len(numbers) // 2
        first, second = self.at(numbers[:middle], epoch), self.at(numbers[middle:], epoch)
        kept = [np.arange(len(part.chunk)) if part.kept is None else part.kept for part in (first, second)]
        return Found(concat([first.chunk, second.chunk]), np.concatenate([kept[0], kept[1] + middle]))

    def _count(self, number: int, epoch: int, error: DataLossError) -> None:
        """Count a damaged record once an epoch, also if it is read again because another element fails."""
        if (number, epoch) not in self._counted:
            self._counted.add((number, epoch))
            path, record = self._files.locate(number)
            offset = -1 if error.offset is None else error.offset
            damage = Damage("bad data CRC", offset, offset, record, error.message, "left out by its number")
            self._context.count_damages(1, [(path, damage)])


def _unnumbered(error: DataLossError) -> DataLossError:
    made = DataLossError(
        f'{error.message} on_corrupt="skip" leaves out records by their numbers, which those after this damage do not '
        "have: only iterating in order can skip it, without global_shuffle(), len() and elements by number. `tfr "
        "repair` makes a file of the records that are whole.",
        path=error.path,
        record=error.record,
        offset=error.offset,
    )
    made.repairable = error.repairable
    return made


def _apart(block: Block) -> Block:
    """The same records; large ones that are few of their block in a buffer of their own, which keeps no others."""
    size = block.nbytes
    if size < _LARGE * len(block) or 2 * size > block.data.nbytes:
        return block
    view, begins = memoryview(block.data), block.offsets.tolist()
    data = b"".join(view[at : at + length] for at, length in zip(begins, block.lengths.tolist(), strict=True))
    numbers, frames = block.places()
    offsets = splits_of(block.lengths)[:-1]
    return Block(data, offsets, block.lengths, path=block.path, start=-1, numbers=numbers, frames=frames)


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
        return self._pull(n, 0, 1)[0]

    def pull_every(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        """Return some records; if the policy says so the data of others is not checked."""
        policy = self._node.policy
        if policy.checks_left_out or policy.on_corrupt != "raise":
            return self._pull(n, first, step)
        if not self._late and (self._reader is None or self._node.pure):
            self._begin_again()
            self._late = True
        return self._pull(n, first, step) if self._late else super().pull_every(n, first, step)

    def _begin_again(self) -> None:
        """Let the next pull open the files anew, where that resumes from the same position."""
        if self._reader is not None and self._node.pure:
            self._position, self._block = Position(*self.save()), None
            self._reader.close()
            self._reader, self._counted = None, 0

    def _pull(self, n: int, first: int, step: int) -> tuple[Run | None, int]:
        blocks: list[Block] = []
        error: Exception | None = None
        before, past = (self._file, self._block, self._row), 0
        try:
            while n and (block := self._at_hand(first > 0 and self._late)) is not None:
                row, size = self._row, len(block) - self._row
                if first >= size:
                    self._row, past, first = len(block), past + size, first - size
                    continue
                count = min(n, -(-(size - first) // step))
                end = row + first + (count - 1) * step + 1
                if step > 1:
                    part = block.take(np.arange(row + first, end, step))
                else:
                    part = block if end - row - first == len(block) else block[row + first : end]
                part, damage = self._checked(part) if self._late else (part, None)
                if len(part):
                    blocks.append(_apart(part) if step > 1 else part)
                if damage is not None:
                    past += first + len(part) * step
                    self._refuse(damage)
                past, first, n, self._row = past + end - row, step - 1, n - count, end
        except (OpError, MissingExtraError) as found:
            error = found
        except Exception:
            raise
        except BaseException:  # KeyboardInterrupt: as if nothing had been asked for
            self._file, self._block, self._row = before
            self._begin_again()
            raise
        if not blocks and error is None:
            return None, past
        return Run(RecordChunk(blocks) if blocks else ObjectChunk([]), error), past

    def _checked(self, part: Block) -> tuple[Block, Damage | None]:
        """The records up to the first whose data is damaged, and what is wrong with it."""
        if not self._node.policy.crc:
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

    def _at_hand(self, leaving_out: bool) -> Block | None:
        """Return the block with the next record; None at the end."""
        if self._closed or (self._block is not None and self._row < len(self._block)):
            return self._block
        reader = self._reader = self._reader or self._open()
        reader.leaving_out = leaving_out
        try:
            block = next(reader, None)
        except (OpError, MissingExtraError):
            self._block, self._position = None, Position(reader.file)
            raise
        finally:
            if (new := reader.skipped - self._counted) > 0:
                self._context.count_damages(new, reader.damages[self._counted :])
                self._counted += new
        if block is None:
            self._position = Position(reader.file)
        self._file, self._block, self._row = reader.file, block, 0
        return block

    def _open(self) -> BlockReader:
        node = self._node
        files: list[str | IO[bytes]] = [
            sys.stdin.buffer if path == "-" and node.policy.globs else path for path in node.files
        ]
        first, cache = self._position.file, node.policy.cache
        return BlockReader(
            files,
            node.policy,
            node.threads or self._context.threads,
            node.block_bytes,
            self._position,
            checked=not self._late,
            opening=self._context.opening.take(node.files[first], cache=cache)
            if first < len(files)
            else None,
        )

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
