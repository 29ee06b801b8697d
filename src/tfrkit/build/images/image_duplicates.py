"""Images that are in a source twice, byte for byte: found without reading most of the files.

Only files of the same size can be equal. Of those a cheap mark is compared (some bytes, or the checksum that an archive
has), and only files whose marks are equal are read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Final, TypeAlias

import numpy as np
import numpy.typing as npt

from tfrkit._core import crc32c
from tfrkit.build.images.image_items import ImageBuffer, ImageItems, ImageReader, ImageSource
from tfrkit.build.job.progress import Progress, SurveyMeter
from tfrkit.codecs.checksum import crc32
from tfrkit.threads import in_threads

__all__ = ["content_mark", "find_duplicates"]

IntArray: TypeAlias = npt.NDArray[Any]
_AT_ONCE: Final = 1024
_UNREADABLE: Final = 1 << 63


def content_mark(content: bytes | memoryview) -> int:
    """Return 64 bits that differ if contents of the same size do."""
    return crc32c(content) << 32 | crc32(content)


def find_duplicates(
    source: ImageSource, items: ImageItems, progress: Callable[[Progress], None] | None = None
) -> tuple[IntArray, IntArray]:
    """Find images that have the same bytes as an earlier one; `progress` is told of those that are looked at.

    Returns:
        Their rows, ascending, and for each the row of the first of its kind.
    """
    rows = _repeated(np.arange(len(items)), items.sizes)
    if source.streams:
        marks = items.places["mark"][rows]
    else:
        known = items.places.get("crc")
        marks = known[rows] if known is not None else _marks(source, items, rows, _sample_marks, progress)
        rows = _repeated(rows, items.sizes[rows], marks)
        marks = _marks(source, items, rows, _content_marks, progress)
    if not len(rows):
        return rows, rows
    pairs = np.stack([items.sizes[rows].astype(np.uint64), marks.astype(np.uint64)], axis=1)
    _, first, which = np.unique(pairs, axis=0, return_index=True, return_inverse=True)
    firsts = rows[first[which.reshape(-1)]]
    later = firsts != rows
    return rows[later], firsts[later]


def _repeated(rows: IntArray, *values: IntArray) -> IntArray:
    """Return the rows whose values another row has too, ascending."""
    if len(rows) < 2:
        return rows[:0]
    order = np.lexsort(values)
    same = np.ones(len(rows) - 1, bool)
    for column in values:
        same &= column[order][1:] == column[order][:-1]
    either = np.zeros(len(rows), bool)
    either[1:] |= same
    either[:-1] |= same
    return np.sort(rows[order[either]])


def _sample_marks(reader: ImageReader, items: ImageItems) -> Iterator[int | None]:
    for sample in reader.samples(items):
        yield None if sample is None else crc32c(sample)


def _content_marks(reader: ImageReader, items: ImageItems) -> Iterator[int | None]:
    buffer = ImageBuffer()
    for read in reader.contents(items, buffer):
        with memoryview(buffer.data)[read.begin : read.end] as view:
            yield None if read.error is not None else content_mark(view)


def _marks(
    source: ImageSource,
    items: ImageItems,
    rows: IntArray,
    marks_of: Callable[[ImageReader, ImageItems], Iterator[int | None]],
    progress: Callable[[Progress], None] | None,
) -> IntArray:
    """Compute marks of some images, on several threads; what cannot be read equals nothing."""
    marks = np.zeros(len(rows), np.uint64)
    meter = SurveyMeter(progress, len(rows), int(items.sizes[rows].sum()))

    def work(first: int) -> None:
        chosen = items.take(rows[first : first + _AT_ONCE])
        with source.open() as reader:
            for place, mark in enumerate(marks_of(reader, chosen), first):
                marks[place] = _UNREADABLE | place if mark is None else mark
                meter.add(1, int(items.sizes[rows[place]]))

    with in_threads([partial(work, first) for first in range(0, len(rows), _AT_ONCE)]) as results:
        for result in results:
            result()
            meter.tick()
    return marks
