"""DataSet: files of records that are read several times, as one list, and must not change in between."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from tfrkit import _core
from tfrkit.errors import FailedPreconditionError, InvalidArgumentError
from tfrkit.model.block import Block
from tfrkit.model.near_names import near_names
from tfrkit.records.compare.compare_features import values_of
from tfrkit.records.compare.match_records import Digests, Numbers
from tfrkit.records.describe.schema import RecordPlace
from tfrkit.records.read.feature_columns import gather_blocks
from tfrkit.records.read.reader import BlockReader, read_blocks
from tfrkit.stores.url import display_name

__all__ = ["DataSet"]

_BATCH_BYTES: Final = 1 << 21  # digested at once: what is still in the cache
_NO_KEY: Final = {
    _core.KEY_MISSING: "does not have it",
    _core.KEY_NOT_ONE: "has none or several",
    _core.KEY_FLOATS: "has floats there",
}


class DataSet:
    """Records of files, with a number each over all files.

    Args:
        files: their paths.
        threads: how many cores to use.
        check: called for each block that is read; what it raises ends the reading.
        read: options of `read_blocks`.

    Attributes:
        files: as given.
        names: of the files, as they may be shown.
        records: how many there are; known after `digest`, as is the next one.
        skipped: damages that were passed over.
    """

    def __init__(
        self,
        files: Sequence[str],
        *,
        threads: int | None,
        check: Callable[[], object] | None = None,
        **read: Any,
    ) -> None:
        self.files = list(files)
        self.names = tuple(display_name(file) for file in files)
        self.records = self.skipped = 0
        self._threads = threads
        self._check = check
        self._read = read
        self._starts = np.zeros(len(self.files) + 1, np.int64)

    def digest(
        self, keys: Sequence[str], progress: Callable[[int, int], object] | None
    ) -> tuple[Digests, Digests]:
        """Read all records: digests of their bytes, and of their keys if there are any.

        Raises:
            DataLossError: a file is damaged, unless `on_corrupt` says otherwise.
            InvalidArgumentError: a record has no such key.
        """
        reader = self._open(self.files)
        contents, found = [], []
        for batch in gather_blocks(self._counted(reader, self.files), _BATCH_BYTES):
            pieces = _pieces(batch)
            contents.append(Digests.of(_core.digest_records(pieces, False, self._threads or 0)))
            if keys:
                *halves, failure = _core.digest_keys(pieces, list(keys), self._threads or 0)
                if failure is not None:
                    raise _key_error(batch, keys, *failure)
                found.append(Digests.of(halves))
            if progress is not None:
                progress(sum(map(len, batch)), sum(block.nbytes for block in batch))
        self.skipped = reader.skipped
        self._starts = np.append(0, np.cumsum(self._counts))
        self.records = int(self._starts[-1])
        return Digests.join(contents), Digests.join(found)

    def meanings(self, wanted: Numbers) -> Digests:
        """Read some records again, whose numbers ascend: digests of what they mean."""
        parts = [
            Digests.of(_core.digest_records(_pieces([block]), True, self._threads or 0))
            for _, block in self.chosen(wanted)
        ]
        return Digests.join(parts)

    def chosen(self, wanted: Numbers) -> Iterator[tuple[int, Block]]:
        """Read some records again, whose numbers ascend; files without any are not opened.

        Yields:
            How many came before, and the next ones.

        Raises:
            FailedPreconditionError: there are other records than at first.
        """
        chosen = np.unique(np.searchsorted(self._starts, wanted, side="right") - 1)
        files = [self.files[file] for file in chosen]
        reader = self._open(files)
        done = 0
        current, start = -1, 0
        for block in self._counted(reader, files):
            if reader.file != current:
                current, start = reader.file, int(self._starts[chosen[reader.file]])
            end = int(np.searchsorted(wanted, start + len(block)))
            if end > done:
                yield done, block.take(wanted[done:end] - start)
            done, start = end, start + len(block)
        for place, file in enumerate(chosen):
            if self._counts[place] != self._starts[file + 1] - self._starts[file]:
                raise FailedPreconditionError(
                    f"{self.names[file]!r} has changed while it was read: {self._counts[place]:,} records, and "
                    f"{self._starts[file + 1] - self._starts[file]:,} at first. Compare again when it is complete.",
                    path=self.names[file],
                )

    def place(self, number: int) -> RecordPlace:
        """Return in which file a record is, and its number there."""
        file = int(np.searchsorted(self._starts, number, side="right")) - 1
        return RecordPlace(self.names[file], number - int(self._starts[file]))

    def _open(self, files: list[str]) -> BlockReader:
        return read_blocks(files, threads=self._threads, **self._read)

    def _counted(self, reader: BlockReader, files: Sequence[str]) -> Iterator[Block]:
        self._counts = np.zeros(len(files), np.int64)
        try:
            for block in reader:
                self._counts[reader.file] += len(block)
                if self._check is not None:
                    self._check()
                yield block
        finally:
            reader.close()


def _pieces(blocks: Sequence[Block]) -> list[tuple[Any, Any, Any]]:
    return [(block.data, block.offsets, block.lengths) for block in blocks]


def _key_error(blocks: Sequence[Block], keys: Sequence[str], index: int, why: int) -> InvalidArgumentError:
    for block in blocks:
        if index < len(block):
            break
        index -= len(block)
    number, offset = block.place(index)
    names = " and ".join(map(repr, keys))
    near = ""
    if why == _core.KEY_MISSING:
        known = sorted(name for name, is_list in values_of(block[index]) if name and not is_list)
        near = near_names(next((key for key in keys if key not in known), keys[0]), known) + " "
    return InvalidArgumentError(
        f"Expected one int64 or bytes value of {names} in every record, but record {number} of {block.path!r} "
        f"{_NO_KEY[why]}. {near}Choose another key, or compare by position.",
        path=block.path,
        record=number,
        offset=offset,
    )
