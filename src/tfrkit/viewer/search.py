"""The job `search`: which records a condition takes, with their numbers, and the first of them at once.

What it costs is what `scan` costs. The numbers are kept, 8 bytes each, up to a limit; the records are not, except the
first few, so that a page shows them before any index is made. In another order than that of the files
(`record_order.py`) they are shown when all are found.
"""

from __future__ import annotations

from array import array
from bisect import bisect_right
from contextlib import closing
from typing import Any, Final

from tfrkit.model.block import Block
from tfrkit.records.where import parse_where
from tfrkit.viewer.job import BackgroundJob, Work
from tfrkit.viewer.record_order import RecordOrder, SortedMatches
from tfrkit.viewer.record_pass import JobFiles, RecordPass
from tfrkit.viewer.shown.rows import MatchedRecord

__all__ = ["Matches", "search"]

MOST_KEPT: Final = 4_000_000  # numbers of matches: 32 MB
_FIRST_RECORDS: Final = 200
_FIRST_BYTES: Final = 4 << 20  # of records that are kept


class Matches:
    """The matches of a search that runs: one thread adds, any other reads.

    Attributes:
        count: how many were found.
        kept: of how many the numbers are known.
    """

    def __init__(self, limit: int = MOST_KEPT) -> None:
        self.count = self.kept = 0
        self._limit = limit
        self._files: list[int] = []  # with matches, in order
        self._starts: list[int] = []  # the first match of each
        self._records: list[array[int]] = []
        self._first: list[bytes] = []
        self._first_bytes = 0
        self._keeps = True

    def add(self, file: int, numbers: Any, block: Block) -> None:
        """Add the records of a block, after those that are there."""
        if not self._files or self._files[-1] != file:
            self._records.append(array("q"))
            self._starts.append(self.kept)
            self._files.append(file)
        room = self._limit - self.kept
        self._records[-1].frombytes(numbers[:room].astype("int64").tobytes())
        for row in range(len(block)):
            size = int(block.lengths[row])
            if (
                not self._keeps
                or len(self._first) >= _FIRST_RECORDS
                or self._first_bytes + size > _FIRST_BYTES
            ):
                self._keeps = False  # what is kept has no gaps
                break
            self._first.append(block[row])
            self._first_bytes += size
        self.count += len(numbers)
        self.kept += min(room, len(numbers))

    def finish(self) -> None:
        """Note that there are no others."""

    def event(self) -> dict[str, int]:
        """Return what the page is told of them."""
        return {"matches": self.count, "kept": self.kept}

    def slice(self, start: int, count: int) -> list[MatchedRecord]:
        """Return some matches by their numbers among the matches; fewer if there are no more, or they were not kept."""
        found: list[MatchedRecord] = []
        end = min(self.kept, start + count)
        while start < end:
            place = bisect_right(self._starts, start) - 1
            inside = start - self._starts[place]
            records = self._records[place][inside : inside + end - start]
            if not records:
                break
            for number, record in enumerate(records, start):
                data = self._first[number] if number < len(self._first) else None
                found.append(MatchedRecord(self._files[place], record, data))
            start += len(records)
        return found


def search(files: JobFiles, text: str, order: RecordOrder | None = None) -> Work:
    """Return the work of searching records; an order may do without a condition, which all fit then.

    Raises:
        InvalidArgumentError: the text is not a condition, or does not fit the kinds of features.
    """
    records = RecordPass(files, None if order and not text else parse_where(text))
    matches = Matches() if order is None else SortedMatches(order)

    def work(job: BackgroundJob) -> None:
        job.result = matches

        def publish() -> None:
            job.publish(**records.progress(), **matches.event())

        def tick() -> None:
            job.check()
            if job.is_due():
                publish()

        try:
            with closing(records.blocks(tick)) as blocks:
                for block in blocks:
                    is_first = not matches.count
                    matches.add(*records.places(block), block)
                    if is_first:
                        publish()
        finally:
            matches.finish()  # what was found stays, of a search that was stopped, too
            publish()

    return work
