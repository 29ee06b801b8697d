"""Records as `tfr head` and `tfr cat` show them: which ones, and what is in each.

Blocks of Examples are parsed at once by native code; what is anything else is taken one by one.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby
from typing import Any, Final

from tfrkit.cli.arguments import STDIN, opened
from tfrkit.cli.console import UsageError, say_skipped
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT, OnCorrupt
from tfrkit.records.access.index import load_index
from tfrkit.records.read.feature_columns import ScannedBlocks
from tfrkit.records.read.position import BEGINNING, Position
from tfrkit.records.read.read_examples import rows_of
from tfrkit.records.read.reader import BlockReader
from tfrkit.stores.files import open_source

_FEW: Final = 1000  # records for which one thread and small blocks are quicker
_SMALL_BYTES: Final = 1 << 18
_BLOCK_BYTES: Final = 1 << 20
_AT_ONCE: Final = 64  # records of a random choice


@dataclass(frozen=True, slots=True)
class DecodedRecord:
    """One record.

    Attributes:
        path: its file.
        number: its number there.
        size: bytes of the record.
        features: of an Example, or the context of a SequenceExample, by name: arrays, lists of bytes, or None.
        lists: of a SequenceExample, by name, the same for each step; else None.
        data: the record itself if it is neither, else None.
    """

    path: str
    number: int
    size: int
    features: dict[str, Any]
    lists: dict[str, list[Any]] | None = None
    data: bytes | None = None

    @property
    def names(self) -> set[str]:
        """Names of all features and feature lists."""
        return {*self.features, *(self.lists or ())}


def decode(block: Block, keys: Collection[str] | None) -> Iterator[DecodedRecord]:
    """Yield the records of a block; with `keys` only these features."""
    group = ScannedBlocks.of([block], keys)
    one_kind = all(len(kinds) <= 1 for kinds in group.features.values())
    if group.sequences or group.other >= 0 or not one_kind or not group.all_keys:
        for index in range(len(block)):
            yield _decode_one(block[index : index + 1], keys)
        return
    for index, features in enumerate(rows_of(group, 1)):
        yield DecodedRecord(block.path or STDIN, block.place(index)[0], int(block.lengths[index]), features)


def _decode_one(single: Block, keys: Collection[str] | None) -> DecodedRecord:
    from tfrkit.parsing.example_values import to_dict

    group = ScannedBlocks.of([single])
    record = single[0]
    place = (single.path or STDIN, single.place(0)[0], len(record))
    if group.other >= 0:
        return DecodedRecord(*place, {}, data=record)
    if not group.sequences:
        return DecodedRecord(*place, _chosen(to_dict(record), keys))
    found = to_dict(record, sequence=True)
    return DecodedRecord(*place, _chosen(found["context"], keys), _chosen(found["feature_lists"], keys))


def _chosen(found: dict[str, Any], keys: Collection[str] | None) -> dict[str, Any]:
    return found if keys is None else {name: value for name, value in found.items() if name in keys}


def first_blocks(
    files: Sequence[str], skip: int, count: int | None, on_corrupt: OnCorrupt
) -> Iterator[Block]:
    """Yield `count` records after the first `skip`, in order; all if `count` is None. Says what damage was skipped."""
    left, skip, start = _skip_by_index(list(files), skip)
    few = count is not None and count <= _FEW
    reader = BlockReader(
        opened(left),
        TFRKIT.with_options(on_corrupt=on_corrupt),
        1 if few else None,
        _SMALL_BYTES if few else _BLOCK_BYTES,
        start,
    )
    reader.skip(skip)
    if count == 0:
        return
    for block in reader:
        part = block if count is None else block[:count]
        yield part
        if count is not None:
            count -= len(part)
            if not count:
                break
    if on_corrupt == "skip":
        say_skipped(reader.skipped)


def _skip_by_index(files: list[str], skip: int) -> tuple[list[str], int, Position]:
    """Leave out what indexes know without reading it: (files left, records still to skip, where to begin)."""
    while skip and files and files[0] != STDIN:
        index = load_index(files[0], open_source(files[0]))
        if index is None:
            break
        if skip >= len(index):
            skip -= len(index)
            files = files[1:]
        elif index.compression:
            break
        else:
            return files, 0, Position(0, int(index.frames[skip]), skip)
    return files, skip, BEGINNING


def random_blocks(files: Sequence[str], skip: int, count: int | None, seed: int | None) -> Iterator[Block]:
    """Yield `count` random records after the first `skip`, in the order in which they stand in the files."""
    import random

    from tfrkit.records.access.count import count_files
    from tfrkit.records.access.record_file import RecordFile

    if STDIN in files:
        raise UsageError(
            "--random cannot choose from standard input: it needs files",
            "write what comes through the pipe to a file, and name that.",
        )
    counts = count_files(files)
    for number in counts:
        if not isinstance(number, int):
            raise number
    starts = [0, *accumulate(number for number in counts if isinstance(number, int))]
    numbers = range(min(skip, starts[-1]), starts[-1])
    wanted = len(numbers) if count is None else min(count, len(numbers))
    chosen = sorted(random.Random(seed).sample(numbers, wanted))  # noqa: S311  # not for secrets
    for file, group in groupby(chosen, lambda number: bisect_right(starts, number) - 1):
        places = [number - starts[file] for number in group]
        with RecordFile(files[file]) as records:
            for first in range(0, len(places), _AT_ONCE):
                yield records.take(places[first : first + _AT_ONCE])
