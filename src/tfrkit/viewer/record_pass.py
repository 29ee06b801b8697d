"""RecordPass: one pass over the records of a data set, or over those that a condition takes, for a background job.

The reading, the choice of rows and the runs that zones leave out are `scan`'s. Here records are counted, damage and
records that are no Examples are passed over and noted, and a job that is cancelled leaves at the next block.
"""

from __future__ import annotations

import itertools
import threading
from collections.abc import Callable, Generator, Mapping
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from tfrkit.errors import OpError
from tfrkit.model.block import Block
from tfrkit.records.where import WhereChoice
from tfrkit.scanning.any_kind import rows_of_any_kind
from tfrkit.scanning.chunks import scan_chunks
from tfrkit.scanning.columns import ScanParser
from tfrkit.scanning.pruning import PrunedBlocks
from tfrkit.scanning.scan import scan
from tfrkit.stores.url import display_name

__all__ = ["JobFiles", "RecordPass"]

_FIRST_BLOCKS: Final = (4, 12, 48)
_DATA_CRC: Final = "bad data CRC"  # its frame is whole: an index counts it as a record


@dataclass(frozen=True, slots=True)
class JobFiles:
    """What a job reads, and what is known of it when it begins.

    Attributes:
        paths: of the files.
        sizes: bytes of each; 0 where that is not known.
        counts: records of each; None where that is not known.
        kinds: of features that were seen already: "int64", "float32" or "bytes".
    """

    paths: tuple[str, ...]
    sizes: tuple[int, ...]
    counts: tuple[int | None, ...]
    kinds: Mapping[str, str] = field(default_factory=dict)

    @property
    def records(self) -> int | None:
        """How many records there are; None if that is not known."""
        known = [count for count in self.counts if count is not None]
        return sum(known) if len(known) == len(self.paths) else None

    @property
    def bytes(self) -> int:
        """Bytes of all files."""
        return sum(self.sizes)


class RecordPass:
    """The records of a job, block by block, on all cores.

    Args:
        files: what to read.
        where: which records; None: all.

    Attributes:
        scanned: records that were looked at.
        share: of the data that was passed, from 0 to 1.
        unreadable: records that are no Examples, or have a feature of a kind that the condition cannot be about.
        errors: files that could not be read, or not to their end, with what is wrong.
        skipped: damages that were passed over.

    Raises:
        InvalidArgumentError: the condition does not fit the kinds of the features.
    """

    def __init__(self, files: JobFiles, where: WhereChoice | None) -> None:
        self.scanned = self.unreadable = self.skipped = 0
        self.share = 0.0
        self.errors: list[tuple[int, str]] = []
        self._files, self._lock = files, threading.Lock()
        self._numbers = {
            name: n for n, path in reversed(list(enumerate(files.paths))) for name in _names(path)
        }
        self._before = np.cumsum([0, *files.sizes]).tolist()
        self._total = files.records
        self._starts = np.cumsum([0, *(count or 0 for count in files.counts)]).tolist()
        self._damages: dict[
            int, list[int]
        ] = {}  # of each file: intact records before those that an index counts too
        self._noted = 0, 0  # damages of the reader under way: how many there are, of how many it has details
        self._reading = scan(list(files.paths), on_corrupt="skip").reading
        self._rows = (
            None
            if where is None
            else rows_of_any_kind(files.paths, where, files.kinds, self._note_unreadable)
        )

    def blocks(self, tick: Callable[[], object]) -> Generator[Block]:
        """Yield the records, in order, in blocks of one file each; to be closed if it is left early.

        Args:
            tick: called for each block that is read, in the thread that iterates; what it raises ends the pass.
        """
        with closing(self._read(tick)) as blocks:
            if self._rows is None:
                yield from blocks
                return
            # Chunks of few matches wait for more: at the begin of the data not for long.
            for some in (*(itertools.islice(blocks, count) for count in _FIRST_BLOCKS), blocks):
                with closing(scan_chunks(some, ScanParser(()), self._rows)) as chunks:
                    for chunk in chunks:
                        yield from chunk.blocks

    def places(self, block: Block) -> tuple[int, npt.NDArray[np.int64]]:
        """Return the file of a block, and the numbers of its records there, as an index of the file counts them."""
        file, numbers = self._numbers[block.path or ""], block.places()[0]
        dropped = self._damages.get(file)
        return file, numbers if not dropped else numbers + np.searchsorted(dropped, numbers, side="right")

    def progress(self) -> dict[str, Any]:
        """Return how far it is and what it passed over, for the events of its job."""
        return {
            "done": self.scanned,
            "scanned": self.scanned,
            "of": self._files.records,
            "share": round(self.share, 4),
            "unreadable": self.unreadable,
            "skipped": self.skipped,
            "file_errors": [{"file": file, "error": text} for file, text in self.errors[:100]],
        }

    def _note_unreadable(self, count: int) -> None:
        with self._lock:
            self.unreadable += count

    def _read(self, tick: Callable[[], object]) -> Generator[Block]:
        at = 0
        share, features = (
            (None, set[str]()) if self._rows is None else (self._rows.shares, self._rows.features)
        )
        while at < len(self._files.paths):
            source = PrunedBlocks(list(self._files.paths[at:]), share, features, self._reading)
            self._noted = 0, 0
            try:
                for block in source:
                    self._note(block)
                    self._note_damages(source)
                    tick()
                    yield block
            except OpError as error:
                at = self._pass_over(error, at) + 1
            else:
                self.share = 1.0
                return
            finally:
                self._note_damages(source)
                source.close()

    def _pass_over(self, error: OpError, first: int) -> int:
        """Note a file that cannot be read, and return its number."""
        file = self._numbers.get(error.path or "", -1)
        if file < first:
            raise error
        self.errors.append((file, error.message))
        return file

    def _note(self, block: Block) -> None:
        self.scanned += len(block)
        file, files = self._numbers[block.path or ""], self._files
        if self._total:
            self.share = min(1.0, (self._starts[file] + block.first_record + len(block)) / self._total)
        elif files.bytes:
            inside = min(max(block.start, 0) + len(block.data), files.sizes[file])
            self.share = min(1.0, (self._before[file] + inside) / files.bytes)

    def _note_damages(self, source: PrunedBlocks) -> None:
        """Note what else an index counts."""
        if source.skipped == self._noted[0]:
            return
        found = source.damages
        for path, damage in found[self._noted[1] :]:
            if damage.kind == _DATA_CRC:
                self._damages.setdefault(self._numbers[path], []).append(damage.record)
        self.skipped += source.skipped - self._noted[0]
        self._noted = source.skipped, len(found)


def _names(path: str) -> set[str]:
    return {path, display_name(path)}
