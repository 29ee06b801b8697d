"""Which records `tfr head` and `tfr cat` show; what is in each: `records/read/decoded_record.py`."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, groupby
from typing import Final

from tfrkit.cli.arguments import STDIN, opened
from tfrkit.cli.console import UsageError, say_skipped
from tfrkit.model.block import Block
from tfrkit.model.policy import TFRKIT, OnCorrupt
from tfrkit.records.access.index import load_index
from tfrkit.records.read.position import BEGINNING, Position
from tfrkit.records.read.reader import BlockReader
from tfrkit.stores.files import open_source

_FEW: Final = 1000  # records for which one thread and small blocks are quicker
_SMALL_BYTES: Final = 1 << 18
_BLOCK_BYTES: Final = 1 << 20
_AT_ONCE: Final = 64  # records of a random choice


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
