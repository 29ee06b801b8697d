"""Origin: the file and record number that each element of a chunk came from."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tfrkit.model.record_rows import RecordRows
from tfrkit.model.row_selection import IntArray

__all__ = ["Origin", "origin_of_records", "origin_of_rows"]


@dataclass(frozen=True, slots=True, eq=False)
class Origin:
    """Where elements came from.

    Attributes:
        paths: the files; None for records that were never in one.
        files: int32, the number of its file in `paths` for each element.
        records: int64, the number of the record in that file.
    """

    paths: tuple[str | None, ...]
    files: npt.NDArray[np.int32]
    records: IntArray

    def __len__(self) -> int:
        return len(self.files)

    def slice(self, start: int, stop: int) -> Origin:
        """That of the elements [start, stop)."""
        return Origin(self.paths, self.files[start:stop], self.records[start:stop])

    def take(self, rows: IntArray) -> Origin:
        """That of the elements at these positions."""
        return Origin(self.paths, self.files[rows], self.records[rows])

    def places(self) -> list[tuple[str | None, int]]:
        """Path and record of each element."""
        files, records = self.files.tolist(), self.records.tolist()
        return [(self.paths[file], record) for file, record in zip(files, records, strict=True)]

    @staticmethod
    def concat(parts: Sequence[Origin]) -> Origin:
        """That of several runs of elements, one after another.

        >>> one = Origin(("a",), np.zeros(1, np.int32), np.array([5]))
        >>> two = Origin(("b", "a"), np.array([1, 0], np.int32), np.array([6, 0]))
        >>> both = Origin.concat([one, two])
        >>> both.paths, both.files.tolist(), both.records.tolist()
        (('a', 'b'), [0, 0, 1], [5, 6, 0])
        """
        numbers: dict[str | None, int] = {}
        files = [np.zeros(0, np.int32)]
        for part in parts:
            known = [numbers.setdefault(path, len(numbers)) for path in part.paths]
            files.append(np.array(known, np.int32)[part.files])
        records = [np.zeros(0, np.int64), *(part.records for part in parts)]
        return Origin(tuple(numbers), np.concatenate(files), np.concatenate(records))


def origin_of_rows(numbers: IntArray) -> Origin:
    """That of elements which were never in a file: their numbers in the source."""
    return Origin((None,), np.zeros(len(numbers), np.int32), numbers)


def origin_of_records(rows: RecordRows) -> Origin:
    """Where records stand, as their blocks know it; those of empty blocks do not count."""
    paths = dict.fromkeys(block.path for block in rows.blocks if len(block))
    numbers = {path: number for number, path in enumerate(paths)}
    files = np.array([numbers.get(block.path, 0) for block in rows.blocks], np.int32)
    if rows.rows is None:
        records = [block.places()[0] for block in rows.blocks]
        sizes = [len(block) for block in rows.blocks]
        return Origin(
            tuple(paths), np.repeat(files, sizes), np.concatenate([np.zeros(0, np.int64), *records])
        )
    which, places = rows.located()
    found = np.empty(len(places), np.int64)
    for number in np.unique(which).tolist():
        block = rows.blocks[number]
        chosen = which == number
        inner = places[chosen]
        found[chosen] = block.first_record + inner if block.numbers is None else block.numbers[inner]
    return Origin(tuple(paths), files[which], found)
