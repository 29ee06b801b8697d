"""Claims: index of A 0.5 x `readinto`; `RecordFile[i]` 5 x Python; `take` of 1,024 3 x a loop over `[i]`.

The file is in the page cache, so this measures the way to a record and not the disk. Python means: the
frames' positions are known, `seek`, one `read`, both CRCs by the google-crc32c wheel, on a file opened as
usual. Without the buffer the same loop reads no more than it needs; it stands beside it, without a
requirement. So do `RecordFiles` over the four files of A, and a RecordFile that is not mapped but read by `pread`.
"""

from __future__ import annotations

import importlib
import random
from collections.abc import Callable, Sequence
from functools import partial
from itertools import accumulate
from pathlib import Path
from typing import Any

from benchmarks import rivals
from benchmarks.data import FRAME_OVERHEAD, dataset, payloads
from benchmarks.harness import Contender, Report, Settings, by_name, in_child

INDEX, PLAIN = "build_index", "readinto"
ITEM, BY_HAND, UNBUFFERED = "RecordFile[i]", "seek and read with CRC", "seek and read with CRC, no buffer"
TFR_READER = "tfr-reader package (no CRC)"
TAKE, LOOP = "RecordFile.take of 1,024", "loop over RecordFile[i]"
PREAD, TAKE_PREAD = "RecordFile[i] by pread", "RecordFile.take of 1,024 by pread"
FILES, TAKE_FILES = "RecordFiles[i], four files", "RecordFiles.take of 1,024, four files"
READS = 200_000
TAKEN = 1024


def index_contenders(settings: Settings) -> list[Contender]:
    """The index of the four files of A in memory, and the plain read of them."""
    build_index = importlib.import_module("tfrkit.records.access.index").build_index
    data = dataset("A", settings.scale)

    def index() -> int:
        return sum(len(build_index(str(path))) for path in data.plain)

    return [
        Contender(INDEX, index, "records", data.records, data.stream_bytes),
        Contender(PLAIN, partial(rivals.readinto, data.plain), "bytes", 0, data.stream_bytes),
    ]


def item_contenders(settings: Settings) -> list[Contender]:
    """Single records of A, in one file, in random order."""
    import tfrkit as tfr

    path, lengths = _lengths(settings)
    frames = [0, *accumulate(length + FRAME_OVERHEAD for length in lengths)]
    numbers = _random_numbers(len(lengths), max(TAKEN, round(READS * settings.scale)))
    amount: dict[str, Any] = {"records": len(numbers), "bytes": sum(lengths[number] for number in numbers)}
    ways: dict[str, Any] = {
        ITEM: tfr.RecordFile(path),
        PREAD: _unmapped(path),
        FILES: _files(settings),
        BY_HAND: rivals.SeekAndRead(path, frames),
        UNBUFFERED: rivals.SeekAndRead(path, frames, buffering=0),
    }
    out = [Contender(name, partial(_each, way, numbers), "records", **amount) for name, way in ways.items()]
    if rivals.installed("tfr_reader"):
        reader = importlib.import_module("tfr_reader.cython.indexer").TFRecordFileReader(str(path), False)
        out.append(
            Contender(TFR_READER, partial(_call_each, reader.get_example, numbers), "records", **amount)
        )
    return out


def take_contenders(settings: Settings) -> list[Contender]:
    """1,024 random records of A at a time, in one call and in a loop."""
    import tfrkit as tfr

    path, lengths = _lengths(settings)
    numbers = _random_numbers(len(lengths), TAKEN * max(1, round(READS * settings.scale / TAKEN)))
    groups = [numbers[start : start + TAKEN] for start in range(0, len(numbers), TAKEN)]
    amount: dict[str, Any] = {"records": len(numbers), "bytes": sum(lengths[number] for number in numbers)}
    file = tfr.RecordFile(path)

    def take(records: Any) -> int:
        return sum(len(records.take(group)) for group in groups)

    return [
        Contender(TAKE, partial(take, file), "records", **amount),
        Contender(TAKE_PREAD, partial(take, _unmapped(path)), "records", **amount),
        Contender(TAKE_FILES, partial(take, _files(settings)), "records", **amount),
        Contender(LOOP, partial(_each, file, numbers), "records", **amount),
    ]


def _files(settings: Settings) -> Any:
    """The four files of A, which have as many records as the one file, open."""
    import tfrkit as tfr

    files = tfr.RecordFiles(list(dataset("A", settings.scale).plain), index="memory")
    len(files)
    return files


def _unmapped(path: Path) -> Any:
    """A RecordFile on a file system that knows no maps."""
    import tfrkit as tfr

    frames = importlib.import_module("tfrkit.records.access.file_frames")
    mapped, frames._map_frames = frames._map_frames, lambda *_: None
    try:
        return tfr.RecordFile(path)
    finally:
        frames._map_frames = mapped


def _lengths(settings: Settings) -> tuple[Path, list[int]]:
    path = dataset("A_one", settings.scale).plain[0]
    return path, [len(payload) for payload in payloads(path)]


def _random_numbers(below: int, count: int) -> list[int]:
    return random.Random(0).choices(range(below), k=count)


def _each(records: Any, numbers: Sequence[int]) -> int:
    for number in numbers:
        records[number]
    return len(numbers)


def _call_each(get: Callable[[int], bytes], numbers: Sequence[int]) -> int:
    for number in numbers:
        get(number)
    return len(numbers)


def run(settings: Settings) -> Report:
    """Measure the index, single records and many at once, on two cores."""
    report = Report("random_access")
    named = by_name(results := in_child("random_access", "index_contenders", settings, cores=2))
    report.add_results("Indexing A, 2 cores", results)
    report.ratio("Index of A", named[INDEX], [named[PLAIN]], 0.5)
    named = by_name(results := in_child("random_access", "item_contenders", settings, cores=2))
    report.add_results("Random records of A, one by one", results)
    report.ratio("Random records of A", named[ITEM], [named[BY_HAND]], 5.0)
    report.ratio("Random records of A", named[ITEM], [named[UNBUFFERED]], None)
    report.ratio("Random records of A", named[ITEM], [named[PREAD]], None)
    report.ratio("Random records of A", named[FILES], [named[ITEM]], None)
    if TFR_READER in named:
        report.ratio("Random records of A", named[ITEM], [named[TFR_READER]], None)
    named = by_name(results := in_child("random_access", "take_contenders", settings, cores=2))
    report.add_results("Random records of A, 1,024 at a time", results)
    report.ratio("Random records of A", named[TAKE], [named[LOOP]], 3.0)
    report.ratio("Random records of A", named[TAKE], [named[TAKE_PREAD]], None)
    report.ratio("Random records of A", named[TAKE_FILES], [named[TAKE]], None)
    return report
