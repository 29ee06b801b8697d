"""Recipes whose records are frames of TFRecord files: copied as they are, some of them, or changed block by block.

Every CRC is checked while frames are read. Which frames a recipe has was planned by `frame_input.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Protocol

import numpy as np
import numpy.typing as npt

from tfrkit.build.job.input_stamp import InputChangedError
from tfrkit.build.job.job import TaskReporter
from tfrkit.build.job.wanted_features import features_in
from tfrkit.build.reshape.frame_read import FrameReader, compression_of
from tfrkit.codecs.table import from_suffix
from tfrkit.model.block import Block
from tfrkit.model.policy import OnCorrupt
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.position import Position
from tfrkit.stores.files import is_local
from tfrkit.stores.url import base_name

__all__ = ["Change", "Choice", "FrameRecipe"]

# Of what is only checked and written: 0.95 s of CPU for 1 GB, 1.3 s in blocks of 2 MB (benchmarks/reshard.py).
_COPY_BYTES: Final = 1 << 20
_GUESSED_RATIO: Final = 4  # of compressed files, for the progress bar


class Choice(Protocol):
    """Which records to take: plain data that pickles."""

    def mask(self, first: int, block: Block) -> npt.NDArray[np.bool_]:
        """Return which records of a block are taken; the first has the number `first` among all inputs."""


class Change(Protocol):
    """What to make of records: plain data that pickles."""

    def apply(self, block: Block) -> Block:
        """Return a block of the same number of records."""


@dataclass(frozen=True, slots=True)
class FrameRecipe:
    """Some frames, in order.

    Attributes:
        paths: files, of which the first is read from `offset` on.
        input_bytes: about how much is read.
        on_corrupt: as for `read_blocks`.
        offset: where a frame begins in the uncompressed stream of the first file.
        record: number of that frame's record in the file.
        skip: how many records to leave out first.
        count: how many records to read then; None: all, and damages are reported.
        first: number of the first of them among all inputs.
        choices: which of them to take: those that all choices want.
        changes: what to make of them, one after another.
        threads: for reading; None: all cores, where there are fewer tasks than those.
        wanted: features to look for in all records that are read; what is found is reported.
    """

    paths: tuple[str, ...]
    input_bytes: int
    on_corrupt: OnCorrupt
    offset: int = 0
    record: int = 0
    skip: int = 0
    count: int | None = None
    first: int = 0
    choices: tuple[Choice, ...] = ()
    changes: tuple[Change, ...] = ()
    threads: int | None = None
    wanted: tuple[str, ...] = ()

    def blocks(self, reporter: TaskReporter) -> Iterator[Block]:
        """Read, choose, change."""
        number = self.first
        share = _Share(self.input_bytes, known=self.count is not None)
        missing = set(self.wanted)
        for block in self._read(reporter):
            if missing:
                reporter.features |= (found := features_in(block, missing))
                missing -= found
            chosen = self._choose(number, block)
            number += len(block)
            reporter.passed += len(block) - len(chosen)
            reporter.advance(share.of(block))
            if len(chosen):
                for change in self.changes:
                    chosen = change.apply(chosen)
                yield chosen
        reporter.advance(share.rest())

    def _choose(self, number: int, block: Block) -> Block:
        masks = [choice.mask(number, block) for choice in self.choices]
        if not masks or (chosen := np.logical_and.reduce(masks)).all():
            return block
        return block.take(np.flatnonzero(chosen))

    def _read(self, reporter: TaskReporter) -> Iterator[Block]:
        """The blocks of exactly the frames that were planned."""
        if not self.paths or self.count == 0:
            return
        start = Position(0, self.offset, self.record)
        size = BLOCK_BYTES if self.choices or self.changes else _COPY_BYTES
        reader = FrameReader(self.paths, self.on_corrupt, self.threads, start, block_bytes=size)
        skip, left = self.skip, self.count
        try:
            for read in reader:
                block = read[skip:] if skip else read
                skip = max(0, skip - len(read))
                if left is not None:
                    block = block[:left]
                    left -= len(block)
                if len(block):
                    yield block
                if left == 0:
                    return
        finally:
            reader.close()
        if left is None:
            for bad in reader.bad:
                reporter.bad(bad)
            return
        planned = self.count or 0
        raise InputChangedError(
            self.paths[-1],
            f"expected {planned:,} records from record {self.first:,} of all inputs on but got {planned - left:,}",
        )


class _Share:
    """How much of a recipe's `input_bytes` each block stands for: of frames if they were counted, else of files."""

    def __init__(self, input_bytes: int, *, known: bool) -> None:
        self._left = input_bytes
        self._known = known
        self._path: str | None = None
        self._ratio = 1

    def of(self, block: Block) -> int:
        if not self._known and block.path != self._path and block.path is not None:
            self._path = block.path
            self._ratio = _GUESSED_RATIO if _is_compressed(block.path) else 1
        size = (block.nbytes + 16 * len(block)) // self._ratio
        if self._known:
            return size
        size = min(size, self._left)
        self._left -= size
        return size

    def rest(self) -> int:
        """What blocks have not stood for, when all were read."""
        return 0 if self._known else self._left


def _is_compressed(path: str) -> bool:
    """Tell whether a file is compressed; behind a URL its name has to do, as a look at it would be a request."""
    return bool(compression_of(path) if is_local(path) else from_suffix(base_name(path)))
