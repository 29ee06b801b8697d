"""Blocks of files in order, and the damage that was skipped, as bad input of a job."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence

from tfrkit.build.job.job import BadInput
from tfrkit.errors import DataLossError, InvalidArgumentError, OpError
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT, OnCorrupt
from tfrkit.records.read.damage import Damage
from tfrkit.records.read.file_reader import BLOCK_BYTES
from tfrkit.records.read.position import BEGINNING, Position
from tfrkit.records.read.reader import BlockReader
from tfrkit.stores.url import base_name, is_url

__all__ = ["FrameReader"]


class FrameReader:
    """Reads files; every CRC is checked unless `crc` says otherwise.

    Args:
        paths: the files.
        on_corrupt: as for `read_blocks`; what is passed over is in `bad`, and there is no warning.
        threads: for reading.
        start: where to begin.
        crc: check the data CRCs.
        block_bytes: about how much to read at once.

    Attributes:
        bad: the damages that were passed over, so far.
    """

    def __init__(
        self,
        paths: Sequence[str],
        on_corrupt: OnCorrupt,
        threads: int | None,
        start: Position = BEGINNING,
        *,
        crc: bool = True,
        block_bytes: int = BLOCK_BYTES,
    ) -> None:
        # "stop" is "raise" for the reader: the caller continues with the next file, and there is no warning.
        self._stops = on_corrupt == "stop"
        policy = TFRKIT.with_options(on_corrupt="raise" if self._stops else on_corrupt, crc=crc)
        self._reader = BlockReader(paths, policy, threads, block_bytes, start)
        self._stopped: list[BadInput] = []

    def __iter__(self) -> Iterator[Block]:
        while True:
            try:
                block = next(self._reader)
            except StopIteration:
                return
            except (DataLossError, InvalidArgumentError) as error:
                if not self._stops:
                    raise
                self._stopped.append(_left_file(error))
            else:
                yield block

    @property
    def bad(self) -> list[BadInput]:
        """What was left out, in order."""
        return self._stopped + [_left_out(path, damage) for path, damage in self._reader.damages]

    def close(self) -> None:
        """Close the files."""
        self._reader.close()


def _left_out(path: str, damage: Damage) -> BadInput:
    where = f"{damage.bytes} bytes from byte {damage.start} on, behind {damage.record} intact records"
    return BadInput(_shown(path), None, f"damaged: {damage.kind}", where)


def _left_file(error: OpError) -> BadInput:
    where = f"from byte {error.offset} on, behind {error.record} intact records"
    return BadInput(_shown(error.path or ""), None, "damaged: the rest of the file is left out", where)


def _shown(path: str) -> str:
    """Return a path as reports have it, which are the same on every machine."""
    return base_name(path) if is_url(path) or os.path.isabs(path) else path
